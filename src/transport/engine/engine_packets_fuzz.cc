// An engine with a peer and posted receives is given any packets, with headers that were put right; it must stay whole.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/integrity/crc32c.h"
#include "transport/engine/engine.h"
#include "transport/wire/packet.h"

using namespace holdfast::transport;

namespace {

class Silence : public Host {
 public:
  Put put(std::uint32_t, PeerId, std::span<const iovec>, std::uint64_t) override { return Put::done; }
  void complete(const Completion&) override {}
  PeerId peer_named(std::span<const std::byte> name, std::uint32_t) override {
    return name.empty() ? any_peer : std::to_integer<PeerId>(name[0]) % 4;
  }
  std::byte* memory(std::uint64_t, std::uint64_t address, std::size_t bytes, Access) override {
    return address <= sizeof region && bytes <= sizeof region - address ? region + address : nullptr;
  }
  bool apply_atomic(std::uint64_t, std::byte*, std::size_t, std::span<const std::byte>, std::byte*) override {
    return true;
  }
  std::byte region[256] = {};
};

// Makes a packet of the engine's one session out of any bytes: lengths, key and check are put right.
void put_right(std::vector<std::byte>& packet, std::uint64_t key) {
  packet[0] = std::byte{0x48};
  packet[1] = std::byte{0x46};
  packet[2] = std::byte{wire::version};
  const auto length = static_cast<std::uint32_t>(packet.size());
  std::memcpy(packet.data() + 28, &length, sizeof length);
  const std::uint32_t session = 1;
  std::memcpy(packet.data() + 12, &session, sizeof session);
  std::memcpy(packet.data() + 16, &key, sizeof key);
  std::uint16_t header_bytes = 0;
  std::memcpy(&header_bytes, packet.data() + 4, sizeof header_bytes);
  if (header_bytes < wire::packet_header_bytes || header_bytes > packet.size()) return;
  const std::span<const std::byte> headers(packet.data(), header_bytes);
  const std::uint32_t check =
      holdfast::integrity::crc32c_extend(holdfast::integrity::crc32c_extend(0, headers.first(8)), headers.subspan(12));
  std::memcpy(packet.data() + 8, &check, sizeof check);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Silence host;
  Options options;
  options_table().apply_defaults(options);
  options.fragment_bytes = 64;
  const RailTraits rails[2] = {{.most_packet_bytes = 2000, .bytes_per_second = 1e9, .checksum = {}},
                               {.most_packet_bytes = 2000, .bytes_per_second = 1e9, .checksum = {}}};
  const std::byte name{9};
  const Secrets secrets;
  Engine engine(options, rails, host, {&name, 1}, secrets, 0);
  Authenticator same(secrets);  // what a peer would hear in its challenge
  const std::uint64_t identity = same.new_identity();
  std::int64_t now = 0;
  std::byte memory[3][200] = {};
  for (auto& piece : memory) {
    const iovec one = {piece, sizeof piece};
    engine.receive({.pieces = {&one, 1}, .tagged = true, .ignore = ~std::uint64_t{0}}, now);
  }
  const iovec one = {memory[0], 100};
  engine.send({.peer = 1, .pieces = {&one, 1}}, now);
  wire::HelloFrame hello;
  hello.session = 5;
  hello.identity = 60;
  hello.known_identity = identity;
  hello.message_limit = 100;
  hello.byte_limit = 10000;
  const std::byte peer{1};
  hello.name = {&peer, 1};
  hello.cookie = same.cookie(hello.name, hello.identity, 0);
  std::byte buffer[wire::most_data_header_bytes];
  wire::Writer writer(buffer, {});
  writer.add(hello);
  engine.on_packet(0, writer.finish(0), now);
  while (size >= 2) {
    const std::size_t bytes = std::min<std::size_t>(size - 1, wire::packet_header_bytes + data[0]);
    std::vector<std::byte> packet(reinterpret_cast<const std::byte*>(data + 1),
                                  reinterpret_cast<const std::byte*>(data + 1) + bytes);
    if (packet.size() >= wire::packet_header_bytes) put_right(packet, wire::session_key(60, identity));
    engine.on_packet(data[0] & 1, packet, now);
    data += 1 + bytes;
    size -= 1 + bytes;
    now += 1'000'000;
    engine.advance(now);
  }
  engine.close(now);
  return 0;
}
