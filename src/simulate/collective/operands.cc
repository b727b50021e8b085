#include "simulate/collective/operands.h"

#include <algorithm>

#include "core/random/stream.h"

namespace holdfast::simulate::collective {
namespace {

/// `shift` is added to every word of `from` on the way.
void bring_in(Combine combine, std::uint64_t* total, const std::uint64_t* from, std::uint64_t shift,
              std::uint32_t words) {
  switch (combine) {
    case Combine::sum:
      for (std::uint32_t i = 0; i < words; ++i) total[i] += from[i] + shift;
      return;
    case Combine::minimum:
      for (std::uint32_t i = 0; i < words; ++i) total[i] = std::min(total[i], from[i] + shift);
      return;
    case Combine::maximum:
      for (std::uint32_t i = 0; i < words; ++i) total[i] = std::max(total[i], from[i] + shift);
      return;
  }
}

}  // namespace

Operands::Operands(const Tree& tree, std::uint32_t words, Combine combine, std::uint64_t seed)
    : words_(words), combine_(combine), rows_(tree.nodes.size() * words), below_(tree.nodes.size()) {
  const random::Stream root = random::Stream(seed).child("operands");
  for (std::uint32_t host = 0; host < tree.hosts; ++host) {
    random::Stream stream = root.child(host);
    // a quarter of the range, so that the shift of a segment never wraps around and minima stay minima
    for (std::uint32_t i = 0; i < words; ++i) rows_[std::size_t{host} * words + i] = stream.next64() >> 2;
    below_[host] = 1;
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
        bring_in(combine, total, row, 0, words);
      }
      first = false;
      below_[node] += below_[child];
    }
  }
}

void combine_into(Combine combine, std::span<std::uint64_t> total, const Value& value) {
  bring_in(combine, total.data(), value.words, value.shift, static_cast<std::uint32_t>(total.size()));
}

}  // namespace holdfast::simulate::collective
