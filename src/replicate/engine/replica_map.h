#pragma once

#include <string_view>
#include <vector>

#include "core/status/status.h"

namespace holdfast::replicate {

/// Which process of the real MPI world ("native rank") plays which rank of the application ("virtual rank") in which
/// replica (RedMPI section 3.1, Figure 2). Immutable; any thread.
class ReplicaMap {
 public:
  /// The default: virtual = native mod ranks, replica = native / ranks. Error when either is below 1 or the product
  /// does not fit an int; whether the launched processes are that many is the caller's to check.
  static Result<ReplicaMap> uniform(int ranks, int degree);
  /// From a map file's text: one line a native rank, "native virtual replica", # starts a comment. Every virtual rank
  /// must have the same replicas 0..degree-1. Errors name the line and column.
  static Result<ReplicaMap> parse(std::string_view text, std::string_view name);

  int ranks() const { return ranks_; }
  int degree() const { return degree_; }
  int natives() const { return ranks_ * degree_; }
  int virtual_rank(int native) const { return virtual_[native]; }
  int replica(int native) const { return replica_[native]; }
  int native(int virtual_rank, int replica) const { return native_[virtual_rank * degree_ + replica]; }
  bool operator==(const ReplicaMap&) const = default;

 private:
  void set(int native, int virtual_rank, int replica);

  int ranks_ = 0;
  int degree_ = 0;
  std::vector<int> virtual_;
  std::vector<int> replica_;
  std::vector<int> native_;
};

}  // namespace holdfast::replicate
