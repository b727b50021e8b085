#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

namespace holdfast::replicate {

class Verified;

/// The wildcard receives of one replica whose matches are not known yet, by the number that names each alike in all
/// replicas, and in the order of their posting. Receives are the caller's, and stay until they are removed. One thread
/// at a time.
class PendingWildcards {
 public:
  /// One that was posted now. A number that is there already names the new receive from here on.
  void add(std::uint64_t number, Verified& receive);
  /// nullptr: none has that number.
  Verified* find(std::uint64_t number) const;
  /// Its match is known, or it was cancelled. False: none has that number.
  bool remove(std::uint64_t number);

  /// Those to look at now: the `most` that were posted first, which MPI matches first where their patterns are alike,
  /// and up to `most` others in turn, since later ones may match or complete before them. So a look has a bound however
  /// many are pending, and each is looked at after a while. Good until the next call.
  std::span<Verified* const> in_turn(std::size_t most);

  std::size_t size() const { return by_number_.size(); }
  bool empty() const { return by_number_.empty(); }

 private:
  using InOrder = std::map<std::uint64_t, Verified*>;  ///< by how many were posted before

  InOrder in_order_;
  std::unordered_map<std::uint64_t, InOrder::iterator> by_number_;
  std::uint64_t posted_ = 0;
  std::uint64_t turn_ = 0;  ///< of the first one to look at beside the oldest
  std::vector<Verified*> chosen_;
};

}  // namespace holdfast::replicate
