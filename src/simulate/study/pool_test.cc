#include "simulate/study/pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>

#include "core/scratch/scratch_folder.h"
#include "simulate/study/channel.h"
#include "simulate/study/scripted_study_for_tests.h"
#include "simulate/study/worker.h"

namespace holdfast::simulate::study {
namespace {

struct Heard {
  std::map<std::size_t, Finished> finished;
  std::vector<std::string> troubles;
  std::size_t progressed = 0;

  PoolEnd run(const Study& study, unsigned workers, Messages* messages = nullptr,
              std::int64_t silence_ns = 3'600'000'000'000) {
    std::vector<std::size_t> todo;
    for (std::size_t i = 0; i < study.points.size(); ++i) todo.push_back(i);
    PoolOptions options;
    options.workers = workers;
    options.messages = messages;
    options.silence_ns = silence_ns;
    return run_pool(study, todo, options,
                    {.finished =
                         [&](std::size_t run, const Finished& what) {
                           EXPECT_TRUE(finished.emplace(run, what).second) << "a run came twice";
                           return Status{};
                         },
                     .progress = [&](const PoolProgress& progress) { progressed = progress.done; },
                     .trouble = [&](const std::string& words) { troubles.push_back(words); }});
  }
};

/// A file that one process makes and another waits for, for at most a minute.
class Marker {
 public:
  void set() const { std::ofstream(path_) << "x"; }
  bool is_set() const { return std::filesystem::exists(path_); }
  bool awaited() const {
    for (int look = 0; look < 6000 && !is_set(); ++look) ::usleep(10'000);
    return is_set();
  }

 private:
  scratch::ScratchFolder folder_;
  std::string path_ = folder_.file("marker");
};

TEST(Pool, EveryRunOnce) {
  for (const unsigned workers : {1U, 3U, 20U}) {
    const Scripted study(17);
    Heard heard;
    const PoolEnd end = heard.run(study, workers);
    EXPECT_TRUE(end.status.ok()) << end.status.message();
    EXPECT_EQ(end.signal, 0);
    ASSERT_EQ(heard.finished.size(), 17U);
    EXPECT_EQ(heard.progressed, 17U);
    for (const auto& [run, finished] : heard.finished) EXPECT_EQ(finished.result["square"], run * run);
  }
  Heard nothing;
  EXPECT_TRUE(nothing.run(Scripted(0), 2).status.ok());
}

TEST(Pool, ARunOfADeadWorkerGoesToAnother) {
  const Marker marker;
  Scripted study(6);
  study.script = [&](std::size_t index) -> Result<Finished> {
    if (index == 3 && !marker.is_set()) {
      marker.set();
      ::kill(::getpid(), SIGKILL);
    }
    return Finished{"measured", {{"square", index * index}}, 0};
  };
  Heard heard;
  EXPECT_TRUE(heard.run(study, 2).status.ok());
  ASSERT_EQ(heard.finished.size(), 6U);
  EXPECT_EQ(heard.finished.at(3).outcome, "measured");
  ASSERT_EQ(heard.troubles.size(), 1U);
  EXPECT_THAT(heard.troubles[0], testing::HasSubstr("goes to another: n3"));
}

TEST(Pool, ARunThatEndsThreeWorkersIsGivenUp) {
  Scripted study(4);
  study.script = [](std::size_t index) -> Result<Finished> {
    if (index == 1) ::kill(::getpid(), SIGKILL);
    return Finished{"measured", Json::object(), 0};
  };
  Heard heard;
  EXPECT_TRUE(heard.run(study, 2).status.ok());
  ASSERT_EQ(heard.finished.size(), 4U);
  EXPECT_EQ(heard.finished.at(1).outcome, "crashed");
  EXPECT_EQ(heard.troubles.size(), 3U);
}

TEST(Pool, AWorkerGoesOnWhileTheCoordinatorWrites) {
  const Marker second;
  Scripted study(8);
  study.script = [&](std::size_t index) -> Result<Finished> {
    if (index == 1) second.set();
    return Finished{"measured", Json::object(), 0};
  };
  std::size_t done = 0;
  PoolOptions options;
  const PoolEnd end = run_pool(study, {0, 1, 2, 3, 4, 5, 6, 7}, options,
                               {.finished =
                                    [&](std::size_t run, const Finished&) {
                                      if (run == 0) {
                                        EXPECT_TRUE(second.awaited());
                                      }
                                      ++done;
                                      return Status{};
                                    },
                                .progress = [](const PoolProgress&) {},
                                .trouble = [](const std::string&) {}});
  EXPECT_TRUE(end.status.ok());
  EXPECT_EQ(done, 8U);
  EXPECT_GT(end.waited_ns, 0);
}

TEST(Pool, RunsThatADeadWorkerHadNotBegunAreNotItsFault) {
  const Marker died;
  Scripted study(9);
  study.script = [&](std::size_t index) -> Result<Finished> {
    if (index == 2 && !died.is_set()) {
      died.set();
      ::kill(::getpid(), SIGKILL);
    }
    return Finished{"measured", {{"square", index * index}}, 0};
  };
  Heard heard;
  EXPECT_TRUE(heard.run(study, 1).status.ok());
  EXPECT_EQ(heard.finished.size(), 9U);
  ASSERT_EQ(heard.troubles.size(), 1U);
  EXPECT_THAT(heard.troubles[0], testing::HasSubstr("goes to another: n2"));
}

TEST(Pool, TheLastRunsAreLeftToWhoeverIsFree) {
  const Marker other;
  Scripted study(4);
  study.script = [&](std::size_t index) -> Result<Finished> {
    if (index == 3) other.set();
    const bool ended = index != 0 || other.awaited();  // the first run lasts until the last has begun
    return Finished{ended ? "measured" : "waited in vain", Json::object(), 0};
  };
  Heard heard;
  EXPECT_TRUE(heard.run(study, 2).status.ok());
  EXPECT_EQ(heard.finished.at(0).outcome, "measured");
}

TEST(Pool, AnErrorEndsIt) {
  Scripted study(50);
  study.script = [](std::size_t index) -> Result<Finished> {
    if (index == 2) return Status{Code::unavailable, "doing", "wrong", "remedy"};
    return Finished{"measured", Json::object(), 0};
  };
  Heard heard;
  const PoolEnd end = heard.run(study, 2);
  EXPECT_EQ(end.status.code(), Code::unavailable);
  EXPECT_EQ(end.status.message(), "doing: wrong: remedy");
  EXPECT_LT(heard.finished.size(), 50U);
}

TEST(Pool, ASignalEndsItAndItsWorkers) {
  Scripted study(4);
  const pid_t coordinator = ::getpid();
  study.script = [coordinator](std::size_t index) -> Result<Finished> {
    if (index == 1) {
      ::kill(coordinator, SIGTERM);
      ::sleep(1000);
    }
    return Finished{"measured", Json::object(), 0};
  };
  Heard heard;
  EXPECT_EQ(heard.run(study, 1).signal, SIGTERM);
  EXPECT_EQ(heard.finished.size(), 1U);
}

/// Ranks of a job that do what a test wants, in this process.
class FakeRanks final : public Messages {
 public:
  explicit FakeRanks(std::size_t size, const Study& study) : size_(size), said_(size), told_(size) {
    for (std::size_t rank = 1; rank < size; ++rank) say(rank, {{"hello", digest_of(study)}});
  }

