#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "simulate/collective/scheme.h"
#include "simulate/collective/tree.h"

/// What the hosts contribute, and what must come out: so that a wrong answer shows.
namespace holdfast::simulate::collective {

/// 64-bit words of one packet's payload. What stands in segment s of a vector is `words[i] + shift`.
struct Value {
  const std::uint64_t* words = nullptr;
  std::uint64_t shift = 0;
};

/// A value in every segment of a vector: segments differ, so that a mixed-up one is noticed.
struct Contribution {
  const std::uint64_t* words = nullptr;  ///< null: nothing is contributed
  std::uint64_t shift_per_segment = 0;
  Value in(std::uint64_t segment) const { return {words, shift_per_segment * segment}; }
};

/// Operands of the tree's hosts, drawn from a seed, and the right result at every node. Immutable; any thread.
class Operands {
 public:
  /// `words` is the payload of a whole packet in words, 0 for a barrier.
  Operands(const Tree& tree, std::uint32_t words, Combine combine, std::uint64_t seed,
           Operand operand = Operand::integer);

  std::uint32_t words() const { return words_; }
  Combine combine() const { return combine_; }
  Operand operand() const { return operand_; }

  /// By how much a number of the result may differ from the right one, of every number in a packet: what summing all
  /// hosts' in any order can round (n - 1 roundings each way; N. Higham, Accuracy and Stability of Numerical
  /// Algorithms, 2002, 4.2). 0 for integers, minima and maxima, for which it is empty.
  std::span<const double> tolerances() const { return tolerances_; }

  /// What this node's hosts come to, all taken together. The words live as long as this object.
  Contribution at(std::uint32_t node) const {
    // A shift of a number's bits is no number: segments of floating point are alike.
    const std::uint64_t shift = operand_ != Operand::integer ? 0 : combine_ == Combine::sum ? below_[node] : 1;
    return {rows_.data() + std::size_t{node} * words_, shift};
  }

 private:
  std::uint32_t words_;
  Combine combine_;
  Operand operand_;
  std::vector<double> tolerances_;    // by number in a packet
  std::vector<std::uint64_t> rows_;   // by node
  std::vector<std::uint32_t> below_;  // by node: its hosts
};

/// Brings `value` into `total`, number by number.
void combine_into(Combine combine, Operand operand, std::span<std::uint64_t> total, const Value& value);

/// Whether `words` are `right` but for rounding: no number is farther from it than its tolerance. Without tolerances:
/// bit for bit.
bool is_right(Operand operand, std::span<const std::uint64_t> words, const std::uint64_t* right,
              std::span<const double> tolerances);

}  // namespace holdfast::simulate::collective
