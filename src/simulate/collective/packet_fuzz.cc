#include <cstdlib>

#include "simulate/collective/link_crc.h"
#include "simulate/collective/packet.h"

namespace collective = holdfast::simulate::collective;

namespace {

/// What is read as good is written back as the same bytes but for the fields that the collective leaves open.
void read(std::span<const std::byte> bytes) {
  const collective::ReceivedPacket received = collective::read_packet(bytes);
  if (received.state != collective::PacketState::good) return;
  std::vector<std::byte> again;
  collective::write_packet(received.header, received.payload, again);
  const collective::ReceivedPacket twice = collective::read_packet(again);
  if (twice.state != collective::PacketState::good || !(twice.header == received.header)) std::abort();
}

}  // namespace

/// Any bytes are read without harm, as they are and with the right checks behind them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(data[i]);
  read(bytes);
  if (size < 20) return 0;  // no packet to seal
  std::vector<std::byte> sealed = bytes;
  const std::uint32_t invariant = collective::invariant_crc(sealed);
  for (int i = 0; i < 4; ++i) sealed.push_back(static_cast<std::byte>(invariant >> (8 * i)));
  const std::uint16_t variant = collective::variant_crc(sealed);
  for (int i = 0; i < 2; ++i) sealed.push_back(static_cast<std::byte>(variant >> (8 * i)));
  read(sealed);
  if (size >= 26) {  // a packet ended as bad is never good
    collective::end_bad_packet(bytes);
    if (collective::read_packet(bytes).state != collective::PacketState::bad_variant_crc) std::abort();
  }
  return 0;
}
