// Short messages that share a packet.
#include <algorithm>
#include <cstring>

#include "transport/engine/core.h"

namespace holdfast::transport {
namespace {

constexpr std::uint32_t most_gathered_data = 256;  ///< of one message: longer ones gain too little

/// Whether the fragment may go in a packet with others. Only whole messages whose bytes are in the log: those stay as
/// they are, and are copied. What goes again goes alone: a rail may have lost the packet because it was long.
bool may_have_company(const Fragment& fragment) {
  const OutMessage& message = *fragment.vfrag->message;
  return fragment.transmissions == 0 && fragment.vfrag->count == 1 && fragment.bytes <= most_gathered_data &&
         (message.logged || fragment.bytes == 0);
}

}  // namespace

// Short messages that wait behind a short one go with it (NewMadeleine, sections 3 and 5.2). Nothing is held back for
// that: they waited for a session, for room on the rail, or for a window.
void Core::gather(Peer& peer, Load& load, std::uint32_t rail) {
  if (!may_have_company(*load.fragments[0])) return;
  const std::size_t room = std::min(OutPacket::most_gathered_bytes, rails_[rail].traits.most_packet_bytes) -
                           wire::packet_header_bytes - wire::ack_frame_bytes;
  while (load.count < Load::most) {
    Fragment* next = take_fragment(peer);
    if (next == nullptr) return;
    const std::size_t bytes = load.frame_bytes + load.data_bytes + Load::frame_bytes_of(*next) + next->bytes;
    const bool fits = bytes <= room && load.data_bytes + next->bytes <= fragment_bytes;
    if (!fits || !may_have_company(*next) || !unchanged(*next, rail)) return put_back(peer, *next);
    load.add(*next);
  }
}

// The data of several messages of the log, behind the headers of their packet.
iovec Core::copy_behind(OutPacket& packet, std::size_t header_bytes, const Load& load) {
  std::byte* const begin = packet.headers.data() + header_bytes;
  std::byte* to = begin;
  for (const Fragment* each : load.span()) {
    if (each->bytes == 0) continue;
    std::memcpy(to, each->vfrag->message->log + each->vfrag->offset, each->bytes);
    to += each->bytes;
  }
  return {begin, load.data_bytes};
}

}  // namespace holdfast::transport
