#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "transport/wire/put.h"

namespace holdfast::transport {

/// A peer, as the host numbers them: small and dense (it indexes a table). The same endpoint always has the same
/// number.
using PeerId = std::uint32_t;
inline constexpr PeerId any_peer = 0xFFFFFFFF;

/// What became of an operation.
enum class Outcome : std::uint8_t {
  ok,
  truncated,    ///< received; the message was longer than the buffer, which holds its beginning
  canceled,     ///< by cancel() or because the engine closed
  unreachable,  ///< no rail reached the peer for Options::unreachable_after_ns
  restarted,    ///< the peer came back as another process, or had given this one up: what was on its way is lost
  closed,       ///< the peer said that it closes
  spoiled,      ///< a fragment's bytes here changed between two transmissions: memory of the log, or the caller's
  refused,      ///< RMA: the target knows no such memory, or not for this access
};
std::string_view name(Outcome outcome);

/// One finished operation.
struct Completion {
  enum class Kind : std::uint8_t {
    send,
    receive,
    write,         ///< RMA write of this side
    read,          ///< RMA read of this side
    atomic,        ///< atomic operation of this side
    remote_write,  ///< a peer's RMA write with data arrived; no context
    lost,          ///< messages that were reported complete when buffered could not be delivered, because this side
                   ///< or the peer closes; no context, message_bytes is how many
    peer_lost,     ///< the peer was given up, for good (Engine::given_up()); no context, message_bytes is how many
                   ///< messages that were reported complete are lost by it
  };

  Kind kind = Kind::send;
  Outcome outcome = Outcome::ok;
  bool tagged = false;
  bool has_data = false;
  bool released = false;  ///< receive: the buffer is the caller's again (a multi-receive's last; always for others)
  PeerId peer = 0;
  void* context = nullptr;
  std::uint64_t tag = 0;
  std::uint64_t data = 0;         ///< CQ data
  std::size_t bytes = 0;          ///< in the buffer
  std::size_t message_bytes = 0;  ///< of the message; more than `bytes` when truncated
  std::byte* buffer = nullptr;    ///< receive: where the message begins (in its first piece)
};

enum class Access : std::uint8_t { read, write, atomic };

/// What an engine asks of the program around it. The engine calls these from inside its own functions, and they may not
/// call the engine.
class Host {
 public:
  virtual ~Host() = default;

  /// Puts the packet, the pieces end to end, on a rail to a peer. `pieces` is valid during the call; what it points to,
  /// until Engine::on_put_done() for `pending`. A host that has said `pending` or `taken` must call on_put_done() some
  /// day, at the latest before the engine is destroyed. After `busy` the engine tries again at Engine::on_rail_ready(),
  /// or a little later; after `failed` the rail is taken out, and probed later.
  virtual Put put(std::uint32_t rail, PeerId peer, std::span<const iovec> pieces, std::uint64_t token) = 0;

  /// An operation has finished. The buffers of `completion` are the caller's again. Pieces of unreachable, restarted
  /// and closed sends may still be read by packets that are pending.
  virtual void complete(const Completion& completion) = 0;

  /// The peer of this name (as given to its engine), for one that calls for the first time; a new number if need be.
  /// any_peer refuses it. `rail` is where its packet came in.
  virtual PeerId peer_named(std::span<const std::byte> name, std::uint32_t rail) = 0;

  /// The number that the peer of this name has already; any_peer: none. Nothing may be kept for it.
  virtual PeerId find_peer(std::span<const std::byte> name, std::uint32_t rail) { return peer_named(name, rail); }
  /// Sends a packet, copied, to a name that find_peer() does not know, and keeps nothing for it; or does not. A host
  /// whose rail knows where a packet came from sends nothing elsewhere, so that nobody can have others sent to.
  virtual void answer_stranger(std::uint32_t /*rail*/, std::span<const std::byte> /*name*/,
                               std::span<const std::byte> /*packet*/) {}
  /// Whether the packet that is being handled came from where the peer is on this rail; true where the rail cannot say.
  virtual bool comes_from(PeerId /*peer*/, std::uint32_t /*rail*/) { return true; }

  /// RMA: the local bytes [address, address + bytes) of the region `key`, or null when there are no such, or not with
  /// this access. The answer is valid until the engine is called next.
  virtual std::byte* memory(std::uint64_t key, std::uint64_t address, std::size_t bytes, Access access) = 0;

  /// RMA: applies an atomic operation to the bytes at `target`, which memory() gave: `operands` as the initiator gave
  /// them, `operation` as it named it. Writes the old values to `old_values` (of the target's length; may be null).
  /// `bytes` is the target's length. False when there is no such operation.
  virtual bool apply_atomic(std::uint64_t operation, std::byte* target, std::size_t bytes,
                            std::span<const std::byte> operands, std::byte* old_values) = 0;

  /// RMA: a peer's operation on the region `key` is done, once for each: all of a write is there, the reader has all of
  /// a read, or (`atomic`) apply_atomic() said so. `fetched`: an atomic one whose old values the peer wanted.
  virtual void reached(std::uint64_t /*key*/, Access /*access*/, bool /*fetched*/) {}
};

}  // namespace holdfast::transport
