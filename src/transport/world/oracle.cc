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

void Oracle::receive_ended(ReceiveId receive_id, End end) {
  Receive& receive = receives_[receive_id];
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
  lost_[{node << 16 | life(node), to}] += messages;
  if (!errors_allowed_) complain("messages are said to be lost though a rail worked all the time");
}

void Oracle::restarted(unsigned node) {
  life(node);
  ++lives_[node];
}

void Oracle::judge() {
  judge_messages();
  judge_orders();
  judge_receives();
}

void Oracle::judge_messages() {
  std::map<std::pair<unsigned, unsigned>, std::uint64_t> missing;
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
    if (message.received > 0 || !receiver_lives || message.end == End::failed || message.end == End::canceled) continue;
    if (message.buffered) {
      ++missing[{message.from << 16 | message.from_life, message.to}];
    } else if (!errors_allowed_) {
      complain("message " + number(id) + " was acknowledged and never received");
    } else {
      ++missing[{message.from << 16 | message.from_life, message.to}];
    }
  }
  for (const auto& [pair, messages] : missing) {
    std::uint64_t excused = 0;
    if (const auto said = lost_.find(pair); said != lost_.end()) excused = said->second;
    // A receive that failed in the middle of a message is the receiver's report of it.
    std::uint64_t failures = 0;
    for (const Receive& receive : receives_) {
      if (receive.node == pair.second && receive.end == End::failed) ++failures;
    }
    if (messages > excused + failures) {
      complain(number(messages) + " messages from " + number(pair.first >> 16) + " to " + number(pair.second) +
               " are missing, and " + number(excused) + " were reported lost");
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
