// Writes, reads and atomic operations on the memory of others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "transport/engine/joined_engines_for_tests.h"

namespace holdfast::transport {
namespace {

using RmaTest = EngineTest;

TEST_F(RmaTest, MemoryThatChangesWhileItIsReadRemotelyIsReadAllTheSame) {
  Network net;
  Bytes in(64);
  const iovec one = piece(in);
  unsigned changes = 0;
  net.peek_put = [&](PeerId from, std::span<const iovec> pieces) {
    if (from == 1 && pieces.size() == 2 && ++changes <= 3) net[1].region[5] ^= std::byte{1};
  };
  net[0].engine->read({.peer = 1, .pieces = {&one, 1}, .remote = {.address = 0, .key = 77}}, net.now);
  net.run(200'000'000);
  const auto done = of_kind(net[0], Completion::Kind::read);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].outcome, Outcome::ok);
  EXPECT_EQ(in[5], net[1].region[5]);
  EXPECT_EQ(net[1].engine->counters()[Count::corrupt_sources], 0U);
}

TEST_F(RmaTest, WritesReadsAndAddsRemotely) {
  for (const std::size_t size : {0UL, 8UL, 4096UL, 300000UL}) {
    Network net;
    net[1].region.assign(400000, std::byte{0});
    Bytes out = pattern(size);
    const iovec from = piece(out);
    const SendMode mode = size % 16 == 0 ? SendMode::buffered : SendMode::acknowledged;
    ASSERT_EQ(net[0].engine->write({.peer = 1,
                                    .pieces = {&from, 1},
                                    .remote = {.address = 64, .key = 77},
                                    .mode = mode,
                                    .has_data = true,
                                    .data = 42},
                                   net.now),
              Posted::accepted);
    net.run(20'000'000);
    ASSERT_EQ(of_kind(net[0], Completion::Kind::write).size(), 1U) << size;
    EXPECT_EQ(of_kind(net[0], Completion::Kind::write)[0].outcome, Outcome::ok);
    ASSERT_EQ(of_kind(net[1], Completion::Kind::remote_write).size(), 1U);
    EXPECT_EQ(of_kind(net[1], Completion::Kind::remote_write)[0].data, 42U);
    EXPECT_TRUE(std::equal(out.begin(), out.end(), net[1].region.begin() + 64));
    Bytes in(size);
    const iovec to = piece(in);
    net[0].engine->read({.peer = 1, .pieces = {&to, 1}, .remote = {.address = 64, .key = 77}}, net.now);
    net.run(20'000'000);
    ASSERT_EQ(of_kind(net[0], Completion::Kind::read).size(), 1U);
    EXPECT_EQ(of_kind(net[0], Completion::Kind::read)[0].bytes, size);
    EXPECT_TRUE(in == out);
    EXPECT_EQ(net[0].engine->objects_in_use() + net[1].engine->objects_in_use(), 0U);
  }
  Network net;
  const std::uint64_t operand = 5;
  std::uint64_t old = 99;
  const iovec result = {&old, sizeof old};
  for (std::uint64_t i = 0; i < 3; ++i) {
    net[0].engine->atomic({.peer = 1,
                           .operands = std::as_bytes(std::span(&operand, 1)),
                           .remote = {.address = 0, .key = 77},
                           .target_bytes = 8,
                           .operation = 1,
                           .results = {&result, 1}},
                          net.now);
    net.run(5'000'000);
    EXPECT_EQ(old, 5 * i);
  }
  EXPECT_EQ(of_kind(net[0], Completion::Kind::atomic).size(), 3U);
  EXPECT_EQ(net[0].engine->objects_in_use() + net[1].engine->objects_in_use(), 0U);
}

TEST_F(RmaTest, RemoteAccessThatIsNotAllowedIsRefused) {
  Network net;
  Bytes bytes(5000);
  const iovec one = piece(bytes);
  const std::uint64_t operand = 5;
  net[0].engine->write({.peer = 1, .pieces = {&one, 1}, .remote = {.address = 0, .key = 77}}, net.now);  // too long
  net[0].engine->read({.peer = 1, .pieces = {&one, 1}, .remote = {.address = 0, .key = 76}}, net.now);   // no such key
  net[0].engine->atomic({.peer = 1,
                         .operands = std::as_bytes(std::span(&operand, 1)),
                         .remote = {.address = 0, .key = 77},
                         .target_bytes = 8,
                         .operation = 2},
                        net.now);
  net.run(20'000'000);
  ASSERT_EQ(net[0].completions.size(), 3U);
  for (const Completion& completion : net[0].completions) EXPECT_EQ(completion.outcome, Outcome::refused);
  EXPECT_EQ(net[0].engine->objects_in_use() + net[1].engine->objects_in_use(), 0U);
}

TEST_F(RmaTest, LossDoesNotRepeatAtomicOperations) {
  Network net;
  unsigned packets = 0;
  net.lose = [&](const Network::Packet&) { return ++packets % 3 == 0; };
  const std::uint64_t operand = 1;
  for (int i = 0; i < 50; ++i) {
    net[0].engine->atomic({.peer = 1,
                           .operands = std::as_bytes(std::span(&operand, 1)),
                           .remote = {.address = 0, .key = 77},
                           .target_bytes = 8,
                           .operation = 1},
                          net.now);
  }
  net.run(2'000'000'000, 1'000'000);
  EXPECT_EQ(of_kind(net[0], Completion::Kind::atomic).size(), 50U);
  std::uint64_t sum = 0;
  std::memcpy(&sum, net[1].region.data(), 8);
  EXPECT_EQ(sum, 50U);
}

TEST_F(RmaTest, AWriteKeepsItsMemoryUntilAllIsAcknowledged) {
  Network net;
  Bytes hello = pattern(8);
  Bytes in(8);
  receive(net[1], in);
  send(net[0], 1, hello);
  net.run(10'000'000);
  Bytes out = pattern(300);
  const iovec from = piece(out);
  net[0].engine->write({.peer = 1, .pieces = {&from, 1}, .remote = {.address = 0, .key = 77}}, net.now);
  // The target's answer is lost with the acknowledgement that rides on it. The answer goes again, by itself, while
  // nothing of the write does, so that nothing is acknowledged anew.
  net.lose = [](const Network::Packet& packet) { return packet.from == 1; };
  net.settle();
  net.lose = [](const Network::Packet& packet) { return packet.from == 0; };
  net.run(100'000'000);
  EXPECT_TRUE(std::equal(out.begin(), out.end(), net[1].region.begin()));
  EXPECT_GE(net[1].engine->counters()[Count::fragments_retransmitted], 1U);
  EXPECT_EQ(of_kind(net[0], Completion::Kind::write).size(), 0U) << "the write may have to go again";
  net.lose = [](const Network::Packet&) { return false; };
  net.run(500'000'000, 1'000'000);
  EXPECT_EQ(of_kind(net[0], Completion::Kind::write).size(), 1U);
  std::fill(out.begin(), out.end(), std::byte{0xEE});  // the caller's again
  net.run(500'000'000, 1'000'000);
  EXPECT_EQ(net[0].engine->counters()[Count::corrupt_sources], 0U);
  EXPECT_EQ(net[0].engine->objects_in_use() + net[1].engine->objects_in_use(), 0U);
}

}  // namespace
}  // namespace holdfast::transport
