#include "fabric/faults/failures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/fault/grammar.h"
#include "fabric/faults/names.h"
#include "fabric/topology/connectivity.h"
#include "fabric/topology/generate.h"
#include "fabric/topology/presets.h"

namespace holdfast::fabric {
namespace {

using testing::HasSubstr;

Result<Failures> fail(Fabric& fabric, const char* faults, FailureRules rules = {}) {
  return fail(fabric, fault::parse(faults).value(), rules);
}

std::size_t down(const Fabric& fabric) {
  return static_cast<std::size_t>(std::ranges::count(fabric.links(), false, &Link::up));
}

TEST(Failures, OnePercentOfA16AryTwoTreeAreTwoLinks) {  // Domke et al., SC 2014, section V-B
  Fabric fabric = generate("16-ary-2-tree").value();
  auto failures = fail(fabric, "fail-link share 1%");
  ASSERT_TRUE(failures.ok());
  EXPECT_EQ(failures.value().failed.size(), 2U);
  EXPECT_EQ(down(fabric), 2U);
}

TEST(Failures, AShareIsSeededAndOfSwitchLinksAlone) {
  auto links_of = [](std::uint64_t seed) {
    Fabric fabric = generate("torus-5x5").value();
    std::set<LinkId> links;
    const Failures drawn = fail(fabric, "fail-link share 10%", {.seed = seed}).value();
    for (const Failure& failure : drawn.failed) {
      links.insert(failure.id);
      EXPECT_FALSE(failure.critical);
      EXPECT_TRUE(fabric.is_switch(fabric.port(fabric.link(failure.id).b).node));
    }
    return links;
  };
  EXPECT_EQ(links_of(1).size(), 30U);
  EXPECT_EQ(links_of(1), links_of(1));
  EXPECT_NE(links_of(1), links_of(2));
}

TEST(Failures, HostsStayConnectedUnlessAsked) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Fabric fabric = generate("kautz(2,3) hosts=12").value();
    auto failures = fail(fabric, "fail-link share 100%", {.seed = seed});
    EXPECT_EQ(edge_connectivity(fabric), 1U) << "a tree of links is left";
    EXPECT_EQ(failures.value().spared.size(), fabric.switch_count() - 1);
    Fabric other = generate("kautz(2,3) hosts=12").value();
    auto all = fail(other, "fail-link share 100%", {.seed = seed, .critical_too = true});
    EXPECT_EQ(all.value().failed.size(), 24U);
    EXPECT_TRUE(all.value().spared.empty());
  }
  // Every switch of a torus has hosts; of a tree, the leaves.
  Fabric torus = generate("torus(3,3)").value();
  EXPECT_EQ(fail(torus, "fail-switch share 50%").value().failed.size(), 0U);
  Fabric tree = generate("tree(4,2)").value();
  EXPECT_EQ(fail(tree, "fail-switch share 50%").value().failed.size(), 3U) << "one root is left";
}

TEST(Failures, WhatIsNamedFailsAndSaysWhetherItWasCritical) {
  Fabric fabric = generate("tree(2,2) links=2").value();
  auto failures = fail(fabric,
                       "fail-link link \"s-0-0\" \"s-1-0\"; fail-link link s-0-0/5; fail-switch switch s-1-1;"
                       "fail-port switch s-0-1 port 1; fail-hca hca host-3; fail-port hca host-0 port 1");
  ASSERT_TRUE(failures.ok()) << failures.status().message();
  const auto& failed = failures.value().failed;
  ASSERT_EQ(failed.size(), 6U);
  EXPECT_EQ(describe(fabric, failed[0]), "link s-0-0/3 - s-1-0/1");
  EXPECT_FALSE(failed[0].critical);
  EXPECT_EQ(describe(fabric, failed[1]), "link s-0-0/5 - s-1-1/1");
  EXPECT_EQ(describe(fabric, failed[2]), "switch s-1-1");
  EXPECT_EQ(failed[2].links.size(), 3U) << "one of its four was down already";
  EXPECT_FALSE(failed[2].critical) << "s-0-0 still has its second cable to s-1-0";
  EXPECT_EQ(describe(fabric, failed[3]), "port s-0-1/1");
  EXPECT_TRUE(failed[3].critical) << "a host's only cable";
  EXPECT_EQ(describe(fabric, failed[4]), "adapter host-3");
  EXPECT_TRUE(failed[4].critical);
  EXPECT_TRUE(failed[5].critical) << "host-1 was left, and reached it";
}

