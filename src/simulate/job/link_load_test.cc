#include "simulate/job/link_load.h"

#include <gtest/gtest.h>

#include "simulate/packet/sample_networks_for_tests.h"

namespace holdfast::simulate::job {
namespace {

TEST(LinkLoad, FlowsAddUpOnTheirWay) {
  const simulate::sample::Net net = simulate::sample::crossbar(3);
  const auto loads = link_loads(net.fabric, net.tables, {{0, 2, 100}, {1, 2, 50}});
  Parameters parameters;
  parameters_table().apply_defaults(parameters);
  ASSERT_EQ(loads.size(), 3u);  // two adapters' ports, and the switch's to the third
  EXPECT_EQ(loads[0].bytes, 150u);
  EXPECT_TRUE(net.fabric.is_switch(net.fabric.port(loads[0].port).node));
  EXPECT_EQ(loads[1].bytes, 100u);
  EXPECT_EQ(loads[2].bytes, 50u);
  EXPECT_NE(describe(net.fabric, loads[0].port).find(" to "), std::string::npos);
  EXPECT_DOUBLE_EQ(time_on_link_ps(net.fabric, parameters, loads[0].port, 1'000), 250'000);  // 4xQDR: 4 GB/s
  parameters.link_slowdown = 32;
  EXPECT_DOUBLE_EQ(time_on_link_ps(net.fabric, parameters, loads[0].port, 1'000), 8'000'000);
}

TEST(LinkLoad, WhatIsLostCountsUpToWhereItIsLost) {
  simulate::sample::Net net = simulate::sample::crossbar(2);
  net.fabric.set_link_up(net.fabric.port(link_loads(net.fabric, net.tables, {{0, 1, 1}}).back().port).link, false);
  EXPECT_LE(link_loads(net.fabric, net.tables, {{0, 1, 1}}).size(), 1u);
}

}  // namespace
}  // namespace holdfast::simulate::job
