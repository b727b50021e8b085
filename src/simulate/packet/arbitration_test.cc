#include "simulate/packet/arbitration.h"

#include <gtest/gtest.h>

#include "simulate/packet/parameters.h"
#include "simulate/packet/sample_networks_for_tests.h"
#include "simulate/packet/simulate.h"

namespace holdfast::simulate {
namespace {

TEST(Arbitration, ReadsTables) {
  const Arbitration tables = read_arbitration("high 1:64, 2:32 limit 3; low 0:1", 4).value();
  EXPECT_EQ(tables.high, (std::vector<Arbitration::Entry>{{1, 64}, {2, 32}}));
  EXPECT_EQ(tables.low, (std::vector<Arbitration::Entry>{{0, 1}}));
  EXPECT_EQ(tables.high_limit, 3);
  EXPECT_EQ(read_arbitration("fair", 3).value().low.size(), 3U);
}

TEST(Arbitration, RefusesWhatItCannotRead) {
  for (const char* text : {"", "fare", "low", "low 0", "low 0:", "low 15:1", "low 0:256", "low 0:1;",
                           "low 0:1; low 1:1", "low 0:1 limit 3", "high 0:1 limit 256", "low 0:1 x"})
    EXPECT_FALSE(read_arbitration(text, 4).ok()) << text;
}

/// Two lanes towards one host, both always full: what arrives has the ratio of the weights, and a high-priority lane
/// takes everything but what its limit leaves.
double share_of_lane_1(const char* tables) {
  sample::Net net = sample::crossbar(3);
  net.tables.lanes_used = 2;
  for (fabric::Lid lid = 1; lid < net.tables.lids(); ++lid) net.tables.set_service_level(0, 0, lid, 0);
  // Host 1 sends on lane 0; host 2's packets change to lane 1 in the switch by the port they come in at.
  for (std::uint8_t in = 1; in <= 3; ++in)
    for (std::uint8_t out = 1; out <= 3; ++out) {
      fabric::LaneMap map{};
      map.fill(in == 3 ? 1 : 0);
      net.tables.set_lane_map(0, in, out, map);
    }
  Parameters parameters;
  parameters_table().apply_defaults(parameters);
  parameters.vl_arbitration = tables;
  parameters.pcie_generation = 3;  // the link, not the receiver, is what the lanes compete for
  parameters.hiccup_ns = 0;
  sample::ListedTraffic traffic(3);
  for (int i = 0; i < 3000; ++i)
    for (const std::uint32_t host : {1U, 2U}) traffic.add(host, {0, host, 2048, 0});
  std::vector<Delivery> deliveries;
  Control control;
  control.deliveries = &deliveries;
  control.limit = 1000 * ps_per_us;
  (void)simulate(net.fabric, net.tables, parameters, traffic, control).value();
  double first = 0;
  for (const Delivery& delivery : deliveries) first += delivery.source == 2 ? 1 : 0;
  return first / static_cast<double>(deliveries.size());
}

TEST(Arbitration, SharesALinkByWeight) {
  EXPECT_NEAR(share_of_lane_1("fair"), 0.5, 0.01);
  EXPECT_NEAR(share_of_lane_1("low 0:33, 1:99"), 0.75, 0.01);
  EXPECT_NEAR(share_of_lane_1("high 1:255 limit 255; low 0:255"), 1, 0.01);
  EXPECT_NEAR(share_of_lane_1("high 1:255 limit 0; low 0:255"), 0.5, 0.01);
  EXPECT_NEAR(share_of_lane_1("high 1:255 limit 2; low 0:255"), 0.8, 0.02);  // 128 blocks are 4 packets of 33
}

TEST(Arbitration, ALaneThatNobodyServesIsAnError) {
  sample::Net net = sample::crossbar(2);
  net.tables.lanes_used = 2;
  Parameters parameters;
  parameters_table().apply_defaults(parameters);
  parameters.vl_arbitration = "low 0:1";
  sample::ListedTraffic traffic(2);
  const auto result = simulate(net.fabric, net.tables, parameters, traffic);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.status().message().find("lane 1"), std::string::npos);
}

TEST(Arbitration, ParametersThatContradictAreErrors) {
  const sample::Net net = sample::crossbar(2);
  sample::ListedTraffic traffic(2);
  Parameters parameters;
  parameters_table().apply_defaults(parameters);
  parameters.input_buffer = 32;
  EXPECT_FALSE(simulate(net.fabric, net.tables, parameters, traffic).ok());
  parameters_table().apply_defaults(parameters);
  parameters.output_buffer = 32;
  EXPECT_FALSE(simulate(net.fabric, net.tables, parameters, traffic).ok());
  parameters_table().apply_defaults(parameters);
  parameters.hiccup_ns = 100;
  EXPECT_FALSE(simulate(net.fabric, net.tables, parameters, traffic).ok());
}

}  // namespace
}  // namespace holdfast::simulate
