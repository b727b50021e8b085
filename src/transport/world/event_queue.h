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

  void at(std::int64_t when, Action action) {
    std::uint32_t place = 0;
    if (free_.empty()) {
      place = static_cast<std::uint32_t>(actions_.size());
      actions_.push_back(std::move(action));
    } else {
      place = free_.back();
      free_.pop_back();
      actions_[place] = std::move(action);
    }
    heap_.push({when < now_ ? now_ : when, added_++, place});
  }

  /// Does everything up to this moment.
  void run_until(std::int64_t when) {
    while (!heap_.empty() && heap_.top().when <= when) {
      const Entry entry = heap_.top();
      heap_.pop();
      now_ = entry.when;
      ++done_;
      const Action action = std::move(actions_[entry.place]);
      free_.push_back(entry.place);
      action();
    }
    now_ = when;
  }

 private:
  struct Entry {
    std::int64_t when;
    std::uint64_t number;
    std::uint32_t place;  ///< of the action
    bool operator<(const Entry& other) const { return when != other.when ? when > other.when : number > other.number; }
  };

  std::priority_queue<Entry> heap_;
  std::vector<Action> actions_;
  std::vector<std::uint32_t> free_;
  std::int64_t now_ = 0;
  std::uint64_t added_ = 0;
  std::uint64_t done_ = 0;
};

}  // namespace holdfast::transport
