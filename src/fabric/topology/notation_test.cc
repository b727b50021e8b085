#include "fabric/topology/notation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>

#include "fabric/topology/generate.h"
#include "fabric/topology/presets.h"

namespace holdfast::fabric {
namespace {

using testing::HasSubstr;

TEST(Notation, SaysWhatItReads) {
  auto read = parse_topology(
      " torus( 5 , 5 )  links=6 hosts = 275 rate=4xfdr length=7.5m seed=9 placement=random ports=40 lmc=2 ");
  ASSERT_TRUE(read.ok()) << read.status().message();
  const Topology& topology = read.value();
  EXPECT_EQ(topology.family, Family::torus);
  EXPECT_EQ(topology.arguments, (std::vector<std::vector<std::uint32_t>>{{5, 5}}));
  EXPECT_EQ(topology.links, 6U);
  EXPECT_EQ(topology.hosts, 275U);
  EXPECT_EQ(topology.rate, (LinkRate{4, LaneSpeed::fdr}));
  EXPECT_EQ(format(topology),
            "torus(5,5) links=6 hosts=275 ports=40 seed=9 placement=random rate=4xFDR length=7.5m lmc=2");
  EXPECT_EQ(parse_topology(format(topology)).value(), topology);
  auto tree = parse_topology("xgft(3;24,12,6;1,12,6)");
  ASSERT_TRUE(tree.ok());
  EXPECT_EQ(tree.value().arguments, (std::vector<std::vector<std::uint32_t>>{{3}, {24, 12, 6}, {1, 12, 6}}));
  EXPECT_EQ(format(tree.value()), "xgft(3;24,12,6;1,12,6)");
  EXPECT_EQ(format(parse_topology("deimos").value()), "deimos");
  EXPECT_EQ(format(parse_topology("mesh(3) hosts-per-switch=0").value()), "mesh(3) hosts-per-switch=0");
}

TEST(Notation, RefusesAnOptionThatIsGivenTwice) {
  for (const char* twice : {"links=2 links=3", "ports=36 ports=36", "seed=1 seed=2", "length=7m length=8m",
                            "rate=4xQDR rate=4xFDR", "placement=packed placement=random", "hosts=4 hosts=4"})
    EXPECT_THAT(parse_topology("torus(4,4) " + std::string(twice)).status().message(), HasSubstr("given twice"))
        << twice;
  EXPECT_TRUE(parse_topology("torus-5x5 links=2").ok());  // over what the preset says
}

// The parallel links of each dimension were not counted: 10^9 cables were drawn until the memory was full.
TEST(Notation, CountsTheLinksOfEachDimensionBeforeItDraws) {
  EXPECT_THAT(generate("hyperx(3,3;1000000000,1000000000)").status().message(), HasSubstr("more than 20000000 links"));
  EXPECT_TRUE(generate("hyperx(3,3;2,1)").ok());
}

struct Wrong {
  const char* text;
  const char* message;
};
void PrintTo(const Wrong& wrong, std::ostream* out) {  // NOLINT: GoogleTest's name
  *out << testing::PrintToString(std::string(wrong.text));
}

class NotationRefused : public testing::TestWithParam<Wrong> {};

TEST_P(NotationRefused, NamesTheColumnAndWhatToDo) {
  auto read = parse_topology(GetParam().text);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.status().code(), Code::bad_input);
  EXPECT_THAT(read.status().message(), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Notation, NotationRefused,
    testing::Values(Wrong{"", "column 1: a topology begins with its name"},
                    Wrong{"torsu(5,5)", "column 1: there is no topology 'torsu': did you mean 'torus'?"},
                    Wrong{"torus", "column 6: torus does not take 0 lists of numbers: write torus(d1,d2,...)"},
                    Wrong{"torus(5,5", "column 10: expected ',', ';' or ')'"},
                    Wrong{"torus(5,x)", "column 9: expected a whole number"},
                    Wrong{"torus()", "column 7: expected a whole number"},
                    Wrong{"torus(5;5)", "column 6: torus does not take 2 lists"},
                    Wrong{"torus(99999999999)", "column 7: a number above 1000000000"},
                    Wrong{"torus(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)", "does not take 17 numbers"},
                    Wrong{"kautz(2)", "kautz does not take 1 numbers: write kautz(d,k)"},
                    Wrong{"tree(3,3) link=2", "column 11: there is no option 'link': did you mean 'links'?"},
                    Wrong{"tree(3,3) links 2", "column 17: expected '=' after links"},
                    Wrong{"tree(3,3) links=0", "column 17: links must be at least 1"},
                    Wrong{"tree(3,3) hosts=2 hosts-per-switch=1", "column 19: the number of hosts is given twice"},
                    Wrong{"tree(3,3) rate=5xQDR", "column 16: expected a width and a speed"},
                    Wrong{"tree(3,3) length=-3", "column 18: expected a length in metres"},
                    Wrong{"tree(3,3) lmc=8", "column 11: lmc must be at most 7"},
                    Wrong{"tree(3,3) placement=spred", "there is no placement 'spred': did you mean 'spread'?"},
                    Wrong{"tree(3,3) @", "column 11: expected an option"},
                    Wrong{"tsubame2(3)", "tsubame2 does not take 1 lists"}));

class GenerateImpossible : public testing::TestWithParam<Wrong> {};

TEST_P(GenerateImpossible, IsRefusedByTheGenerator) {
  auto fabric = generate(GetParam().text);
  ASSERT_FALSE(fabric.ok());
  EXPECT_EQ(fabric.status().code(), Code::bad_input);
  EXPECT_THAT(fabric.status().message(), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Generate, GenerateImpossible,
    testing::Values(Wrong{"torus(5,1)", "generating torus(5,1): a dimension has size 1: sizes are 2 or more"},
                    Wrong{"mesh(60000,60000)", "more than 1000000 switches"},
                    Wrong{"mesh(100000,100000,100000,100000,100000)", "more than 1000000 switches"},
                    Wrong{"mesh(3) links=1000000000", "more than 20000000 links"},
                    Wrong{"hyperx(5000)", "generating hyperx(5000): more than 20000000 links"},
                    Wrong{"hyperx(3,3;2)", "the two lists have different lengths"},
                    Wrong{"torus(5,5) links=6 ports=24",
                          "s-0-0 needs 25 ports and has 24: give ports=25, or fewer links or hosts"},
                    Wrong{"torus(5,5) hosts=9000", "a switch has at most 254 ports, and s-0-0 needs 364 ports"},
                    Wrong{"mesh(3) hosts=1000000000", "more than 4000000 hosts"}, Wrong{"tree(1,3)", "k of 2 or more"},
                    Wrong{"tree(2,30)", "more than 24 levels"}, Wrong{"tree(1000,9)", "more than 1000000 switches"},
                    Wrong{"xgft(2;2;2)", "the lists do not fit the height"},
                    Wrong{"xgft(1;0;1)", "a number of children or parents is 0"},
                    Wrong{"xgft(1;22;11)", "a host has one cable, so w1 must be 1: give hosts=N"},
                    Wrong{"dragonfly(4,2,2,10)", "a group's a*h links reach at most 8 other groups"},
                    Wrong{"dragonfly(0,2,2,1)", "no routers or no groups"}, Wrong{"kautz(0,3)", "d and k of 1 or more"},
                    Wrong{"kautz(1,65)", "more than 64 letters"}, Wrong{"kautz(9,9)", "more than 1000000 switches"},
                    Wrong{"random(3,3)", "there is no such regular graph"},
                    Wrong{"random(5,3)", "there is no such regular graph"}, Wrong{"random(4,1)", "never connected"},
                    Wrong{"random(30000,4)", "more than 20000 switches"},
                    Wrong{"dragonfly-plus(4,4,4,4,18)", "a group's s*h links reach at most 16 other groups"},
                    Wrong{"dragonfly-plus(4,0,4,4,1)", "no leaves, no spines or no groups"},
                    Wrong{"dragonfly-plus(60000,60000,1,60000,60000)", "more than 1000000 switches"},
                    Wrong{"xpander(1,2)", "there is no such connected graph"},
                    Wrong{"xpander(0,1)", "there is no such connected graph"},
                    Wrong{"xpander(1000000000,1000000000)", "more than 1000000 switches"},
                    Wrong{"rails(8,32,4)", "the first list has four numbers"},
                    Wrong{"rails(8,32,4,0)", "no rails, hosts, units or spines"},
                    Wrong{"rails(8,32,4,4;4,0)", "the second list is pods and cores of a group"},
                    Wrong{"rails(8,32,3,4;4,16)", "a spine's 3 cables up cannot be dealt evenly to 16 cores"},
                    Wrong{"rails(8,32,4,16) hosts=4", "its hosts have an adapter on each rail"},
                    Wrong{"rails(1000000000,1,1000000000,1000000000;1000000000,1)", "more than 1000000 switches"},
                    Wrong{"slimfly(6)", "q is no power of a prime"}, Wrong{"slimfly(2)", "q is no power of a prime"},
                    Wrong{"deimos links=2", "its links are as they were built"},
                    Wrong{"tsubame2 links=2", "its links are as they were built"},
                    Wrong{"frontera links=2", "its links are as they were built"},
                    Wrong{"abci links=2", "its links are as they were built"},
                    Wrong{"tree(4,2) planes=1000000000", "more than 4000000 adapters"},
                    Wrong{"mesh(1000) hosts=0 planes=1000000", "more than 1000000 switches"},
                    Wrong{"tree(16,2) ports=255", "at most 254 ports: give ports=254 or fewer"},
                    Wrong{"torus(3,3) ports=4000000 placement=random", "at most 254 ports: give ports=254 or fewer"}));

TEST(Generate, HostsAreSpreadPackedOrPlacedAtRandom) {
  auto counts = [](const char* text) {
    const Fabric fabric = generate(text).value();
    std::vector<int> hosts(fabric.switch_count());
    for (NodeId id = fabric.switch_count(); id < fabric.nodes().size(); ++id)
      ++hosts[fabric.port(fabric.peer(fabric.port_of(id, 1))).node];
    return hosts;
  };
  EXPECT_EQ(counts("mesh(4) hosts=6"), (std::vector{1, 2, 1, 2}));
  EXPECT_EQ(counts("mesh(4) hosts=5 placement=packed ports=4"), (std::vector{2, 2, 1, 0}));
  EXPECT_EQ(counts("mesh(4) hosts=8 placement=random ports=4"), (std::vector{2, 2, 2, 2}));
  EXPECT_EQ(counts("mesh(4) hosts=9 placement=random seed=1"), counts("mesh(4) hosts=9 placement=random seed=1"));
  EXPECT_NE(counts("mesh(4) hosts=9 placement=random seed=1"), counts("mesh(4) hosts=9 placement=random seed=2"));
  EXPECT_EQ(counts("tree(2,2) hosts=3"), (std::vector{1, 2, 0, 0}));
  EXPECT_FALSE(generate("mesh(4) hosts=9 placement=packed ports=4").ok());
  EXPECT_FALSE(generate("mesh(4) hosts=9 placement=random ports=4").ok());
}

TEST(Generate, StructurePlacesEverySwitch) {
  const Fabric torus = generate("torus(3,4) hosts=12").value();
  EXPECT_EQ(torus.structure().shape, Shape::torus);
  EXPECT_EQ(torus.node(7).name, "s-1-3");
  EXPECT_TRUE(std::ranges::equal(torus.structure().at(7), std::vector{1U, 3U}));
  EXPECT_EQ(torus.node(12).name, "host-0");
  // Every link of a dimension leaves its lower switch by the same port, wherever that is.
  for (NodeId s = 0; s < 12; ++s) {
    const NodeId right = torus.port(torus.peer(torus.port_of(s, 3))).node;
    EXPECT_EQ(torus.structure().at(right)[0], torus.structure().at(s)[0]);
    EXPECT_EQ(torus.structure().at(right)[1], (torus.structure().at(s)[1] + 1) % 4);
  }
  const Fabric tree = generate("tree(3,3)").value();
  EXPECT_EQ(tree.node(0).name, "s-0-0");
  EXPECT_EQ(tree.node(26).name, "s-2-8");
  EXPECT_EQ(tree.structure().extent, (std::vector{3U, 3U, 3U}));
  EXPECT_EQ(tree.structure().at(26)[0], 2U);
  for (const Link& link : tree.links()) {
    if (!tree.is_switch(tree.port(link.a).node)) continue;  // a host's cable
    EXPECT_EQ(tree.structure().at(tree.port(link.a).node)[0] + 1, tree.structure().at(tree.port(link.b).node)[0]);
  }
  EXPECT_EQ(generate("deimos").value().structure().shape, Shape::unknown);
}

TEST(Generate, TheSameTextGivesTheSameFabric) {
  auto cables = [](const char* text) {
    std::vector<std::pair<PortId, PortId>> ends;
    const Fabric fabric = generate(text).value();
    for (const Link& link : fabric.links()) ends.emplace_back(link.a, link.b);
    return ends;
  };
  EXPECT_EQ(cables("random(32,16) seed=5"), cables("random(32,16) seed=5"));
  EXPECT_NE(cables("random(32,16) seed=5"), cables("random(32,16) seed=6"));
}

TEST(Generate, EveryFamilyAndPresetSaysHowItIsWritten) {
  for (const FamilyRow& row : families()) {
    EXPECT_FALSE(row.doc.empty());
    EXPECT_EQ(&row_of(row.family), &row);
  }
  for (const Preset& preset : presets()) {
    EXPECT_TRUE(looks_like_topology(preset.name)) << preset.name;
    EXPECT_TRUE(parse_topology(preset.notation).ok()) << preset.name;
  }
  EXPECT_TRUE(looks_like_topology("torus(3,3) links=2"));
  EXPECT_TRUE(looks_like_topology("deimos hosts=3"));
  EXPECT_FALSE(looks_like_topology("cluster.ibnetdiscover"));
  EXPECT_FALSE(looks_like_topology("torus"));
}

}  // namespace
}  // namespace holdfast::fabric
