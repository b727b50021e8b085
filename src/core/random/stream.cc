#include "core/random/stream.h"

#include <cmath>

#include "core/random/philox.h"

namespace holdfast::random {
namespace {

using Block = std::array<std::uint32_t, 4>;

constexpr std::uint32_t low(std::uint64_t word) {
  return static_cast<std::uint32_t>(word);
}
constexpr std::uint32_t high(std::uint64_t word) {
  return static_cast<std::uint32_t>(word >> 32);
}
constexpr std::uint64_t join(std::uint32_t lower, std::uint32_t upper) {
  return (static_cast<std::uint64_t>(upper) << 32) | lower;
}

constexpr std::uint32_t kind_letters = 1;
constexpr std::uint32_t kind_number = 2;
constexpr std::uint32_t kind_length = 3;

// A word and its kind become a key, so that no step down a path can be mistaken for one of another kind.
constexpr std::uint32_t key_of_paths = 0x70617468;  // "path"

}  // namespace

// One step folds a word into the identity: a permutation of the identity that the word and its kind choose.
Stream Stream::descend(std::uint64_t word, std::uint32_t kind) const {
  const Block at = {low(identity_.key), high(identity_.key), low(identity_.counter), high(identity_.counter)};
  const Block first = philox4x32_10(at, {low(word), kind ^ key_of_paths});
  const Block second = philox4x32_10(first, {high(word), kind ^ key_of_paths});
  Stream stream(join(second[0], second[1]));
  stream.identity_.counter = join(second[2], second[3]);
  return stream;
}

Stream Stream::child(std::string_view name) const {
  Stream stream = *this;
  for (std::size_t start = 0; start < name.size(); start += 8) {
    std::uint64_t word = 0;
    for (std::size_t i = start; i < name.size() && i < start + 8; ++i) {
      word |= static_cast<std::uint64_t>(static_cast<unsigned char>(name[i])) << (8 * (i - start));
    }
    stream = stream.descend(word, kind_letters);
  }
  return stream.descend(name.size(), kind_length);  // ends the name: "ab", "c" is not "abc"
}

Stream Stream::child(std::uint64_t number) const {
  return descend(number, kind_number);
}

std::uint64_t Stream::next64() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  const Block counter = {low(block_), high(block_), low(identity_.counter), high(identity_.counter)};
  const Block drawn = philox4x32_10(counter, {low(identity_.key), high(identity_.key)});
  ++block_;
  spare_ = join(drawn[2], drawn[3]);
  has_spare_ = true;
  return join(drawn[0], drawn[1]);
}

std::uint64_t Stream::below(std::uint64_t bound) {
  __extension__ typedef unsigned __int128 Wide;
  if (bound == 0) return 0;
  Wide product = static_cast<Wide>(next64()) * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t threshold = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < threshold) product = static_cast<Wide>(next64()) * bound;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

bool Stream::chance(std::uint64_t numerator, std::uint64_t denominator) {
  return below(denominator) < numerator;
}

double Stream::uniform() {
  return static_cast<double>(next64() >> 11) * 0x1.0p-53;
}

double Stream::exponential(double mean) {
  return -mean * std::log1p(-uniform());
}

}  // namespace holdfast::random
