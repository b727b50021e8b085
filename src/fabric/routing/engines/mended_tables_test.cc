#include "fabric/routing/engines/mended_tables.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "fabric/routing/engines/engine.h"
#include "fabric/topology/generate.h"

namespace holdfast::fabric {
namespace {

class MendedTablesTest : public ::testing::Test {
 protected:
  const Fabric fabric_ = generate("tree(4,2)").value();
  const SwitchGraph graph_{fabric_};
  const Forwarding before_ = route(fabric_, "updn").value();
  Forwarding tables_ = before_;
  MendedTables mended_{fabric_, graph_, tables_};
  const Lid far_ = graph_.terminals().back().lid;  // an adapter of the last leaf
  const std::uint32_t leaf_ = graph_.terminals().front().row;
};

TEST_F(MendedTablesTest, TakesEveryChangeBack) {
  mended_.set_out_port(leaf_, far_, Forwarding::no_port);
  mended_.set_out_port(leaf_, far_, 1);
  mended_.set_service_level(leaf_, far_, 3);
  EXPECT_EQ(tables_.out_port(leaf_, far_), 1);
  EXPECT_EQ(tables_.service_level(leaf_, 0, far_), 3);
  mended_.take_back();
  EXPECT_EQ(tables_.out_port(leaf_, far_), before_.out_port(leaf_, far_));
  EXPECT_EQ(tables_.service_level(leaf_, 0, far_), 0);
}

TEST_F(MendedTablesTest, MeasuresWholeWaysOnceInARound) {
  mended_.begin_round();
  mended_.note(graph_.terminals().back().row, 0);
  EXPECT_EQ(mended_.hops_from_here(leaf_, far_), 2U);
  tables_.set_out_port(leaf_, far_, Forwarding::no_port);
  EXPECT_EQ(mended_.hops_from_here(leaf_, far_), 2U) << "known in this round";
  mended_.begin_round();
  mended_.note(graph_.terminals().back().row, 0);
  EXPECT_EQ(mended_.hops_from_here(leaf_, far_), none);
}

TEST_F(MendedTablesTest, CountsTheLidsOfChannelsAndKeepsCount) {
  std::vector<std::uint32_t> by_port(256, 0);
  for (Lid lid = 0; lid < tables_.lids(); ++lid) ++by_port[tables_.out_port(leaf_, lid)];
  const std::uint32_t arc = graph_.first_arc(leaf_);
  const std::uint32_t channel = mended_.best_channel(arc);
  EXPECT_EQ(mended_.lids_of(channel), by_port[graph_.channels()[channel].port]);
  const std::uint32_t lids = mended_.lids_of(channel);
  mended_.set_old_port(leaf_, Forwarding::no_port);
  mended_.enter(leaf_, far_, arc);
  EXPECT_EQ(tables_.out_port(leaf_, far_), graph_.channels()[channel].port);
  EXPECT_EQ(mended_.lids_of(channel), lids + 1);
}

}  // namespace
}  // namespace holdfast::fabric
