#include "replicate/process/record_rings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace holdfast::replicate {
namespace {

struct Memory {
  explicit Memory(int processes)
      : size(RecordRings::bytes(processes)), at(static_cast<std::byte*>(std::aligned_alloc(64, size + 64))) {
    std::memset(at.get(), 0, size);
    std::memset(at.get() + size, 0x5a, 64);
  }
  bool whole() const {
    return std::all_of(at.get() + size, at.get() + size + 64, [](std::byte each) { return each == std::byte{0x5a}; });
  }
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::size_t size;
  std::unique_ptr<std::byte, Free> at;
};

/// The n-th message of a sender to a receiver: all of it follows from the three.
std::vector<std::byte> message(int from, int to, std::uint32_t n) {
  std::mt19937 random(static_cast<std::uint32_t>(from * 1000 + to) * 100'003U + n);
  std::vector<std::byte> bytes(1 + random() % RecordRings::most_bytes);
  for (std::byte& each : bytes) each = static_cast<std::byte>(random());
  return bytes;
}

bool same(std::span<const std::byte> a, const std::vector<std::byte>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

TEST(RecordRings, MessagesComeWholeAndInOrderPerSender) {
  for (const int processes : {2, 3, 65, 130}) {
    const Memory memory(processes);
    RecordRings receiver(memory.at.get(), processes, processes - 1);
    std::vector<RecordRings> senders;
    for (int p = 0; p < processes; ++p) senders.emplace_back(memory.at.get(), processes, p);
    std::vector<std::uint32_t> sent(senders.size()), come(senders.size());
    std::mt19937 random(7);
    std::size_t refused = 0;
    for (int i = 0; i < 40'000; ++i) {
      const std::size_t from = random() % senders.size();
      const auto next = message(static_cast<int>(from), processes - 1, sent[from]);
      const bool put = senders[from].put(processes - 1, next);
      put ? ++sent[from] : ++refused;
      if (put && i < 30'000) continue;
      for (auto k = random() % 2 + (put ? 0U : 1U); k > 0; --k) {
        const auto arrived = receiver.next();
        if (!arrived) break;
        const auto who = static_cast<std::size_t>(arrived->from);
        ASSERT_TRUE(same(arrived->bytes, message(arrived->from, processes - 1, come[who]++)));
      }
    }
    while (const auto arrived = receiver.next())
      ASSERT_TRUE(
          same(arrived->bytes, message(arrived->from, processes - 1, come[static_cast<std::size_t>(arrived->from)]++)));
    EXPECT_EQ(sent, come);
    EXPECT_GT(refused, 0U) << "no ring of " << processes << " was ever full";
    EXPECT_TRUE(memory.whole());
  }
}

TEST(RecordRings, NobodysMessageIsWaitedForBehindAnothers) {
  const Memory memory(3);
  RecordRings first(memory.at.get(), 3, 0), second(memory.at.get(), 3, 1), receiver(memory.at.get(), 3, 2);
  while (first.put(2, message(0, 2, 0))) {
  }
  ASSERT_TRUE(second.put(2, message(1, 2, 0)));
  ASSERT_EQ(receiver.next()->from, 0);
  EXPECT_EQ(receiver.next()->from, 1);
  EXPECT_TRUE(first.put(1, message(0, 1, 0))) << "full is the ring to the other receiver";
  EXPECT_EQ(second.next()->from, 0);
  EXPECT_FALSE(second.next());
}

// What goes another way has its place among the others: those before it are there when it has come, those behind it
// wait until it was taken.
TEST(RecordRings, DetoursKeepTheirPlace) {
  const Memory memory(2);
  RecordRings sender(memory.at.get(), 2, 0), receiver(memory.at.get(), 2, 1);
  std::deque<std::uint32_t> other_way;
  std::mt19937 random(3);
  std::uint32_t sent = 0, come = 0, detours = 0;
  const auto take_from_rings = [&] {
    while (const auto arrived = receiver.next())
      if (!same(arrived->bytes, message(0, 1, come++))) return false;
    return true;
  };
  for (int i = 0; i < 30'000; ++i) {
    if (!sender.put(1, message(0, 1, sent))) {
      sender.detour(1);
      other_way.push_back(sent);
      ++detours;
    }
    ++sent;
    if (i % 10'000 < 9'900 || random() % 2 == 0) continue;
    ASSERT_TRUE(take_from_rings());
    for (; !other_way.empty() && random() % 1024 != 0; other_way.pop_front()) {
      ASSERT_EQ(other_way.front(), come++);
      receiver.take_detour(0);
    }
  }
  for (; !other_way.empty(); other_way.pop_front()) {
    ASSERT_TRUE(take_from_rings());
    ASSERT_EQ(other_way.front(), come++);
    receiver.take_detour(0);
  }
  ASSERT_TRUE(take_from_rings());
  EXPECT_EQ(come, sent);
  EXPECT_GT(detours, 0U);
  EXPECT_LT(detours, sent / 2) << "it has come back to the ring";
}

TEST(RecordRings, ThreadsThatSendToEachOtherLoseNothing) {
  constexpr int processes = 3;
  constexpr std::uint32_t messages = 4'000;
  const Memory memory(processes);
  const auto play = [&](int self) {
    RecordRings rings(memory.at.get(), processes, self);
    std::vector<std::uint32_t> sent(processes), come(processes);
    std::uint32_t left = 2 * (processes - 1) * messages;
    while (left > 0) {
      for (int to = 0; to < processes; ++to) {
        std::uint32_t& n = sent[static_cast<std::size_t>(to)];
        if (to != self && n < messages && rings.put(to, message(self, to, n))) ++n, --left;
      }
      while (const auto arrived = rings.next()) {
        std::uint32_t& n = come[static_cast<std::size_t>(arrived->from)];
        if (!same(arrived->bytes, message(arrived->from, self, n))) return false;
        ++n, --left;
      }
      std::this_thread::yield();
    }
    return !rings.next().has_value();
  };
  std::vector<char> right(processes);
  {
    std::vector<std::jthread> threads;
    for (int p = 0; p < processes; ++p)
      threads.emplace_back([&, p] { right[static_cast<std::size_t>(p)] = play(p) ? 1 : 0; });
  }
  EXPECT_EQ(right, std::vector<char>(processes, 1));
}

// What a process with a fault may have written there: no message of it is believed blindly, none ends the receiver.
TEST(RecordRings, WhatIsNoMessageIsDropped) {
  std::mt19937_64 random(11);
  std::size_t empty = 0;
  for (int round = 0; round < 300; ++round) {
    const Memory memory(2);
    RecordRings sender(memory.at.get(), 2, 0), receiver(memory.at.get(), 2, 1);
    for (std::uint32_t n = 0; n < 20; ++n) ASSERT_TRUE(sender.put(1, message(0, 1, n)));
    for (int flips = 0; flips < 200; ++flips)
      memory.at.get()[random() % memory.size] = static_cast<std::byte>(random());
    for (int flips = 0; flips < 8; ++flips)  // of the ring's places and first lengths
      memory.at.get()[random() % 8 * 64 + memory.size / 2 + random() % 64] = static_cast<std::byte>(random());
    for (int i = 0; i < 5000; ++i) {
      const auto arrived = receiver.next();
      if (!arrived) break;
      ASSERT_LE(arrived->bytes.size(), RecordRings::most_bytes);
      empty += arrived->bytes.empty() ? 1 : 0;
    }
    ASSERT_TRUE(memory.whole());
  }
  EXPECT_GT(empty, 0U);
}

}  // namespace
}  // namespace holdfast::replicate
