#include <cstdlib>

#include "simulate/collective/packet.h"

// Any bytes are read without harm, and what is read as good is written back as the same bytes but for the fields that
// the collective leaves open.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace collective = holdfast::simulate::collective;
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(data[i]);
  const collective::ReceivedPacket received = collective::read_packet(bytes);
  if (received.state == collective::PacketState::good) {
    std::vector<std::byte> again;
    collective::write_packet(received.header, received.payload, again);
    const collective::ReceivedPacket twice = collective::read_packet(again);
    if (twice.state != collective::PacketState::good || !(twice.header == received.header)) std::abort();
  }
  if (size >= 26) {  // a packet ended as bad is never good
    collective::end_bad_packet(bytes);
    if (collective::read_packet(bytes).state != collective::PacketState::bad_variant_crc) std::abort();
  }
  return 0;
}
