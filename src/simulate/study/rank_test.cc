#include "simulate/study/rank.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <deque>
#include <optional>
#include <vector>

#include "simulate/study/channel.h"
#include "simulate/study/scripted_study_for_tests.h"
#include "simulate/study/worker.h"

namespace holdfast::simulate::study {
namespace {

/// Rank 0 as a test wants it.
class FakeCoordinator final : public Messages {
 public:
  std::deque<Json> says;
  std::vector<Json> heard;  ///< all but signs of life
  std::optional<bool> left_with_all;
  bool begins = true;
  bool gone = false;
  std::size_t answers_before_end = 0;  ///< so many answers and deaths, and it ends the study

  Status begin() override { return begins ? Status() : Status(Code::unavailable, "beginning", "no MPI", "none"); }
  std::size_t rank() const override { return 1; }
  std::size_t size() const override { return 2; }
  Status send(std::size_t to, const Json& message) override {
    EXPECT_EQ(to, 0U);
    if (message.contains("beat")) return {};
    heard.push_back(message);
    if (message.contains("bye")) says.push_back({{"leave", true}, {"all_alive", true}});
    if ((message.contains("run") || message.contains("died")) && --answers_before_end == 0)
      says.push_back({{"end", true}});
    return {};
  }
  Result<std::optional<Json>> receive(std::size_t from) override {
    EXPECT_EQ(from, 0U);
    if (gone) return Status{Code::unavailable, "receiving", "gone", ""};
    if (says.empty()) return std::optional<Json>();
    Json message = says.front();
    says.pop_front();
    return std::optional<Json>(std::move(message));
  }
  void end(bool all_alive) override { left_with_all = all_alive; }
};

constexpr std::int64_t hour_ns = 3'600'000'000'000;

TEST(Rank, AnswersWhatItIsAskedAndLeaves) {
  const Scripted study(5);
  FakeCoordinator coordinator;
  coordinator.says = {Json::array(), {{"beat", true}}, {{"run", 3U}}, {{"run", 4U}}};
  coordinator.answers_before_end = 2;
  EXPECT_TRUE(serve_rank(study, coordinator, hour_ns).ok());
  ASSERT_EQ(coordinator.heard.size(), 4U);
  EXPECT_EQ(coordinator.heard[0].value("hello", ""), digest_of(study));
  EXPECT_EQ(read_answer(coordinator.heard[1])->finished.value().result["square"], 9);
  EXPECT_EQ(read_answer(coordinator.heard[2])->finished.value().result["square"], 16);
  EXPECT_TRUE(coordinator.heard[3].contains("bye"));
  EXPECT_EQ(coordinator.left_with_all, true);
}

TEST(Rank, ReportsTheRunThatEndedItsWorkerAndGoesOn) {
  Scripted study(3);
  study.script = [](std::size_t index) -> Result<Finished> {
    if (index == 1) ::kill(::getpid(), SIGKILL);
    return Finished{"measured", {{"square", index * index}}, 0};
  };
  FakeCoordinator coordinator;
  coordinator.says = {{{"run", 0U}}, {{"run", 1U}}, {{"run", 2U}}};
  coordinator.answers_before_end = 3;
  EXPECT_TRUE(serve_rank(study, coordinator, hour_ns).ok());
  ASSERT_EQ(coordinator.heard.size(), 5U);
  EXPECT_EQ(read_answer(coordinator.heard[1])->run, 0U);
  EXPECT_EQ(coordinator.heard[2].value("died", 0), 1);
  EXPECT_EQ(read_answer(coordinator.heard[3])->run, 2U) << "what was asked for besides is not lost";
}

TEST(Rank, AWorkerThatIsToldNonsenseIsReplaced) {
  const Scripted study(3);
  FakeCoordinator coordinator;
  coordinator.says = {{{"run", 99U}}, {{"run", 2U}}};
  coordinator.answers_before_end = 2;
  EXPECT_TRUE(serve_rank(study, coordinator, hour_ns).ok());
  EXPECT_EQ(coordinator.heard[1].value("died", 0), 99);
  EXPECT_EQ(read_answer(coordinator.heard[2])->run, 2U);
}

TEST(Rank, EndsWithoutRankZero) {
  const Scripted study(1);
  FakeCoordinator none;
  none.begins = false;
  EXPECT_EQ(serve_rank(study, none, hour_ns).message(), "beginning: no MPI: none");
  FakeCoordinator silent;
  const Status status = serve_rank(study, silent, 20'000'000);
  EXPECT_EQ(status.code(), Code::unavailable);
  EXPECT_EQ(silent.left_with_all, false);
  FakeCoordinator gone;
  gone.gone = true;
  EXPECT_EQ(serve_rank(study, gone, hour_ns).code(), Code::unavailable);
}

TEST(Rank, GivesUpAfterThirtyDeaths) {
  Scripted study(1);
  study.script = [](std::size_t) -> Result<Finished> { ::_exit(1); };
  FakeCoordinator coordinator;
  for (int i = 0; i < 40; ++i) coordinator.says.push_back({{"run", 0U}});
  coordinator.answers_before_end = 100;
  EXPECT_EQ(serve_rank(study, coordinator, hour_ns).code(), Code::internal);
}

}  // namespace
}  // namespace holdfast::simulate::study
