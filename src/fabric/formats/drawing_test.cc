#include "fabric/formats/drawing.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>

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
