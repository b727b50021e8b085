#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "transport/world/oracle.h"
#include "transport/world/plan.h"

namespace holdfast::transport {

/// Judges operations on remote memory, as Oracle does messages; what it finds goes to the oracle's complaints. Shares
/// no code with the engine.
///
/// The promises: an operation ends once; one that ends well has been done, once and whole; one on memory that the
/// target does not have is refused; one that ended in an error has been done once at most. While a rail works and
/// nobody restarts, none fails.
class RemoteOracle {
 public:
  RemoteOracle(const Plan& plan, Oracle& oracle) : plan_(plan), oracle_(oracle), states_(plan.remote.size()) {}

  /// The initiator has posted operation number `index` of the plan.
  void posted(std::size_t index);
  void refused(std::size_t index);
  /// The initiator hears of its end.
  void ended(std::size_t index, Oracle::End end);
  /// The initiator got this old value.
  void fetched(std::size_t index, std::uint64_t value);
  /// The target's process has done an atomic operation, on this old value, and is told of a write.
  void applied(std::uint64_t index, std::uint64_t old);
  void announced(std::uint64_t index);
  void restarted(unsigned node);

  /// Whether the target is still the process that was meant.
  bool same_target(std::size_t index) const;
  /// Whether everything has ended that this node's living process has posted.
  bool ended_all(unsigned node) const;
  std::uint64_t good() const { return good_; }
  /// After everything has ended.
  void judge();

 private:
  struct State {
    bool posted = false;
    unsigned from_life = 0;
    unsigned to_life = 0;
    Oracle::End end = Oracle::End::open;
    unsigned applied = 0;
    std::uint64_t old = 0;  ///< value, as the target had it
    std::optional<std::uint64_t> fetched;
    unsigned announced = 0;
  };
  unsigned life(unsigned node) const { return node < lives_.size() ? lives_[node] : 0; }
  bool lives(std::size_t index) const { return states_[index].from_life == life(plan_.remote[index].from); }
  void judge(std::size_t index);
  void complain(std::size_t index, const char* what);

  const Plan& plan_;
  Oracle& oracle_;
  std::vector<State> states_;
  std::vector<unsigned> lives_;
  std::uint64_t good_ = 0;
};

}  // namespace holdfast::transport
