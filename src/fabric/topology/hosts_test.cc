#include "fabric/topology/hosts.h"

#include <gtest/gtest.h>

namespace holdfast::fabric {
namespace {

TEST(Hosts, ADeviceBehindANameIsLeftOut) {
  EXPECT_EQ(host_of("node17 HCA-1"), "node17");
  EXPECT_EQ(host_of("node17 mlx5_0"), "node17");
  EXPECT_EQ(host_of("node17 hfi1_0"), "node17");
  EXPECT_EQ(host_of("login 3 qib0"), "login 3");
  for (const char* whole : {"node17", "MT25408 ConnectX", "node17 HCA-", " HCA-1", "node17 mlx5_bond", "HCA-1", ""})
    EXPECT_EQ(host_of(whole), whole);
}

TEST(Hosts, AdaptersOfOneComputerAreOneHost) {
  Fabric fabric;
  const NodeId leaf = fabric.add_node(NodeKind::switch_, 8, "leaf");
  for (const char* name : {"n1 HCA-1", "n1 HCA-2", "n2 HCA-1", "Mellanox Technologies Aggregation Node"})
    fabric.connect(leaf, fabric.add_node(NodeKind::adapter, 2, name));
  fabric.connect(leaf, fabric.find("n2 HCA-1"));
  fabric.add_node(NodeKind::adapter, 1, "not cabled");
  const HostCount count = count_hosts(fabric);
  EXPECT_EQ(count.hosts, 2U);
  EXPECT_EQ(count.adapters, 3U);
  EXPECT_EQ(count.ports, 4U);
  EXPECT_EQ(count.aggregation_nodes, 1U);
}

}  // namespace
}  // namespace holdfast::fabric
