#include "simulate/job/replica_contents.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "replicate/engine/mix.h"

namespace holdfast::simulate::job {
namespace {

using replicate::Ballot;
using replicate::Copy;
using replicate::mix;

constexpr std::size_t head_bytes = 2 * sizeof(std::uint64_t);
constexpr std::uint64_t most_parts = 64;

std::uint64_t word_at(std::span<const std::byte> bytes, std::size_t at) {
  std::uint64_t word = 0;
  if (at + sizeof word <= bytes.size()) std::memcpy(&word, bytes.data() + at, sizeof word);
  return word;
}

/// 0 where nothing was altered.
std::uint64_t digest_of(std::span<const std::uint64_t> altered) {
  if (std::ranges::all_of(altered, [](std::uint64_t word) { return word == 0; })) return 0;
  std::uint64_t all = 0;
  for (const std::uint64_t word : altered) all = mix(all, word);
  return all;
}

Ballot ballot_of(std::uint64_t name, std::uint64_t bytes, std::span<const std::uint64_t> altered) {
  const std::uint64_t wrong = digest_of(altered);
  return {{wrong == 0 ? name : mix(name, wrong), name}, bytes, true};  // the first word is what people are shown
}

std::vector<std::uint64_t> altered_in(std::span<const std::byte> copy) {
  std::vector<std::uint64_t> altered;
  for (std::size_t at = head_bytes; at + sizeof(std::uint64_t) <= copy.size(); at += sizeof(std::uint64_t))
    altered.push_back(word_at(copy, at));
  return altered;
}

std::uint64_t sum(const std::vector<std::uint64_t>& sizes, std::uint64_t each, std::uint32_t ranks) {
  return sizes.empty() ? each * ranks : std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
}

}  // namespace

std::uint64_t altered_by(std::uint64_t bit) {
  return mix(0x666c6970, bit);
}

Copy copy_of(std::uint64_t name, std::uint64_t bytes, std::span<const std::uint64_t> altered) {
  auto copy = std::make_shared<std::vector<std::byte>>(head_bytes + altered.size_bytes());
  std::memcpy(copy->data(), &name, sizeof name);
  std::memcpy(copy->data() + sizeof name, &bytes, sizeof bytes);
  if (!altered.empty()) std::memcpy(copy->data() + head_bytes, altered.data(), altered.size_bytes());
  return copy;
}

Ballot ballot_of(std::span<const std::byte> copy) {
  return ballot_of(word_at(copy, 0), word_at(copy, sizeof(std::uint64_t)), altered_in(copy));
}

std::uint64_t bytes_of(std::span<const std::byte> copy) {
  return word_at(copy, sizeof(std::uint64_t));
}

Ballot SentContent::ballot(std::uint64_t bytes) const {
  toll_.digest(bytes);
  return ballot_of(content_.name, bytes, {&content_.altered, 1});
}

Copy SentContent::copy(std::uint64_t bytes) const {
  toll_.copy(bytes);
  return copy_of(content_.name, bytes, {&content_.altered, 1});
}

Ballot ReceivedContent::ballot(std::uint64_t bytes) const {
  toll_.digest(bytes);
  return ballot_of(content.name, bytes, {&content.altered, 1});
}

Copy ReceivedContent::copy(std::uint64_t bytes) const {
  toll_.copy(bytes);
  return copy_of(content.name, bytes, {&content.altered, 1});
}

Ballot ReceivedContent::ballot_of_copy(std::span<const std::byte> bytes) const {
  toll_.digest(bytes_of(bytes));
  return job::ballot_of(bytes);
}

bool ReceivedContent::overwrite(std::span<const std::byte> bytes) {
  toll_.copy(bytes_of(bytes));
  content.name = word_at(bytes, 0);
  content.bytes = bytes_of(bytes);
  content.altered = word_at(bytes, head_bytes);
  return true;
}

Ballot ResultContent::ballot(std::uint64_t) const {
  toll_.digest(bytes);
  return ballot_of(name, bytes, altered);
}

Copy ResultContent::copy(std::uint64_t) const {
  toll_.copy(bytes);
  return copy_of(name, bytes, altered);
}

Ballot ResultContent::ballot_of_copy(std::span<const std::byte> copied) const {
  toll_.digest(bytes_of(copied));
  return job::ballot_of(copied);
}

bool ResultContent::overwrite(std::span<const std::byte> copied) {
  toll_.copy(bytes_of(copied));
  std::vector<std::uint64_t> parts = altered_in(copied);
  parts.resize(altered.size());
  altered = std::move(parts);
  return true;
}

std::vector<std::size_t> ResultContent::block_ends() const {
  std::vector<std::size_t> ends;
  if (altered.size() < 2) return ends;
  for (std::size_t part = 1; part <= altered.size(); ++part) ends.push_back(head_bytes + part * sizeof(std::uint64_t));
  return ends;
}

std::uint64_t bytes_given(const Collective& what) {
  switch (what.operation) {
    case Operation::barrier:
    case Operation::neighbours:
      return 0;
    case Operation::bcast:
      return what.me == what.root ? what.bytes : 0;
    case Operation::scatter:
    case Operation::scatterv:
      return what.me == what.root ? sum(what.to, what.bytes, what.size) : 0;
    case Operation::alltoall:
    case Operation::alltoallv:
    case Operation::alltoallw:
      return sum(what.to, what.bytes, what.size);
    case Operation::reduce_scatter:
    case Operation::reduce_scatter_block:
      return sum(what.from, what.bytes, what.size);
    default:
      return what.bytes;
  }
}

std::uint64_t bytes_got(const Collective& what) {
  const bool at_root = what.me == what.root;
  switch (what.operation) {
    case Operation::barrier:
    case Operation::neighbours:
      return 0;
    case Operation::gather:
    case Operation::gatherv:
      return at_root ? sum(what.from, what.bytes, what.size) : 0;
    case Operation::allgather:
    case Operation::allgatherv:
    case Operation::alltoall:
    case Operation::alltoallv:
    case Operation::alltoallw:
      return sum(what.from, what.bytes, what.size);
    case Operation::reduce:
      return at_root ? what.bytes : 0;
    case Operation::exscan:
      return what.me > 0 ? what.bytes : 0;
    case Operation::reduce_scatter:
    case Operation::reduce_scatter_block:
      return what.from_rank(what.me);
    default:
      return what.bytes;
  }
}

namespace {

/// The rank whose block, of sizes `sizes` or `each`, has that byte, and the bit from the block's first.
std::pair<std::uint32_t, std::uint64_t> block_with(std::uint64_t bit, const std::vector<std::uint64_t>& sizes,
                                                   std::uint64_t each, std::uint32_t ranks) {
  std::uint64_t begin = 0;
  if (sizes.empty()) {
    const std::uint64_t rank = each == 0 ? 0 : std::min<std::uint64_t>(bit / 8 / each, ranks - 1);
    return {static_cast<std::uint32_t>(rank), bit - rank * each * 8};
  }
  for (std::uint32_t rank = 0; rank < sizes.size(); ++rank) {
    if (bit / 8 < begin + sizes[rank]) return {rank, bit - begin * 8};
    begin += sizes[rank];
  }
  return {static_cast<std::uint32_t>(sizes.size() - 1), bit};
}

std::uint64_t elements_of(std::uint64_t bytes) {
  return bytes / element_bytes(bytes);
}

bool is_reduction(Operation operation) {
  return operation == Operation::reduce || operation == Operation::allreduce || operation == Operation::scan ||
         operation == Operation::exscan || operation == Operation::reduce_scatter ||
         operation == Operation::reduce_scatter_block;
}

std::size_t parts_of(const Collective& what) {
  switch (what.operation) {
    case Operation::gather:
    case Operation::gatherv:
    case Operation::allgather:
    case Operation::allgatherv:
    case Operation::alltoall:
    case Operation::alltoallv:
    case Operation::alltoallw:
      return std::max<std::size_t>(what.size, 1);
    default:
      break;
  }
  const std::uint64_t got = bytes_got(what);
  if (!is_reduction(what.operation) || got == 0) return 1;
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(elements_of(got), 1, most_parts));
}

}  // namespace

