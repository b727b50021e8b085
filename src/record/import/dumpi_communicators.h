#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "record/import/dumpi_text.h"

namespace holdfast::record {

/// Which ranks are in which communicator: a trace of DUMPI holds the calls that made them, and who is in what
/// MPI_Comm_split made follows from all ranks' calls together. Not thread-safe.
class DumpiCommunicators {
 public:
  using Members =
      std::shared_ptr<const std::vector<std::int64_t>>;  ///< ranks in the world, in the communicator's order
  static constexpr std::int64_t world = 2, self = 3;     ///< DUMPI's numbers; lower ones are none

  explicit DumpiCommunicators(std::uint64_t ranks);

  /// Whether the function makes a communicator.
  static bool makes_one(std::string_view function);

  /// A call of this rank. Ranks in any order, the calls of a rank in theirs.
  void take(std::uint64_t rank, const DumpiCall& call);
  /// After all calls of all ranks.
  void resolve();

  Members everybody() const { return communicators_[0].members; }
  /// What the rank's call number `index` of those that make communicators made; null: none, or it cannot be told.
  Members made(std::uint64_t rank, std::size_t index) const;

 private:
  enum class Kind {
    group_of,
    include,
    exclude,
    unite,
    intersect,
    subtract,
    duplicate,
    split,
    by_group,
    first,
    cartesian,
    part_of_cartesian,
    unknown
  };
  struct Making {
    Kind kind{};
    bool ranges = false;                            ///< of include and exclude: triples of first, last, step
    std::int64_t from = 0, second = 0, result = 0;  ///< DUMPI's numbers
    std::vector<std::int64_t> numbers;              ///< ranks, ranges, colour and key, dimensions
  };
  struct OneCommunicator {
    Members members;
    std::vector<std::int64_t> dimensions;  ///< of a cartesian one
  };
  struct Rank {
    std::vector<Making> makings;
    std::size_t next = 0;
    std::map<std::int64_t, std::size_t> communicators;  ///< by DUMPI's number
    std::map<std::int64_t, Members> groups;
    std::vector<std::optional<std::size_t>> made;
  };

  static std::optional<Making> making_of(const DumpiCall& call);
  static bool is_local(Kind kind) { return kind < Kind::duplicate; }
  static bool makes_communicator(Kind kind) { return kind >= Kind::duplicate; }
  static Members chosen(const std::vector<std::int64_t>& from, const Making& making);
  static Members combined(const Members& left, const Members& right, Kind kind);
  void advance(std::uint64_t rank);
  void make_group(Rank& rank, const Making& making);
  void make_together(std::size_t communicator);
  void split(const std::vector<std::uint64_t>& ranks, const std::vector<std::int64_t>& colours,
             const std::vector<std::int64_t>& keys, const std::vector<std::int64_t>& dimensions);
  void give(std::uint64_t rank, std::optional<std::size_t> communicator);

  std::vector<Rank> ranks_;
  std::vector<OneCommunicator> communicators_;                 ///< the world first
  std::map<std::size_t, std::vector<std::uint64_t>> waiting_;  ///< ranks whose next call is one of all members
  std::deque<std::uint64_t> ready_;
};

}  // namespace holdfast::record
