#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace holdfast::transport::ofi {

/// What an endpoint is called by: a number of its own, its host, and its address on each of its rails. Applications
/// carry it around as opaque bytes of a fixed length. Open MPI has room for 64 (FI_NAME_MAX), so socket addresses are
/// packed.
///
///   0  1  0x48, "H"      1  1  low 4 bits: rails; bit 7: known by host and port only      2  4  host      6  8  number
///  14  for each rail: 4, IPv4 address, port; or 6, IPv6 address, port; or 128 + length, the bytes. Zeros to the end
struct Address {
  static constexpr std::size_t bytes = 64;
  using Raw = std::array<std::byte, bytes>;
  using Number = std::array<std::byte, 8>;

  bool partial = false;  ///< only the first rail's address is known, from a host name and a port
  std::uint32_t host = 0;
  Number number{};
  std::vector<std::vector<std::byte>> rails;  ///< as libfabric's providers give them

  /// False when it does not fit.
  bool write(Raw& raw) const;
  /// False when these bytes are no address. Any bytes are allowed.
  static bool read(std::span<const std::byte> raw, Address& address);

  /// Random, unlike any other.
  static Number new_number();
  /// The number as an integer of this machine, for counters and lines.
  std::uint64_t number_as_integer() const;
  /// The same for all processes of this host until it boots, another elsewhere.
  static std::uint32_t this_host();
};

}  // namespace holdfast::transport::ofi