std::vector<std::uint64_t> altered_result(const Collective& what, const FlippedBits& flipped) {
  std::vector<std::uint64_t> altered(parts_of(what), 0);
  const std::uint64_t got = std::max<std::uint64_t>(bytes_got(what), 1);
  for (const auto& [rank, bits] : flipped)
    for (const std::uint64_t bit : bits) {
      const std::uint64_t element_bits = element_bytes(got) * 8;
      switch (what.operation) {
        case Operation::bcast:
          altered[0] ^= altered_by(bit);
          break;
        case Operation::scatter: {
          const auto [block, inside] = block_with(bit, {}, what.bytes, what.size);
          if (block == what.me) altered[0] ^= altered_by(inside);
          break;
        }
        case Operation::alltoall: {
          const auto [block, inside] = block_with(bit, {}, what.bytes, what.size);
          if (block == what.me) altered[rank % altered.size()] ^= altered_by(inside);
          break;
        }
        case Operation::scan:
          if (rank <= what.me) altered[bit / element_bits % altered.size()] ^= mix(altered_by(bit), rank);
          break;
        case Operation::exscan:
          if (rank < what.me) altered[bit / element_bits % altered.size()] ^= mix(altered_by(bit), rank);
          break;
        case Operation::reduce_scatter:
        case Operation::reduce_scatter_block: {
          const auto [block, inside] = block_with(bit, what.from, what.bytes, what.size);
          if (block == what.me) altered[inside / element_bits % altered.size()] ^= mix(altered_by(bit), rank);
          break;
        }
        case Operation::reduce:
        case Operation::allreduce:
          altered[bit / element_bits % altered.size()] ^= mix(altered_by(bit), rank);
          break;
        default:  // a block of each rank, of which that of a v collective goes to everybody
          altered[rank % altered.size()] ^= altered_by(bit);
          break;
      }
    }
  return altered;
}

}  // namespace holdfast::simulate::job
