#include "fabric/opensm/configuration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabric/topology/generate.h"

namespace holdfast::fabric::opensm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Fabric made(const char* text) {
  auto fabric = generate(text);
  EXPECT_TRUE(fabric.ok()) << fabric.status().message();
  return fabric.ok() ? std::move(fabric.value()) : Fabric();
}

TEST(Configuration, NamesTheEngineAlone) {
  Request request;
  request.engine = "updn";
  EXPECT_THAT(configuration(request, "/f"), HasSubstr("routing_engine updn,no_fallback\n"));
  EXPECT_THAT(configuration(request, "/f"), testing::Not(HasSubstr("qos")));
  request.engine = "torus-2QoS";
  EXPECT_THAT(configuration(request, "/f"), HasSubstr("qos TRUE\n"));
  request.lanes = 2;
  EXPECT_THAT(configuration(request, "/f"), HasSubstr("max_op_vls 2\n")) << "OpenSM's code for two lanes";
}

TEST(Configuration, LidsStandBesideTheGuidsThatIbsimGives) {
  Fabric fabric;
  const NodeId a = fabric.add_node(NodeKind::switch_, 2, "a", 0x10);
  fabric.connect(a, fabric.add_node(NodeKind::adapter, 2, "h", 0x20));
  fabric.assign_lids();
  EXPECT_EQ(lid_table(fabric), "0x0000000000000010 0x0001 0x0001\n\n0x0000000000000021 0x0002 0x0002\n\n");
  EXPECT_EQ(root_guids(fabric, {a}), "0x0000000000000010\n");
}

TEST(Configuration, RootsAreTheTopOfATreeOrTheMiddle) {
  EXPECT_EQ(choose_roots(made("tree(3,2)")).size(), 3U);
  for (const NodeId root : choose_roots(made("tree(3,2)"))) EXPECT_EQ(made("tree(3,2)").structure().at(root)[0], 1U);
  EXPECT_THAT(choose_roots(made("mesh(3,3)")), ElementsAre(4)) << "the middle of nine";
}

TEST(Configuration, TorusSeedsNameNeighbours) {
  const Fabric fabric = made("torus(4,3)");
  auto text = torus_configuration(fabric);
  ASSERT_TRUE(text.ok()) << text.status().message();
  EXPECT_THAT(text.value(), testing::StartsWith("torus 4 3 1\n"));
  EXPECT_THAT(text.value(), HasSubstr("xp_link 0x"));
  EXPECT_THAT(text.value(), HasSubstr("xm_link 0x")) << "a size of 4 needs both directions";
  EXPECT_THAT(text.value(), testing::Not(HasSubstr("ym_link")));
  EXPECT_THAT(text.value(), HasSubstr("x_dateline 0\ny_dateline 0\n"));
}

TEST(Configuration, ASeedWithADeadLinkIsNotTakenAndTheOriginStays) {
  Fabric fabric = made("torus(5,3)");
  for (LinkId link = 0; link < fabric.links().size(); ++link)
    if (fabric.port(fabric.link(link).a).node == 0 || fabric.port(fabric.link(link).b).node == 0)
      fabric.set_link_up(link, false);
  auto text = torus_configuration(fabric);
  ASSERT_TRUE(text.ok()) << text.status().message();
  EXPECT_THAT(text.value(), HasSubstr("x_dateline 0\ny_dateline 2\n")) << "the seed is (0,1)";
}

TEST(Configuration, ATorusIsFoundInTheCables) {
  Fabric fabric = made("torus(5,3)");
  const std::string told = torus_configuration(fabric).value();
  fabric.set_structure({});
  auto text = torus_configuration(fabric);
  ASSERT_TRUE(text.ok()) << text.status().message();
  EXPECT_THAT(text.value(), testing::AnyOf(testing::StartsWith("torus 5 3 1\n"), testing::StartsWith("torus 3 5 1\n")));
  EXPECT_EQ(std::count(text.value().begin(), text.value().end(), '\n'), std::count(told.begin(), told.end(), '\n'));
  fabric = made("mesh(4,3)");
  fabric.set_structure({});
  EXPECT_THAT(torus_configuration(fabric).value(), testing::StartsWith("mesh "));
}

TEST(Configuration, OnlyGridsHaveATorusConfiguration) {
  EXPECT_EQ(torus_configuration(made("tree(3,2)")).status().code(), Code::bad_input);
}

}  // namespace
}  // namespace holdfast::fabric::opensm
