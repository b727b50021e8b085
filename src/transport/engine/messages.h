#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "transport/engine/delivery_rate.h"
#include "transport/engine/engine.h"
#include "transport/engine/list.h"
#include "transport/engine/pool.h"
#include "transport/wire/packet.h"

/// What the engine keeps of messages on their way: pooled, linked by intrusive lists, owned by Core.
namespace holdfast::transport {

struct Peer;
struct OutMessage;
struct Vfrag;

/// A list of pieces of memory, by value.
struct Pieces {
  std::array<iovec, most_pieces> list{};
  std::uint32_t count = 0;
  std::size_t bytes = 0;

  std::span<const iovec> span() const { return {list.data(), count}; }
  void set(std::span<const iovec> pieces);
  void set(std::byte* memory, std::size_t size);
};

/// One fragment of a message that is being sent.
struct Fragment {
  enum class State : std::uint8_t { waiting, ready, flying, acknowledged };

  Link<Fragment> link;  ///< in the flight of its path while flying, in its peer's ready list while ready
  Vfrag* vfrag = nullptr;
  std::uint64_t order = 0;  ///< of its packet, among those that were sent on its path
  std::int64_t sent_ns = 0;
  DeliveryRate::Mark mark;
  std::uint64_t checksum = 0;
  std::uint32_t bytes = 0;
  std::uint32_t packet_bytes = 0;  ///< of data in the packet that it went in last: more where others went with it
  std::uint32_t transmissions = 0;
  std::uint8_t index = 0;
  std::uint8_t path = 0;
  std::uint8_t losses = 0;  ///< on this path, in a row, while it answered
  State state = State::waiting;
  integrity::Checksum algorithm = integrity::Checksum::none;
  bool stays = false;   ///< it goes again on the same rail, if that is up: to find out what arrives there
  bool summed = false;  ///< `checksum` is there, of `algorithm`
};
using FragmentList = List<Fragment, &Fragment::link>;

/// The fragments of a VFRAG of more than one.
struct FragmentBlock : Pooled {
  std::array<Fragment, wire::fragments_per_vfrag> fragments;
  void reuse() {}  // Vfrag sets those that it uses
};

/// Up to 64 fragments of one message: the unit of acknowledgement (Open MPI DR, section 3.3).
struct Vfrag : Pooled {
  OutMessage* message = nullptr;
  FragmentBlock* block = nullptr;  ///< null when there is one fragment
  Fragment only;
  std::uint64_t offset = 0;  ///< of its first byte in the message
  std::uint32_t number = 0;
  bool numbered = false;
  bool done = false;                 ///< acknowledged, or given up
  std::uint8_t count = 0;            ///< of its fragments
  std::uint8_t scheduled = 0;        ///< of them, put on a rail for the first time
  std::uint32_t pending = 0;         ///< puts that are pending
  std::uint64_t acknowledged = 0;    ///< bit i: fragment i
  std::int64_t ack_deadline_ns = 0;  ///< the acknowledgement timer; 0: not running

  Fragment& fragment(std::size_t index) { return block != nullptr ? block->fragments[index] : only; }
  std::uint64_t whole() const { return count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1; }
  void reuse();
};

/// A message that is being sent: the caller's, or one of the protocol's own.
struct OutMessage : Pooled {
  enum class Stage : std::uint8_t {
    queued,    ///< nothing of it was put on a rail
    asking,    ///< its request to send is out, the answer has not come
    sending,   ///< some or all fragments are out
    awaiting,  ///< RMA: all is acknowledged, or not, and the answer has not come
  };