  /// Called for every run that a rank is given.
  std::function<void(std::size_t rank, std::size_t run)> asked = [this](std::size_t rank, std::size_t run) {
    answer(rank, run);
  };
  std::set<std::size_t> mute;  ///< ranks that say nothing, and do not even beat
  std::set<std::size_t> gone;  ///< ranks that MPI knows to be dead
  std::optional<bool> left_with_all;

  void say(std::size_t rank, const Json& message) { said_[rank].push_back(message); }
  void answer(std::size_t rank, std::size_t run) {
    say(rank, to_message(run, Finished{"measured", {{"square", run * run}}, 0}));
  }

  Status begin() override { return {}; }
  std::size_t rank() const override { return 0; }
  std::size_t size() const override { return size_; }
  Status send(std::size_t to, const Json& message) override {
    if (gone.contains(to)) return {Code::unavailable, "sending", "gone", ""};
    if (message.contains("run")) asked(to, message["run"].get<std::size_t>());
    if (message.contains("end")) say(to, {{"bye", true}});
    return {};
  }
  Result<std::optional<Json>> receive(std::size_t from) override {
    if (gone.contains(from)) return Status{Code::unavailable, "receiving", "gone", ""};
    if (mute.contains(from)) return std::optional<Json>();
    if (said_[from].empty()) {  // every second look finds a sign of life
      told_[from] = !told_[from];
      const Json beat = {{"beat", true}};
      return told_[from] ? std::optional<Json>(beat) : std::optional<Json>();
    }
    Json message = said_[from].front();
    said_[from].pop_front();
    return std::optional<Json>(std::move(message));
  }
  void end(bool all_alive) override { left_with_all = all_alive; }

