#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace holdfast::transport {

/// Things to do at moments of a world's time; those of one moment in the order in which they were added.
class EventQueue {
 public:
  using Action = std::function<void()>;

  std::int64_t now() const { return now_; }
  std::uint64_t done() const { return done_; }

  void at(std::int64_t when, Action action) { heap_.push({when < now_ ? now_ : when, added_++, std::move(action)}); }

  /// Does everything up to this moment.
  void run_until(std::int64_t when) {
    while (!heap_.empty() && heap_.top().when <= when) {
      Entry entry = std::move(const_cast<Entry&>(heap_.top()));  // it is popped at once
      heap_.pop();
      now_ = entry.when;
      ++done_;
      entry.action();
    }
    now_ = when;
  }

 private:
  struct Entry {
    std::int64_t when;
    std::uint64_t number;
    Action action;
    bool operator<(const Entry& other) const { return when != other.when ? when > other.when : number > other.number; }
  };

  std::priority_queue<Entry> heap_;
  std::int64_t now_ = 0;
  std::uint64_t added_ = 0;
  std::uint64_t done_ = 0;
};

}  // namespace holdfast::transport
