#include "transport/world/process.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace holdfast::transport {
namespace {

constexpr std::byte guard{0xA5};
constexpr std::byte after_end{0xCC};

Oracle::End end_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::ok:
      return Oracle::End::good;
    case Outcome::truncated:
      return Oracle::End::cut;
    case Outcome::canceled:
      return Oracle::End::canceled;
    default:
      return Oracle::End::failed;
  }
}

// Memory of the application, cut into up to three pieces at random.
std::vector<iovec> cut(std::byte* memory, std::size_t bytes, random::Stream& draw) {
  std::vector<iovec> pieces;
  const std::uint64_t wanted = 1 + draw.below(3);
  while (pieces.size() + 1 < wanted && bytes > 1) {
    const std::size_t here = draw.below(bytes);
    pieces.push_back({memory, here});
    memory += here;
    bytes -= here;
  }
  pieces.push_back({memory, bytes});
  return pieces;
}

constexpr std::uint64_t count_one = 1;  ///< the only atomic operation

bool all_are(std::span<const std::byte> bytes, std::byte value) {
  return bytes.empty() || (bytes[0] == value && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

}  // namespace

Process::Process(Surroundings& world, unsigned node, unsigned life)
    : world_(world), node_(node), life_(life), open_memory_(world.plan(), node) {
  std::vector<RailTraits> rails;
  for (const RailPlan& rail : world.plan().rails) {
    rails.push_back({.most_packet_bytes = rail.most_packet_bytes,
                     .bytes_per_second = static_cast<double>(rail.link.bytes_per_us) * 1e6,
                     .checksum = rail.checksum});
  }
  const auto name = static_cast<std::byte>(node);
  engine_ = std::make_unique<Engine>(world.plan().options, rails, *this, std::span(&name, 1),
                                     world.plan().secrets(node, life), world.clock(node));
}

Put Process::put(std::uint32_t rail, PeerId peer, std::span<const iovec> pieces, std::uint64_t token) {
  return world_.network().put(rail, node_, life_, world_.node_of(node_, peer), pieces, token);
}

PeerId Process::peer_named(std::span<const std::byte> name, std::uint32_t) {
  if (name.size() != 1 || std::to_integer<unsigned>(name[0]) >= world_.plan().nodes) return any_peer;
  return world_.peer_id(node_, std::to_integer<unsigned>(name[0]));
}

// The tag of a message is its flow and its number; receives look at the flow. An untagged one has its number as data.
void Process::send(unsigned to, random::Stream& draw) {
  const Plan& plan = world_.plan();
  const bool tagged = draw.chance(3, 4);
  const unsigned flow = tagged ? static_cast<unsigned>(draw.below(plan.flows)) : untagged_flow;
  std::size_t bytes = draw.chance(1, 10) ? 0 : draw.below(plan.most_bytes + 1);
  if (draw.chance(1, 3)) bytes = std::min<std::size_t>(bytes, 100);
  const bool buffered = draw.chance(1, 2) && bytes <= plan.options.log_bytes;
  const bool silent = draw.chance(1, 4);
  sends_.emplace_back();
  Sending& sending = sends_.back();
  sending.id = world_.oracle().sending(node_, to, flow, bytes, buffered, silent);
  sending.memory.resize(bytes);
  Oracle::fill(sending.id, sending.memory);
  const std::vector<iovec> pieces = cut(sending.memory.data(), bytes, draw);
  SendRequest request;
  request.peer = world_.peer_id(node_, to);
  request.pieces = pieces;
  request.mode = buffered ? SendMode::buffered : SendMode::acknowledged;
  request.tagged = tagged;
  request.tag = std::uint64_t{flow} << 32 | sending.id;
  request.has_data = !tagged || draw.chance(1, 2);
  request.data = sending.id;
  request.silent = silent;
  request.context = reinterpret_cast<void*>(sends_.size());  // its index, and one
  const Posted posted = engine_->send(request, world_.clock(node_));
  if (posted == Posted::invalid) world_.oracle().complain("a send was called invalid");
  if (posted != Posted::accepted) {
    world_.oracle().send_refused(sending.id);
    sending.ended = true;
  } else {
    world_.oracle().send_accepted(sending.id);
  }
  if (buffered || posted != Posted::accepted) {
    std::fill(sending.memory.begin(), sending.memory.end(), after_end);
    std::vector<std::byte>().swap(sending.memory);
  }
  if (silent) sending.ended = true;
}

ReceiveRequest Process::request_for(const Receiving& receiving, std::size_t index, PeerId peer) const {
  ReceiveRequest request;
  request.peer = peer;
  request.tagged = receiving.flow != untagged_flow;
  request.multi = receiving.multi;
  request.tag = std::uint64_t{receiving.flow} << 32;
  request.ignore = 0xFFFFFFFF;
  request.least_bytes = 64;
  request.context = reinterpret_cast<void*>(index + 1);
  return request;
}

void Process::post_receive(unsigned flow, PeerId peer, std::size_t capacity, bool multi, bool drain,
                           random::Stream& draw) {
  receives_.emplace_back();
  Receiving& receiving = receives_.back();
  receiving.flow = flow;
  receiving.multi = multi;
  receiving.drain = drain;
  receiving.capacity = capacity;
  receiving.memory.assign(capacity + 2 * guard_bytes, guard);
  receiving.id = world_.oracle().posting(node_, multi);
  const std::vector<iovec> pieces =
      multi ? std::vector<iovec>{{receiving.begin(), capacity}} : cut(receiving.begin(), capacity, draw);
  ReceiveRequest request = request_for(receiving, receives_.size() - 1, peer);
  request.pieces = pieces;
  const Posted posted = engine_->receive(request, world_.clock(node_));
  if (posted == Posted::lost) {
    world_.oracle().receive_ended(receives_.back().id, Oracle::End::failed);
    end_receive(receives_.back());
  } else if (posted != Posted::accepted) {
    world_.oracle().complain("a receive was refused");
  }
}

// Looks for a message, sets it aside, and takes it or throws it away.
void Process::claim(unsigned flow, random::Stream& draw) {
  Receiving probe;
  probe.flow = flow;
  ReceiveRequest request = request_for(probe, receives_.size(), any_peer);
  const std::optional<Waiting> waiting = engine_->peek(request, true, world_.clock(node_));
  if (!waiting) return;
  const std::size_t index = receives_.size();
  receives_.emplace_back();
  Receiving& receiving = receives_.back();
  receiving.flow = flow;
  receiving.claimed = true;
  receiving.capacity = waiting->bytes;
  receiving.memory.assign(waiting->bytes + 2 * guard_bytes, guard);
  receiving.id = world_.oracle().posting(node_, false);
  const std::vector<iovec> pieces = cut(receiving.begin(), receiving.capacity, draw);
  request = request_for(receiving, index, any_peer);
  request.pieces = pieces;
  if (engine_->receive_claimed(request, world_.clock(node_)) != Posted::accepted) {
    world_.oracle().complain("a claimed message was not there");
  }
}

void Process::cancel_one(random::Stream& draw) {
  if (receives_.empty()) return;
  const std::size_t index = draw.below(receives_.size());
  if (!receives_[index].ended) engine_->cancel(reinterpret_cast<void*>(index + 1), world_.clock(node_));
}

void Process::cancel_all() {
  closing_ = true;
  for (std::size_t index = 0; index < receives_.size(); ++index) {
    if (!receives_[index].ended) engine_->cancel(reinterpret_cast<void*>(index + 1), world_.clock(node_));
  }
}

void Process::complete(const Completion& completion) {
  switch (completion.kind) {
    case Completion::Kind::send:
      send_completed(completion);
      break;
    case Completion::Kind::receive:
      receive_completed(completion);
      break;
    case Completion::Kind::lost:
      world_.oracle().lost(node_, world_.node_of(node_, completion.peer), completion.message_bytes);
      break;
    case Completion::Kind::peer_lost:
      world_.oracle().parted(node_, world_.node_of(node_, completion.peer));
      break;
    case Completion::Kind::write:
    case Completion::Kind::read:
    case Completion::Kind::atomic:
      remote_completed(completion);
      break;
    case Completion::Kind::remote_write:
      world_.remote_oracle().announced(completion.data);
      break;
  }
}

void Process::send_completed(const Completion& completion) {
  const std::size_t index = reinterpret_cast<std::size_t>(completion.context) - 1;
  if (index >= sends_.size()) return world_.oracle().complain("a send completion without a send");
  Sending& sending = sends_[index];
  world_.oracle().send_ended(sending.id, end_of(completion.outcome));
  sending.ended = true;
  // The memory is the application's again; after an error packets that wait may still read it.
  if (completion.outcome == Outcome::ok) std::fill(sending.memory.begin(), sending.memory.end(), after_end);
}

void Process::receive_completed(const Completion& completion) {
  const std::size_t index = reinterpret_cast<std::size_t>(completion.context) - 1;
  if (index >= receives_.size()) return world_.oracle().complain("a receive completion without a receive");
  Receiving& receiving = receives_[index];
  const Oracle::End end = end_of(completion.outcome);
  if (receiving.ended) world_.oracle().complain("a receive completed after it had released its buffer");
  if (end == Oracle::End::good || end == Oracle::End::cut) {
    const auto id = static_cast<Oracle::MessageId>(completion.tagged ? completion.tag : completion.data);
    std::byte* begin = receiving.multi ? completion.buffer : receiving.begin();
    const std::size_t place = static_cast<std::size_t>(begin - receiving.begin());
    if (receiving.multi && (begin == nullptr || place + completion.bytes > receiving.capacity)) {
      return world_.oracle().complain("a message is said to be outside its buffer");
    }
    world_.oracle().received(receiving.id, id, world_.node_of(node_, completion.peer), {begin, completion.bytes},
                             completion.message_bytes, end, place);
    if (!receiving.multi) check_rest(receiving, completion.bytes);
  } else if (!receiving.multi || completion.released) {
    if (end == Oracle::End::canceled && !receiving.multi && completion.message_bytes == 0) check_rest(receiving, 0);
    world_.oracle().receive_ended(receiving.id, end);
    end_receive(receiving);
    return;
  } else {
    world_.oracle().receive_failed_in_part(receiving.id);
  }
  if (completion.released != !receiving.multi && !receiving.multi) {
    world_.oracle().complain("a receive kept its buffer");
  }
  if (!completion.released) return;
  world_.oracle().receive_released(receiving.id);
  end_receive(receiving);
}

// What the receive's message has no bytes for is as it was, whatever was on the wire.
void Process::check_rest(Receiving& receiving, std::size_t bytes) {
  if (all_are(std::span(receiving.begin(), receiving.capacity).subspan(bytes), guard)) return;
  world_.oracle().complain("memory of receive " + std::to_string(receiving.id) + " beyond its message was written");
}

void Process::end_receive(Receiving& receiving) {
  receiving.ended = true;
  for (std::size_t i = 0; i < guard_bytes; ++i) {
    if (receiving.memory[i] != guard || receiving.memory[guard_bytes + receiving.capacity + i] != guard) {
      world_.oracle().complain("memory beside a receive's was written");
      break;
    }
  }
  std::fill(receiving.memory.begin(), receiving.memory.end(), after_end);
  if (receiving.drain) drains_used_.emplace_back(receiving.flow, receiving.multi ? 1 : 0);
}

// Nothing may have been written into memory that was given back.
void Process::check_memory() {
  for (const Receiving& receiving : receives_) {
    if (!receiving.ended) continue;
    if (!all_are(receiving.memory, after_end)) {
      world_.oracle().complain("the memory of receive " + std::to_string(receiving.id) + " was written after its end");
    }
  }
  for (const auto& [index, effort] : efforts_) {
    if (effort.ended && !all_are(effort.memory, after_end)) {
      world_.oracle().complain("memory of remote operation " + std::to_string(index) + " was written after its end");
    }
  }
  if (!open_memory_.unharmed()) world_.oracle().complain("memory for others was written where nobody may");
}

bool Process::sends_ended() const {
  return std::all_of(sends_.begin(), sends_.end(), [](const Sending& sending) { return sending.ended; });
}

std::byte* Process::memory(std::uint64_t key, std::uint64_t address, std::size_t bytes, Access access) {
  using Kind = RemoteOperation::Kind;
  const Kind kind = access == Access::read ? Kind::read : access == Access::write ? Kind::write : Kind::atomic;
  return open_memory_.find(key, address, bytes, kind);
}

// The only atomic operation: one more. Its operand is the number of the operation in the plan, so that the oracle sees
// one that is done twice.
bool Process::apply_atomic(std::uint64_t operation, std::byte* target, std::size_t bytes,
                           std::span<const std::byte> operands, std::byte* old_values) {
  std::uint64_t index = 0;
  std::uint64_t count = 0;
  if (operation != count_one || bytes != sizeof count || operands.size() != sizeof index) {
    world_.oracle().complain("an atomic operation came that nobody made");
    return false;
  }
  std::memcpy(&index, operands.data(), sizeof index);
  std::memcpy(&count, target, sizeof count);
  world_.remote_oracle().applied(index, count);
  if (old_values != nullptr) std::memcpy(old_values, &count, sizeof count);
  ++count;
  std::memcpy(target, &count, sizeof count);
  return true;
}

void Process::reach(std::size_t index) {
  using Kind = RemoteOperation::Kind;
  const RemoteOperation& operation = world_.plan().remote[index];
  RemoteEffort& effort = efforts_[index];
  const PeerId peer = world_.peer_id(node_, operation.to);
  const RemoteMemory remote = {OpenMemory::address(operation), OpenMemory::key + (operation.forbidden ? 1 : 0)};
  void* context = reinterpret_cast<void*>(index + 1);
  world_.remote_oracle().posted(index);
  Posted posted = Posted::invalid;
  if (operation.kind == Kind::write) {
    effort.memory = OpenMemory::written(index, operation.bytes);
    const iovec piece = {effort.memory.data(), effort.memory.size()};
    posted = engine_->write({.peer = peer,
                             .pieces = {&piece, 1},
                             .remote = remote,
                             .mode = operation.buffered ? SendMode::buffered : SendMode::acknowledged,
                             .has_data = operation.announced,
                             .data = index,
                             .context = context},
                            world_.clock(node_));
    if (operation.buffered) std::fill(effort.memory.begin(), effort.memory.end(), after_end);
  } else if (operation.kind == Kind::read) {
    effort.memory.assign(operation.bytes + 2 * guard_bytes, guard);
    const iovec piece = {effort.memory.data() + guard_bytes, operation.bytes};
    posted =
        engine_->read({.peer = peer, .pieces = {&piece, 1}, .remote = remote, .context = context}, world_.clock(node_));
  } else {
    const std::uint64_t operand = index;
    effort.memory.assign(sizeof(std::uint64_t) + 2 * guard_bytes, guard);
    const iovec result = {effort.memory.data() + guard_bytes, sizeof(std::uint64_t)};
    posted = engine_->atomic({.peer = peer,
                              .operands = std::as_bytes(std::span(&operand, 1)),
                              .remote = remote,
                              .target_bytes = sizeof(std::uint64_t),
                              .operation = count_one,
                              .results = {&result, operation.fetches ? 1U : 0U},
                              .context = context},
                             world_.clock(node_));
  }
  if (posted == Posted::invalid) world_.oracle().complain("a remote operation was called invalid");
  if (posted != Posted::accepted) {
    world_.remote_oracle().refused(index);
    efforts_.erase(index);
  }
}

void Process::remote_completed(const Completion& completion) {
  const std::size_t index = reinterpret_cast<std::size_t>(completion.context) - 1;
  world_.remote_oracle().ended(index, end_of(completion.outcome));
  const auto effort = efforts_.find(index);
  if (effort == efforts_.end()) return;
  const bool forbidden = world_.plan().remote[index].forbidden;
  if (!forbidden && completion.outcome == Outcome::refused) {
    world_.oracle().complain("remote operation " + std::to_string(index) + " was refused");
  }
  if (!forbidden && completion.outcome == Outcome::ok) check_remote(index, effort->second);
  // After an error packets that wait may still read the memory of a write.
  if (completion.outcome != Outcome::ok) return;
  std::fill(effort->second.memory.begin(), effort->second.memory.end(), after_end);
  effort->second.ended = true;
}

// An operation has ended well: whether it gave what it should, at this side or the other.
void Process::check_remote(std::size_t index, RemoteEffort& effort) {
  using Kind = RemoteOperation::Kind;
  const RemoteOperation& operation = world_.plan().remote[index];
  const std::string name = "remote operation " + std::to_string(index);
  if (operation.kind == Kind::write) {
    if (world_.remote_oracle().same_target(index) && !world_.open_memory(operation.to).settle(index, operation)) {
      world_.oracle().complain(name + " is over, and not all of it is there");
    }
    return;
  }
  const std::span<std::byte> all = effort.memory;
  const std::span<std::byte> middle = all.subspan(guard_bytes, all.size() - 2 * guard_bytes);
  if (!all_are(all.first(guard_bytes), guard) || !all_are(all.last(guard_bytes), guard)) {
    world_.oracle().complain("memory beside that of " + name + " was written");
  }
  if (operation.kind == Kind::read) {
    if (!std::ranges::equal(middle, OpenMemory::readable(operation)))
      world_.oracle().complain(name + " read other bytes");
  } else if (operation.fetches) {
    std::uint64_t value = 0;
    std::memcpy(&value, middle.data(), sizeof value);
    world_.remote_oracle().fetched(index, value);
  }
}

}  // namespace holdfast::transport
