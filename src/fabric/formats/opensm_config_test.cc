#include "fabric/formats/opensm_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabric/topology/generate.h"
#include "fabric/topology/levels.h"

namespace holdfast::fabric {
namespace {

using testing::HasSubstr;

TEST(RootGuids, RoundTrip) {
  const Fabric fabric = generate("tree(3,2)").value();
  const std::vector<NodeId> roots = tree_roots(fabric);
  EXPECT_EQ(roots, (std::vector<NodeId>{3, 4, 5}));
  EXPECT_EQ(read_root_guids("# roots\n" + write_root_guids(fabric, roots), "roots", fabric).value(), roots);
  auto message = [&](const char* text) { return read_root_guids(text, "roots", fabric).status().message(); };
  EXPECT_THAT(message("\nx"), HasSubstr("reading roots line 2 column 1: expected a GUID"));
  EXPECT_THAT(message("0x99"), HasSubstr("line 1 column 1: no switch of the fabric has this GUID"));
}

TEST(TorusConfig, RoundTrip) {
  for (const char* text : {"torus(4,5,6)", "mesh(3,4)", "torus(7)", "torus(2,2,2) hosts=200"}) {
    const Fabric fabric = generate(text).value();
    const TorusConfig config = torus_config_of(fabric).value();
    auto read = read_torus_config(write_torus_config(fabric, config), "conf", fabric);
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(read.value().size, config.size);
    EXPECT_EQ(read.value().looped, config.looped);
    EXPECT_EQ(read.value().max_ports_in_group, config.max_ports_in_group);
    ASSERT_EQ(read.value().seeds.size(), 1U);
    EXPECT_EQ(read.value().seeds[0].at, 0U);
    EXPECT_EQ(read.value().seeds[0].next, config.seeds[0].next);
    EXPECT_EQ(read.value().seeds[0].previous, config.seeds[0].previous);
  }
  const Fabric torus = generate("torus(4,5)").value();
  const TorusConfig config = torus_config_of(torus).value();
  EXPECT_EQ(torus.node(config.seeds[0].next[0]).name, "s-1-0");
  EXPECT_EQ(torus.node(config.seeds[0].next[1]).name, "s-0-1");
  EXPECT_EQ(torus.node(config.seeds[0].previous[0]).name, "s-3-0") << "size 4 needs both directions";
  EXPECT_EQ(config.seeds[0].previous[1], none);
  EXPECT_EQ(torus_config_of(generate("torus(2,2,2) hosts=200").value()).value().max_ports_in_group,
            generate("torus(2,2,2) hosts=200").value().node(0).port_count)
      << "25 hosts at a switch are a group";
}

TEST(TorusConfig, OfATorusFoundInTheCables) {
  Fabric torus = generate("torus(5,3)").value();
  torus.set_structure({});
  const auto config = torus_config_of(torus);
  ASSERT_TRUE(config.ok()) << config.status().message();
  EXPECT_EQ(config.value().size[0] * config.value().size[1], 15U);
  EXPECT_NE(config.value().seeds[0].next[0], config.value().seeds[0].next[1]);
}

TEST(TorusConfig, ASeedWithADeadLinkIsNotTakenAndTheOriginStays) {
  Fabric fabric = generate("torus(5,3)").value();
  for (LinkId link = 0; link < fabric.links().size(); ++link) {
    if (fabric.port(fabric.link(link).a).node == 0 || fabric.port(fabric.link(link).b).node == 0)
      fabric.set_link_up(link, false);
  }
  const auto config = torus_config_of(fabric);
  ASSERT_TRUE(config.ok()) << config.status().message();
  EXPECT_EQ(fabric.node(config.value().seeds[0].at).name, "s-0-1");
  EXPECT_EQ(config.value().seeds[0].dateline, (std::array{0, 2, 0}));
  EXPECT_THAT(write_torus_config(fabric, config.value()), HasSubstr("\ny_dateline 2\n"));
  for (LinkId link = 0; link < fabric.links().size(); ++link) fabric.set_link_up(link, false);
  EXPECT_THAT(torus_config_of(fabric).status().message(), HasSubstr("no switch has working links"));
}

TEST(TorusConfig, TakesWhatTheManualPageShows) {
  const Fabric fabric = generate("torus(4,5)").value();
  auto read = read_torus_config(
      "# comment\ntorus 4 5m 1\nxp_link 0x0002c90000000001 0x0002c90000000026  # x\nx_dateline -1\nportgroup_max_ports "
      "20\n"
      "next_seed\nyp_link 0x0002c90000000026 0x0002c90000000001\nport_order 7 3 1\nmax_changes 4\n",
      "conf", fabric);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read.value().size, (std::array{4U, 5U, 1U}));
  EXPECT_EQ(read.value().looped, (std::array{true, false, true}));
  EXPECT_EQ(read.value().seeds.size(), 2U);
  EXPECT_EQ(read.value().max_ports_in_group, 20U);
}

TEST(TorusConfig, RefusesWithLineAndColumn) {
  const Fabric fabric = generate("torus(4,5)").value();
  auto message = [&](const char* text) { return read_torus_config(text, "conf", fabric).status().message(); };
  EXPECT_THAT(message(""), HasSubstr("no torus or mesh line in it"));
  EXPECT_THAT(message("next_seed"), HasSubstr("line 1 column 1: the torus or mesh line must come first"));
  EXPECT_THAT(message("torus 4 5"), HasSubstr("line 1 column 10: expected three sizes"));
  EXPECT_THAT(message("torus 4 0 1"), HasSubstr("expected three sizes"));
  EXPECT_THAT(message("torus 4 5 1\nxp_link 0x1 0x2"), HasSubstr("line 2 column 9: expected the GUID of a switch"));
  EXPECT_THAT(message("torus 4 5 1\nxq_link 0x1 0x2"), HasSubstr("there is no keyword 'xq_link'"));
  EXPECT_THAT(message("torus 4 5 1\nportgroup_max_ports 0"), HasSubstr("expected a number of ports"));
  EXPECT_THAT(message("torus 4 5 1\nxp_link 0x0002c90000000001 0x0002c90000000026\n"
                      "yp_link 0x0002c90000000026 0x0002c90000000001"),
              HasSubstr("the links of a seed start at different switches"));
  EXPECT_EQ(torus_config_of(generate("deimos").value()).status().code(), Code::bad_input);
  EXPECT_EQ(torus_config_of(generate("torus(2,2,2,2)").value()).status().code(), Code::bad_input);
}

}  // namespace
}  // namespace holdfast::fabric
