#include "simulate/job/placement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/output/output_file.h"
#include "core/scratch/scratch_folder.h"
#include "fabric/topology/generate.h"

namespace holdfast::simulate::job {
namespace {

std::vector<std::string> names_of(std::string_view list) {
  std::vector<std::string> names;
  auto read = parse_node_list(list, "the list");
  if (!read.ok()) return {read.status().wrong()};
  for (const NamedHost& host : read.value()) names.push_back(host.name);
  return names;
}

TEST(Placement, NodeListsAsSlurmWritesThem) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(names_of("n1"), Names{"n1"});
  EXPECT_EQ(names_of("n[1-3],gpu7"), (Names{"n1", "n2", "n3", "gpu7"}));
  EXPECT_EQ(names_of("n[008-010,12]"), (Names{"n008", "n009", "n010", "n12"}));
  EXPECT_EQ(names_of("r[1-2]n[0-1]x"), (Names{"r1n0x", "r1n1x", "r2n0x", "r2n1x"}));
  for (const std::string_view bad :
       {"", "n[1-3", "n]1", "n[3-1]", "n[]", "n[a-b]", "n1,,n2", "n[0-99999999]", "n[1-1024][1-1024][1-1024]"})
    EXPECT_FALSE(parse_node_list(bad, "the list").ok()) << bad;
  EXPECT_EQ(names_of("n[18446744073709551615]"), Names{"n18446744073709551615"});  // no number comes after it
  EXPECT_EQ(names_of("n[18446744073709551614-18446744073709551615]").size(), 2U);
}

/// Names that are long times hosts that are many.
TEST(Placement, LongNamesAreRefused) {
  const std::string name(300, 'n');
  for (const std::string& list :
       {name, "n[1-1000]" + name, "n[1-1000]" + name.substr(0, 200) + "[1-2]" + name.substr(0, 99),
        "n[" + std::string(300, '0') + "-1000]", name.substr(0, 250) + "[100000-100001]",
        "[0," + std::string(254, '0') + "1]nn", "[0," + std::string(200, '0') + "1][0," + std::string(200, '0') + "1]"})
    EXPECT_FALSE(parse_node_list(list, "the list").ok()) << list;
  EXPECT_TRUE(parse_node_list(name.substr(0, 250) + "[1-3]", "the list").ok());
}

struct Placed {
  fabric::Fabric fabric;
  std::vector<bool> taken;
  explicit Placed(const char* topology = "tree(4,2)") : fabric(fabric::generate(topology).value()) {
    if (fabric.top_lid() == 0) fabric.assign_lids();
    taken.assign(fabric.adapter_count(), false);
  }
  std::vector<std::uint32_t> with(const PlacementRules& rules, std::uint32_t ranks) {
    auto placed = place(rules, ranks, fabric, taken);
    EXPECT_TRUE(placed.ok()) << placed.status().message();
    return placed.ok() ? placed.value() : std::vector<std::uint32_t>{};
  }
  std::string host(std::uint32_t number) {
    std::vector<std::string> names;
    for (const fabric::Node& node : fabric.nodes())
      if (node.kind == fabric::NodeKind::adapter) names.push_back(node.name);
    return names[number];
  }
};

TEST(Placement, BlockRoundRobinAndRandom) {
  using Hosts = std::vector<std::uint32_t>;
  EXPECT_EQ(Placed().with({Distribution::block, 2, {}, 1}, 5), (Hosts{0, 0, 1, 1, 2}));
  EXPECT_EQ(Placed().with({Distribution::round_robin, 2, {}, 1}, 5), (Hosts{0, 1, 2, 0, 1}));
  const Hosts drawn = Placed().with({Distribution::random, 1, {}, 3}, 8);
  EXPECT_EQ(std::set<std::uint32_t>(drawn.begin(), drawn.end()).size(), 8u);
  EXPECT_EQ(drawn, Placed().with({Distribution::random, 1, {}, 3}, 8));
  EXPECT_NE(drawn, Placed().with({Distribution::random, 1, {}, 4}, 8));
}

/// A host with an adapter on each of two rails is one host, whatever places ranks.
TEST(Placement, AHostWithTwoAdaptersIsOneHost) {
  const auto on_rails = [](const PlacementRules& rules, std::uint32_t ranks, bool second_job = false) {
    Placed placed("rails(2,4,2,2)");
    if (second_job) placed.with({}, 3);
    std::vector<std::string> names;
    for (const std::uint32_t adapter : placed.with(rules, ranks)) names.push_back(placed.host(adapter));
    return names;
  };
  using Names = std::vector<std::string>;
  const std::string first = " mlx5_0";
  EXPECT_EQ(on_rails({}, 3), (Names{"host-0" + first, "host-1" + first, "host-2" + first}));
  EXPECT_EQ(on_rails({Distribution::block, 2, {}, 1}, 3),
            (Names{"host-0" + first, "host-0" + first, "host-1" + first}));
  EXPECT_EQ(on_rails({Distribution::round_robin, 2, {}, 1}, 3),
            (Names{"host-0" + first, "host-1" + first, "host-0" + first}));
  EXPECT_EQ(on_rails({}, 2, true), (Names{"host-3" + first, "host-4" + first}));
  for (const std::string& name : on_rails({Distribution::random, 1, {}, 3}, 8)) EXPECT_TRUE(name.ends_with(first));
  Placed placed("rails(2,4,2,2)");
  EXPECT_EQ(places_of({}, placed.fabric, placed.taken), 8U);
  EXPECT_FALSE(place({}, 9, placed.fabric, placed.taken).ok()) << "eight hosts have sixteen adapters";
  // By name: a host has its first adapter, or the one that was named.
  PlacementRules named;
  named.hosts = {{"host-5", 0}, {"host-2", 2}};
  EXPECT_EQ(on_rails(named, 3), (Names{"host-5" + first, "host-2" + first, "host-2" + first}));
  named.hosts = {{"host-5 mlx5_1", 0}, {"host-5", 0}};
  EXPECT_EQ(on_rails(named, 2), (Names{"host-5 mlx5_1", "host-5 mlx5_1"}));
  EXPECT_NE(idle_adapters_in_words(placed.fabric).find("; 8 hosts have more"), std::string::npos);
  EXPECT_EQ(idle_adapters_in_words(Placed().fabric), "");
}

/// Names that tell nothing of computers, and what is no computer.
TEST(Placement, AdaptersThatAreCalledAlikeAreHostsOfTheirOwn) {
  fabric::Fabric fabric;
  const fabric::NodeId leaf = fabric.add_node(fabric::NodeKind::switch_, 8, "leaf");
  for (const char* name :
       {"localhost HCA-1", "localhost HCA-1", "localhost HCA-2", "Mellanox Technologies Aggregation Node",
        "node1 mlx5_1", "node1 mlx5_0", "MT25408 ConnectX", "MT25408 ConnectX"})
    fabric.connect(leaf, fabric.add_node(fabric::NodeKind::adapter, 1, name));
  fabric.assign_lids();
  std::vector<bool> taken(8, false);
  EXPECT_EQ(place({}, 6, fabric, taken).value(), (std::vector<std::uint32_t>{0, 1, 2, 5, 6, 7}));
}

TEST(Placement, JobsDoNotShareHostsUnlessTold) {
  Placed placed;
  const auto first = placed.with({Distribution::block, 1, {}, 1}, 4);
  const auto second = placed.with({Distribution::block, 1, {}, 1}, 4);
  for (const std::uint32_t host : second) EXPECT_EQ(std::count(first.begin(), first.end(), host), 0);
  PlacementRules named;
  named.hosts = {{placed.host(0), 0}};
  EXPECT_EQ(placed.with(named, 1), std::vector<std::uint32_t>{0});
}

TEST(Placement, NamedHostsAndWhatIsMissing) {
  Placed placed;
  PlacementRules rules;
  rules.hosts = {{placed.host(5), 2}, {placed.host(3), 0}};
  EXPECT_EQ(placed.with(rules, 3), (std::vector<std::uint32_t>{5, 5, 3}));
  EXPECT_FALSE(place(rules, 4, placed.fabric, placed.taken).ok());  // three places
  rules.hosts.push_back({"nowhere", 0});
  const auto missing = place(rules, 1, placed.fabric, placed.taken);
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.status().message().find("'nowhere'"), std::string::npos);
  EXPECT_FALSE(place({}, 1000, placed.fabric, placed.taken).ok());
}

TEST(Placement, HostFiles) {
  const scratch::ScratchFolder folder;
  const std::string path = folder.path() + "/hosts";
  ASSERT_TRUE(output::write_file(path, "# ours\nn1 slots=4\n\nn2\r\n").ok());
  EXPECT_EQ(read_host_file(path).value(), (std::vector<NamedHost>{{"n1", 4}, {"n2", 0}}));
  for (const std::string_view bad : {"", "# none\n", "n1 4\n", "n1 slots=0\n", "n1 slots=2 more\n"}) {
    ASSERT_TRUE(output::write_file(path, std::string(bad)).ok());
    EXPECT_FALSE(read_host_file(path).ok()) << bad;
  }
  EXPECT_FALSE(read_host_file(folder.path() + "/none").ok());
}

}  // namespace
}  // namespace holdfast::simulate::job
