#include "transport/world/oracle.h"

#include <algorithm>
#include <cstring>

namespace holdfast::transport {
namespace {

std::string number(std::uint64_t value) {
  return std::to_string(value);
}

}  // namespace

// The i-th eight bytes of message `id`.
std::uint64_t Oracle::word(MessageId id, std::size_t i) {
  std::uint64_t word = (static_cast<std::uint64_t>(id) + 1) * 0x9E3779B97F4A7C15ULL + i;
  word = (word ^ (word >> 31)) * 0xD6E8FEB86659FD93ULL;
  return word ^ (word >> 29);
}

void Oracle::fill(MessageId id, std::span<std::byte> bytes) {
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    const std::uint64_t eight = word(id, at / 8);
    std::memcpy(bytes.data() + at, &eight, std::min<std::size_t>(8, bytes.size() - at));
  }
}

// Where the bytes first differ from the message's; their length when nowhere.
std::size_t Oracle::first_difference(MessageId id, std::span<const std::byte> bytes) {
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    const std::uint64_t eight = word(id, at / 8);
    if (std::memcmp(bytes.data() + at, &eight, std::min<std::size_t>(8, bytes.size() - at)) != 0) return at;
  }
  return bytes.size();
}

unsigned Oracle::life(unsigned node) {
  if (node >= lives_.size()) lives_.resize(node + 1, 0);
  return lives_[node];
}

void Oracle::complain(const std::string& what) {
  if (complaints_.size() < 20) complaints_.push_back(what);
}

Oracle::MessageId Oracle::sending(unsigned node, unsigned to, unsigned flow, std::size_t bytes, bool buffered,
                                  bool silent) {
  messages_.push_back({.from = node,
                       .from_life = life(node),
                       .to = to,
                       .to_life = life(to),
                       .flow = flow,
                       .bytes = bytes,
                       .buffered = buffered,
                       .silent = silent});
  return static_cast<MessageId>(messages_.size() - 1);
}

void Oracle::send_refused(MessageId id) {
  messages_[id].refused = true;
}

void Oracle::send_accepted(MessageId id) {
  const Message& message = messages_[id];
  if (told(message.from, message.from_life, message.to)) {
    complain("message " + number(id) + " was accepted for a peer that was given up");
  }
}

void Oracle::send_ended(MessageId id, End end) {
  if (id >= messages_.size()) return complain("a send that nobody made has ended");
  Message& message = messages_[id];
  if (message.end != End::open) complain("send " + number(id) + " has ended twice");
  if (message.silent && end == End::good) complain("silent send " + number(id) + " was reported");
  message.end = end;
}

Oracle::ReceiveId Oracle::posting(unsigned node, bool multi) {
  receives_.push_back({.node = node, .life = life(node), .multi = multi});
  return static_cast<ReceiveId>(receives_.size() - 1);
}

void Oracle::received(ReceiveId receive_id, MessageId id, unsigned from, std::span<const std::byte> bytes,
                      std::size_t message_bytes, End end, std::size_t place) {
  Receive& receive = receives_[receive_id];
  if (receive.end != End::open) complain("receive " + number(receive_id) + " was completed after its end");
  ++receive.messages;
  if (!receive.multi) receive.end = end;
  if (id >= messages_.size()) return complain("receive " + number(receive_id) + " got a message that nobody sent");
  Message& message = messages_[id];
  if (message.refused) complain("message " + number(id) + " was refused and received");
  if (message.to != receive.node) complain("message " + number(id) + " went to another process");
  if (message.from != from) complain("message " + number(id) + " is said to be from another process");
  if (++message.received > 1) complain("message " + number(id) + " was received twice");
  if (message.bytes != message_bytes) {
    complain("message " + number(id) + " of " + number(message.bytes) + " bytes is said to have " +
             number(message_bytes));
  }
  const bool cut = bytes.size() < message.bytes;
  if (cut != (end == End::cut)) complain("message " + number(id) + " is cut and not said to be, or the reverse");
  if (const std::size_t at = first_difference(id, bytes); at < bytes.size()) {
    complain("message " + number(id) + " differs in the eight bytes at " + number(at) + " of " + number(bytes.size()));
  }
  ++delivered_;
  orders_[{message.from, message.from_life, receive.node, receive.life, message.flow}][{receive_id, place}] = id;
}

void Oracle::receive_failed_in_part(ReceiveId receive_id) {
  ++receives_[receive_id].failures;
  ++failed_;
  if (!errors_allowed_) complain("receive " + number(receive_id) + " failed in part though a rail worked all the time");
}

void Oracle::receive_ended(ReceiveId receive_id, End end) {
  Receive& receive = receives_[receive_id];
  receive.failures += end == End::failed ? 1 : 0;
  if (receive.end != End::open) complain("receive " + number(receive_id) + " has ended twice");
  receive.end = end;
  if (end == End::failed) {
    ++failed_;
    if (!errors_allowed_) complain("receive " + number(receive_id) + " failed though a rail worked all the time");
  }
}

