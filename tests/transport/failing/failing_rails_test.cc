// Real libfabric rails over a provider that fails on command: no way of failing goes unheard, and messages arrive over
// the rail that is left.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <rdma/fi_errno.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "failing_provider.h"
#include "transport/engine/engine.h"
#include "transport/rail/libfabric/libfabric_rail.h"

namespace holdfast::transport {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::uint32_t everywhere = Rail::all_destinations;

/// What a rail tells.
struct Told : RailSink {
  void on_packet(std::span<const std::byte> packet) override { packets.emplace_back(packet.begin(), packet.end()); }
  void on_put_done(std::uint64_t token, bool ok) override { done[token] = ok; }
  void on_ready() override {}
  void on_failed(std::uint32_t destination) override { failed.push_back(destination); }
  void on_doubted(std::uint32_t destination) override { doubted.push_back(destination); }

  std::vector<Bytes> packets;
  std::map<std::uint64_t, bool> done;
  std::vector<std::uint32_t> failed;
  std::vector<std::uint32_t> doubted;
};

/// A kind of rail whose provider is the failing one.
class FailingRails : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    setenv("FI_PROVIDER_PATH", FAILING_PROVIDERS, 1);
    for (auto& rail : rails) {
      auto opened = LibfabricRail::open({GetParam(), ""}, 4096, "", "");
      ASSERT_TRUE(opened.ok()) << opened.status().message();
      rail = std::move(opened).value();
    }
    to = rails[0]->add_destination(rails[1]->address()).value();
    void* library =
        dlopen((std::string(FAILING_PROVIDERS "/libfailing-") + GetParam() + "-fi.so").c_str(), RTLD_NOW | RTLD_NOLOAD);
    ASSERT_NE(library, nullptr) << "libfabric has loaded it";
    ways = static_cast<FailingWays*>(dlsym(library, FAILING_WAYS_NAME));
    ASSERT_NE(ways, nullptr);
  }
  void TearDown() override {
    if (ways != nullptr)
      ways->refuse = ways->send = ways->inject = ways->keep = ways->receive = ways->queue = ways->event = 0;
  }
  Put put(std::size_t bytes) {
    packet.assign(bytes, std::byte{3});
    const iovec piece = {packet.data(), packet.size()};
    return rails[0]->put(to, {&piece, 1}, ++token);
  }
  void poll() {
    now += 2'000'000;
    for (std::size_t i = 0; i < 2; ++i) rails[i]->poll(told[i], now);
  }
  bool registers() const { return std::string(GetParam()) == "efa"; }

  FailingWays* ways = nullptr;
  std::array<std::unique_ptr<LibfabricRail>, 2> rails;
  std::array<Told, 2> told;
  std::uint32_t to = 0;
  Bytes packet;
  std::uint64_t token = 0;
  std::int64_t now = 1;
};

TEST_P(FailingRails, WithoutFailureEveryPacketArrivesAndEveryPutEndsWell) {
  for (const std::size_t bytes : {100UL, 4096UL}) {
    const Put answer = put(bytes);
    EXPECT_EQ(answer, registers() ? Put::taken : bytes == 100 ? Put::done : Put::pending);
    poll();
    poll();
    ASSERT_EQ(told[1].packets.size(), 1U);
    EXPECT_EQ(told[1].packets[0], packet);
    EXPECT_TRUE(answer == Put::done || told[0].done.at(token));
    told[1].packets.clear();
  }
  EXPECT_TRUE(told[0].failed.empty());
  EXPECT_TRUE(told[0].doubted.empty());
}

TEST_P(FailingRails, ASendThatIsRefusedFailsAtOnce) {
  ways->refuse = FI_EHOSTUNREACH;
  EXPECT_EQ(put(100), Put::failed);
  EXPECT_EQ(put(4096), Put::failed);
}

TEST_P(FailingRails, ASendThatCompletesWithAnErrorEndsBadly) {
  ways->send = FI_EIO;
  ASSERT_NE(put(4096), Put::done);
  poll();
  ASSERT_EQ(told[0].done.count(token), 1U) << "copied or not";
  EXPECT_FALSE(told[0].done.at(token));
}

/// Those that inject short packets, which none does whose buffers are registered.
class InjectingFailingRails : public FailingRails {};

TEST_P(InjectingFailingRails, AnErrorThatNamesNoPacketIsADoubtOfAllDestinations) {
  ASSERT_FALSE(registers());
  ways->inject = FI_EIO;
  EXPECT_EQ(put(100), Put::done);
  poll();
  EXPECT_EQ(told[0].doubted, std::vector{everywhere});
}

