#pragma once

#include <cstdint>
#include <deque>
#include <queue>
#include <string_view>
#include <utility>
#include <vector>

#include "core/status/status.h"
#include "simulate/packet/traffic.h"

namespace holdfast::simulate {

/// A program of communication: for each host, operations and which of them must be over before others may begin. What
/// trace files (trace.h) and GOAL schedules (goal.h) are read into.
struct Schedule {
  enum class Kind : std::uint8_t { send, receive, compute };
  static constexpr std::uint32_t any = 0xffffffff;  ///< of a receive: any source, any tag

  struct Operation {
    Kind kind = Kind::compute;
    std::uint32_t host = 0;
    std::uint32_t peer = any;
    std::uint32_t tag = any;
    std::uint64_t bytes = 0;
    Time duration = 0;  ///< of a computation
    Time not_before = 0;
    std::uint32_t core = 0;                 ///< computations on one core of a host come one after another
    std::uint32_t waits = 0;                ///< operations that must be over (or begun) first
    std::vector<std::uint32_t> then;        ///< wait for the end of this one
    std::vector<std::uint32_t> then_begin;  ///< wait for its beginning
  };
  std::uint32_t hosts = 0;
  std::vector<Operation> operations;

  void after(std::uint32_t first, std::uint32_t second) {
    operations[first].then.push_back(second);
    ++operations[second].waits;
  }
};

/// Plays a schedule. A send is over when the adapter has taken the message, a receive when a message of its source and
/// tag has arrived (in the order of arrival and of posting, as MPI matches), a computation after its duration. Ready
/// sends leave in the order in which they became ready.
class ScheduleTraffic : public Traffic {
 public:
  explicit ScheduleTraffic(Schedule schedule);

  Answer next(std::uint32_t host, Time now, Message& message) override;
  bool finite() const override { return true; }
  void sent(std::uint32_t host, std::uint32_t tag, Time now) override;
  bool watches_deliveries() const override { return true; }
  void delivered(std::uint32_t destination, std::uint32_t tag, Time now, std::vector<std::uint32_t>& wake) override;
  bool done() const override { return over_ == schedule_.operations.size(); }
  std::uint64_t messages() const override { return sends_; }
  std::uint64_t operations_over() const { return over_; }

 private:
  using Timed = std::pair<Time, std::uint32_t>;  // and an operation
  struct Arrived {
    std::uint32_t source, tag;
    Time at;
  };
  struct Host {
    std::priority_queue<Timed, std::vector<Timed>, std::greater<>> sends;      // by when they became ready
    std::priority_queue<Timed, std::vector<Timed>, std::greater<>> computing;  // by when they end
    std::deque<Timed> posted;                                                  // receives
    std::deque<Arrived> arrived;                                               // unexpected messages
    std::vector<Time> core_free;
  };
  void become_ready(std::uint32_t operation, Time now);
  void release(const std::vector<std::uint32_t>& waiting, Time now);
  void end(std::uint32_t operation, Time now);
  void advance(Host& host, Time now);

  Schedule schedule_;
  std::vector<Host> hosts_;
  std::vector<Time> ready_at_;  // by operation: the latest end it waited for
  std::uint64_t over_ = 0;
  std::uint64_t sends_ = 0;
};

}  // namespace holdfast::simulate
