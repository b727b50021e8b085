#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "record/block.h"
#include "record/call.h"
#include "record/time_code.h"

namespace holdfast::record {

/// What a rank's file says of itself.
struct Head {
  std::uint64_t rank = 0;
  std::uint64_t ranks = 0;
  std::string job;  ///< the same in all files of a trace
  std::string mpi;  ///< "openmpi", "mpich", or what the trace was converted from
  std::string host;
  std::int64_t began_ns = 0;  ///< since 1970, when MPI was started
};

/// How a file ends; a file without says nothing of its end.
enum class Ending : std::uint64_t { finalized = 1, aborted = 2, left = 3 };

/// Collects the calls of a rank and hands over finished blocks. Not thread-safe. Nothing is read or written here:
/// bytes go to the sink, in order.
class EventWriter {
 public:
  using Sink = std::function<void(std::string_view block)>;
  using NameOf = std::function<std::string_view(std::uint32_t function)>;

  /// `name_of` gives the names of the functions in add() and count().
  EventWriter(const Head& head, NameOf name_of, Sink sink);

  /// The number by which facts name the communicator from now on.
  std::uint64_t define(Communicator communicator);
  /// The number of the next request; requests are numbered as they are made.
  std::uint64_t new_request() { return requests_++; }

  /// A call that is over. `elapsed_ns`: since the recording began, at the call's end.
  void add(std::uint32_t function, std::uint32_t thread, std::span<const FactValue> facts, std::int64_t before_ns,
           std::int64_t without_core_ns, std::int64_t during_ns, std::int64_t elapsed_ns);
  /// So many more calls of which only the name is kept; `local`: they need no other process.
  void count(std::uint32_t function, bool local, std::uint64_t calls);

  /// Hands over what was added so far; nothing where there is nothing.
  void flush();
  /// The last block.
  void end(Ending ending);

  std::int64_t flushed_at_ns() const { return flushed_at_ns_; }
  std::uint64_t calls() const { return calls_; }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t shape = 0;  ///< + 1; 0: free
  };
  std::uint32_t shape_number(std::string_view shape, std::uint32_t function, std::span<const FactValue> facts);
  void put_repeats();
  void start_block();
  void hand_over(BlockKind kind, std::string_view payload);

  NameOf name_of_;
  Sink sink_;
  std::vector<Communicator> communicators_;
  std::map<std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>, std::uint64_t> ordinals_;
  std::uint64_t requests_ = 0;
  std::uint64_t calls_ = 0;
  std::uint64_t blocks_ = 0;
  std::int64_t flushed_at_ns_ = 0;
  std::int64_t elapsed_ns_ = 0;

  // Of the block that is being filled.
  std::vector<Slot> slots_;
  std::string scratch_;
  std::string shapes_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> shape_at_;  ///< offset and length in shapes_
  std::vector<bool> uses_communicator_;
  std::vector<bool> uses_function_;
  std::vector<std::uint64_t> counted_;  ///< by function: local, and others
  bool any_counted_ = false;
  std::string which_, before_, without_core_, during_, repeats_;  ///< columns
  std::uint64_t rows_ = 0;
  TimeColumn before_codes_, without_core_codes_, during_codes_;

  // Calls in a row that asked the same in vain.
  std::uint32_t asked_ = 0;  ///< the shape + 1
  std::uint64_t more_ = 0;
  std::int64_t more_before_ns_ = 0, more_without_core_ns_ = 0, more_during_ns_ = 0;
};

}  // namespace holdfast::record
