#include "simulate/collective/packet.h"

#include <algorithm>

#include "simulate/collective/link_crc.h"

namespace holdfast::simulate::collective {
namespace {

constexpr std::size_t headers_bytes = 20;  // local route header and base transport header
constexpr std::size_t invariant_bytes = 4;
constexpr std::size_t variant_bytes = 2;
constexpr std::size_t longest_payload_bytes = 4096;
constexpr std::uint8_t link_next_header = 0x02;  // a local packet: the base transport header follows
constexpr std::uint8_t send_only = 0x04;         // reliable connection
constexpr std::uint8_t acknowledge = 0x11;
constexpr std::uint8_t syndrome_ack = 0x00;
constexpr std::uint8_t syndrome_nak = 0x60;  // PSN sequence error: send this sequence number again

void put(std::vector<std::byte>& bytes, std::uint64_t value, int count) {
  for (int i = count - 1; i >= 0; --i) bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
}

std::uint32_t get(std::span<const std::byte> bytes, std::size_t at, std::size_t count) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < count; ++i) value = (value << 8) | std::to_integer<std::uint32_t>(bytes[at + i]);
  return value;
}

std::uint16_t variant_crc_at_end(std::span<const std::byte> bytes) {
  const std::size_t at = bytes.size() - variant_bytes;
  return static_cast<std::uint16_t>(std::to_integer<unsigned>(bytes[at]) | std::to_integer<unsigned>(bytes[at + 1])
                                                                               << 8);
}

void store_variant_crc(std::span<std::byte> bytes, std::uint16_t crc) {
  bytes[bytes.size() - 2] = static_cast<std::byte>(crc & 0xFF);
  bytes[bytes.size() - 1] = static_cast<std::byte>(crc >> 8);
}

}  // namespace

void write_packet(const PacketHeader& header, std::span<const std::byte> payload, std::vector<std::byte>& bytes) {
  bytes.clear();
  const bool data = header.kind == PacketKind::data;
  const std::size_t body = data ? payload.size() : 4;
  put(bytes, static_cast<std::uint64_t>(header.lane) << 4, 1);
  put(bytes, link_next_header, 1);
  put(bytes, header.destination, 2);
  put(bytes, (headers_bytes + body + invariant_bytes) / 4, 2);
  put(bytes, header.source, 2);
  put(bytes, data ? send_only : acknowledge, 1);
  put(bytes, 0, 1);
  put(bytes, 0xFFFF, 2);  // default partition
  put(bytes, header.queue_pair & 0xFFFFFF, 4);
  put(bytes, header.sequence & 0xFFFFFF, 4);
  if (data) {
    bytes.insert(bytes.end(), payload.begin(), payload.end());
  } else {
    put(bytes, header.kind == PacketKind::acknowledgement ? syndrome_ack : syndrome_nak, 1);
    put(bytes, header.sequence & 0xFFFFFF, 3);
  }
  const std::uint32_t invariant = invariant_crc(bytes);
  for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<std::byte>(invariant >> (8 * i)));
  const std::uint16_t variant = variant_crc(bytes);
  bytes.resize(bytes.size() + variant_bytes);
  store_variant_crc(bytes, variant);
}

ReceivedPacket read_packet(std::span<const std::byte> bytes) {
  ReceivedPacket received;
  if (bytes.size() < headers_bytes + invariant_bytes + variant_bytes) return received;
  const auto without_variant = bytes.first(bytes.size() - variant_bytes);
  if (variant_crc(without_variant) != variant_crc_at_end(bytes)) {
    received.state = PacketState::bad_variant_crc;
    return received;
  }
  const auto covered = without_variant.first(without_variant.size() - invariant_bytes);
  const std::uint32_t invariant = invariant_crc(covered);
  for (std::size_t i = 0; i < invariant_bytes; ++i) {
    if (without_variant[covered.size() + i] != static_cast<std::byte>(invariant >> (8 * i))) {
      received.state = PacketState::bad_invariant_crc;
      return received;
    }
  }
  const std::uint32_t opcode = get(bytes, 8, 1);
  const std::size_t body = covered.size() - headers_bytes;
  if ((get(bytes, 1, 1) & 0x03) != link_next_header || get(bytes, 4, 2) * 4 != without_variant.size() ||
      body > longest_payload_bytes || (opcode != send_only && (opcode != acknowledge || body != 4))) {
    return received;
  }
  received.header.lane = static_cast<std::uint8_t>(get(bytes, 0, 1) >> 4);
  received.header.destination = static_cast<std::uint16_t>(get(bytes, 2, 2));
  received.header.source = static_cast<std::uint16_t>(get(bytes, 6, 2));
  received.header.queue_pair = get(bytes, 13, 3);
  received.header.sequence = get(bytes, 17, 3);
  if (opcode == send_only) {
    received.payload = covered.subspan(headers_bytes);
  } else {
    const std::uint32_t syndrome = get(bytes, headers_bytes, 1);
    if (syndrome != syndrome_ack && syndrome != syndrome_nak) return received;
    received.header.kind =
        syndrome == syndrome_ack ? PacketKind::acknowledgement : PacketKind::negative_acknowledgement;
  }
  received.state = PacketState::good;
  return received;
}

void end_bad_packet(std::span<std::byte> bytes) {
  const std::uint16_t right = variant_crc(bytes.first(bytes.size() - variant_bytes));
  store_variant_crc(bytes, static_cast<std::uint16_t>(~right));
}

}  // namespace holdfast::simulate::collective
