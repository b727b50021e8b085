// An engine with a secret is given any packets with checks that were put right, which need no secret: it delivers
// nothing, says nothing, and keeps nothing.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "transport/engine/engine.h"
#include "transport/wire/packet.h"

using namespace holdfast::transport;

namespace {

class Silence : public Host {
 public:
  Put put(std::uint32_t, PeerId, std::span<const iovec>, std::uint64_t) override {
    if (strangers_only) std::abort();
    return Put::done;
  }
  void complete(const Completion&) override { std::abort(); }
  PeerId peer_named(std::span<const std::byte>, std::uint32_t) override { std::abort(); }
  void answer_stranger(std::uint32_t, std::span<const std::byte>, std::span<const std::byte>) override { std::abort(); }
  std::byte* memory(std::uint64_t, std::uint64_t, std::size_t, Access) override { std::abort(); }
  bool apply_atomic(std::uint64_t, std::byte*, std::size_t, std::span<const std::byte>, std::byte*) override {
    std::abort();
  }
  bool strangers_only = false;
};

void put_right(std::vector<std::byte>& packet) {
  if (packet.size() < wire::packet_header_bytes) return;
  packet[0] = std::byte{0x48};
  packet[1] = std::byte{0x46};
  packet[2] = std::byte{wire::version};
  const auto length = static_cast<std::uint32_t>(packet.size());
  std::memcpy(packet.data() + 28, &length, sizeof length);
  std::uint16_t header_bytes = 0;
  std::memcpy(&header_bytes, packet.data() + 4, sizeof header_bytes);
  if (header_bytes < wire::packet_header_bytes || header_bytes > packet.size()) return;
  const std::uint32_t check = wire::check_of_headers(std::span(packet).first(header_bytes));
  std::memcpy(packet.data() + 8, &check, sizeof check);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Silence host;
  Options options;
  options_table().apply_defaults(options);
  const RailTraits rail{.most_packet_bytes = 2000, .bytes_per_second = 1e9, .checksum = {}};
  const std::byte name{9};
  Secrets secrets;
  secrets.job = holdfast::secret::Key{};
  Engine engine(options, {&rail, 1}, host, {&name, 1}, secrets, 0);
  std::byte memory[200] = {};
  const iovec one = {memory, sizeof memory};
  engine.receive({.pieces = {&one, 1}, .tagged = true, .ignore = ~std::uint64_t{0}}, 0);
  host.strangers_only = true;
  const std::size_t before = engine.memory_bytes();
  std::int64_t now = 0;
  while (size >= 2) {
    const std::size_t bytes = std::min<std::size_t>(size - 1, wire::packet_header_bytes + data[0]);
    std::vector<std::byte> packet(reinterpret_cast<const std::byte*>(data + 1),
                                  reinterpret_cast<const std::byte*>(data + 1) + bytes);
    put_right(packet);
    engine.on_packet(0, packet, ++now);
    data += 1 + bytes;
    size -= 1 + bytes;
  }
  if (engine.memory_bytes() != before) std::abort();
  return 0;
}
