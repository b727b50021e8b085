#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "record/rank_reader.h"

namespace holdfast::record {

struct Flow {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
};

/// One function of one rank.
struct CallTotals {
  std::uint64_t calls = 0;
  std::uint64_t in_vain = 0;  ///< of them: asked, and the answer was no
  std::uint64_t bytes = 0;  ///< of messages, parts of collectives, windows' data and files; persistent ones as started
  std::int64_t during_ns = 0;
};

/// The collectives that a rank called on one communicator, which its members and its ordinal name in every rank.
using CommunicatorKey = std::pair<std::vector<std::int64_t>, std::uint64_t>;

/// What a rank did, summed up.
class RankTotals : public Visitor {
 public:
  void call(const Call& call) override;
  void communicator(std::uint64_t number, const Communicator& communicator) override;
  void counted(std::string_view name, bool local, std::uint64_t calls) override;

  std::map<std::string, CallTotals, std::less<>> calls;
  std::map<std::string, std::uint64_t> local;       ///< counted calls that need no other process
  std::map<std::string, std::uint64_t> unrecorded;  ///< counted calls that communicate
  std::map<std::int64_t, Flow> sent;                ///< messages by receiver (rank in the world)
  std::map<std::int64_t, Flow> received;            ///< messages by sender; those that were completed
  std::map<std::int64_t, Flow> put, got;            ///< one-sided, by target
  std::map<CommunicatorKey, std::uint64_t> collectives;
  std::int64_t computing_ns = 0;     ///< between calls, with a core; of all threads
  std::int64_t without_core_ns = 0;  ///< between calls, without one
  std::int64_t in_mpi_ns = 0;

 private:
  struct Pending {
    bool sends = false, receives = false, persistent = false, collective = false;
    std::int64_t to = nobody, from = nobody;
    std::uint64_t bytes = 0;
    std::int64_t communicator = -1;
  };
  void start(std::int64_t request, CallTotals& totals);
  void complete(const Call& call);
  void count_collective(std::int64_t communicator);

  std::unordered_map<std::int64_t, Pending> pending_;
  std::map<std::int64_t, CommunicatorKey> communicators_;
};

}  // namespace holdfast::record