 private:
  std::size_t size_;
  std::vector<std::deque<Json>> said_;
  std::vector<char> told_;
};

TEST(Ranks, TakeRunsAndLeaveTogether) {
  const Scripted study(17);
  FakeRanks ranks(3, study);
  std::set<std::size_t> busy;
  ranks.asked = [&](std::size_t rank, std::size_t run) {
    busy.insert(rank);
    ranks.answer(rank, run);
  };
  Heard heard;
  const PoolEnd end = heard.run(study, 0, &ranks);
  EXPECT_TRUE(end.status.ok()) << end.status.message();
  EXPECT_EQ(heard.finished.size(), 17U);
  EXPECT_EQ(busy, (std::set<std::size_t>{1, 2}));
  EXPECT_EQ(ranks.left_with_all, true);
  FakeRanks idle(3, study);
  Heard nothing;
  EXPECT_TRUE(nothing.run(Scripted(0), 1, &idle).status.code() == Code::diverged) << "another study's keys";
}

TEST(Ranks, ARunOfASilentRankGoesToAnotherAndIsCountedOnce) {
  const Scripted study(5);
  FakeRanks ranks(3, study);
  std::optional<std::size_t> held;
  ranks.asked = [&](std::size_t rank, std::size_t run) {
    if (rank == 1 && !held) {
      held = run;
      ranks.mute.insert(1);
      return;
    }
    if (rank == 2 && held == run) {  // the first comes back with its answer before the second
      ranks.mute.erase(1);
      ranks.answer(1, run);
    }
    ranks.answer(rank, run);
  };
  Heard heard;
  EXPECT_TRUE(heard.run(study, 0, &ranks, 20'000'000).status.ok());
  EXPECT_EQ(heard.finished.size(), 5U);
  ASSERT_TRUE(held);
  ASSERT_EQ(heard.troubles.size(), 1U);
  EXPECT_THAT(heard.troubles[0], testing::HasSubstr("rank 1 is silent; its run goes to another"));
  EXPECT_EQ(ranks.left_with_all, true) << "it has come back";
}

TEST(Ranks, NobodyWaitsForTheDead) {
  for (const bool mpi_tells : {true, false}) {
    const Scripted study(6);
    FakeRanks ranks(3, study);
    ranks.asked = [&](std::size_t rank, std::size_t run) {
      if (rank == 1)
        (mpi_tells ? ranks.gone : ranks.mute).insert(1);
      else
        ranks.answer(rank, run);
    };
    Heard heard;
    EXPECT_TRUE(heard.run(study, 0, &ranks, 20'000'000).status.ok());
    EXPECT_EQ(heard.finished.size(), 6U);
    EXPECT_EQ(ranks.left_with_all, false);
    ASSERT_EQ(heard.troubles.size(), 1U);
    EXPECT_THAT(heard.troubles[0], testing::HasSubstr(mpi_tells ? "rank 1 is gone" : "rank 1 is silent"));
  }
}

TEST(Ranks, ARunThatEndsTheirWorkersIsGivenUp) {
  const Scripted study(4);
  FakeRanks ranks(2, study);
  ranks.asked = [&](std::size_t rank, std::size_t run) {
    if (run == 2)
      ranks.say(rank, {{"died", run}});
    else
      ranks.answer(rank, run);
  };
  ranks.say(1, {{"died", 3}});  // nobody asked
  ranks.say(1, Json::array());
  Heard heard;
  EXPECT_TRUE(heard.run(study, 0, &ranks).status.ok());
  ASSERT_EQ(heard.finished.size(), 4U);
  EXPECT_EQ(heard.finished.at(2).outcome, "crashed");
  EXPECT_EQ(heard.troubles.size(), 3U);
}

TEST(Ranks, AnErrorOfARunEndsAll) {
  const Scripted study(50);
  FakeRanks ranks(3, study);
  ranks.asked = [&](std::size_t rank, std::size_t run) {
    ranks.say(rank, to_message(run, Status{Code::unavailable, "doing", "wrong", "remedy"}));
  };
  Heard heard;
  EXPECT_EQ(heard.run(study, 0, &ranks).status.message(), "doing: wrong: remedy");
  EXPECT_EQ(ranks.left_with_all, true);
}

TEST(Channel, AnswersComeBackAsTheyWere) {
  const auto there = read_answer(to_message(5, Finished{"refused", {{"reason", "no"}}, 1.5}));
  ASSERT_TRUE(there);
  EXPECT_EQ(there->run, 5U);
  EXPECT_EQ(there->finished.value().outcome, "refused");
  EXPECT_EQ(there->finished.value().cpu_s, 1.5);
  EXPECT_EQ(there->waited_ns, 0);
  Json waited = to_message(5, Finished{"refused", Json::object(), 1.5});
  waited["waited_ns"] = 17;
  EXPECT_EQ(read_answer(waited)->waited_ns, 17);
  for (const Json& wrong : {Json(-1), Json(~std::uint64_t{0}), Json("1")}) {
    waited["waited_ns"] = wrong;
    EXPECT_EQ(read_answer(waited)->waited_ns, 0) << wrong;
  }
  const auto failed = read_answer(to_message(6, Status{Code::io, "a", "b", "c"}));
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->finished.status().message(), "a: b: c");
  for (const char* wrong : {"[]", "{}", "{\"run\":-1}", "{\"run\":1}", "{\"run\":1,\"outcome\":\"x\"}",
                            "{\"run\":1,\"code\":99,\"doing\":\"\",\"wrong\":\"\",\"remedy\":\"\"}",
                            "{\"run\":1,\"code\":4294967297,\"doing\":\"\",\"wrong\":\"\",\"remedy\":\"\"}"})
    EXPECT_FALSE(read_answer(Json::parse(wrong))) << wrong;
}

}  // namespace
}  // namespace holdfast::simulate::study
