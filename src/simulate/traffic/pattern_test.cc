#include "simulate/traffic/pattern.h"

#include <gtest/gtest.h>

#include <set>

#include "simulate/packet/hosts.h"
#include "simulate/packet/sample_networks_for_tests.h"
#include "simulate/traffic/distance_order.h"
#include "simulate/traffic/sweep.h"

namespace holdfast::simulate {
namespace {

Parameters defaults() {
  Parameters parameters;
  parameters_table().apply_defaults(parameters);
  return parameters;
}

/// The first destinations of each host, asked as if every message left at once.
std::vector<std::vector<std::uint32_t>> destinations(const char* text, const sample::Net& net, std::size_t most,
                                                     std::uint64_t seed = 1) {
  auto traffic = make_traffic(parse_traffic(text).value(), net.fabric, defaults(), seed).value();
  std::vector<std::vector<std::uint32_t>> all(Hosts(net.fabric).count());
  for (std::uint32_t host = 0; host < all.size(); ++host) {
    Traffic::Message message;
    while (all[host].size() < most && traffic->next(host, 0, message) == Traffic::Answer::send)
      all[host].push_back(message.destination);
  }
  return all;
}

TEST(Pattern, EveryExchangeReachesEachOtherHostOnce) {
  for (const std::uint32_t hosts : {2U, 3U, 8U, 9U})
    for (const char* text : {"exchange", "linear-exchange", "all-to-all", "exchange order=lid"}) {
      const auto all = destinations(text, sample::crossbar(hosts), 1000);
      for (std::uint32_t host = 0; host < hosts; ++host) {
        EXPECT_EQ(all[host].size(), hosts - 1) << text;
        EXPECT_EQ(std::set<std::uint32_t>(all[host].begin(), all[host].end()).size(), hosts - 1) << text;
        EXPECT_FALSE(std::set<std::uint32_t>(all[host].begin(), all[host].end()).contains(host)) << text;
      }
    }
}

TEST(Pattern, ExchangeShiftsOutwardsInBothDirections) {
  const auto all = destinations("exchange order=lid", sample::crossbar(6), 100);
  EXPECT_EQ(all[0], (std::vector<std::uint32_t>{1, 5, 2, 4, 3}));
  EXPECT_EQ(all[4], (std::vector<std::uint32_t>{5, 3, 0, 2, 1}));
}

TEST(Pattern, FixedPartnersAreWhatTheySay) {
  const sample::Net net = sample::crossbar(8);
  EXPECT_EQ(destinations("tornado order=lid", net, 1)[6][0], 1U);  // 6 + 3
  EXPECT_EQ(destinations("bisection order=lid", net, 1)[6][0], 2U);
  EXPECT_EQ(destinations("neighbours reach=2 order=lid", net, 5)[0], (std::vector<std::uint32_t>{1, 7, 2, 6, 1}));
  const auto permuted = destinations("permutation", net, 1);
  std::set<std::uint32_t> hit;
  for (std::uint32_t host = 0; host < 8; ++host) {
    EXPECT_NE(permuted[host][0], host);
    hit.insert(permuted[host][0]);
  }
  EXPECT_EQ(hit.size(), 8U);
  for (std::uint32_t host = 1; host < 8; ++host) EXPECT_EQ(destinations("hotspot share=1", net, 1)[host][0], 0U);
  EXPECT_TRUE(destinations("hotspot share=1", net, 1)[0].empty());
}

TEST(Pattern, SeedsDecideAndHostsDrawApart) {
  const sample::Net net = sample::crossbar(20);
  EXPECT_EQ(destinations("uniform", net, 50), destinations("uniform", net, 50));
  EXPECT_NE(destinations("uniform", net, 50), destinations("uniform", net, 50, 2));
  EXPECT_NE(destinations("all-to-all", net, 50), destinations("all-to-all", net, 50, 2));
}

TEST(Pattern, OrderByDistanceKeepsASwitchTogether) {
  const sample::Net net = sample::chain(4, 3);
  const auto order = distance_order(net.fabric, Hosts(net.fabric));
  ASSERT_EQ(order.size(), 12U);
  for (std::uint32_t at = 0; at < 12; ++at) EXPECT_EQ(order[at] / 3, at / 3);
}

TEST(Pattern, LoadIsWhatIsOffered) {
  const sample::Net net = sample::crossbar(4);
  for (const char* text : {"uniform load=0.4", "uniform load=0.4 arrivals=even"}) {
    auto traffic = make_traffic(parse_traffic(text).value(), net.fabric, defaults(), 1).value();
    Control control;
    control.limit = 20 * ps_per_ms;
    control.until_steady = false;
    const Record record = simulate(net.fabric, net.tables, defaults(), *traffic, control).value();
    EXPECT_NEAR(record.host_mean_bytes_per_s / (0.4 * 4e9 * 2048 / 2074), 1, 0.02) << text;
  }
}

// 1e-18 wrapped to full load, and 1e-15 to a wrong one; 1e-11 ended at the end of the clock with a wrong throughput.
TEST(Pattern, RefusesGapsThatTheClockCannotHold) {
  const sample::Net net = sample::crossbar(4);
  const auto make = [&](const std::string& text) {
    return make_traffic(parse_traffic(text).value(), net.fabric, defaults(), 1).status();
  };
  for (const char* text : {"uniform load=1e-18", "uniform load=1e-15", "uniform load=1e-11", "uniform load=1e-300",
                           "uniform load=1e-18 arrivals=even", "uniform load=1e-9 messages=1000000000",
                           "exchange load=1e-12", "uniform size=1099511627776 messages=1099511627776"}) {
    EXPECT_EQ(make(text).code(), Code::bad_input) << text;
    EXPECT_NE(make(text).message().find("the simulated clock ends after 106"), std::string::npos) << text;
  }
  EXPECT_TRUE(make("uniform load=1e-9").ok());
  EXPECT_TRUE(make("uniform load=1e-6 messages=1000").ok());
  EXPECT_TRUE(make("exchange size=1099511627776").ok());
}

TEST(Pattern, LowLoadsAreOfferedAsTheySay) {
  const sample::Net net = sample::crossbar(2);
  auto traffic =
      make_traffic(parse_traffic("uniform load=1e-9 arrivals=even").value(), net.fabric, defaults(), 1).value();
  Traffic::Message message;
  ASSERT_EQ(traffic->next(0, 0, message), Traffic::Answer::later);
  const Time first = message.created;
  ASSERT_EQ(traffic->next(0, first, message), Traffic::Answer::send);
  ASSERT_EQ(traffic->next(0, first, message), Traffic::Answer::later);
  const double full = static_cast<double>(link_pace({4, fabric::LaneSpeed::qdr}).of(2048 + header_bytes));
  EXPECT_NEAR(static_cast<double>(message.created - first) * 1e-9 / full, 1, 1e-6);
}

TEST(Pattern, RefusesAKeyThatIsGivenTwice) {
  EXPECT_EQ(parse_traffic("uniform load=0.5 size=64 load=0.7").status().message(),
            "reading the traffic: 'load' is given twice: leave one of them out");
}

TEST(Pattern, CountsTheMessagesAndPacketsOfAnExchange) {
  const sample::Net net = sample::crossbar(4);
  auto traffic = make_traffic(parse_traffic("exchange size=5000").value(), net.fabric, defaults(), 1).value();
  EXPECT_EQ(traffic->messages(), 12);
  EXPECT_EQ(traffic->packets(2048), 36);
  traffic = make_traffic(parse_traffic("uniform").value(), net.fabric, defaults(), 1).value();
  EXPECT_EQ(traffic->packets(2048), 0);
}

TEST(Pattern, TextComesBack) {
  for (const char* text : {"uniform", "exchange size=20480 order=lid", "uniform load=0.25 arrivals=even",
                           "hotspot share=0.2 target=3", "neighbours messages=7 reach=2"})
    EXPECT_EQ(format_traffic(parse_traffic(text).value()), text);
}

TEST(Pattern, RefusesWhatMakesNoSense) {
  for (const char* text : {"", "unifrom", "uniform size", "uniform size=0", "uniform load=1.5", "uniform load=-1",
                           "uniform arrivals=now", "uniform order=name", "uniform sise=3", "uniform load=nan"})
    EXPECT_FALSE(parse_traffic(text).ok()) << text;
  EXPECT_NE(parse_traffic("unifrom").status().message().find("uniform"), std::string::npos);
  const sample::Net net = sample::crossbar(2);
  EXPECT_FALSE(make_traffic(parse_traffic("hotspot target=2").value(), net.fabric, defaults(), 1).ok());
  EXPECT_FALSE(make_traffic(parse_traffic("uniform").value(), sample::crossbar(1).fabric, defaults(), 1).ok());
}

TEST(Sweep, FindsWhereTheNetworkNoLongerKeepsUp) {
  const sample::Net net = sample::crossbar(8);
  Control control;
  control.limit = 2 * ps_per_ms;
  const Sweep found =
      sweep(net.fabric, net.tables, defaults(), parse_traffic("permutation").value(), 1, control, 5, 3).value();
  EXPECT_NEAR(found.saturation_load, 0.9, 0.08);  // PCI Express pauses a tenth of the time
  EXPECT_NEAR(found.saturation_bytes_per_s / (3.6e9 * 2048 / 2074), 1, 0.02);
  EXPECT_EQ(found.points.size(), 8U);
  EXPECT_FALSE(sweep(net.fabric, net.tables, defaults(), parse_traffic("exchange").value(), 1, control, 5, 3).ok());
}

}  // namespace
}  // namespace holdfast::simulate