  Link<OutMessage> link;       ///< in one of its peer's queues, or among those that asked and are not summed
  Link<OutMessage> peer_link;  ///< in its peer's list of all
  Peer* peer = nullptr;
  wire::MessageKind kind = wire::MessageKind::eager;
  Stage stage = Stage::queued;
  Completion::Kind completion = Completion::Kind::send;
  bool own = false;     ///< of the protocol itself: nobody hears of its end
  bool logged = false;  ///< its bytes are a copy, in the log
  bool silent = false;
  bool reported = false;  ///< its completion was given, or it has none
  bool tagged = false;
  bool has_data = false;
  bool extended = false;
  bool acknowledge_now = false;
  bool acknowledged = false;
  bool answered = false;   ///< RMA
  bool abandoned = false;  ///< its session is over; it stays for pending puts only
  std::uint32_t number = 0;
  std::uint32_t order = 0;
  std::uint64_t tag = 0;   ///< as on the wire
  std::uint64_t data = 0;  ///< likewise
  std::uint64_t user_tag = 0;
  std::uint64_t address = 0;
  std::uint64_t key = 0;
  std::uint64_t announced = 0;  ///< request_to_send: bytes of the message
  void* context = nullptr;
  Pieces pieces;             ///< of its bytes: the log, or the caller's memory
  std::byte* log = nullptr;  ///< owned
  std::size_t log_bytes = 0;
  std::uint64_t total = 0;            ///< bytes to send
  std::uint64_t scheduled_bytes = 0;  ///< in VFRAGs that were made
  Vfrag* current = nullptr;           ///< being scheduled
  std::uint32_t made = 0;             ///< VFRAGs that were ever made
  std::uint32_t vfrags = 0;           ///< of them, that exist
  std::uint32_t open_vfrags = 0;      ///< of them, not acknowledged
  std::uint32_t pending_puts = 0;
  Pieces results;              ///< RMA: where the answer goes
  std::uint64_t received = 0;  ///< of it
  Outcome outcome = Outcome::ok;

  bool all_scheduled() const { return current == nullptr && made > 0 && scheduled_bytes == total; }
  /// RMA of this side: the target answers it.
  bool awaits_answer() const {
    return kind == wire::MessageKind::rma_write || kind == wire::MessageKind::rma_read ||
           kind == wire::MessageKind::atomic;
  }
  /// Whether an answer of the peer is for this one.
  bool answerable_by(const Peer& other) const { return peer == &other && awaits_answer() && !answered && !abandoned; }
  void reuse();
};

/// A receive that the caller has posted.
struct ReceiveOp : Pooled {
  Link<ReceiveOp> link;  ///< in the posted list, while it takes messages
  Pieces pieces;
  PeerId peer = any_peer;
  bool tagged = false;
  bool multi = false;
  bool silent = false;
  bool posted = false;
  std::uint64_t tag = 0;
  std::uint64_t ignore = 0;
  std::size_t least_bytes = 1;
  std::size_t used_bytes = 0;  ///< multi
  std::uint32_t active = 0;    ///< messages that it takes and that are not complete
  void* context = nullptr;

  void reuse();
};

/// A message that has come, in part or whole, or has announced itself.
struct InMessage : Pooled {
  Link<InMessage> link;       ///< in the unexpected list
  Link<InMessage> peer_link;  ///< in its peer's list of those that are not complete
  Peer* peer = nullptr;
  wire::MessageKind kind = wire::MessageKind::eager;
  bool announced = false;  ///< by a request to send
  bool tagged = false;
  bool has_data = false;
  bool parked = false;  ///< waits for messages before it
  bool tabled = false;  ///< in its peer's table
  bool claimed = false;
  bool discarded = false;
  std::uint32_t number = 0;
  std::uint32_t order = 0;
  std::uint64_t tag = 0;
  std::uint64_t data = 0;
  std::uint64_t total = 0;
  std::uint64_t wanted = 0;  ///< bytes that will come: less than total when an announced one is truncated
  std::uint64_t received = 0;
  std::uint64_t sender_handle = 0;
  void* claim_context = nullptr;
  std::byte* buffer = nullptr;  ///< of `total` bytes while no receive has taken it
  ReceiveOp* op = nullptr;      ///< the receive that has taken it
  Pieces target;                ///< where that wants it

  bool complete() const { return !announced && received == total; }
  void reuse();
};

/// Fragments that go in one packet: one, or several short ones of messages that are in the log.
struct Load {
  static constexpr std::size_t most = 20;
  std::array<Fragment*, most> fragments;
  std::size_t count = 0;
  std::size_t frame_bytes = 0;  ///< of the headers of their frames
  std::size_t data_bytes = 0;

  std::span<Fragment* const> span() const { return {fragments.data(), count}; }
  void add(Fragment& fragment);
  static std::size_t frame_bytes_of(const Fragment& fragment);
};

/// A packet whose put is not finished: its headers, and the fragment whose memory it needs. Of several fragments the
/// data stand behind the headers.
struct OutPacket : Pooled {
  static constexpr std::size_t most_gathered_bytes = 1472;  ///< of such a packet: what one of Ethernet's carries by UDP
  std::array<std::byte, most_gathered_bytes> headers;
  static_assert(most_gathered_bytes >= wire::most_data_header_bytes);
  Fragment* fragment = nullptr;  ///< null where the rail has taken the bytes, and without one
  PeerId peer = 0;
  std::uint32_t rail = 0;
  void reuse() { fragment = nullptr; }
};

}  // namespace holdfast::transport
