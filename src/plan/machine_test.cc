#include "plan/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

namespace holdfast::plan {
namespace {

using testing::HasSubstr;

constexpr std::string_view smallest = "[machine]\nname = \"m\"\nnodes = 10\n";

Machine good(const std::string& text) {
  auto machine = read_machine(text, "m.toml");
  EXPECT_TRUE(machine.ok()) << machine.status().message();
  return machine.ok() ? std::move(machine).value() : Machine{};
}

std::string bad(const std::string& text) {
  auto machine = read_machine(text, "m.toml");
  EXPECT_FALSE(machine.ok()) << text;
  EXPECT_EQ(machine.status().code(), Code::bad_input);
  EXPECT_THAT(machine.status().message(), testing::Not(HasSubstr("\n")));
  return machine.status().message();
}

TEST(Machine, KnowsValueAndSourceOfEveryKey) {
  const Machine machine =
      good(std::string(smallest) +
           "[failures]\nnode_mtbf = \"5 y\"\n[checkpoint]\nwrite = \"5 min\"\nrestart = \"10 min\"\n"
           "[job]\ntime = \"168 h\"\n[sources]\n\"failures.node_mtbf\" = \"RedMPI, section 7\"\n"
           "checkpoint = \"a measurement\"\n");
  EXPECT_EQ(machine.nodes.value, 10);
  EXPECT_EQ(machine.nodes.source, "m.toml:3");
  EXPECT_EQ(machine.node_mtbf_s.value, 5 * 8760 * 3600.0);
  EXPECT_EQ(machine.node_mtbf_s.source, "m.toml:5; RedMPI, section 7");
  EXPECT_EQ(machine.restart_s.source, "m.toml:8; a measurement");
  EXPECT_EQ(machine.job_nodes.value, 10);
  EXPECT_EQ(machine.job_wrong_answer.source, "default");
  EXPECT_EQ(machine.job_aim.value, "cost");
  EXPECT_TRUE(machine.has("job"));
  EXPECT_FALSE(machine.has("fabric"));
  EXPECT_FALSE(machine.throughput_threshold.given);
}

TEST(Machine, TakesTheSystemsMtbfForTheNodes) {
  const Machine machine = good(std::string(smallest) + "[failures]\nsystem_mtbf = \"6.5 h\"\n");
  EXPECT_EQ(machine.node_mtbf_s.value, 65 * 3600.0);
  EXPECT_THAT(machine.node_mtbf_s.source, HasSubstr("m.toml:5"));
}

TEST(Machine, ReadsTheLevelsOfATree) {
  const Machine machine = good(std::string(smallest) +
                               "[collective]\nchildren = [24, 12, 6]\nmessage = \"256 B\"\nlink_rate = \"8 Gbit/s\"\n"
                               "bit_error_rate = 1e-12\n");
  EXPECT_THAT(machine.levels.value, testing::ElementsAre(24, 12, 6));
}

TEST(Machine, RefusesWithPlaceAndRemedy) {
  const std::string start(smallest);
  EXPECT_THAT(bad(""), HasSubstr("there is no [machine]"));
  EXPECT_THAT(bad("[machine]\nnodes = 3\n"), HasSubstr("m.toml:1: [machine] lacks 'name'"));
  EXPECT_THAT(bad(start + "node = 3\n"), HasSubstr("m.toml:4: [machine] has no key 'node': did you mean 'nodes'?"));
  EXPECT_THAT(bad(start + "[failure]\n"), HasSubstr("there is no table 'failure': did you mean 'failures'?"));
  EXPECT_THAT(bad(start + "[failures]\nnode_mtbf = 5\n"), HasSubstr("m.toml:5: 'failures.node_mtbf': '5' has no unit"));
  EXPECT_THAT(bad(start + "[failures]\nnode_mtbf = \"5 GB\"\n"), HasSubstr("unknown unit"));
  EXPECT_THAT(bad(start + "[failures]\nnode_mtbf = \"0 s\"\n"), HasSubstr("keep it between 1.00 s and"));
  EXPECT_THAT(bad(start + "[failures]\nnode_mtbf = [5]\n"), HasSubstr("is no number"));
  EXPECT_THAT(bad(start + "[failures]\n"), HasSubstr("lacks 'node_mtbf'"));
  EXPECT_THAT(bad(start + "[failures]\nnode_mtbf = \"5 y\"\nsystem_mtbf = \"5 h\"\n"), HasSubstr("give one of them"));
  EXPECT_THAT(bad(start + "[job]\ntime = \"5 h\"\n"), HasSubstr("there is a [job] but no [failures]"));
  EXPECT_THAT(bad(start + "[corruption]\nrate = \"5 FIT\"\n"), HasSubstr("no [job]"));
  EXPECT_THAT(bad(start + "nodes = 4\n"), HasSubstr("m.toml:4"));
  EXPECT_THAT(bad("[machine]\nname = \"a\\nb\"\nnodes = 3\n"), HasSubstr("m.toml:2"));
  EXPECT_THAT(bad("[machine]\nname = 3\nnodes = 3\n"), HasSubstr("write it in quotes"));
  EXPECT_THAT(bad("machine = 3\n"), HasSubstr("write [machine]"));
  EXPECT_THAT(bad("sources = 3\n" + start), HasSubstr("write [sources]"));
  EXPECT_THAT(bad(start + "[sources]\n\"machine.node\" = \"x\"\n"), HasSubstr("did you mean 'machine.nodes'?"));
  EXPECT_THAT(bad(start + "[sources]\n\"machine.nodes\" = 5\n"), HasSubstr("write it in quotes"));
  EXPECT_THAT(bad(start + "[collective]\nchildren = []\n"), HasSubstr("write [24, 12, 6]"));
  EXPECT_THAT(bad(start + "[collective]\nchildren = [1000000, 1000000]\n"), HasSubstr("more than 10^9 hosts"));
  EXPECT_THAT(bad(start + "[failures]\nnode_mtbf = \"5 y\"\n[checkpoint]\nwrite = \"1 s\"\nrestart = \"1 s\"\n[job]\n"
                          "time = \"5 h\"\nnodes = 11\n"),
              HasSubstr("more nodes than the machine"));
  EXPECT_THAT(bad(start + "[failures]\nnode_mtbf = \"5 y\"\n[checkpoint]\nwrite = \"1 s\"\nrestart = \"1 s\"\n[job]\n"
                          "time = \"5 h\"\naim = \"fun\"\n"),
              HasSubstr("'job.aim' cannot be 'fun': choose from cost time"));
}

// Picoseconds of 63 bits: 1 TiB at 1 kbit/s wrapped, and the plan showed times below zero.
TEST(Machine, RefusesACollectiveThatTheModelsClockCannotHold) {
  const auto collective = [](const std::string& message, const std::string& rate) {
    return std::string(smallest) + "[collective]\nchildren = [24, 12]\nmessage = \"" + message + "\"\nlink_rate = \"" +
           rate + "\"\nbit_error_rate = 1e-12\n";
  };
  EXPECT_THAT(bad(collective("1 TiB", "1 kbit/s")), HasSubstr("takes longer than the model's 11 days"));
  EXPECT_THAT(bad(collective("1 TiB", "10 Mbit/s")), HasSubstr("raise collective.link_rate"));
  good(collective("1 GiB", "10 Mbit/s"));
  good(collective("1 TiB", "8 Gbit/s"));
}

TEST(Machine, TakesAnyLetterInQuotesAndCommentsAlone) {
  EXPECT_EQ(good("# é\n[machine]\nname = \"M\\\"é\"  # é\nabout = 'é'\nnodes = 3\n").name.value, "M\"é");
  EXPECT_EQ(good("[machine]\nname = \"\"\"é\"\"\"\nabout = '''é'''\nnodes = 3\n").about.value, "é");
  EXPECT_THAT(bad("[machine]\nname = \"m\"\né = 3\n"), HasSubstr("m.toml:3: a letter that is no ASCII"));
  EXPECT_THAT(bad("\xEF\xB7\xBF\n"), HasSubstr("m.toml:1: "));
}

TEST(Machine, SaysWhenAFileIsNotThere) {
  EXPECT_EQ(read_machine_file("/nonexistent/m.toml").status().code(), Code::not_found);
  EXPECT_EQ(read_machine_file("/").status().code(), Code::bad_input);
}

TEST(Machine, RowsAreUniqueDocumentedAndHaveGoodDefaults) {
  std::set<std::string_view> seen;
  for (const Row& row : rows()) {
    EXPECT_TRUE(seen.insert(row.key).second) << row.key;
    EXPECT_FALSE(row.doc.empty()) << row.key;
    EXPECT_FALSE(row.required && !row.initial.empty()) << row.key;
    if (row.initial.empty() || !std::holds_alternative<Number Machine::*>(row.member)) continue;
    const auto value = parse_quantity(row.initial, row.dimension, "testing");
    ASSERT_TRUE(value.ok()) << row.key;
    EXPECT_TRUE(row.least <= value.value() && value.value() <= row.most) << row.key;
  }
}

TEST(Machine, PageOfTheKeysIsTheProgramsOwn) {
  std::ifstream file(HOLDFAST_SOURCE_DIR "/docs/spec/machine.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(page, HasSubstr(machine_reference()));
}

TEST(Machine, ExamplesAreGood) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(HOLDFAST_SOURCE_DIR "/examples/machines")) {
    if (entry.path().extension() != ".toml") continue;
    const auto machine = read_machine_file(entry.path().string());
    EXPECT_TRUE(machine.ok()) << machine.status().message();
    ++count;
  }
  EXPECT_GE(count, 6);
}

}  // namespace
}  // namespace holdfast::plan
