#include "record/block.h"

#include <zstd.h>

#include <cstring>
#include <span>

#include "core/integrity/checksum.h"

namespace holdfast::record {
namespace {

constexpr std::string_view magic("HOLDFREC", 8);
constexpr std::uint32_t format_version = 1;
constexpr std::size_t checked_from = 16;  ///< the magic and the checksum itself are not under the checksum
constexpr int compression_level = 1;

template <class Number>
void put(char* to, Number value) {
  for (std::size_t i = 0; i < sizeof(Number); ++i) to[i] = static_cast<char>(value >> (8 * i));
}
template <class Number>
Number get(const char* from) {
  Number value = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i)
    value |= static_cast<Number>(static_cast<unsigned char>(from[i])) << (8 * i);
  return value;
}

std::uint64_t sum_of(std::string_view bytes) {
  return integrity::checksum(integrity::Checksum::xxh3_64, std::as_bytes(std::span(bytes.data(), bytes.size())));
}

Status no_block(std::string wrong) {
  return {Code::bad_input, "reading a block", std::move(wrong)};
}

}  // namespace

std::string make_block(BlockKind kind, std::uint64_t number, std::string_view payload) {
  std::string block(block_header_bytes + ZSTD_compressBound(payload.size()), '\0');
  const std::size_t stored = ZSTD_compress(block.data() + block_header_bytes, block.size() - block_header_bytes,
                                           payload.data(), payload.size(), compression_level);
  if (ZSTD_isError(stored)) return {};
  block.resize(block_header_bytes + stored);
  std::memcpy(block.data(), magic.data(), magic.size());
  put(block.data() + 16, format_version);
  put(block.data() + 20, static_cast<std::uint32_t>(kind));
  put(block.data() + 24, number);
  put(block.data() + 32, static_cast<std::uint32_t>(payload.size()));
  put(block.data() + 36, static_cast<std::uint32_t>(stored));
  put(block.data() + 8, sum_of(std::string_view(block).substr(checked_from)));
  return block;
}

Result<Block> read_block(std::string_view bytes) {
  if (bytes.size() < block_header_bytes) return no_block("it is cut off");
  if (!bytes.starts_with(magic)) return no_block("no block begins here");
  // Before all else, which another version may mean otherwise.
  const auto version = get<std::uint32_t>(bytes.data() + 16);
  if (version != format_version)
    return no_block("it is of version " + std::to_string(version) + " of the format, this program reads version " +
                    std::to_string(format_version));
  const auto length = get<std::uint32_t>(bytes.data() + 32);
  const auto stored = get<std::uint32_t>(bytes.data() + 36);
  if (length > most_payload_bytes || stored > ZSTD_compressBound(most_payload_bytes))
    return no_block("it claims more than a block can hold");
  if (stored > bytes.size() - block_header_bytes) return no_block("it is cut off");
  Block block;
  block.bytes = block_header_bytes + stored;
  const std::string_view whole = bytes.substr(0, block.bytes);
  if (get<std::uint64_t>(bytes.data() + 8) != sum_of(whole.substr(checked_from)))
    return no_block("its checksum is wrong");
  block.kind = static_cast<BlockKind>(get<std::uint32_t>(bytes.data() + 20));
  block.number = get<std::uint64_t>(bytes.data() + 24);
  block.payload.resize(length);
  const std::size_t got = ZSTD_decompress(block.payload.data(), length, bytes.data() + block_header_bytes, stored);
  if (ZSTD_isError(got) || got != length) return no_block("what it holds cannot be decompressed");
  return block;
}

std::size_t next_block(std::string_view bytes, std::size_t from) {
  return bytes.find(magic, from);
}

}  // namespace holdfast::record
