#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/status/status.h"

/// A rank's file is a row of blocks, each of which can be checked and read without the others: 40 bytes of header, and
/// a payload compressed by zstd (docs/spec/recorded-trace.md).
namespace holdfast::record {

enum class BlockKind : std::uint32_t { head = 1, calls = 2, end = 3 };

inline constexpr std::size_t block_header_bytes = 40;
/// Of a payload before it is compressed. Writers stay far below it.
inline constexpr std::size_t most_payload_bytes = std::size_t{16} << 20;

/// The bytes of a block. The payload must not be larger than most_payload_bytes. Any thread.
std::string make_block(BlockKind kind, std::uint64_t number, std::string_view payload);

struct Block {
  BlockKind kind{};
  std::uint64_t number = 0;
  std::string payload;
  std::size_t bytes = 0;  ///< in the file
};

/// The block that the bytes begin with. Error (bad_input), without a place: it is cut off, of another format, or its
/// checksum is wrong.
Result<Block> read_block(std::string_view bytes);

/// Where, from `from` on, the next bytes lie that begin like a block; npos: nowhere.
std::size_t next_block(std::string_view bytes, std::size_t from);

}  // namespace holdfast::record
