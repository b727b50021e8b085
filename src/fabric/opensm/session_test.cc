#include "fabric/opensm/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace holdfast::fabric::opensm {
namespace {

/// A ring of switches with as many hosts each.
Fabric ring(int switches, int hosts) {
  Fabric fabric;
  for (int i = 0; i < switches; ++i) fabric.add_node(NodeKind::switch_, 8, "s" + std::to_string(i));
  for (int i = 0; i < switches; ++i) fabric.connect(static_cast<NodeId>(i), static_cast<NodeId>((i + 1) % switches));
  for (int i = 0; i < switches * hosts; ++i)
    fabric.connect(fabric.add_node(NodeKind::adapter, 1, "h" + std::to_string(i)), static_cast<NodeId>(i / hosts));
  fabric.assign_lids();
  return fabric;
}

/// Hops from the switch at `row` to the LID; -1 when it does not get there.
int hops(const Fabric& fabric, const Forwarding& tables, std::uint32_t row, Lid lid) {
  for (int count = 0; count < 64; ++count) {
    const std::uint8_t port = tables.out_port(row, lid);
    if (port == Forwarding::no_port) return -1;
    if (port == 0) return fabric.port(fabric.port_of(tables.switch_at(row), 0)).lid == lid ? count : -1;
    const PortId peer = fabric.peer(fabric.port_of(tables.switch_at(row), port));
    if (peer == none) return -1;
    if (!fabric.is_switch(fabric.port(peer).node)) return fabric.port(peer).lid == lid ? count : -1;
    row = tables.row_of(fabric.port(peer).node);
  }
  return -1;
}

/// Every pair of a switch and an adapter LID must connect; the longest way found.
int longest_way(const Fabric& fabric, const Forwarding& tables) {
  int longest = 0;
  for (std::uint32_t row = 0; row < tables.rows(); ++row)
    for (const Port& port : fabric.ports()) {
      if (port.lid == 0 || fabric.is_switch(port.node)) continue;
      const int way = hops(fabric, tables, row, port.lid);
      EXPECT_GE(way, 0) << "switch " << row << " to LID " << port.lid;
      longest = std::max(longest, way);
    }
  return longest;
}

Request request_for(const std::string& engine) {
  Request request;
  request.engine = engine;
  request.time_limit_ns = 60'000'000'000;
  return request;
}

Outcome route_or_fail(const Fabric& fabric, const Request& request) {
  auto outcome = route(fabric, request);
  EXPECT_TRUE(outcome.ok()) << outcome.status().message();
  return outcome.ok() ? std::move(outcome.value()) : Outcome();
}

/// Processes whose command line or environment names this folder.
std::vector<std::string> processes_of(const std::string& folder) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ostringstream text;
    for (const char* file : {"cmdline", "environ"}) text << std::ifstream(entry.path() / file).rdbuf();
    if (text.str().find(folder.substr(folder.rfind('/'))) != std::string::npos) found.push_back(entry.path());
  }
  return found;
}

