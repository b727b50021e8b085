#include "simulate/job/reach.h"

#include <gtest/gtest.h>

#include "fabric/topology/generate.h"
#include "simulate/packet/hosts.h"

namespace holdfast::simulate::job {
namespace {

TEST(Reach, AFabricThatIsCutInTwo) {
  fabric::Fabric fabric = fabric::generate("mesh(2,2)").value();
  fabric.assign_lids();
  EXPECT_TRUE(check_reach(fabric, {0, 1, 2, 3}, false).ok());
  EXPECT_TRUE(check_reach(fabric, {}, false).ok());
  for (fabric::LinkId link = 0; link < fabric.links().size(); ++link) {
    const auto node = [&](fabric::PortId port) { return fabric.node(fabric.port(port).node); };
    const auto one = node(fabric.link(link).a), other = node(fabric.link(link).b);
    const bool between = one.kind == fabric::NodeKind::switch_ && other.kind == fabric::NodeKind::switch_;
    if (between && (one.name == "s-0-0" || other.name == "s-0-0")) fabric.set_link_up(link, false);
  }
  const Status cut = check_reach(fabric, {1, 2, 0}, false);
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.code(), Code::bad_input);
  EXPECT_EQ(cut.wrong(), "the fabric is cut in two: no way leads from 'host-1' to 'host-0'");
  EXPECT_FALSE(check_reach(fabric, {0, 1}, true).ok());
  EXPECT_TRUE(check_reach(fabric, {1, 2, 3}, false).ok()) << "ranks are on one side";
}

/// Two planes: a host whose first adapter is cut off is there by its second, for who uses it.
TEST(Reach, OtherRailsAreWaysToo) {
  fabric::Fabric fabric = fabric::generate("rails(2,2,2,2) planes=2").value();
  fabric.assign_lids();
  const auto computers = computers_of(fabric);
  ASSERT_GE(computers.size(), 2U);
  std::vector<std::uint32_t> first;
  for (const auto& own : computers) first.push_back(own.front());
  EXPECT_TRUE(check_reach(fabric, first, false).ok());
  const fabric::PortId port = Hosts(fabric).ports[first[1]];
  fabric.set_link_up(fabric.port(port).link, false);
  EXPECT_FALSE(check_reach(fabric, first, false).ok());
  EXPECT_TRUE(check_reach(fabric, first, true).ok());
}

}  // namespace
}  // namespace holdfast::simulate::job
