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
  Operands(const Tree& tree, std::uint32_t words, Combine combine, std::uint64_t seed);

  std::uint32_t words() const { return words_; }
  Combine combine() const { return combine_; }

  /// What this node's hosts come to, all taken together. The words live as long as this object.
  Contribution at(std::uint32_t node) const {
    return {rows_.data() + std::size_t{node} * words_, combine_ == Combine::sum ? below_[node] : 1};
  }

 private:
  std::uint32_t words_;
  Combine combine_;
  std::vector<std::uint64_t> rows_;   // by node
  std::vector<std::uint32_t> below_;  // by node: its hosts
};

/// Brings `value` into `total`, word by word.
void combine_into(Combine combine, std::span<std::uint64_t> total, const Value& value);

}  // namespace holdfast::simulate::collective
