#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/random/stream.h"
#include "transport/engine/engine.h"
#include "transport/world/network.h"
#include "transport/world/open_memory.h"
#include "transport/world/oracle.h"
#include "transport/world/plan.h"
#include "transport/world/remote_oracle.h"

namespace holdfast::transport {

/// What a process of a world stands in.
class Surroundings {
 public:
  virtual const Plan& plan() const = 0;
  virtual Oracle& oracle() = 0;
  virtual RemoteOracle& remote_oracle() = 0;
  virtual Network& network() = 0;
  /// A node's own clock.
  virtual std::int64_t clock(unsigned node) const = 0;
  /// The memory of a node's living process that others may reach.
  virtual OpenMemory& open_memory(unsigned node) = 0;

  // A process numbers its peers in a way of its own.
  PeerId peer_id(unsigned node, unsigned other) const { return (other + node) % plan().nodes; }
  unsigned node_of(unsigned node, PeerId peer) const { return (peer + plan().nodes - node) % plan().nodes; }

 protected:
  ~Surroundings() = default;
};

constexpr unsigned untagged_flow = 100;  ///< what receives of untagged messages select by
constexpr std::size_t guard_bytes = 16;

struct Sending {
  Oracle::MessageId id = 0;
  std::vector<std::byte> memory;
  bool ended = false;
};

struct Receiving {
  Oracle::ReceiveId id = 0;
  unsigned flow = 0;
  bool multi = false;
  bool drain = false;
  bool ended = false;
  bool claimed = false;
  std::size_t capacity = 0;
  std::vector<std::byte> memory;  ///< with guards on both sides
  std::byte* begin() { return memory.data() + guard_bytes; }
};

/// Memory of an operation on remote memory.
struct RemoteEffort {
  std::vector<std::byte> memory;  ///< what is written; what was read, with guards on both sides
  bool ended = false;
};

/// A process on a node: one life of it. An application that does what the plan says, and tells the oracles what it
/// sees.
class Process : public Host {
 public:
  Process(Surroundings& world, unsigned node, unsigned life);

  Put put(std::uint32_t rail, PeerId peer, std::span<const iovec> pieces, std::uint64_t token) override;
  void complete(const Completion& completion) override;
  PeerId peer_named(std::span<const std::byte> name, std::uint32_t rail) override;
  std::byte* memory(std::uint64_t key, std::uint64_t address, std::size_t bytes, Access access) override;
  bool apply_atomic(std::uint64_t operation, std::byte* target, std::size_t bytes, std::span<const std::byte> operands,
                    std::byte* old_values) override;

  void send(unsigned to, random::Stream& draw);
  void post_receive(unsigned flow, PeerId peer, std::size_t capacity, bool multi, bool drain, random::Stream& draw);
  void claim(unsigned flow, random::Stream& draw);
  /// Starts operation number `index` of the plan.
  void reach(std::size_t index);
  void cancel_one(random::Stream& draw);
  void cancel_all();
  void check_memory();
  bool sends_ended() const;

  Surroundings& world_;
  unsigned node_;
  unsigned life_;
  std::unique_ptr<Engine> engine_;
  std::deque<Sending> sends_;
  std::deque<Receiving> receives_;
  std::map<std::size_t, RemoteEffort> efforts_;  ///< by number of the operation
  OpenMemory open_memory_;
  std::vector<std::pair<unsigned, unsigned>> drains_used_;  ///< flows whose drain receive has ended
  bool closing_ = false;

 private:
  void send_completed(const Completion& completion);
  void receive_completed(const Completion& completion);
  ReceiveRequest request_for(const Receiving& receiving, std::size_t index, PeerId peer) const;
  void check_rest(Receiving& receiving, std::size_t bytes);
  void end_receive(Receiving& receiving);
  void remote_completed(const Completion& completion);
  void check_remote(std::size_t index, RemoteEffort& effort);
};

}  // namespace holdfast::transport
