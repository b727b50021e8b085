#include "simulate/transport/contents.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace holdfast::simulate {

Contents::Area& Contents::area_for(std::uint64_t bytes) {
  constexpr std::uint64_t least = 4096;
  const std::uint64_t size = std::bit_ceil(std::max(least, (bytes + pieces - 1) / pieces));
  auto& area = areas_[static_cast<std::size_t>(std::countr_zero(size))];
  if (area != nullptr) return *area;
  area = std::make_unique<Area>();
  area->sent.resize(size);
  random::Stream draw = random_.child(size);
  for (std::size_t at = 0; at < size; at += sizeof(std::uint64_t)) {
    const std::uint64_t word = draw.next64();
    std::memcpy(area->sent.data() + at, &word, sizeof word);
  }
  area->received = area->sent;
  return *area;
}

Contents::Pieces Contents::pieces_of(std::vector<std::byte>& area, std::uint64_t bytes) {
  Pieces made;
  while (bytes > 0) {
    const std::uint64_t here = std::min<std::uint64_t>(bytes, area.size());
    made.list_[made.count_++] = {area.data(), static_cast<std::size_t>(here)};
    bytes -= here;
  }
  return made;
}

bool Contents::are_right(std::span<const std::byte> message) {
  const Pieces right = source(message.size());
  for (const iovec& piece : right.span()) {
    if (std::memcmp(piece.iov_base, message.data(), piece.iov_len) != 0) return false;
    message = message.subspan(piece.iov_len);
  }
  return true;
}

}  // namespace holdfast::simulate