void Oracle::receive_released(ReceiveId receive_id) {
  Receive& receive = receives_[receive_id];
  if (receive.multi && receive.end != End::open) complain("receive " + number(receive_id) + " was released twice");
  if (receive.multi) receive.end = End::good;
}

void Oracle::lost(unsigned node, unsigned to, std::uint64_t messages) {
  if (!errors_allowed_) {
    complain(number(messages) + " messages from " + number(node) + " to " + number(to) +
             " are said to be lost though a rail worked all the time");
  }
}

void Oracle::parted(unsigned node, unsigned other) {
  if (!partings_.emplace(Parting{node, life(node), other}, life(other)).second) {
    complain("node " + number(node) + " was told twice that " + number(other) + " was given up");
  }
  if (!errors_allowed_) complain("a peer was given up though a rail worked all the time");
}

bool Oracle::partings_mutual() const {
  return std::all_of(partings_.begin(), partings_.end(), [this](const auto& entry) {
    const auto& [parting, other_life] = entry;
    const bool both_live = parting.life == life_of(parting.node) && other_life == life_of(parting.other);
    return !both_live || told(parting.other, other_life, parting.node);
  });
}

void Oracle::restarted(unsigned node) {
  life(node);
  ++lives_[node];
}

void Oracle::judge() {
  judge_messages();
  judge_orders();
  judge_gaps();
  judge_receives();
  if (!partings_mutual()) complain("one of two processes was told that the other was given up, and not the other");
}

void Oracle::judge_messages() {
  for (MessageId id = 0; id < messages_.size(); ++id) {
    const Message& message = messages_[id];
    if (message.refused) continue;
    const bool sender_lives = message.from_life == life(message.from);
    const bool receiver_lives = message.to_life == life(message.to);
    if (message.end == End::failed) {
      ++failed_;
      if (!errors_allowed_) complain("send " + number(id) + " failed though a rail worked all the time");
    }
    if (!sender_lives) continue;
    if (message.end == End::open && !message.silent) complain("send " + number(id) + " never ended");
    if (message.received > 0 || !receiver_lives || message.end == End::canceled) continue;
    if (!told(message.from, message.from_life, message.to) || !told(message.to, message.to_life, message.from)) {
      complain("message " + number(id) + " from " + number(message.from) + " to " + number(message.to) +
               (message.end == End::failed ? " failed" : " is missing") +
               ", and the two were not told that they have given each other up");
    }
  }
}

// A message that was received where one before it, that the same receive would have taken, is missing. The receive that
// had begun to take that one says so by its failure, and was posted before.
void Oracle::judge_gaps() {
  std::map<Flow, std::vector<MessageId>> missing;
  for (MessageId id = 0; id < messages_.size(); ++id) {
    const Message& message = messages_[id];
    if (message.refused || message.received > 0) continue;
    missing[{message.from, message.from_life, message.to, message.to_life, message.flow}].push_back(id);
  }
  for (const auto& [flow, taken] : orders_) {
    const auto lost = missing.find(flow);
    if (lost == missing.end()) continue;
    for (const auto& [position, id] : taken) {
      if (messages_[id].to_life != flow.to_life) continue;
      const auto before = static_cast<std::uint64_t>(std::lower_bound(lost->second.begin(), lost->second.end(), id) -
                                                     lost->second.begin());
      std::uint64_t failures = 0;
      for (ReceiveId receive = 0; receive <= position.first; ++receive) {
        const Receive& each = receives_[receive];
        if (each.node != flow.to || each.life != flow.to_life) continue;
        // One that its process's end cut short may have begun to take any of them.
        const bool cut_short = flow.to_life != life(flow.to) && each.end != End::good && each.end != End::cut;
        failures += cut_short ? (each.multi ? before : 1) : each.failures;
      }
      if (before > failures) {
        complain("message " + number(id) + " from " + number(flow.from) + " to " + number(flow.to) +
                 " was received in place of " + number(lost->second.front()) + ", which is lost");
        return;
      }
    }
  }
}

void Oracle::judge_orders() {
  for (const auto& [flow, messages] : orders_) {
    MessageId before = 0;
    bool first = true;
    for (const auto& [position, id] : messages) {
      if (!first && id < before) {
        complain("message " + number(id) + " from " + number(flow.from) + " to " + number(flow.to) +
                 " was received after " + number(before));
      }
      before = id;
      first = false;
    }
  }
}

void Oracle::judge_receives() {
  for (ReceiveId id = 0; id < receives_.size(); ++id) {
    const Receive& receive = receives_[id];
    if (receive.life == life(receive.node) && receive.end == End::open) {
      complain("receive " + number(id) + " never ended");
    }
  }
}

}  // namespace holdfast::transport
