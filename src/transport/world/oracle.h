#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

/// Judges a world by what its applications were promised, and by nothing else: this file shares no code with the
/// engine.
///
/// The promises: every message that was accepted is received once, byte for byte, or somebody was told of an error; the
/// messages of one sender that the same receives could take are taken in the order in which they were sent; every
/// operation ends once. What a process that was restarted did before is allowed to be lost, not to be repeated.
///
/// A lost message is no hole that the next one fills: never is a message received where one that was sent before it,
/// and that the same receive would have taken, is missing. And what was reported as done and is not received is known
/// at both ends: each is told that the other was given up, and from then on nothing more is accepted for it.
namespace holdfast::transport {

class Oracle {
 public:
  using MessageId = std::uint32_t;
  using ReceiveId = std::uint32_t;

  /// What an operation came to, in the oracle's own words.
  enum class End : std::uint8_t { open, good, cut, failed, canceled };

  /// `errors_allowed`: whether the world has faults that may break a message (a restart, no rail for long).
  explicit Oracle(bool errors_allowed) : errors_allowed_(errors_allowed) {}

  /// What message `id` says.
  static void fill(MessageId id, std::span<std::byte> bytes);

  /// A process `node` sends to `to`. `flow` is what receives select by. `buffered`: it ends before it is delivered.
  MessageId sending(unsigned node, unsigned to, unsigned flow, std::size_t bytes, bool buffered, bool silent);
  void send_refused(MessageId id);
  void send_accepted(MessageId id);
  void send_ended(MessageId id, End end);

  ReceiveId posting(unsigned node, bool multi);
  /// A message that says to be `id` from `from` came into the receive, at its `place`-th byte (multi-receive).
  void received(ReceiveId receive, MessageId id, unsigned from, std::span<const std::byte> bytes,
                std::size_t message_bytes, End end, std::size_t place);
  /// A receive ended without a message.
  void receive_ended(ReceiveId receive, End end);
  /// A message of a multi-receive, which goes on, failed.
  void receive_failed_in_part(ReceiveId receive);
  /// A multi-receive takes no more.
  void receive_released(ReceiveId receive);

  /// `node` was told that `messages` of its messages to `to` are lost.
  void lost(unsigned node, unsigned to, std::uint64_t messages);
  /// `node` was told that it has given `other` up.
  void parted(unsigned node, unsigned other);
  /// Whether all that were told so of a living process are known to that one in the same way.
  bool partings_mutual() const;
  /// The process of this node is another from now on; or (`closed`) it ends.
  void restarted(unsigned node);

  /// Something that the world itself noticed.
  void complain(const std::string& what);
  /// After everything has ended.
  void judge();
  const std::vector<std::string>& complaints() const { return complaints_; }

  std::uint64_t messages() const { return messages_.size(); }
  std::uint64_t delivered() const { return delivered_; }
  std::uint64_t failed() const { return failed_; }

 private:
  struct Message {
    unsigned from;
    unsigned from_life;
    unsigned to;
    unsigned to_life;
    unsigned flow;
    std::size_t bytes;
    bool buffered;
    bool silent;
    bool refused = false;
    End end = End::open;
    unsigned received = 0;
  };
  struct Receive {
    unsigned node;
    unsigned life;
    bool multi;
    End end = End::open;
    unsigned messages = 0;
    unsigned failures = 0;
  };
  // Where a message came: the receives in the order of their posting, and the places in each.
  using Position = std::pair<ReceiveId, std::size_t>;
  struct Flow {
    unsigned from, from_life, to, to_life, flow;
    auto operator<=>(const Flow&) const = default;
  };

  static std::uint64_t word(MessageId id, std::size_t i);
  static std::size_t first_difference(MessageId id, std::span<const std::byte> bytes);
  /// A process that was told that another node's was given up.
  struct Parting {
    unsigned node, life, other;
    auto operator<=>(const Parting&) const = default;
  };
  unsigned life(unsigned node);
  unsigned life_of(unsigned node) const { return node < lives_.size() ? lives_[node] : 0; }
  bool told(unsigned node, unsigned node_life, unsigned other) const {
    return partings_.contains({node, node_life, other});
  }
  void judge_messages();
  void judge_gaps();
  void judge_orders();
  void judge_receives();

  bool errors_allowed_;
  std::vector<unsigned> lives_;
  std::vector<Message> messages_;
  std::vector<Receive> receives_;
  std::map<Flow, std::map<Position, MessageId>> orders_;
  std::map<Parting, unsigned> partings_;  ///< and the life of the other node at that time
  std::vector<std::string> complaints_;
  std::uint64_t delivered_ = 0;
  std::uint64_t failed_ = 0;
};

}  // namespace holdfast::transport
