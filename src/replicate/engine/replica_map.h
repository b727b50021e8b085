#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/status/status.h"
#include "replicate/engine/degrees.h"

namespace holdfast::replicate {

/// Which process of the real MPI world ("physical rank") plays which rank of the application ("virtual rank") in which
/// replica (RedMPI section 3.1, Figure 2). Immutable; any thread.
class ReplicaMap {
 public:
  /// The default: virtual = physical mod ranks, replica = physical / ranks. Error when either is below 1 or the product
  /// does not fit an int; whether the launched processes are that many is the caller's to check.
  static Result<ReplicaMap> uniform(int ranks, int degree);
  /// Each rank in as many replicas as `degrees` says; physical ranks are given out replica by replica, so that those of
  /// replica 0 are the virtual ranks. uniform() where all are the same.
  static Result<ReplicaMap> of_degrees(const std::vector<int>& degrees);
  static Result<ReplicaMap> of(const Degrees& degrees, int ranks);
  /// From a map file's text: one line a physical rank, "physical virtual replica", # starts a comment. Every virtual
  /// rank must have the replicas 0 to some number without a hole. Errors name the line and column.
  static Result<ReplicaMap> parse(std::string_view text, std::string_view name);

  int ranks() const { return ranks_; }
  /// The most replicas that a rank has.
  int degree() const { return degree_; }
  int degree(int virtual_rank) const { return degrees_[static_cast<std::size_t>(virtual_rank)]; }
  const std::vector<int>& degrees() const { return degrees_; }
  /// "3", or "1 to 3" where ranks have different numbers.
  std::string degrees_text() const;
  /// Ranks have different numbers of replicas.
  bool partial() const { return partial_; }
  int physical_ranks() const { return static_cast<int>(virtual_.size()); }
  int virtual_rank(int physical) const { return virtual_[physical]; }
  int replica(int physical) const { return replica_[physical]; }
  /// Requires replica < degree(virtual_rank).
  int physical_rank(int virtual_rank, int replica) const { return physical_[first_[virtual_rank] + replica]; }
  bool operator==(const ReplicaMap&) const = default;

 private:
  /// With all replicas, but nobody who plays them yet.
  static Result<ReplicaMap> unplayed(const std::vector<int>& degrees);
  void set(int physical, int virtual_rank, int replica);

  int ranks_ = 0;
  int degree_ = 0;
  bool partial_ = false;
  std::vector<int> degrees_;  ///< by virtual rank
  std::vector<int> virtual_;
  std::vector<int> replica_;
  std::vector<int> first_;  ///< by virtual rank: where its replicas are in physical_
  std::vector<int> physical_;
};

}  // namespace holdfast::replicate
