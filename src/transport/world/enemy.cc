#include "transport/world/enemy.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "transport/wire/little_endian.h"
#include "transport/world/open_memory.h"

namespace holdfast::transport {
namespace {

constexpr std::size_t remembered = 512;  ///< packets

// What of a packet's checks needs no secret.
void put_right(std::vector<std::byte>& packet) {
  if (packet.size() < wire::packet_header_bytes) return;
  const std::size_t headers = wire::load<std::uint16_t>(packet.data() + 4);
  if (headers < wire::packet_header_bytes || headers > packet.size()) return;
  wire::store<std::uint32_t>(packet.data() + 28, static_cast<std::uint32_t>(packet.size()));
  wire::store<std::uint32_t>(packet.data() + 8, wire::check_of_headers(std::span(packet).first(headers)));
}

std::vector<std::byte> finished(wire::Writer& writer, const std::vector<std::byte>& payload) {
  const auto headers = writer.finish(payload.size());
  std::vector<std::byte> packet(headers.begin(), headers.end());
  packet.insert(packet.end(), payload.begin(), payload.end());
  return packet;
}

}  // namespace

void Enemy::hear(unsigned rail, unsigned from, unsigned to, const std::vector<std::byte>& packet) {
  if (plan_.enemy != Plan::EnemyKind::reader) return;
  heard_.push_back({rail, from, to, packet});
  if (heard_.size() > remembered) heard_.pop_front();
}

Enemy::Packet Enemy::strike() {
  if (!heard_.empty() && chance_.chance(2, 3)) return repetition();
  return chance_.chance(1, 2) ? greeting() : forgery();
}

// A number that somebody might have, or anything.
std::uint64_t Enemy::guess() {
  if (chance_.chance(1, 2)) return chance_.below(4);
  return chance_.next64();
}

Enemy::Packet Enemy::greeting() {
  Packet packet{rail(), node(), node(), {}};
  std::vector<std::byte> buffer(wire::most_data_header_bytes);
  wire::Writer writer(buffer, {.rail = static_cast<std::uint8_t>(packet.rail),
                               .session = static_cast<std::uint32_t>(chance_.below(plan_.nodes)),
                               .stamp = static_cast<std::uint32_t>(chance_.next64()),
                               .tag = {}});
  const auto name = static_cast<std::byte>(packet.from);
  wire::HelloFrame hello;
  hello.answer = chance_.chance(1, 3);
  hello.session = static_cast<std::uint32_t>(chance_.below(plan_.nodes));
  hello.identity = guess();
  hello.known_identity = guess();
  hello.cookie = guess();
  hello.echo_stamp = static_cast<std::uint32_t>(chance_.next64());
  hello.vfrag_window = 64;
  hello.message_limit = static_cast<std::uint32_t>(chance_.next64());
  hello.byte_limit = chance_.next64();
  hello.name = {&name, 1};
  if (chance_.chance(1, 4)) {
    writer.add(wire::ChallengeFrame{hello.identity, hello.cookie});
  } else {
    writer.add(hello);
  }
  packet.bytes = finished(writer, {});
  return packet;
}

// A message that looks like one of the job's, a write into its open memory, or one of its atomic operations.
void Enemy::add_data(wire::Writer& writer, std::vector<std::byte>& payload) {
  payload.resize(chance_.below(64));
  for (std::byte& byte : payload) byte = static_cast<std::byte>(chance_.next64());
  wire::DataFrame data;
  const std::uint64_t what = chance_.below(4);
  data.kind = what == 0 ? wire::MessageKind::rma_write : what == 1 ? wire::MessageKind::bulk : wire::MessageKind::eager;
  data.flags = wire::DataFrame::flag_tagged | wire::DataFrame::flag_data |
               (what == 0 ? wire::DataFrame::flag_extended : std::uint8_t{0});
  data.vfrag = data.message = data.order = static_cast<std::uint32_t>(chance_.below(20));
  data.bytes = static_cast<std::uint32_t>(payload.size());
  data.total = payload.size();
  data.tag = chance_.below(plan_.flows) << 32 | chance_.below(plan_.messages);
  data.data = chance_.below(plan_.messages);
  data.algorithm = integrity::Checksum::crc32c;
  data.checksum = integrity::checksum(data.algorithm, payload);
  data.address = chance_.below(readable_bytes);
  data.key = OpenMemory::key;
  writer.add(data);
}

Enemy::Packet Enemy::forgery() {
  Packet packet{rail(), node(), node(), {}};
  std::vector<std::byte> buffer(wire::most_data_header_bytes);
  wire::Writer writer(buffer, {.flags = static_cast<std::uint8_t>(chance_.below(2)),
                               .rail = static_cast<std::uint8_t>(packet.rail),
                               .session = static_cast<std::uint32_t>(chance_.below(plan_.nodes)),
                               .key = chance_.chance(1, 2) ? chance_.next64() : wire::session_key(guess(), guess()),
                               .stamp = static_cast<std::uint32_t>(chance_.next64()),
                               .number = 1 + chance_.below(1000),
                               .tag = {}});
  std::vector<std::byte> payload;
  const std::uint64_t what = chance_.below(4);
  if (what == 0) {
    writer.add_bye();
  } else if (what == 1) {
    wire::AckFrame ack;
    ack.cumulative = static_cast<std::uint32_t>(chance_.below(40));
    ack.complete = chance_.next64();
    ack.message_limit = static_cast<std::uint32_t>(chance_.next64());
    ack.byte_limit = chance_.next64();
    writer.add(ack);
  } else {
    add_data(writer, payload);
  }
  packet.bytes = finished(writer, payload);
  return packet;
}

void Enemy::change(std::vector<std::byte>& bytes) {
  const std::uint64_t flips = 1 + chance_.below(4);
  for (std::uint64_t i = 0; i < flips && !bytes.empty(); ++i) {
    bytes[chance_.below(bytes.size())] ^= static_cast<std::byte>(1U << chance_.below(8));
  }
}

Enemy::Packet Enemy::repetition() {
  Packet packet = heard_[chance_.below(heard_.size())];
  const Packet& other = heard_[chance_.below(heard_.size())];
  if (chance_.chance(1, 4)) std::swap(packet.from, packet.to);
  if (chance_.chance(1, 4)) packet.rail = rail();
  if (chance_.chance(1, 8)) packet.to = node();
  const std::uint64_t what = chance_.below(4);
  if (what == 1) {
    change(packet.bytes);
  } else if (what == 2) {  // the header of one, the rest of another
    const std::size_t cut = std::min({wire::packet_header_bytes, packet.bytes.size(), other.bytes.size()});
    std::vector<std::byte> whole = other.bytes;
    const auto lengths = std::vector<std::byte>(whole.begin() + 4, whole.begin() + 7);
    std::copy_n(packet.bytes.begin(), cut, whole.begin());
    std::copy(lengths.begin(), lengths.end(), whole.begin() + 4);
    packet.bytes = std::move(whole);
  } else if (what == 3 && packet.bytes.size() >= wire::packet_header_bytes) {  // as a later packet of its session
    wire::store<std::uint64_t>(packet.bytes.data() + 32,
                               wire::load<std::uint64_t>(packet.bytes.data() + 32) + chance_.below(1000));
  }
  put_right(packet.bytes);
  return packet;
}

}  // namespace holdfast::transport
