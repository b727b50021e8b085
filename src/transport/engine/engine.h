#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "transport/engine/authenticator.h"
#include "transport/engine/counters.h"
#include "transport/engine/host.h"
#include "transport/engine/options.h"

/// The protocol engine: messages in, packets out, packets in, messages out, whatever the network does in between.
///
/// It does no I/O, reads no clock and has neither threads nor locks: a caller (a libfabric provider, a simulator)
/// drives it from one thread at a time, gives it the time, carries its packets by Host::put(), and hears of finished
/// operations by Host::complete(). One engine is one endpoint. How to drive it:
///
///   Engine engine(options, rails, host, name, secrets);
///   loop:
///     for each packet that a rail has received:    engine.on_packet(rail, bytes, now)
///     for each put that a rail has finished:       engine.on_put_done(token, ok, now)
///     if now >= engine.next_deadline():            engine.advance(now)
///   and in between engine.send(), engine.receive(), ... at any time; they act at once.
///
/// A progress thread that calls this loop at least once every Options::tick_ns keeps acknowledgements flowing while the
/// application computes; without one, peers take a process that computes for long for silent.
///
/// This header, host.h, options.h, counters.h and wire/packet.h are what a provider is written against. They are
/// stable: members may be added, none will change its meaning.
namespace holdfast::transport {

/// When a send is complete, and so whose memory is kept for retransmission.
enum class SendMode : std::uint8_t {
  buffered,      ///< at once: the engine copies the bytes to its log. Loss is reported by Completion::Kind::lost
  acknowledged,  ///< when the receiver has all of it; the bytes are sent from the caller's memory, without a copy
};

/// What a function that starts an operation says. Only `accepted` leads to a completion.
enum class Posted : std::uint8_t {
  accepted,
  again,    ///< the log is full: call again after the engine has made progress
  invalid,  ///< the request breaks a rule that its docstring states
  lost,     ///< the peer was given up: Engine::given_up() says why
};

inline constexpr std::size_t most_pieces = 8;  ///< of one operation

struct SendRequest {
  PeerId peer = 0;
  std::span<const iovec> pieces{};  ///< at most most_pieces; the list is copied, the memory as `mode` says
  SendMode mode = SendMode::buffered;
  bool tagged = false;
  bool has_data = false;
  bool silent = false;  ///< no completion when all is well (an inject, or without FI_COMPLETION)
  std::uint64_t tag = 0;
  std::uint64_t data = 0;
  void* context = nullptr;
};

struct ReceiveRequest {
  std::span<const iovec> pieces{};  ///< at most most_pieces, exactly one for a multi-receive; the list is copied
  PeerId peer = any_peer;           ///< from this one only, or from any
  bool tagged = false;
  bool multi = false;   ///< untagged only: one buffer for many messages, until fewer than `least_bytes` are left
  bool silent = false;  ///< no completion when all is well
  std::uint64_t tag = 0;
  std::uint64_t ignore = 0;  ///< bits of the tag that are not compared
  std::size_t least_bytes = 1;
  void* context = nullptr;
};

/// A message that has come, or has announced itself, and that no receive has taken.
struct Waiting {
  PeerId peer = 0;
  bool tagged = false;
  bool has_data = false;
  std::uint64_t tag = 0;
  std::uint64_t data = 0;
  std::size_t bytes = 0;
};

/// A rail as the engine sees it; its number is its index in the list.
struct RailTraits {
  std::size_t most_packet_bytes = 0;              ///< headers and payload
  double bytes_per_second = 1e9;                  ///< until it has been measured
  std::optional<integrity::Checksum> checksum{};  ///< instead of Options::checksum
};

/// Remote memory of an RMA operation.
struct RemoteMemory {
  std::uint64_t address = 0;
  std::uint64_t key = 0;
};

struct WriteRequest {
  PeerId peer = 0;
  std::span<const iovec> pieces{};
  RemoteMemory remote;
  SendMode mode =
      SendMode::acknowledged;  ///< whose memory is kept; a write completes when the target has it either way
  bool has_data = false;       ///< tells the target, with `data`
  bool silent = false;
  std::uint64_t data = 0;
  void* context = nullptr;
};

struct ReadRequest {
  PeerId peer = 0;
  std::span<const iovec> pieces{};
  RemoteMemory remote;
  bool silent = false;
  void* context = nullptr;
};

struct AtomicRequest {
  PeerId peer = 0;
  std::span<const std::byte> operands{};  ///< copied; at most one fragment
  RemoteMemory remote;
  std::size_t target_bytes = 0;      ///< at most one fragment
  std::uint64_t operation = 0;       ///< meant for Host::apply_atomic()
  std::span<const iovec> results{};  ///< empty, or where the old values go: `target_bytes` of them
  bool silent = false;
  void* context = nullptr;
};

/// State that a rail to a peer can be in.
enum class RailState : std::uint8_t { up, suspect, out };

struct RailReport {
  RailState state = RailState::up;
  std::int64_t round_trip_ns = 0;  ///< smoothed; 0: not measured
  double bytes_per_second = 0;
  std::size_t window_bytes = 0;
  std::size_t flying_bytes = 0;
};

class Core;

/// Errors are values of Posted; nothing throws but bad_alloc when a pool grows. Thread-compatible: one thread at a
/// time. `now_ns` is any clock's time; it may jump (a step back counts as none, one ahead as at most a second).
class Engine {
 public:
  /// `name` is what peers know this endpoint by, at most wire::most_name_bytes, the same after a restart if peers are
  /// to see it as one. The seed of `secrets` must be unlike that of any other engine. Rails: 1 to 16, each with room
  /// for most_data_header_bytes and 64 bytes of payload.
  Engine(const Options& options, std::span<const RailTraits> rails, Host& host, std::span<const std::byte> name,
         const Secrets& secrets, std::int64_t now_ns);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Messages to one peer that fit the same receives are received in the order of these calls.
  Posted send(const SendRequest& request, std::int64_t now_ns);
  Posted receive(const ReceiveRequest& request, std::int64_t now_ns);

