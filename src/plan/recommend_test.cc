#include "plan/recommend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "core/scratch/scratch_folder.h"
#include "plan/job_options.h"

namespace holdfast::plan {
namespace {

using testing::HasSubstr;

Inputs inputs_of(const std::string& text) {
  auto machine = read_machine(text, "m.toml");
  EXPECT_TRUE(machine.ok()) << machine.status().message();
  auto inputs = gather_inputs(std::move(machine).value());
  EXPECT_TRUE(inputs.ok()) << inputs.status().message();
  return std::move(inputs).value();
}

std::string job(double nodes, const std::string& mtbf, const std::string& more) {
  return "[machine]\nname = \"m\"\nnodes = " + std::to_string(static_cast<long>(nodes)) +
         "\n[failures]\nnode_mtbf = \"" + mtbf +
         "\"\n[checkpoint]\nwrite = \"5 min\"\nrestart = \"10 min\"\n[replication]\npattern = \"lu\"\n" + more;
}

std::size_t chosen(const Inputs& inputs) {
  return choose(inputs.machine, job_options(inputs)).index;
}

TEST(JobOptions, GiveReplicasTheNodesThatThereAre) {
  const Inputs inputs = inputs_of(job(1000, "5 y", "[job]\nnodes = 600\ntime = \"10 h\"\n"));
  const std::vector<JobOption> options = job_options(inputs);
  ASSERT_EQ(options.size(), 5u);
  EXPECT_EQ(options[0].redundancy.ranks(), 600);
  EXPECT_DOUBLE_EQ(options[0].job.work_s, 36000);
  EXPECT_EQ(options[1].redundancy.nodes(), 900);
  EXPECT_EQ(options[2].redundancy.ranks(), 500);
  EXPECT_DOUBLE_EQ(options[2].job.work_s, 36000 * 1.2 * 1.13);
  for (const JobOption& option : options) {
    EXPECT_LE(option.redundancy.nodes(), 1000);
    EXPECT_NEAR(option.outcome.work_s * option.redundancy.ranks() / inputs.overheads.at(option.degree), 36000 * 600,
                1e-3);
  }
}

TEST(JobOptions, OfATinyMachineAreFewer) {
  EXPECT_EQ(job_options(inputs_of(job(2, "5 y", "[job]\ntime = \"10 h\"\n"))).size(), 3u);
  EXPECT_EQ(job_options(inputs_of(job(1, "5 y", "[job]\ntime = \"10 h\"\n"))).size(), 1u);
}

TEST(Choose, TakesNoReplicasWhereLittleFails) {
  EXPECT_EQ(chosen(inputs_of(job(300, "50 y", "[job]\nnodes = 100\ntime = \"10 h\"\n"))), 0u);
}

TEST(Choose, TakesPairsWhereRestartsCostMore) {
  EXPECT_EQ(chosen(inputs_of(job(600000, "5 y", "[job]\nnodes = 200000\ntime = \"168 h\"\n"))), 2u);
}

TEST(Choose, TakesReplicasForTheSakeOfTheAnswerAlone) {
  const std::string more = "[job]\nnodes = 1000\ntime = \"100 h\"\n[corruption]\nrate = \"1 /y\"\n";
  EXPECT_EQ(chosen(inputs_of(job(3000, "1000 y", more))), 2u);
}

// Time is least with all replicas where cost is least with fewer.
TEST(Choose, FollowsTheAim) {
  const std::string more = "[job]\nnodes = 100000\ntime = \"168 h\"\naim = ";
  const std::size_t cost = chosen(inputs_of(job(300000, "20 y", more + "\"cost\"\n")));
  const std::size_t time = chosen(inputs_of(job(300000, "20 y", more + "\"time\"\n")));
  EXPECT_LT(cost, time);
}

TEST(Choose, SaysWhenNothingIsGoodEnough) {
  const Inputs inputs = inputs_of(
      job(300, "5 y",
          "[job]\nnodes = 100\ntime = \"100 h\"\nwrong_answer = 0\n[corruption]\nrate = \"1 /y\"\nescapes = 0.1\n"));
  const Choice choice = choose(inputs.machine, job_options(inputs));
  EXPECT_FALSE(choice.acceptable);
  EXPECT_NE(choice.index, 0u);
  EXPECT_THAT(job_section(inputs).advice.back(), HasSubstr("No degree up to 3"));
}

TEST(Choose, SaysWhenNothingEnds) {
  const Inputs inputs = inputs_of(job(10000, "1 h", "[job]\ntime = \"100 h\"\n"));
  EXPECT_FALSE(choose(inputs.machine, job_options(inputs)).ends);
  EXPECT_THAT(job_section(inputs).advice.front(), HasSubstr("Do not run this job"));
}

TEST(Recommend, NamesASourceForEveryFact) {
  int facts = 0;
  for (const auto& entry : std::filesystem::directory_iterator(HOLDFAST_SOURCE_DIR "/examples/machines")) {
    if (entry.path().extension() != ".toml") continue;
    auto machine = read_machine_file(entry.path().string());
    ASSERT_TRUE(machine.ok()) << machine.status().message();
    const auto inputs = gather_inputs(std::move(machine).value());
    ASSERT_TRUE(inputs.ok()) << inputs.status().message();
    const Plan plan = recommend(inputs.value());
    EXPECT_FALSE(plan.sections.empty()) << entry.path();
    for (const Section& section : plan.sections) {
      EXPECT_FALSE(section.advice.empty()) << entry.path();
      for (const Table& table : section.tables) {
        for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size()) << table.title;
      }
      for (const Fact& fact : section.facts) {
        EXPECT_FALSE(fact.source.empty()) << entry.path() << " " << fact.name;
        ++facts;
      }
    }
  }
  EXPECT_GT(facts, 50);
}

TEST(Recommend, SaysThatOverheadsAreThePapers) {
  const Plan plan = recommend(inputs_of(job(300, "5 y", "[job]\nnodes = 100\ntime = \"10 h\"\n")));
  bool said = false;
  for (const Fact& fact : plan.sections[0].facts)
    said = said || fact.source.find("this machine gave no replication.overheads") != std::string::npos;
  EXPECT_TRUE(said);
}

TEST(Recommend, SaysWhatACrashEndsByWhatTheMachineSays) {
  for (const auto& [key, said] : {std::pair("rank", "as in rMPI"), std::pair("world", "--on-failure continue"),
                                  std::pair("job", "--on-failure abort")}) {
    const std::string table = std::string("crash = \"") + key + "\"\n[job]\nnodes = 100\ntime = \"10 h\"\n";
    const Plan plan = recommend(inputs_of(job(300, "5 y", table)));
    EXPECT_NE(plan.sections[0].notes.back().find(said), std::string::npos) << key;
    EXPECT_EQ(plan.sections[0].notes.back().find("of today"), std::string::npos);
  }
}

TEST(Recommend, TakesMeasuredOverheads) {
  const scratch::ScratchFolder scratch;
  const std::string& folder = scratch.path();
  std::ofstream(folder + "/overheads.json")
      << R"({"ratios": {"2 msg-plus-hash": {"median": 1.5}, "3 msg-plus-hash": {"median": 1.75}}})";
  auto machine = read_machine(
      "[machine]\nname = \"m\"\nnodes = 9\n[failures]\nnode_mtbf = \"5 y\"\n[checkpoint]\nwrite = \"5 min\"\nrestart = "
      "\"10 min\"\n[job]\nnodes = 3\ntime = \"10 h\"\n[replication]\noverheads = \"overheads.json\"\n",
      "m.toml");
  ASSERT_TRUE(machine.ok()) << machine.status().message();
  machine.value().folder = folder;
  const auto inputs = gather_inputs(machine.value());
  ASSERT_TRUE(inputs.ok()) << inputs.status().message();
  EXPECT_DOUBLE_EQ(job_options(inputs.value())[4].job.work_s, 36000 * 1.75);
  EXPECT_THAT(inputs.value().overheads.source, HasSubstr("measured: overheads.json"));

  std::ofstream(folder + "/overheads.json") << "{}";
  EXPECT_EQ(gather_inputs(machine.value()).status().code(), Code::bad_input);
  machine.value().overheads_file.value = "absent.json";
  EXPECT_EQ(gather_inputs(machine.value()).status().code(), Code::not_found);
}

TEST(Recommend, AsksForTheLinesItLacks) {
  const Plan plan = recommend(
      inputs_of("[machine]\nname = \"m\"\nnodes = 9\n[fabric]\nlinks = 100\nswitches = 10\nlink_failures = \"1 "
                "%/y\"\nswitch_failures = \"10 %/y\"\n"));
  EXPECT_THAT(plan.sections[0].advice[0], HasSubstr("2.0 failures a year"));
}

/// A million collectives a second that save 100 ns each are a tenth of the time.
TEST(Recommend, ASecondPortMustPayForTheSwitches) {
  const auto advice = [](const std::string& more) {
    const Plan plan = recommend(
        inputs_of("[machine]\nname = \"m\"\nnodes = 1728\n[collective]\nchildren = [24, 12, 6]\nmessage = \"256 B\"\n"
                  "link_rate = \"8 Gbit/s\"\nbit_error_rate = 1e-6\n" +
                  more));
    std::string text;
    for (const std::string& words : plan.sections[0].advice) text += words + "\n";
    return text;
  };
  EXPECT_THAT(advice(""), HasSubstr("Do not buy a second port"));
  EXPECT_THAT(advice(""), HasSubstr("for 15 % of the machine's price"));
  const std::string often = "rate = \"1000000 /s\"\n";
  EXPECT_THAT(advice(often + "network_share = \"1 %\"\n"), HasSubstr("\nBuy a second port"));
  EXPECT_THAT(advice(often + "network_share = \"50 %\"\n"), HasSubstr("Do not buy a second port"));
  EXPECT_THAT(advice(often + "network_share = \"50 %\"\ndual_port_cost = 1.01\n"), HasSubstr("\nBuy a second port"));
}

TEST(Recommend, UsesCopiesWhereErrorsAreFrequent) {
  const auto with_rate = [](const std::string& rate) {
    return recommend(inputs_of("[machine]\nname = \"m\"\nnodes = 1728\n[collective]\nchildren = [24, 12, 6]\nmessage = "
                               "\"256 B\"\nlink_rate = \"8 Gbit/s\"\nbit_error_rate = " +
                               rate + "\n"))
        .sections[0]
        .advice[0];
  };
  EXPECT_THAT(with_rate("1e-12"), HasSubstr("Do not replicate"));
  EXPECT_THAT(with_rate("1e-8"), HasSubstr("Send 2 copies of each packet (temporal"));
  EXPECT_THAT(with_rate("1e-4"), HasSubstr("(temporal"));
  EXPECT_THAT(with_rate("0.01"), HasSubstr("Repair the links"));
}

}  // namespace
}  // namespace holdfast::plan