/// Waits, since a dead parent cannot, until nothing is left.
bool nothing_left_of(const std::string& folder) {
  for (int i = 0; i < 500; ++i) {
    if (!std::filesystem::exists(folder) && processes_of(folder).empty()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

TEST(Session, RoutesARing) {
  const Fabric fabric = ring(5, 2);
  const Outcome outcome = route_or_fail(fabric, request_for("minhop"));
  ASSERT_EQ(outcome.verdict, Verdict::routed) << outcome.reason;
  EXPECT_GT(outcome.routing_cpu_ns, 0);
  EXPECT_GE(outcome.sweep_wall_ns, outcome.routing_wall_ns);
  EXPECT_GT(outcome.memory_bytes, 1'000'000U);
  for (std::uint32_t row = 0; row < 5; ++row)
    for (Lid lid = 6; lid <= 15; ++lid) {
      const int apart = std::abs(static_cast<int>(row) - static_cast<int>(lid - 6) / 2);
      EXPECT_EQ(hops(fabric, outcome.forwarding, row, lid), std::min(apart, 5 - apart)) << row << " to " << lid;
    }
}

TEST(Session, EveryEngineThatFitsARingRoutesIt) {
  const Fabric fabric = ring(5, 2);
  for (const char* engine : {"minhop", "updn", "dnup", "lash", "dor", "nue", "dfsssp", "sssp"}) {
    const Outcome outcome = route_or_fail(fabric, request_for(engine));
    EXPECT_EQ(outcome.verdict, Verdict::routed) << engine << ": " << outcome.reason;
    if (outcome.verdict != Verdict::routed) continue;
    EXPECT_LE(longest_way(fabric, outcome.forwarding), 4) << engine;
  }
}

TEST(Session, EachOfSeveralLidsHasItsWay) {
  Fabric fabric = ring(4, 1);
  for (NodeId node = fabric.switch_count(); node < fabric.nodes().size(); ++node) {
    Port& port = fabric.mutable_port(fabric.port_of(node, 1));
    port.lid = 8 + 4 * (node - fabric.switch_count());
    port.lmc = 2;
  }
  for (const char* engine : {"minhop", "dfsssp"}) {
    const Outcome outcome = route_or_fail(fabric, request_for(engine));
    ASSERT_EQ(outcome.verdict, Verdict::routed) << engine << ": " << outcome.reason;
    for (std::uint32_t row = 0; row < 4; ++row)
      for (Lid lid = 8; lid < 24; ++lid) EXPECT_NE(outcome.forwarding.out_port(row, lid), Forwarding::no_port) << lid;
  }
}

TEST(Session, AnEngineThatCannotSaysWhy) {
  const Outcome outcome = route_or_fail(ring(5, 2), request_for("ftree"));
  EXPECT_EQ(outcome.verdict, Verdict::refused);
  EXPECT_THAT(outcome.reason, testing::HasSubstr("root"));
  EXPECT_EQ(outcome.forwarding.rows(), 0U);
}

TEST(Session, ServiceLevelsComeBack) {
  const Fabric fabric = ring(5, 2);  // shortest ways around a ring need two lanes
  const Outcome outcome = route_or_fail(fabric, request_for("dfsssp"));
  ASSERT_EQ(outcome.verdict, Verdict::routed) << outcome.reason;
  EXPECT_EQ(outcome.lanes_needed, 2U);
  EXPECT_GE(outcome.forwarding.lanes_used, 2);
  EXPECT_LE(outcome.forwarding.lanes_used, 8);
  EXPECT_FALSE(outcome.forwarding.has_lane_maps());
}

TEST(Session, TooFewLanesAreARefusal) {
  Request request = request_for("dfsssp");
  request.lanes = 1;
  const Outcome outcome = route_or_fail(ring(5, 2), request);
  EXPECT_EQ(outcome.verdict, Verdict::refused);
  EXPECT_THAT(outcome.reason, testing::HasSubstr("VL"));
}

TEST(Session, LaneMapsComeBackAsOpensmWroteThem) {
  Request request = request_for("minhop");
  request.lane_maps = true;
  const Fabric fabric = ring(3, 1);
  const Outcome outcome = route_or_fail(fabric, request);
  ASSERT_EQ(outcome.verdict, Verdict::routed) << outcome.reason;
  ASSERT_TRUE(outcome.forwarding.has_lane_maps());
  for (std::uint8_t level = 0; level < 8; ++level)
    EXPECT_EQ(outcome.forwarding.lane(0, 1, 2, level), level) << "the table that the configuration asks for";
}

TEST(Session, ALinkFailsAndComesBackWhileItRuns) {
  const Fabric fabric = ring(5, 2);
  auto session = Session::start(fabric, request_for("minhop"));
  ASSERT_TRUE(session.ok()) << session.status().message();
  auto before = session.value().wait();
  ASSERT_TRUE(before.ok() && before.value().verdict == Verdict::routed);
  EXPECT_EQ(longest_way(fabric, before.value().forwarding), 2);
  const LinkId cut[] = {0};
  ASSERT_TRUE(session.value().set_links(cut, false).ok());
  auto during = session.value().wait();
  ASSERT_TRUE(during.ok()) << during.status().message();
  ASSERT_EQ(during.value().verdict, Verdict::routed) << during.value().reason;
  EXPECT_EQ(longest_way(session.value().fabric(), during.value().forwarding), 4) << "a chain now";
  ASSERT_TRUE(session.value().set_links(cut, true).ok());
  auto after = session.value().wait();
  ASSERT_TRUE(after.ok()) << after.status().message();
  ASSERT_EQ(after.value().verdict, Verdict::routed) << after.value().reason;
  EXPECT_EQ(longest_way(fabric, after.value().forwarding), 2);
}

TEST(Session, SeveralRunAtOnce) {
  std::vector<std::thread> threads;
  std::vector<int> longest(4);
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([i, &longest] {
      const Fabric fabric = ring(3 + 2 * i, 1);
      const Outcome outcome = route_or_fail(fabric, request_for("minhop"));
      if (outcome.verdict == Verdict::routed)
        longest[static_cast<std::size_t>(i)] = longest_way(fabric, outcome.forwarding);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(longest, testing::ElementsAre(1, 2, 3, 4));
}

TEST(Session, BadRequestsAreRefusedBeforeAnythingStarts) {
  EXPECT_EQ(route(ring(3, 1), request_for("upnd")).status().code(), Code::bad_input);
  EXPECT_THAT(route(ring(3, 1), request_for("upnd")).status().message(), testing::HasSubstr("updn"));
  EXPECT_EQ(route(ring(3, 0), request_for("updn")).status().code(), Code::bad_input);
  Request request = request_for("updn");
  request.lanes = 9;
  EXPECT_EQ(route(ring(3, 1), request).status().code(), Code::bad_input);
}

TEST(Session, NothingIsLeftWhenItEnds) {
  std::string folder;
  {
    auto session = Session::start(ring(3, 1), request_for("minhop"));
    ASSERT_TRUE(session.ok()) << session.status().message();
    folder = session.value().folder();
    EXPECT_TRUE(std::filesystem::exists(folder));
    ASSERT_TRUE(session.value().wait().ok());
    EXPECT_EQ(processes_of(folder).size(), 2U) << "ibsim and OpenSM run";
  }
  EXPECT_FALSE(std::filesystem::exists(folder));
  EXPECT_THAT(processes_of(folder), testing::IsEmpty());
}

TEST(Session, TheTimeLimitEndsItWhateverOpensmDoes) {
  Request request = request_for("minhop");
  request.time_limit_ns = 1;
  const Outcome outcome = route_or_fail(ring(5, 2), request);
  EXPECT_EQ(outcome.verdict, Verdict::timed_out);
}

TEST(Session, ADeadOpensmIsACrashNotAHang) {
  auto session = Session::start(ring(3, 1), request_for("minhop"));
  ASSERT_TRUE(session.ok()) << session.status().message();
  ASSERT_TRUE(session.value().wait().ok());
  for (const std::string& process : processes_of(session.value().folder())) {
    std::ifstream command(process + "/cmdline");
    std::string text((std::istreambuf_iterator<char>(command)), {});
    if (text.find("opensm.conf") != std::string::npos) kill(std::stoi(process.substr(6)), SIGKILL);
  }
  auto outcome = session.value().wait();
  ASSERT_TRUE(outcome.ok()) << outcome.status().message();
  EXPECT_EQ(outcome.value().verdict, Verdict::crashed);
}

class Killed : public testing::TestWithParam<int> {};

TEST_P(Killed, NothingIsLeftWhenTheOwnerIsKilled) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t owner = fork();
  if (owner == 0) {
    std::signal(GetParam(), SIG_DFL);  // whoever runs the tests may ignore it, as nohup does
    auto session = Session::start(ring(3, 1), request_for("minhop"));
    const std::string folder = session.ok() ? session.value().folder() : "";
    if (write(ends[1], folder.c_str(), folder.size() + 1) < 0) _exit(1);
    pause();
    _exit(0);
  }
  char folder[4096] = "";
  ASSERT_GT(read(ends[0], folder, sizeof folder), 1) << "the session did not start";
  EXPECT_TRUE(std::filesystem::exists(folder));
  kill(owner, GetParam());
  waitpid(owner, nullptr, 0);
  EXPECT_TRUE(nothing_left_of(folder)) << folder;
  close(ends[0]);
  close(ends[1]);
}

INSTANTIATE_TEST_SUITE_P(BySignal, Killed, testing::Values(SIGINT, SIGTERM, SIGKILL, SIGHUP));

}  // namespace
}  // namespace holdfast::fabric::opensm