TEST_P(FailingRails, AReceiveThatFailsIsADoubtAndIsPostedAgain) {
  ways->receive = FI_EIO;
  poll();
  EXPECT_EQ(told[0].doubted.size() + told[1].doubted.size(), 1U);
  for (int i = 0; i < 200; ++i) {  // more than there are receives
    put(4096);
    poll();
  }
  poll();
  EXPECT_EQ(told[1].packets.size(), 200U);
}

TEST_P(FailingRails, AnEventOfTheDeviceIsAFailureOfAllDestinations) {
  poll();
  ways->event = 1;
  poll();
  EXPECT_EQ(told[0].failed, std::vector{everywhere});
  EXPECT_EQ(told[1].failed, std::vector{everywhere});
}

TEST_P(FailingRails, AQueueThatCannotBeReadIsAFailureOfAllDestinations) {
  poll();
  ways->queue = FI_EIO;
  poll();
  ASSERT_FALSE(told[0].failed.empty());
  EXPECT_EQ(told[0].failed[0], everywhere);
}

TEST_P(FailingRails, AnErrorQueueThatIsEmptyAfterAllEndsThePoll) {
  ways->queue = FI_EAVAIL;
  poll();
  SUCCEED() << "it came back";
}

std::int64_t clock_ns() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

/// An engine over a failing rail and one of the loopback's. There are two of them, of numbers 0 and 1.
class Process : public Host {
 public:
  Process(const char* kind, PeerId number, const Options& options) {
    for (const RailSpec& spec : {RailSpec{kind, ""}, RailSpec{"tcp", "lo"}}) {
      auto opened = LibfabricRail::open(spec, 4096, "", "");
      if (!opened.ok()) continue;
      rails.push_back(std::move(opened).value());
    }
    const std::vector<RailTraits> traits(
        2, RailTraits{.most_packet_bytes = 4096, .bytes_per_second = 1e9, .checksum = {}});
    const std::byte name{static_cast<unsigned char>(number)};
    Secrets secrets;
    secrets.seed[0] = std::byte{static_cast<unsigned char>(number + 1)};
    engine = std::make_unique<Engine>(options, traits, *this, std::span(&name, 1), secrets, clock_ns());
  }
  ~Process() override {
    engine->close(clock_ns());
    rails.clear();
  }

  Put put(std::uint32_t rail, PeerId, std::span<const iovec> pieces, std::uint64_t token) override {
    return rails[rail]->put(destinations[rail], pieces, token);
  }
  void complete(const Completion& completion) override { ended += completion.outcome == Outcome::ok ? 1 : 1000; }
  PeerId peer_named(std::span<const std::byte> name, std::uint32_t) override {
    return std::to_integer<PeerId>(name[0]);
  }
  std::byte* memory(std::uint64_t, std::uint64_t, std::size_t, Access) override { return nullptr; }
  bool apply_atomic(std::uint64_t, std::byte*, std::size_t, std::span<const std::byte>, std::byte*) override {
    return false;
  }

  void progress() {
    for (std::uint32_t rail = 0; rail < rails.size(); ++rail) {
      Sink sink(*engine, rail);
      rails[rail]->poll(sink, clock_ns());
    }
    engine->advance(clock_ns());
  }

  std::vector<std::unique_ptr<LibfabricRail>> rails;
  std::vector<std::uint32_t> destinations;
  std::unique_ptr<Engine> engine;
  int ended = 0;

 private:
  struct Sink : RailSink {
    Sink(Engine& of, std::uint32_t number) : engine(of), rail(number) {}
    void on_packet(std::span<const std::byte> packet) override { engine.on_packet(rail, packet, clock_ns()); }
    void on_put_done(std::uint64_t token, bool ok) override { engine.on_put_done(token, ok, clock_ns()); }
    void on_ready() override { engine.on_rail_ready(rail, clock_ns()); }
    void on_failed(std::uint32_t) override { engine.on_rail_failed(rail, any_peer, clock_ns()); }
    void on_doubted(std::uint32_t) override { engine.on_rail_doubted(rail, any_peer, clock_ns()); }
    Engine& engine;
    std::uint32_t rail;
  };
};

/// A way to fail.
struct Way {
  const char* name;
  std::atomic<int> FailingWays::*member;
  int value;
};
void PrintTo(const Way& way, std::ostream* out) {  // NOLINT: GoogleTest's name
  *out << way.name;
}

