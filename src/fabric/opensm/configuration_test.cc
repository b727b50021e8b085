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
}

TEST(Configuration, AllAdaptersHaveOneLmc) {
  Fabric fabric = made("tree(2,2) lmc=2");
  const Result<std::uint8_t> lmc = lmc_of_all(fabric);
  ASSERT_TRUE(lmc.ok()) << lmc.status().message();
  EXPECT_EQ(lmc.value(), 2);
  EXPECT_THAT(configuration(Request(), "/f", lmc.value()), HasSubstr("\nlmc 2\n"));
  fabric.mutable_port(fabric.port_of(fabric.switch_count(), 1)).lmc = 0;
  EXPECT_THAT(lmc_of_all(fabric).status().wrong(), HasSubstr("adapters have LMC 0 and 2"));
  fabric = made("tree(2,2)");
  fabric.mutable_port(fabric.port_of(0, 0)).lmc = 1;
  EXPECT_THAT(lmc_of_all(fabric).status().wrong(), HasSubstr("'s-0-0' has LMC 1"));
}

// OpenSM sees the plane of its adapter alone. A switch that failures cut off is no subnet of its own.
TEST(Configuration, PlanesWantAFileEach) {
  EXPECT_THAT(check_one_subnet(made("tree(2,2) planes=2")).wrong(), HasSubstr("there are 2 that no cable joins"));
  Fabric cut = made("tree(2,2)");
  EXPECT_TRUE(check_one_subnet(cut).ok());
  for (LinkId id = 0; id < cut.links().size(); ++id) cut.set_link_up(id, false);
  EXPECT_TRUE(check_one_subnet(cut).ok());
}

TEST(Configuration, RootsAreTheTopOfATreeOrTheMiddle) {
  EXPECT_EQ(choose_roots(made("tree(3,2)")).size(), 3U);
  for (const NodeId root : choose_roots(made("tree(3,2)"))) EXPECT_EQ(made("tree(3,2)").structure().at(root)[0], 1U);
  EXPECT_THAT(choose_roots(made("mesh(3,3)")), ElementsAre(4)) << "the middle of nine";
}

}  // namespace
}  // namespace holdfast::fabric::opensm
