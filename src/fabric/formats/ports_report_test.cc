#include "fabric/formats/ports_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabric/formats/source.h"

namespace holdfast::fabric {
namespace {

using testing::HasSubstr;

/// As ibnetdiscover -p prints it: a switch with a dead port, a two-port adapter, names with quotation marks.
constexpr const char* report =
    "SW    48  4 0xec0d9a0300ec8240 4x SDR                                    'leaf 'one''\n"
    "SW    48  3 0xec0d9a0300ec8240 4x EDR - SW    49  1 0xec0d9a0300ec8250 ( 'leaf 'one'' - 'spine' )\n"
    "SW    48  2 0xec0d9a0300ec8240 4x FDR - CA    68  2 0xe41d2d0300a1b2c2 ( 'leaf 'one'' - 'node-1 HCA-1' )\n"
    "SW    48  1 0xec0d9a0300ec8240 4x EDR - CA    67  1 0xe41d2d0300a1b2c1 ( 'leaf 'one'' - 'node-1 HCA-1' )\n"
    "SW    49  1 0xec0d9a0300ec8250 4x EDR - SW    48  3 0xec0d9a0300ec8240 ( 'spine' - 'leaf 'one'' )\n"
    "CA    68  2 0xe41d2d0300a1b2c2 4x FDR - SW    48  2 0xec0d9a0300ec8240 ( 'node-1 HCA-1' - 'leaf 'one'' )\n"
    "CA    67  1 0xe41d2d0300a1b2c1 4x EDR - SW    48  1 0xec0d9a0300ec8240 ( 'node-1 HCA-1' - 'leaf 'one'' )\n"
    "CA 65535  1 0xe41d2d0300a1b2d1 ?? ???                                    'node-2 HCA-1'\n";

TEST(PortsReport, GivesNodesPortsAndLinks) {
  auto read = read_fabric(report, "report");
  ASSERT_TRUE(read.ok()) << read.status().message();
  const Fabric& fabric = read.value().fabric;
  EXPECT_TRUE(read.value().notes.empty());
  EXPECT_EQ(fabric.switch_count(), 2U);
  EXPECT_EQ(fabric.adapter_count(), 2U);
  EXPECT_EQ(fabric.links().size(), 3U);
  const NodeId leaf = fabric.find("leaf 'one'");
  ASSERT_NE(leaf, none);
  EXPECT_EQ(fabric.node(leaf).port_count, 4U);
  const NodeId node = fabric.find("node-1 HCA-1");
  ASSERT_NE(node, none);
  EXPECT_EQ(fabric.node(node).guid, 0xe41d2d0300a1b2c0U);
  EXPECT_EQ(fabric.port(fabric.port_of(node, 1)).lid, 67U);
  EXPECT_EQ(fabric.port(fabric.port_of(node, 2)).lid, 68U);
  EXPECT_EQ(fabric.peer(fabric.port_of(node, 2)), fabric.port_of(leaf, 2));
  EXPECT_EQ(format(fabric.link(fabric.port(fabric.port_of(node, 2)).link).rate), "4xFDR");
  EXPECT_EQ(fabric.port(fabric.port_of(fabric.find("node-2 HCA-1"), 1)).lid, 0U);
}

TEST(PortsReport, OdditiesAreNotes) {
  std::string text = std::string("ibwarn: [9] mad_rpc: failed\n") + report;
  text.replace(text.rfind("CA 65535"), 8, "RT    67");
  auto read = read_fabric(text + "SW    48  2 0xec0d9a0300ec8240 4x FDR - CA    6", "report");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read.value().fabric.links().size(), 3U);
  EXPECT_THAT(read.value().notes,
              testing::ElementsAre(HasSubstr("report line 1: a line of another program"),
                                   HasSubstr("report line 9: a router is taken as a channel adapter"),
                                   HasSubstr("report line 10: the file ends in the middle of this line"),
                                   HasSubstr("LID 67 is used twice")));
}

TEST(PortsReport, AGuidThatIsLessThanThePortsNumberIsTheNodes) {
  const std::pair<const char*, std::uint64_t> cases[] = {{"CA 7 2 0x1 4x EDR 'a'\n", 1},
                                                         {"RT 2 42 0x0d 4x EDR 'a'\n", 13}};
  for (const auto& [text, guid] : cases) {
    const auto read = read_fabric(text, "report");
    ASSERT_TRUE(read.ok()) << read.status().message();
    ASSERT_EQ(read.value().fabric.adapter_count(), 1U);
    EXPECT_EQ(read.value().fabric.node(0).guid, guid);
  }
  EXPECT_TRUE(read_fabric("CA 7 2 0x0 4x EDR 'a'\n", "report").ok());
}

TEST(PortsReport, DamageHasAPlace) {
  auto read = read_fabric("SW 48 1 0xec0d9a0300ec8240 4x EDR - XX 1 1 0x1 ( 'a' - 'b' )\n", "report");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.status().message().find("reading report line 1 column"), 0U) << read.status().message();
  EXPECT_FALSE(read_ports_report("CA 1 255 0x1\n", "report").ok());
  EXPECT_FALSE(read_ports_report("CA 1 1 0x1 4x EDR - SW 1 1 0x2 no names\n", "report").ok());
}

}  // namespace
}  // namespace holdfast::fabric