class JobsOverFailingRails : public testing::TestWithParam<std::tuple<const char*, Way>> {
 protected:
  void SetUp() override {
    setenv("FI_PROVIDER_PATH", FAILING_PROVIDERS, 1);
    Options options;
    options_table().apply_defaults(options);
    options.local_timeout_ns = 50'000'000;
    options.probe_interval_ns = 50'000'000;
    for (PeerId number : {0U, 1U}) {
      processes.push_back(std::make_unique<Process>(std::get<0>(GetParam()), number, options));
      ASSERT_EQ(processes.back()->rails.size(), 2U);
    }
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t rail = 0; rail < 2; ++rail) {
        const auto to = processes[i]->rails[rail]->add_destination(processes[1 - i]->rails[rail]->address());
        ASSERT_TRUE(to.ok());
        processes[i]->destinations.push_back(to.value());
      }
    }
    const std::string path = std::string(FAILING_PROVIDERS "/libfailing-") + std::get<0>(GetParam()) + "-fi.so";
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
    ASSERT_NE(library, nullptr);
    ways = static_cast<FailingWays*>(dlsym(library, FAILING_WAYS_NAME));
  }
  void TearDown() override {
    if (ways != nullptr) fail(0);
  }
  void fail(int value) { ways->*std::get<1>(GetParam()).member = value; }
  // One message each way, every byte right. Nothing here depends on how long it takes.
  void exchange() {
    std::array<Bytes, 2> out{Bytes(30000, std::byte{1}), Bytes(30000, std::byte{2})};
    std::array<Bytes, 2> in{Bytes(30000), Bytes(30000)};
    std::array<int, 2> before{processes[0]->ended, processes[1]->ended};
    for (PeerId i : {0U, 1U}) {
      Process& process = *processes[i];
      const iovec to = {in[i].data(), in[i].size()};
      const iovec from = {out[i].data(), out[i].size()};
      process.engine->receive({.pieces = {&to, 1}, .peer = 1 - i, .tagged = true}, clock_ns());
      process.engine->send({.peer = 1 - i, .pieces = {&from, 1}, .mode = SendMode::acknowledged, .tagged = true},
                           clock_ns());
    }
    until("both messages arrive",
          [&] { return processes[0]->ended >= before[0] + 2 && processes[1]->ended >= before[1] + 2; });
    EXPECT_EQ(processes[0]->ended, before[0] + 2) << "well";
    EXPECT_EQ(processes[1]->ended, before[1] + 2);
    EXPECT_TRUE(in[0] == out[1] && in[1] == out[0]);
  }
  void until(const char* what, const std::function<bool()>& reached) {
    const std::int64_t limit = clock_ns() + 60'000'000'000;
    while (!reached()) {
      ASSERT_LT(clock_ns(), limit) << what;
      for (const auto& process : processes) process->progress();
    }
  }
  std::uint64_t count(Count what) {
    return processes[0]->engine->counters()[what] + processes[1]->engine->counters()[what];
  }

  std::vector<std::unique_ptr<Process>> processes;
  FailingWays* ways = nullptr;
};

TEST_P(JobsOverFailingRails, GoOnOverTheOtherRailAndUseThisOneWhenItIsWellAgain) {
  for (int i = 0; i < 5; ++i) exchange();
  ASSERT_EQ(count(Count::rails_lost), 0U);
  fail(std::get<1>(GetParam()).value);
  until("the rail is left", [&] {
    exchange();
    return count(Count::rails_lost) + count(Count::rails_suspected) > 0 || HasFatalFailure();
  });
  for (int i = 0; i < 5; ++i) exchange();
  fail(0);
  until("it is taken back", [&] {
    return processes[0]->engine->rail(0, 1).state == RailState::up &&
           processes[1]->engine->rail(0, 0).state == RailState::up;
  });
  for (int i = 0; i < 5; ++i) exchange();
}

std::string name_of(const testing::TestParamInfo<std::tuple<const char*, Way>>& instance) {
  return std::string(std::get<0>(instance.param)) + "_" + std::get<1>(instance.param).name;
}

INSTANTIATE_TEST_SUITE_P(Both, JobsOverFailingRails,
                         testing::Combine(testing::Values("efa", "verbs"),
                                          testing::Values(Way{"refused", &FailingWays::refuse, FI_ENETDOWN},
                                                          Way{"completed_with_an_error", &FailingWays::send, FI_EIO},
                                                          Way{"event_of_the_device", &FailingWays::event, 1})),
                         name_of);
// A put without a completion holds up its message where the adapter reads the message's own memory, since it may do so
// still. Where packets are copied it does not.
INSTANTIATE_TEST_SUITE_P(Copies, JobsOverFailingRails,
                         testing::Combine(testing::Values("efa"),
                                          testing::Values(Way{"kept", &FailingWays::keep, 1},
                                                          Way{"broken_queue", &FailingWays::queue, FI_EIO})),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Injects, JobsOverFailingRails,
                         testing::Combine(testing::Values("verbs"),
                                          testing::Values(Way{"lost_when_injected", &FailingWays::inject, FI_EIO})),
                         name_of);

INSTANTIATE_TEST_SUITE_P(Kinds, FailingRails, testing::Values("efa", "verbs"),
                         [](const auto& instance) { return std::string(instance.param); });
INSTANTIATE_TEST_SUITE_P(Kinds, InjectingFailingRails, testing::Values("verbs"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace holdfast::transport
