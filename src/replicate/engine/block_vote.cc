#include "replicate/engine/block_vote.h"

#include <algorithm>

namespace holdfast::replicate {

namespace {

/// The voter whose block most have; none without a majority.
std::optional<std::size_t> winner(std::span<const std::span<const std::byte>> copies, std::size_t from,
                                  std::size_t bytes) {
  for (std::size_t a = 0; a < copies.size(); ++a) {
    const auto same = [&](std::span<const std::byte> other) {
      return std::ranges::equal(copies[a].subspan(from, bytes), other.subspan(from, bytes));
    };
    if (2 * static_cast<std::size_t>(std::ranges::count_if(copies, same)) > copies.size()) return a;
  }
  return std::nullopt;
}

}  // namespace

std::optional<BlockVerdict> vote_by_blocks(std::span<const std::span<const std::byte>> copies,
                                           std::span<const std::size_t> ends) {
  BlockVerdict verdict;
  verdict.wrong.resize(copies.size());
  std::size_t from = 0;
  for (const std::size_t end : ends) {
    const auto best = winner(copies, from, end - from);
    if (!best) return std::nullopt;
    const auto good = copies[*best].subspan(from, end - from);
    verdict.bytes.insert(verdict.bytes.end(), good.begin(), good.end());
    for (std::size_t k = 0; k < copies.size(); ++k)
      if (!std::ranges::equal(copies[k].subspan(from, end - from), good)) verdict.wrong[k] = true;
    from = end;
  }
  return verdict;
}

}  // namespace holdfast::replicate
