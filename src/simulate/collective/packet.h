#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// The bytes of the packets that a collective sends (InfiniBand Architecture Specification 1.3, chapters 7.7 and 9):
///
///   data             local route header 8 | base transport header 12 | payload | invariant CRC 4 | variant CRC 2
///   acknowledgement  local route header 8 | base transport header 12 | AETH 4  | invariant CRC 4 | variant CRC 2
///
/// so that 256 bytes of operands are 282 on the wire, and an acknowledgement 30.
namespace holdfast::simulate::collective {

inline constexpr std::size_t data_overhead_bytes = 26;
inline constexpr std::size_t acknowledgement_bytes = 30;

enum class PacketKind : std::uint8_t { data, acknowledgement, negative_acknowledgement };

/// What the headers say. The queue pair stands for the collective, the sequence number for the segment of its vector.
struct PacketHeader {
  PacketKind kind = PacketKind::data;
  std::uint8_t lane = 0;          ///< virtual lane, 4 bits
  std::uint16_t source = 0;       ///< local identifiers
  std::uint16_t destination = 0;  ///
  std::uint32_t queue_pair = 0;   ///< 24 bits
  std::uint32_t sequence = 0;     ///< 24 bits
  bool operator==(const PacketHeader&) const = default;
};

/// Writes the packet with both checksums into `bytes`, which is replaced. The payload's size is a multiple of 4, at
/// most 4,096; an acknowledgement has none.
void write_packet(const PacketHeader& header, std::span<const std::byte> payload, std::vector<std::byte>& bytes);

/// What a port makes of bytes that have arrived.
enum class PacketState : std::uint8_t {
  good,
  bad_variant_crc,    ///< a bit error on this link, or one before that a switch has marked so (end bad packet)
  bad_invariant_crc,  ///< a bit error inside a switch
  malformed,          ///< lengths or codes that fit no packet of a collective
};

struct ReceivedPacket {
  PacketState state = PacketState::malformed;
  PacketHeader header;                 ///< meaningful when good
  std::span<const std::byte> payload;  ///< of the bytes given
};

/// Checks and reads a packet, of whatever bytes. Any thread.
ReceivedPacket read_packet(std::span<const std::byte> bytes);

/// Ends a packet that was found bad while it was being forwarded: the variant CRC becomes the complement of the right
/// one, which no receiver takes for good, and which goes with the delimiter "end bad packet" (7.8.4).
void end_bad_packet(std::span<std::byte> bytes);

}  // namespace holdfast::simulate::collective
