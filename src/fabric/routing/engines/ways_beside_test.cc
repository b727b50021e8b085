#include "fabric/routing/engines/ways_beside.h"

#include <gtest/gtest.h>

#include <optional>

#include "fabric/routing/engines/engine.h"
#include "fabric/topology/generate.h"

namespace holdfast::fabric {
namespace {

/// Tables of which a switch has lost its entry for one LID, the cable of which is dead.
class Lost {
 public:
  Lost(const char* text, const char* engine)
      : fabric_(generate(text).value()), tables_(route(fabric_, engine).value()) {
    const SwitchGraph whole(fabric_);
    end_ = {whole.terminals().back().lid, whole.terminals().back().row, true};
    row_ = whole.terminals().front().row;
    port_ = tables_.out_port(row_, end_.lid);
    fabric_.set_link_up(fabric_.port(fabric_.port_of(whole.switch_at(row_), port_)).link, false);
    graph_.emplace(fabric_);
    for (std::uint32_t row = 0; row < graph_->rows(); ++row) {
      if (graph_->sources_at(row) != 0) sources_.push_back(row);
    }
    mended_.emplace(fabric_, *graph_, tables_);
    guard_.emplace(*graph_, mended_->arcs());
    mended_->begin_round();
    mended_->note(end_.row, 0);
    mended_->note(row_, none);
    mended_->set_old_port(row_, port_);
    mended_->set_broken(row_, true);
  }

  Fabric fabric_;
  Forwarding tables_;
  WayEnd end_;
  std::uint32_t row_ = none;
  std::uint8_t port_ = 0;
  std::optional<SwitchGraph> graph_;
  std::vector<std::uint32_t> sources_;
  std::optional<MendedTables> mended_;
  std::optional<LaneGuard> guard_;
};

TEST(WaysBeside, ALeafGoesUpToAnotherSpine) {
  Lost lost("tree(4,2)", "updn");
  const UpDownTables up_down(*lost.graph_, levels_above_adapters(*lost.graph_));
  WaysBeside beside(*lost.graph_, lost.tables_, *lost.mended_, *lost.guard_, &up_down, lost.sources_);
  ASSERT_TRUE(beside.step_aside_by_levels(lost.row_, lost.end_));
  const std::uint8_t port = lost.tables_.out_port(lost.row_, lost.end_.lid);
  EXPECT_NE(port, lost.port_);
  EXPECT_FALSE(lost.mended_->broken(lost.row_));
  EXPECT_EQ(lost.mended_->hops(lost.row_), 2U);
  const std::uint32_t arc = lost.mended_->arcs().next(lost.row_, lost.end_.lid);
  ASSERT_NE(arc, none);
  EXPECT_TRUE(up_down.leads_up(arc));
  EXPECT_FALSE(beside.turns_up(arc, lost.end_));
}

TEST(WaysBeside, AWayDownThatGoesUpAgainTurns) {
  Lost lost("tree(3,2)", "updn");
  const UpDownTables up_down(*lost.graph_, levels_above_adapters(*lost.graph_));
  WaysBeside beside(*lost.graph_, lost.tables_, *lost.mended_, *lost.guard_, &up_down, lost.sources_);
  unsigned turning = 0;
  for (std::uint32_t id = 0; id < lost.graph_->arcs().size(); ++id) {
    const SwitchGraph::Arc& arc = lost.graph_->arc(id);
    // down to a leaf that is not the destination's, whose entry leads up
    if (up_down.leads_up(id) || arc.to == lost.end_.row || arc.to == lost.row_) continue;
    EXPECT_TRUE(beside.turns_up(id, lost.end_));
    ++turning;
  }
  EXPECT_GT(turning, 0U);
}

/// Four switches, each joined to each: the first lost its cable to the last.
TEST(WaysBeside, NobodyStepsAsideIntoACycle) {
  for (const unsigned ways_closed : {0U, 1U, 2U}) {
    Lost lost("hyperx(4) hosts=4", "minhop");
    ASSERT_EQ(lost.row_, 0U);
    ASSERT_EQ(lost.end_.row, 3U);
    WaysBeside beside(*lost.graph_, lost.tables_, *lost.mended_, *lost.guard_, nullptr, lost.sources_);
    beside.find_senders(lost.end_.lid);
    const DependencySpace space(*lost.graph_);
    AcyclicDependencies lane(space);
    const auto arc = [&](std::uint32_t from, std::uint32_t to) {
      std::uint32_t id = lost.graph_->first_arc(from);
      while (lost.graph_->arc(id).to != to) ++id;
      return id;
    };
    for (std::uint32_t by = 1; by <= ways_closed; ++by) {  // 0 -> by -> 3 would close a circle by the other one
      const std::uint32_t other = 3 - by;
      EXPECT_TRUE(lane.add_path({arc(by, 3), arc(3, other), arc(other, 0), arc(0, by)}));
    }
    EXPECT_EQ(beside.step_aside_in_lane(0, lost.end_, lane), ways_closed < 2);
    EXPECT_EQ(lost.mended_->broken(0), ways_closed == 2);
    if (ways_closed == 2) continue;
    EXPECT_EQ(lost.mended_->hops(0), 2U);
    const std::uint32_t taken = lost.mended_->arcs().next(0, lost.end_.lid);
    if (ways_closed == 1) {
      EXPECT_EQ(taken, arc(0, 2));
    }
    EXPECT_TRUE(lane.has(taken, arc(lost.graph_->arc(taken).to, 3)));
  }
}

}  // namespace
}  // namespace holdfast::fabric
