#include "fabric/opensm/log.h"

#include <gtest/gtest.h>

namespace holdfast::fabric::opensm {
namespace {

constexpr std::string_view dfsssp_log =
    "Nov 21 20:55:04 966826 [EAEDD6C0] 0x02 -> osm_opensm_bind: Setting IS_SM on port 0x0000000200000000\n"
    "Nov 21 20:55:05 425123 [EAEDD6C0] 0x02 -> dfsssp_remove_deadlocks: Virtual Lanes available: 8\n"
    "Nov 21 20:56:41 643766 [EAEDD6C0] 0x02 -> dfsssp_remove_deadlocks: Virtual Lanes needed: 9\n"
    "Nov 21 20:56:41 643850 [EAEDD6C0] 0x01 -> dfsssp_remove_deadlocks: ERR AD25: Not enough VLs available\n"
    "Nov 21 20:56:41 643900 [EAEDD6C0] 0x01 -> ucast_mgr_route: dfsssp: cannot build fwd tables\n";

TEST(Log, TheEngineSaysWhyItRefuses) {
  EXPECT_EQ(refusal_in(dfsssp_log, "dfsssp"), "ERR AD25: Not enough VLs available");
}

TEST(Log, ANoteStandsInForAnError) {
  EXPECT_EQ(refusal_in("Nov 21 21:03:50 890000 [CB6A36C0] 0x02 -> osm_opensm_bind: Setting IS_SM on port 0x02\n"
                       "Nov 21 21:03:50 895678 [CB6A36C0] 0x02 -> updn_lid_matrices: disabling UPDN algorithm\n"
                       "Nov 21 21:03:50 895707 [CB6A36C0] 0x01 -> ucast_mgr_route: updn: cannot build lid matrices\n",
                       "updn"),
            "disabling UPDN algorithm");
}

TEST(Log, ReasonsOfAnEarlierRoutingAreForgotten) {
  const std::string twice =
      std::string("x 0x01 -> first: one\nx 0x01 -> osm_ucast_mgr_process: No routing engine able to\n") +
      "x 0x01 -> first: two\nx 0x01 -> osm_ucast_mgr_process: No routing engine able to\n";
  EXPECT_EQ(refusal_in(twice, "lash"), "two");
}

TEST(Log, AnEmptyLogGivesNoReason) {
  EXPECT_EQ(refusal_in("", "lash"), "lash gave no reason");
  EXPECT_EQ(last_line("\n\n"), "it said nothing");
}

TEST(Log, LinesEndInAnyWay) {
  EXPECT_EQ(refusal_in("x 0x01 -> first: one\rx 0x01 -> osm_ucast_mgr_process: No routing engine able to\r\n", "lash"),
            "one");
  EXPECT_EQ(last_line("a\rb\r\n\r"), "b");
}

TEST(Log, LanesNeededIsTheLastNumber) {
  EXPECT_EQ(lanes_needed_in(dfsssp_log), 9U);
  EXPECT_EQ(lanes_needed_in("-> lash_core: Lanes needed: 3, Balancing\n"), 3U);
  EXPECT_EQ(lanes_needed_in("Lanes needed: "), 0U);
  EXPECT_EQ(lanes_needed_in(""), 0U);
}

TEST(Log, TheLastLineLosesItsTime) {
  EXPECT_EQ(last_line("Nov 21 20:56:41 643850 [E] 0x01 -> f: gone wrong\n\n"), "gone wrong");
  EXPECT_EQ(last_line("plain text"), "plain text");
}

}  // namespace
}  // namespace holdfast::fabric::opensm
