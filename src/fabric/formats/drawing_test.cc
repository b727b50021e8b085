#include "fabric/formats/drawing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "fabric/formats/node_name.h"
#include "fabric/topology/generate.h"

namespace holdfast::fabric {
namespace {

struct Label {
  double size = 0;
  std::string text;
};

/// The names in the boxes of switches, by their own sizes in units of the drawing.
std::vector<Label> labels(const std::string& svg) {
  std::vector<Label> found;
  const std::regex one("<text style=\"font-size:([0-9.]+)px\"[^>]*>([^<]*)</text>");
  for (std::sregex_iterator at(svg.begin(), svg.end(), one), end; at != end; ++at)
    found.push_back({std::stod((*at)[1]), (*at)[2]});
  return found;
}

double pixels_per_unit(const std::string& svg) {
  std::smatch found;
  EXPECT_TRUE(std::regex_search(svg, found, std::regex("width=\"([0-9]+)\"[^>]*viewBox=\"[^ ]+ [^ ]+ ([0-9.]+) ")));
  return std::stod(found[1]) / std::stod(found[2]);
}

/// As OpenSM's subnet list of a real cluster names the chips of its directors.
Fabric directors() {
  Fabric fabric;
  for (std::uint32_t i = 0; i < 25; ++i) {
    const NodeId chip = fabric.add_node(NodeKind::switch_, 36,
                                        "QLogic 12800-180 GUID=0x00066a00e300" + std::to_string(1000 + i) + " Leaf " +
                                            std::to_string(1 + i / 2) + ", Chip " + "AB"[i % 2]);
    const NodeId host = fabric.add_node(NodeKind::adapter, 1, "n" + std::to_string(i));
    fabric.connect(chip, host);
    if (i > 0) fabric.connect(chip, chip - 2);
  }
  return fabric;
}

TEST(Drawing, EachBoxHasANameOfItsOwnThatFits) {
  for (const Fabric& fabric : {directors(), generate("tree(4,3)").value()}) {
    const std::vector<Label> names = labels(write_drawing(fabric));
    ASSERT_EQ(names.size(), fabric.switch_count());
    std::set<std::string> different;
    for (const Label& name : names) {
      different.insert(name.text);
      EXPECT_LE(0.6 * name.size * static_cast<double>(name.text.size()), 3.2) << name.text;
    }
    EXPECT_EQ(different.size(), names.size());
  }
}

/// Leaves under a spine, with the names that administrators and firmware give.
Fabric named(const std::vector<std::string>& leaves) {
  Fabric fabric;
  const NodeId spine = fabric.add_node(NodeKind::switch_, 36, "spine");
  for (const std::string& name : leaves) {
    const NodeId leaf = fabric.add_node(NodeKind::switch_, 36, name);
    fabric.connect(spine, leaf);
    fabric.connect(fabric.add_node(NodeKind::adapter, 1, name + " host HCA-1"), leaf);
  }
  return fabric;
}

TEST(Drawing, WordsThatTellNothingAreLeftOut) {
  const Fabric fabric = named({"MF0;switch-b:MSB7800/U1", "MF0;switch-a10:MSB7800/U1", "MF0;switch-a2:MSB7800/U1",
                               "leaf of rack twelve below", "leaf of rack thirteen below", "one", "two", "three"});
  std::vector<std::string> names;
  for (const Label& name : labels(write_drawing(fabric))) names.push_back(name.text);
  EXPECT_THAT(names, testing::IsSupersetOf({"switch-b", "switch-a10", "switch-a2", "twelve", "thirteen"}));
}

TEST(Drawing, LettersOfAnyScriptStayWhole) {
  const std::string svg =
      write_drawing(named({"Gestell \xC3\xA4\xC3\xB6\xC3\xBC", "\xE6\x9D\xB1\xE4\xBA\xAC", "latin-1 \xE4",
                           "eine ausgesprochen \xC3\xBC\xC3\xBC"
                           "bergro\xC3\x9F\xC3\x9F\xC3\x9F\xC3\x9F\xC3\x9F\xC3\x9F"}));
  std::vector<std::string> names;
  for (const Label& name : labels(svg)) names.push_back(name.text);
  EXPECT_THAT(names,
              testing::IsSupersetOf({"Gestell \xC3\xA4\xC3\xB6\xC3\xBC", "\xE6\x9D\xB1\xE4\xBA\xAC", "latin-1 ?"}));
  for (std::size_t at = 0; at < svg.size();) {
    ASSERT_GT(letter_length(svg.substr(at, 4)), 0U) << svg.substr(at > 30 ? at - 30 : 0, 40);
    at += letter_length(svg.substr(at, 4));
  }
}

/// Switches of a level stand in the order of their names, numbers by their values, whatever the file's order.
TEST(Drawing, ALevelIsInTheOrderOfNames) {
  const std::string svg = write_drawing(named({"leaf10", "leaf9", "leaf1", "leaf2"}));
  std::map<double, std::string> by_place;
  const std::regex one("<text style=\"[^\"]*\" x=\"([0-9.]+)\"[^>]*>(leaf[0-9]+)</text>");
  for (std::sregex_iterator at(svg.begin(), svg.end(), one), end; at != end; ++at)
    by_place[std::stod((*at)[1])] = (*at)[2];
  std::vector<std::string> order;
  for (const auto& [place, name] : by_place) order.push_back(name);
  EXPECT_THAT(order, testing::ElementsAre("leaf1", "leaf2", "leaf9", "leaf10"));
}

TEST(Drawing, HostsAreCountedAsElsewhere) {
  Fabric fabric = named({"a", "b"});
  fabric.connect(fabric.add_node(NodeKind::adapter, 1, "Mellanox Technologies Aggregation Node"), 1);
  fabric.connect(fabric.add_node(NodeKind::adapter, 1, "a host HCA-2"), 1);
  const std::string svg = write_drawing(fabric);
  EXPECT_NE(svg.find("3 switches, 2 hosts, 6 links"), std::string::npos);
}

TEST(Drawing, NamesOfALargeTreeCanBeRead) {
  const std::string svg = write_drawing(generate("10-ary-3-tree").value());
  const std::vector<Label> names = labels(svg);
  ASSERT_EQ(names.size(), 300U);
  for (const Label& name : names) EXPECT_GE(name.size * pixels_per_unit(svg), 6) << name.text;
}

TEST(Drawing, TwoSwitchesOfOneNameAreToldApart) {
  Fabric fabric;
  fabric.add_node(NodeKind::switch_, 12, "spine");
  fabric.add_node(NodeKind::switch_, 12, "spine");
  fabric.connect(0, 1);
  const std::vector<Label> names = labels(write_drawing(fabric));
  ASSERT_EQ(names.size(), 2U);
  EXPECT_NE(names[0].text, names[1].text);
}

TEST(Drawing, LinksAreAsBusyAsTheirFullest) {
  Fabric fabric;
  const NodeId one = fabric.add_node(NodeKind::switch_, 12, "a<b"), other = fabric.add_node(NodeKind::switch_, 12, "c");
  const NodeId third = fabric.add_node(NodeKind::switch_, 12, "d");
  for (int i = 0; i < 10; ++i) fabric.connect(i < 8 ? one : other, i < 7 ? other : third);
  fabric.set_link_up(9, false);
  std::vector<double> busy(7, 0.02);
  busy[3] = 0.3;
  const std::string svg = write_loaded_drawing(fabric, busy);
  EXPECT_NE(svg.find("<path class=\"b4\""), std::string::npos) << "the seven links between two switches, 30 % busy";
  EXPECT_NE(svg.find("a&lt;b/4 - c/4: 30.00 % busy\na&lt;b/1 - c/1: 2.00 % busy"), std::string::npos);
  EXPECT_NE(svg.find("<path class=\"b0 part\""), std::string::npos) << "one of two is down, the other carries nothing";
  EXPECT_NE(svg.find("<path class=\"b0\""), std::string::npos);
  EXPECT_EQ(write_drawing(fabric).find("busy"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::fabric
