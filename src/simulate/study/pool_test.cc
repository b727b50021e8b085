#include "simulate/study/pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "simulate/study/channel.h"

namespace holdfast::simulate::study {
namespace {

/// Does what a test wants a run to do.
class Scripted final : public Study {
 public:
  explicit Scripted(std::size_t count) {
    name = "scripted";
    for (std::size_t i = 0; i < count; ++i) points.push_back({"g", {{"n", i}}, "n" + std::to_string(i)});
  }
  std::function<Result<Finished>(std::size_t)> script = [](std::size_t index) -> Result<Finished> {
    return Finished{"measured", {{"square", index * index}}, 0};
  };
  Result<Finished> run(std::size_t index) const override { return script(index); }
};

struct Heard {
  std::map<std::size_t, Finished> finished;
  std::vector<std::string> troubles;
  std::size_t progressed = 0;

  PoolEnd run(const Study& study, unsigned workers) {
    std::vector<std::size_t> todo;
    for (std::size_t i = 0; i < study.points.size(); ++i) todo.push_back(i);
    PoolOptions options;
    options.workers = workers;
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
  const std::string marker = testing::TempDir() + "pool_died_once";
  std::filesystem::remove(marker);
  Scripted study(6);
  study.script = [&](std::size_t index) -> Result<Finished> {
    if (index == 3 && !std::filesystem::exists(marker)) {
      std::ofstream(marker) << "x";
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

TEST(Pool, PlaceInAJob) {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"}) ::unsetenv(name);
  EXPECT_EQ(job_place().size, 1U);
  ::setenv("PMI_RANK", "3", 1);
  ::setenv("PMI_SIZE", "8", 1);
  EXPECT_EQ(job_place().rank, 3U);
  EXPECT_EQ(job_place().size, 8U);
  ::setenv("PMI_RANK", "8", 1);
  EXPECT_EQ(job_place().size, 1U) << "nonsense is no place";
  ::unsetenv("PMI_RANK");
}

TEST(Channel, AnswersComeBackAsTheyWere) {
  const auto there = read_answer(to_message(5, Finished{"refused", {{"reason", "no"}}, 1.5}));
  ASSERT_TRUE(there);
  EXPECT_EQ(there->run, 5U);
  EXPECT_EQ(there->finished.value().outcome, "refused");
  EXPECT_EQ(there->finished.value().cpu_s, 1.5);
  const auto failed = read_answer(to_message(6, Status{Code::io, "a", "b", "c"}));
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->finished.status().message(), "a: b: c");
  for (const char* wrong : {"[]", "{}", "{\"run\":-1}", "{\"run\":1}", "{\"run\":1,\"outcome\":\"x\"}",
                            "{\"run\":1,\"code\":99,\"doing\":\"\",\"wrong\":\"\",\"remedy\":\"\"}"})
    EXPECT_FALSE(read_answer(Json::parse(wrong))) << wrong;
}

}  // namespace
}  // namespace holdfast::simulate::study
