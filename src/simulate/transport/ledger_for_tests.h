#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "simulate/packet/traffic.h"

/// Who asked for what, and what came: an account of messages beside any traffic, which knows nothing of how they are
/// carried. Included by this folder's tests only.
namespace holdfast::simulate::sample {

class Ledger final : public Traffic {
 public:
  explicit Ledger(Traffic& inner) : inner_(inner) {}

  Answer next(std::uint32_t host, Time now, Message& message) override {
    see(now);
    const Answer answer = inner_.next(host, now, message);
    if (answer != Answer::send) return answer;
    const auto number = static_cast<std::uint32_t>(entries_.size());
    entries_.push_back({host, message});
    open_[{host, message.destination}].push_back(number);
    message.tag = number;  // its own, so that no two messages can be taken for each other
    return answer;
  }
  bool finite() const override { return inner_.finite(); }
  void sent(std::uint32_t host, std::uint32_t number, Time now) override {
    see(now);
    ASSERT_LT(number, entries_.size());
    Entry& entry = entries_[number];
    EXPECT_EQ(entry.source, host);
    EXPECT_FALSE(entry.sent) << number << " was sent twice";
    EXPECT_FALSE(entry.delivered) << number << " was delivered before it was sent";
    entry.sent = true;
    inner_.sent(host, entry.message.tag, now);
  }
  bool watches_deliveries() const override { return true; }
  /// Once, after it was sent, and in the order of sending from one host to another.
  void delivered(std::uint32_t destination, std::uint32_t number, Time now, std::vector<std::uint32_t>& wake) override {
    see(now);
    ASSERT_LT(number, entries_.size());
    Entry& entry = entries_[number];
    EXPECT_EQ(entry.message.destination, destination);
    EXPECT_TRUE(entry.sent) << number << " was not sent";
    EXPECT_FALSE(entry.delivered) << number << " was delivered twice";
    std::deque<std::uint32_t>& line = open_[{entry.source, destination}];
    ASSERT_FALSE(line.empty());
    EXPECT_EQ(line.front(), number) << "out of order";
    line.pop_front();
    entry.delivered = true;
    ++delivered_;
    latencies_.push_back(now - entry.message.created);
    if (inner_.watches_deliveries()) inner_.delivered(destination, entry.message.tag, now, wake);
  }
  bool done() const override { return inner_.done(); }

  std::uint64_t sent_count() const { return entries_.size(); }
  std::uint64_t delivered_count() const { return delivered_; }
  /// In the order of delivery.
  const std::vector<Time>& latencies() const { return latencies_; }

 private:
  struct Entry {
    std::uint32_t source = 0;
    Message message;
    bool sent = false, delivered = false;
  };
  /// Time does not go back.
  void see(Time now) {
    EXPECT_GE(now, last_);
    last_ = now;
  }

  Traffic& inner_;
  std::deque<Entry> entries_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<std::uint32_t>> open_;
  std::uint64_t delivered_ = 0;
  std::vector<Time> latencies_;
  Time last_ = 0;
};

}  // namespace holdfast::simulate::sample
