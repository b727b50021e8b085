#include "simulate/traffic/trace.h"

#include <gtest/gtest.h>

#include <string>

#include "simulate/packet/sample_networks_for_tests.h"
#include "simulate/packet/simulate.h"

namespace holdfast::simulate {
namespace {

Record play(Schedule schedule, std::uint32_t hosts) {
  const sample::Net net = sample::crossbar(hosts);
  Parameters parameters;
  parameters_table().apply_defaults(parameters);
  parameters.hiccup_ns = 0;
  ScheduleTraffic traffic(std::move(schedule));
  return simulate(net.fabric, net.tables, parameters, traffic).value();
}

/// A packet of one MTU from host to host through one switch (ClosedForms.ZeroLoadLatency).
constexpr Time one_way = 518'500 * 3 + 42'700 * 2 + 16'000 + 100'000 + 10'667;

TEST(Trace, PingPongTakesTwoWaysAndTheComputation) {
  const char* text =
      "holdfast-trace 1\nhosts 2\n# there and back\nhost 0\nsend 1 2048 tag 7\nrecv 1\nhost 1\n"
      "  recv 0 2048 tag 7\n  compute 3us\n  send 0 2048\n";
  const Record record = play(parse_trace(text, "test").value(), 2);
  EXPECT_EQ(record.ending, Ending::complete);
  EXPECT_EQ(record.completion_ps, 2 * one_way + 3 * ps_per_us);
  EXPECT_EQ(record.messages_delivered, 2U);
}

TEST(Trace, AtHoldsAnOperationBack) {
  const Record record = play(
      parse_trace("holdfast-trace 1\nhosts 2\nhost 0\nat 50us send 1 2048\nhost 1\nrecv any\n", "test").value(), 2);
  EXPECT_EQ(record.completion_ps, 50 * ps_per_us + one_way);
}

TEST(Trace, AMessageThatNobodySendsLeavesItStuck) {
  EXPECT_EQ(play(parse_trace("holdfast-trace 1\nhosts 2\nhost 0\nrecv 1\n", "test").value(), 2).ending, Ending::stuck);
  EXPECT_EQ(play(parse_trace("holdfast-trace 1\nhosts 2\nhost 0\nsend 1 9\nhost 1\nrecv 0 tag 3\n", "test").value(), 2)
                .ending,
            Ending::stuck);
}

TEST(Trace, LinesEndAsOnAnySystem) {
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    const auto read =
        parse_trace("holdfast-trace 1" + end + "# a comment" + end + "hosts 2" + end + "host 0" + end, "test");
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(read.value().hosts, 2U);
    EXPECT_NE(parse_trace("holdfast-trace 1" + end + end + "hosts 0", "test").status().message().find("line 3"),
              std::string::npos);
  }
}

TEST(Trace, NamesTheLineThatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "line 0"},
      {"holdfast-trace 2\n", "line 1"},
      {"holdfast-trace 1\nhosts 0\n", "line 2"},
      {"holdfast-trace 1\nhosts 2\nsend 1 5\n", "line 3"},
      {"holdfast-trace 1\nhosts 2\nhost 2\n", "line 3"},
      {"holdfast-trace 1\nhosts 2\nhost 0\nsend 1\n", "line 4"},
      {"holdfast-trace 1\nhosts 2\nhost 0\nsend 1 x\n", "line 4"},
      {"holdfast-trace 1\nhosts 2\nhost 0\nsend any 8\n", "line 4"},
      {"holdfast-trace 1\nhosts 2\nhost 0\ncompute 5\n", "line 4"},
      {"holdfast-trace 1\nhosts 2\nhost 0\nat 5us\n", "line 4"},
      {"holdfast-trace 1\nhosts 2\nhost 0\nsend 1 8 tag\n", "line 4"},
      {"holdfast-trace 1\nhosts 2\nhost 0\nwait\n", "line 4"},
  };
  for (const auto& [text, place] : cases) {
    const auto read = parse_trace(text, "test");
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_NE(read.status().message().find(place), std::string::npos) << read.status().message();
  }
}

TEST(Goal, DependenciesHold) {
  const char* text =
      "num_ranks 2\nrank 0 {\nl1: calc 1000\nl2: send 2048b to 1 tag 5\nl2 requires l1\n}\n"
      "rank 1 {\n a: recv 2048b from 0 tag 5 // the only one\n b: calc 500 cpu 1\n c: calc 400 cpu 0\n"
      "b requires a\nd: send 2048b to 0\nd requires b\nc irequires a\n}\n";
  const Record record = play(parse_goal(text, "test").value(), 2);
  EXPECT_EQ(record.ending, Ending::complete);
  EXPECT_EQ(record.completion_ps, 1'000 * ps_per_ns + one_way + 500 * ps_per_ns + one_way);
}

TEST(Goal, ComputationsOfOneCoreAreSerial) {
  auto end = [](const char* core) {
    const std::string text = std::string("num_ranks 2\nrank 0 {\na: calc 100 cpu 0\nb: calc 100 cpu ") + core +
                             "\nc: send 2048b to 1\nc requires a\nc requires b\n}\nrank 1 {\nrecv 2048b from 0\n}\n";
    return play(parse_goal(text, "test").value(), 2).completion_ps - one_way;
  };
  EXPECT_EQ(end("0"), 200 * ps_per_ns);
  EXPECT_EQ(end("1"), 100 * ps_per_ns);
}

TEST(Goal, RefusesWhatItCannotRead) {
  for (const char* text :
       {"", "rank 0 {\n}\n", "num_ranks 1\nrank 1 {\n}\n", "num_ranks 1\nrank 0 {\n",
        "num_ranks 2\nrank 0 {\nsend 8b from 1\n}\n", "num_ranks 2\nrank 0 {\na: calc 1\na: calc 2\n}\n",
        "num_ranks 2\nrank 0 {\na requires b\n}\n", "num_ranks 2\nrank 0 {\nsend 8b to 1 tag\n}\n",
        "num_ranks 2\nrank 0 {\ncalc x\n}\n", "num_ranks 2\nrank 0 {\nput 8b to 1\n}\n"})
    EXPECT_FALSE(parse_goal(text, "test").ok()) << text;
}

TEST(Goal, RefusesComputationsThatTheClockCannotHold) {
  const std::string calc = "calc 1500000000000000\n";  // 17 days
  EXPECT_TRUE(parse_goal("num_ranks 2\nrank 0 {\n" + calc + "}\n", "t").ok());
  EXPECT_EQ(parse_goal("num_ranks 2\nrank 0 {\n" + calc + calc + "}\n", "t").status().wrong(),
            "the computations take more than 26 days in all");
  EXPECT_FALSE(parse_goal("num_ranks 2\nrank 0 {\ncalc 9223372036854775807\n}\n", "t").ok());
}

TEST(Schedule, ACircleOfDependenciesIsStuck) {
  EXPECT_EQ(
      play(parse_goal("num_ranks 2\nrank 0 {\na: calc 1\nb: calc 1\na requires b\nb requires a\n}\n", "t").value(), 2)
          .ending,
      Ending::stuck);
}

TEST(Schedule, AFileThatIsNotThere) {
  EXPECT_EQ(read_schedule_file("/nonexistent/trace").status().code(), Code::not_found);
}

}  // namespace
}  // namespace holdfast::simulate
