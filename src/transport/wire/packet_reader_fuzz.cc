// Any bytes are refused, or give frames whose payloads lie in the packet. To get past the check, it is put right first.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/integrity/crc32c.h"
#include "transport/wire/packet.h"

using namespace holdfast::transport::wire;

namespace {

void read(std::span<const std::byte> packet) {
  Reader reader;
  if (reader.open(packet) != Refusal::none) return;
  FrameType type{};
  while (reader.next(type)) {
    const std::span<const std::byte> inside = type == FrameType::data ? reader.payload()
                                              : type == FrameType::hello || type == FrameType::hello_answer
                                                  ? reader.hello().name
                                                  : packet.first(0);
    const auto first = reader.untagged();
    if (first.size() + reader.after_header().size() != packet.size()) std::abort();
    if (inside.empty()) continue;
    if (inside.data() < packet.data() || inside.data() + inside.size() > packet.data() + packet.size()) std::abort();
    if (type == FrameType::data && reader.data().index >= reader.data().count) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::byte> packet(reinterpret_cast<const std::byte*>(data),
                                reinterpret_cast<const std::byte*>(data) + size);
  read(packet);
  if (size < packet_header_bytes) return 0;
  std::uint16_t header_bytes = 0;
  std::memcpy(&header_bytes, packet.data() + 4, sizeof header_bytes);
  if (header_bytes < packet_header_bytes || header_bytes > size) return 0;
  packet[0] = std::byte{0x48};
  packet[1] = std::byte{0x46};
  packet[2] = std::byte{version};
  const auto length = static_cast<std::uint32_t>(size);
  std::memcpy(packet.data() + 28, &length, sizeof length);
  const std::span<const std::byte> headers(packet.data(), header_bytes);
  const std::uint32_t check =
      holdfast::integrity::crc32c_extend(holdfast::integrity::crc32c_extend(0, headers.first(8)), headers.subspan(12));
  std::memcpy(packet.data() + 8, &check, sizeof check);
  read(packet);
  return 0;
}
