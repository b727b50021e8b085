#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

/// The two checksums at the end of every InfiniBand packet (InfiniBand Architecture Specification 1.3, 7.8).
namespace holdfast::simulate::collective {

/// The invariant CRC (7.8.1) of a local packet: CRC-32 with the polynomial 0x04C11DB7 over everything from the local
/// route header up to the CRC itself, with the fields that a switch may change (virtual lane, BTH reserved byte) taken
/// as ones. `bytes` is the packet without its checksums, at least 20 bytes. On the wire the result's least significant
/// byte goes first. Any thread.
std::uint32_t invariant_crc(std::span<const std::byte> bytes);

/// The variant CRC (7.8.2): CRC-16 with the polynomial 0x100B over the whole packet, invariant CRC included. `bytes` is
/// the packet without its last two bytes. Least significant byte first on the wire. Any thread.
std::uint16_t variant_crc(std::span<const std::byte> bytes);

}  // namespace holdfast::simulate::collective
