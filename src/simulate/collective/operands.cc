#include "simulate/collective/operands.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/random/stream.h"

namespace holdfast::simulate::collective {
namespace {

template <class Number>
Number combined(Combine combine, Number a, Number b) {
  switch (combine) {
    case Combine::sum:
      return a + b;
    case Combine::minimum:
      return std::min(a, b);
    case Combine::maximum:
      return std::max(a, b);
  }
  return a;
}

/// Numbers that fill words side by side.
template <class Number>
void bring_in_numbers(Combine combine, std::uint64_t* total, const std::uint64_t* from, std::uint32_t words) {
  constexpr std::size_t many = sizeof(std::uint64_t) / sizeof(Number);
  for (std::uint32_t i = 0; i < words; ++i) {
    Number ours[many], theirs[many];
    std::memcpy(ours, total + i, sizeof ours);
    std::memcpy(theirs, from + i, sizeof theirs);
    for (std::size_t k = 0; k < many; ++k) ours[k] = combined(combine, ours[k], theirs[k]);
    std::memcpy(total + i, ours, sizeof ours);
  }
}

/// `shift` is added to every word of `from` on the way; of integers alone.
void bring_in(Combine combine, Operand operand, std::uint64_t* total, const std::uint64_t* from, std::uint64_t shift,
              std::uint32_t words) {
  if (operand == Operand::single_precision) return bring_in_numbers<float>(combine, total, from, words);
  if (operand == Operand::double_precision) return bring_in_numbers<double>(combine, total, from, words);
  for (std::uint32_t i = 0; i < words; ++i) total[i] = combined(combine, total[i], from[i] + shift);
}

std::size_t numbers_in_word(Operand operand) {
  return operand == Operand::single_precision ? 2 : 1;
}

double number_at(Operand operand, const std::uint64_t* words, std::size_t i) {
  if (operand == Operand::double_precision) return std::bit_cast<double>(words[i]);
  float halves[2];
  std::memcpy(halves, words + i / 2, sizeof halves);
  return static_cast<double>(halves[i % 2]);
}

/// A number of either sign whose magnitude spans 17 powers of two, so that sums round.
double draw_number(random::Stream& stream) {
  const auto exponent = static_cast<int>(stream.below(17)) - 8;
  return std::ldexp(2 * stream.uniform() - 1, exponent);
}

std::uint64_t draw_word(random::Stream& stream, Operand operand) {
  // a quarter of the range, so that the shift of a segment never wraps around and minima stay minima
  if (operand == Operand::integer) return stream.next64() >> 2;
  if (operand == Operand::double_precision) return std::bit_cast<std::uint64_t>(draw_number(stream));
  const float halves[2] = {static_cast<float>(draw_number(stream)), static_cast<float>(draw_number(stream))};
  return std::bit_cast<std::uint64_t>(halves);
}

}  // namespace

Operands::Operands(const Tree& tree, std::uint32_t words, Combine combine, std::uint64_t seed, Operand operand)
    : words_(words), combine_(combine), operand_(operand), rows_(tree.nodes.size() * words), below_(tree.nodes.size()) {
  const random::Stream root = random::Stream(seed).child("operands");
  for (std::uint32_t host = 0; host < tree.hosts; ++host) {
    random::Stream stream = root.child(host);
    for (std::uint32_t i = 0; i < words; ++i) rows_[std::size_t{host} * words + i] = draw_word(stream, operand);
    below_[host] = 1;
  }
  if (operand != Operand::integer && combine == Combine::sum) {
    const double half_an_ulp = operand == Operand::single_precision ? std::numeric_limits<float>::epsilon() / 2
                                                                    : std::numeric_limits<double>::epsilon() / 2;
    tolerances_.assign(words * numbers_in_word(operand), 0);
    for (std::uint32_t host = 0; host < tree.hosts; ++host)
      for (std::size_t i = 0; i < tolerances_.size(); ++i)
        tolerances_[i] += std::abs(number_at(operand, rows_.data() + std::size_t{host} * words, i));
    for (double& each : tolerances_) each *= 2.02 * tree.hosts * half_an_ulp;
  }
  for (std::uint32_t node = 0; node < tree.nodes.size(); ++node) {
    if (tree.is_host(node)) continue;
    std::uint64_t* total = rows_.data() + std::size_t{node} * words;
    bool first = true;
    for (const std::uint32_t edge : tree.down_edges(node)) {
      const std::uint32_t child = tree.edges[edge].child;
      const std::uint64_t* row = rows_.data() + std::size_t{child} * words;
      if (first) {
        std::copy_n(row, words, total);
      } else {
        bring_in(combine, operand, total, row, 0, words);
      }
      first = false;
      below_[node] += below_[child];
    }
  }
}

void combine_into(Combine combine, Operand operand, std::span<std::uint64_t> total, const Value& value) {
  bring_in(combine, operand, total.data(), value.words, value.shift, static_cast<std::uint32_t>(total.size()));
}

bool is_right(Operand operand, std::span<const std::uint64_t> words, const std::uint64_t* right,
              std::span<const double> tolerances) {
  if (tolerances.empty()) return std::equal(words.begin(), words.end(), right);
  for (std::size_t i = 0; i < words.size() * numbers_in_word(operand); ++i) {
    const double off = std::abs(number_at(operand, words.data(), i) - number_at(operand, right, i));
    if (!(off <= tolerances[i])) return false;
  }
  return true;
}

}  // namespace holdfast::simulate::collective
