#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/random/stream.h"

namespace holdfast::simulate {

/// The memory that messages are sent from and received into, shared by all: byte i of a message is the same in each of
/// one length class, so that a simulation needs no memory for contents. A message is up to eight pieces, each the whole
/// of an area. Areas grow with the longest message: twice an eighth of it, both ends together, at most half of that
/// again for shorter ones.
class Contents {
 public:
  static constexpr std::size_t pieces = 8;
  static constexpr std::uint64_t most_bytes = std::uint64_t{1} << 32;  ///< of a message

  explicit Contents(const random::Stream& random) : random_(random) {}

  class Pieces {
   public:
    std::span<const iovec> span() const { return {list_.data(), count_}; }

   private:
    friend class Contents;
    std::array<iovec, pieces> list_{};
    std::size_t count_ = 0;
  };
  /// Of a message of at most most_bytes. Valid as long as this.
  Pieces source(std::uint64_t bytes) { return pieces_of(area_for(bytes).sent, bytes); }
  Pieces target(std::uint64_t bytes) { return pieces_of(area_for(bytes).received, bytes); }

  /// Whether these are the bytes of a message of their length.
  bool are_right(std::span<const std::byte> message);

 private:
  struct Area {
    std::vector<std::byte> sent, received;
  };
  Area& area_for(std::uint64_t bytes);
  static Pieces pieces_of(std::vector<std::byte>& area, std::uint64_t bytes);

  random::Stream random_;
  std::array<std::unique_ptr<Area>, 30> areas_;  ///< of 2^i bytes
};

}  // namespace holdfast::simulate
