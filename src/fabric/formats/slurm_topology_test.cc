#include "fabric/formats/slurm_topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "fabric/formats/graph_files.h"
#include "fabric/topology/generate.h"

namespace holdfast::fabric {
namespace {

using testing::HasSubstr;

TEST(ShortHostList, JoinsRunningNumbers) {
  EXPECT_EQ(short_host_list({"n1", "n2", "n3"}), "n[1-3]");
  EXPECT_EQ(short_host_list({"n3", "login", "n1", "m7"}), "login,n[1,3],m7");
  EXPECT_EQ(short_host_list({"n09", "n10", "n8", "n9"}), "n[8-9,09-10]");
  EXPECT_EQ(short_host_list({"n9", "n10"}), "n[9-10]");
  EXPECT_EQ(short_host_list({"rack1-n1", "rack1-n2", "rack2-n1"}), "rack1-n[1-2],rack2-n1");
  EXPECT_EQ(short_host_list({"7"}), "7");
  EXPECT_EQ(short_host_list({}), "");
}

TEST(SlurmTopology, TakesHostNamesFromDescriptions) {
  Fabric fabric;
  fabric.add_node(NodeKind::switch_, 8, "leaf");
  for (const char* name : {"node1 HCA-1", "node2.site mlx5_0", "node1 HCA-2"})
    fabric.connect(fabric.add_node(NodeKind::adapter, 1, name), 0);
  EXPECT_THAT(write_slurm_topology(fabric).value(), testing::EndsWith("\n# leaf\nSwitchName=leaf0 Nodes=node[1-2]\n"));
  EXPECT_THAT(write_slurm_topology(Fabric()).status().message(), HasSubstr("no host has a working link"));
}

// Routers, gateways, SHARP's nodes and adapters that nobody named are adapters and no hosts of Slurm's.
TEST(SlurmTopology, LeavesOutWhatIsNoHost) {
  Fabric fabric;
  fabric.add_node(NodeKind::switch_, 8, "leaf");
  for (const char* name : {"node1 HCA-1", "MF0;gw-1:MTX6280/rtr", "Mellanox Technologies Aggregation Node",
                           "MT4119 ConnectX5   Mellanox Technologies", "'odd'\n"})
    fabric.connect(fabric.add_node(NodeKind::adapter, 1, name), 0);
  const std::string text = write_slurm_topology(fabric).value();
  EXPECT_THAT(text, testing::EndsWith("\n# leaf\nSwitchName=leaf0 Nodes=node1\n"));
  EXPECT_THAT(text, HasSubstr("\n# left out, no host's name: MF0;gw-1:MTX6280/rtr\n"));
  EXPECT_THAT(text, HasSubstr("\n# left out, no host's name: 'odd' \n"));
  EXPECT_EQ(std::ranges::count(text, '\n'), 7);
  fabric.mutable_node(1).name = "'odd'";
  EXPECT_THAT(write_slurm_topology(fabric).status().message(), HasSubstr("no adapter's name begins with a host's"));
}

TEST(GraphFiles, OddNamesAreSafe) {
  Fabric fabric;
  fabric.add_node(NodeKind::switch_, 4, "a \"b\" \\ <c> & \x01");
  fabric.add_node(NodeKind::switch_, 4, "d");
  fabric.set_link_up(fabric.connect(0, 1), false);
  EXPECT_THAT(write_dot(fabric), HasSubstr("label=\"a \\\"b\\\" \\\\ <c> &  \""));
  EXPECT_THAT(write_dot(fabric), HasSubstr("style=dashed"));
  EXPECT_THAT(write_graphml(fabric), HasSubstr("a &quot;b&quot; \\ &lt;c&gt; &amp; ?"));
  fabric.mutable_node(0).name = "Gestell \xC3\xA4 \xE4";
  EXPECT_THAT(write_graphml(fabric), HasSubstr("Gestell \xC3\xA4 ?"));
  EXPECT_THAT(write_graphml(fabric), HasSubstr("<data key=\"up\">false</data>"));
}

}  // namespace
}  // namespace holdfast::fabric
