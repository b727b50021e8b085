#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace holdfast::replicate {

/// What a vote on each block of a result came to.
struct BlockVerdict {
  std::vector<std::byte> bytes;  ///< each block as most have it
  std::vector<bool> wrong;       ///< by voter: some block of its copy is not that
};

/// Votes on each block of a result of which no whole copy has a majority. `copies`: one a voter, of the same length;
/// `ends`: where each block ends, ascending, the last one at that length. A block's majority is more than half of the
/// voters, as vote.h has it; nothing where a block has none.
///
/// A block must be what one rank alone has given, or one element of a reduction: then it is right or wrong as a whole,
/// and the vote is as good as one on the message that would have brought it.
std::optional<BlockVerdict> vote_by_blocks(std::span<const std::span<const std::byte>> copies,
                                           std::span<const std::size_t> ends);

}  // namespace holdfast::replicate