TEST(Failures, MomentsCountUpToThePresent) {
  const Fabric healthy = generate("torus-5x5").value();
  auto count = [&](const char* faults, std::int64_t until_ns) {
    Fabric fabric = healthy;
    return fail(fabric, faults, {.seed = 1, .critical_too = false, .until_ns = until_ns}).value().failed.size();
  };
  EXPECT_EQ(count("fail-link any time 2min", 60'000'000'000), 0U);
  EXPECT_EQ(count("fail-link any time 2min", 120'000'000'000), 1U);
  EXPECT_EQ(count("fail-link any time 2min", -1), 1U);
  const std::size_t often = count("fail-link any mean 1s", 100'000'000'000);
  EXPECT_GT(often, 60U);
  EXPECT_LT(often, 140U);
}

TEST(Failures, RefusesWhatDoesNotFit) {
  Fabric fabric = generate("tree(2,2)").value();
  auto message = [&](const char* faults) { return fail(fabric, faults).status().message(); };
  EXPECT_THAT(message("flip rate 1/10"), HasSubstr("this does not happen to a fabric"));
  EXPECT_THAT(message("fail-link link s-0-9/1"),
              HasSubstr("the fabric has nothing of the name 's-0-9/1': did you mean"));
  EXPECT_THAT(message("fail-link link s-0-0/30"), HasSubstr("port s-0-0/30 has no cable"));
  EXPECT_THAT(message("fail-link link \"s-0-0\" \"s-0-1\""), HasSubstr("there is none between s-0-0 and s-0-1"));
  EXPECT_THAT(message("fail-link link s-0-0/3; fail-link link s-0-0/3"), HasSubstr("that link is down already"));
  EXPECT_THAT(message("fail-switch switch host-0"), HasSubstr("the fabric has no switch 'host-0'"));
  EXPECT_THAT(message("fail-hca hca hots-0"), HasSubstr("the fabric has no adapter 'hots-0': did you mean 'host-0'?"));
  EXPECT_THAT(message("fail-port switch s-0-0 port 99"), HasSubstr("it has no port 99"));
  EXPECT_THAT(message("fail-link any mean 1h"), HasSubstr("it strikes again and again: say until when"));
}

TEST(Ageing, FollowsTheWeibullDistribution) {
  Fabric fabric = generate("torus-7x7x7").value();
  const Fabric healthy = fabric;
  for (double shape : {0.76, 1.0, 1.07}) {
    fabric = healthy;
    auto failures = age(fabric, {.years = 8, .link_rate = 0.01, .shape = shape}, {.seed = 4});
    ASSERT_TRUE(failures.ok());
    auto within = [&](double years) {
      return static_cast<double>(
          std::ranges::count_if(failures.value().failed, [&](const Failure& f) { return f.years <= years; }));
    };
    for (double years : {1.0, 3.0, 8.0}) {  // 5,145 links: within four standard deviations
      const double expected = 5145 * (1 - std::pow(0.99, std::pow(years, shape)));
      EXPECT_NEAR(within(years), expected, 4 * std::sqrt(expected)) << shape << " " << years;
    }
  }
}

TEST(Ageing, MoreYearsAddFailuresAndChangeNone) {
  const Fabric healthy = generate("tsubame2").value();
  auto years = [&](double count) {
    Fabric fabric = healthy;
    std::vector<std::pair<double, std::uint32_t>> events;
    const Failures failures =
        age(fabric, {.years = count, .link_rate = 0.009, .links_per_switch = 13}, {.seed = 7}).value();
    for (const Failure& failure : failures.failed) events.emplace_back(failure.years, failure.id);
    return events;
  };
  const auto short_time = years(3);
  const auto long_time = years(8);
  ASSERT_LT(short_time.size(), long_time.size());
  EXPECT_TRUE(std::equal(short_time.begin(), short_time.end(), long_time.begin()));
  EXPECT_TRUE(std::ranges::is_sorted(long_time));
}

TEST(Ageing, SwitchesFailInTheRatioGiven) {
  double links = 0;
  double switches = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Fabric fabric = generate("10-ary-3-tree").value();
    auto failures =
        age(fabric, {.years = 1, .link_rate = 0.05, .links_per_switch = 13}, {.seed = seed, .critical_too = true});
    for (const Failure& failure : failures.value().failed)
      (failure.component == Component::link ? links : switches) += 1;
  }
  EXPECT_NEAR(links / switches, 13, 2.5);
}

TEST(Ageing, RefusesWhatIsNoRate) {
  Fabric fabric = generate("tree(2,2)").value();
  auto message = [&](Ageing ageing) { return age(fabric, ageing, {}).status().message(); };
  EXPECT_THAT(message({.years = 1, .link_rate = 1}), HasSubstr("an annual rate is not between 0 % and 100 %"));
  EXPECT_THAT(message({.years = -1}), HasSubstr("the years are not between"));
  EXPECT_THAT(message({.years = 1, .shape = 0}), HasSubstr("the Weibull shape"));
  EXPECT_THAT(message({.years = 1, .links_per_switch = 0}), HasSubstr("the ratio is not above 0"));
  EXPECT_THAT(message({.years = 1, .link_rate = 0.9, .links_per_switch = 0.5}),
              HasSubstr("every switch fails within a year"));
}

}  // namespace
}  // namespace holdfast::fabric