  /// Looks for the first message that `request` would take (its pieces are not looked at). With `claim`, the message is
  /// set aside for receive_claimed() or discard_claimed() with the same context. Nothing: none has come yet.
  std::optional<Waiting> peek(const ReceiveRequest& request, bool claim, std::int64_t now_ns);
  /// Takes the message that was claimed with request.context. `invalid` when there is none.
  Posted receive_claimed(const ReceiveRequest& request, std::int64_t now_ns);
  /// Throws away the message that was claimed with this context. False when there is none.
  bool discard_claimed(void* context, std::int64_t now_ns);

  /// Cancels the first posted receive of this context that has taken no message: it completes as canceled. False when
  /// there is none.
  bool cancel(void* context, std::int64_t now_ns);

  Posted write(const WriteRequest& request, std::int64_t now_ns);
  Posted read(const ReadRequest& request, std::int64_t now_ns);
  Posted atomic(const AtomicRequest& request, std::int64_t now_ns);

  /// A packet has come in. Its bytes may go when the call returns. Any bytes are allowed.
  void on_packet(std::uint32_t rail, std::span<const std::byte> packet, std::int64_t now_ns);
  /// A put that is pending or taken is over. `ok` false: the rail could not send it; the rail is taken out for that
  /// peer.
  void on_put_done(std::uint64_t token, bool ok, std::int64_t now_ns);
  /// A rail that was busy has room again.
  void on_rail_ready(std::uint32_t rail, std::int64_t now_ns);
  /// A rail knows that it does not reach a peer, or any (any_peer): its link is down, it could not send. It is taken
  /// out, and probed from then on.
  void on_rail_failed(std::uint32_t rail, PeerId peer, std::int64_t now_ns);
  /// Somebody says so who may be wrong, or lie: the peer is asked on this rail at once, once a tick at most, and the
  /// rail is left when others answer and it does not.
  void on_rail_doubted(std::uint32_t rail, PeerId peer, std::int64_t now_ns);
  /// The link of a rail is up again: peers to which it is out are asked at once.
  void on_rail_restored(std::uint32_t rail, std::int64_t now_ns);

  /// This endpoint's name is another from now on (it has a rail more, say), under which Host::peer_named() of its peers
  /// knows it as well as before. Peers are told at once.
  void rename(std::span<const std::byte> name, std::int64_t now_ns);

  /// Lets the timers run. next_deadline(): when this must be called next; a moment that is past means at once, and
  /// no_deadline never. Cheap when nothing is due.
  void advance(std::int64_t now_ns);
  std::int64_t next_deadline() const;
  static constexpr std::int64_t no_deadline = INT64_MAX;

  /// For time in which the caller would only wait: makes the sum of one fragment of a message that waits for its
  /// receiver. False: there is none.
  bool sum_ahead();

  /// Tells all peers that this endpoint closes, and completes all operations as canceled. Call it when idle() or when
  /// the caller will wait no longer; only on_put_done() and the destructor may follow.
  void close(std::int64_t now_ns);

  /// Why the peer was given up; nothing: it was not. Once it is, nothing goes to it any more, and of what came from it
  /// only messages before which nothing is missing are still received: a later message never takes a lost one's place.
  /// This is for good, and the peer is told of it as soon as a rail reaches it.
  std::optional<Outcome> given_up(PeerId peer) const;

  /// Whether everything sent has been acknowledged and nothing waits to be sent.
  bool idle() const;
  /// Puts that are pending.
  std::size_t pending_puts() const;

  const Counters& counters() const;
  /// The rail to a peer; a peer never spoken to has all rails up.
  RailReport rail(std::uint32_t rail, PeerId peer) const;
  /// Bytes of payload in one fragment, after what the rails allow.
  std::size_t fragment_bytes() const;
  /// Bytes of memory held for one peer (0: never spoken to), and altogether: sessions, pools, log, unexpected messages.
  std::size_t memory_bytes(PeerId peer) const;
  std::size_t memory_bytes() const;
  /// Objects in use of all pools; 0 when every operation has completed and everything was acknowledged, a leak
  /// otherwise.
  std::size_t objects_in_use() const;

 private:
  std::unique_ptr<Core> core_;
};

}  // namespace holdfast::transport
