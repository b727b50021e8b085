// An engine with an established session, posted receives and messages of its own is given any sequence of packets, of
// calls of its application and of time that passes; it must stay whole. Packets are put together from frames, so that
// the checks of headers and payloads let them in, and their numbers are drawn from around the bounds of their types and
// from what the engine holds at that moment: that is where lengths, offsets and counts go wrong.
//
// Each step has a record of record_bytes of its own, and inputs are mutated by whole records as well as within one:
// what a changed byte means does not shift all that follows, so that a sequence of packets, each of which made sense,
// stays one. Without that an overflow that takes two packets was not found in 150 s.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "core/integrity/checksum.h"
#include "transport/engine/engine.h"
#include "transport/wire/packet.h"

using namespace holdfast::transport;
namespace integrity = holdfast::integrity;

namespace {

constexpr std::uint64_t peer_identity = 60;
constexpr PeerId peer_id = 1;
constexpr std::size_t guard_bytes = 32;
constexpr std::byte guard{0xA5};

/// The fuzzer's bytes, one decision after the other; zeros when there are no more.
class Choices {
 public:
  explicit Choices(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  bool left() const { return at_ < bytes_.size(); }
  std::uint8_t byte() { return left() ? bytes_[at_++] : std::uint8_t{0}; }
  std::uint8_t below(unsigned bound) { return static_cast<std::uint8_t>(byte() % bound); }
  /// As many bytes: those that are left, again and again.
  std::vector<std::byte> some(std::size_t count) const {
    std::vector<std::byte> bytes(count);
    for (std::size_t i = 0; left() && i < count; ++i) {
      bytes[i] = static_cast<std::byte>(bytes_[at_ + i % (bytes_.size() - at_)]);
    }
    return bytes;
  }

  /// A small number, or one close to a bound of the types that are on the wire.
  std::uint64_t number() {
    constexpr std::array<std::uint64_t, 9> bounds = {0,
                                                     64,
                                                     200,
                                                     4096,
                                                     262144,
                                                     std::uint64_t{1} << 31,
                                                     std::uint64_t{1} << 32,
                                                     std::uint64_t{1} << 62,
                                                     std::uint64_t{1} << 63};
    const std::uint8_t kind = byte();
    if (kind < 160) return kind;
    if (kind < 200) return ~std::uint64_t{0} - byte() % 128;  // what wraps when it is added to little
    if (kind < 250) return bounds[kind % bounds.size()] + static_cast<std::uint64_t>(static_cast<std::int8_t>(byte()));
    std::uint64_t whole = 0;
    for (int i = 0; i < 8; ++i) whole = whole << 8 | byte();
    return whole;
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

/// What the application gave the engine to fill: it may write between the guards, and after the end not at all.
struct Memory {
  explicit Memory(std::size_t bytes) : all(bytes + 2 * guard_bytes, guard) {}
  iovec piece() { return {all.data() + guard_bytes, all.size() - 2 * guard_bytes}; }
  bool guarded() const {
    const auto good = [](std::byte each) { return each == guard; };
    return std::all_of(all.begin(), all.begin() + guard_bytes, good) &&
           std::all_of(all.end() - guard_bytes, all.end(), good);
  }
  std::vector<std::byte> all;
};

class Application : public Host {
 public:
  Put put(std::uint32_t rail, PeerId, std::span<const iovec> pieces, std::uint64_t token) override {
    std::size_t sum = 0;  // reads what it is told to send
    for (const iovec& piece : pieces) {
      for (std::size_t i = 0; i < piece.iov_len; ++i) {
        sum += std::to_integer<std::size_t>(static_cast<std::byte*>(piece.iov_base)[i]);
      }
    }
    read_ = read_ + sum;
    if (rail == 0) return Put::done;
    pending.push_back(token);
    return token % 3 == 0 ? Put::taken : Put::pending;
  }
  void complete(const Completion& completion) override {
    if (completion.kind == Completion::Kind::receive && completion.outcome == Outcome::ok &&
        completion.bytes != completion.message_bytes) {
      std::abort();  // it was cut, and is not said to be
    }
  }
  PeerId peer_named(std::span<const std::byte> name, std::uint32_t) override {
    return name.empty() ? any_peer : std::to_integer<PeerId>(name[0]) % 4;
  }
  std::byte* memory(std::uint64_t, std::uint64_t address, std::size_t bytes, Access) override {
    return address <= region.size() && bytes <= region.size() - address ? region.data() + address : nullptr;
  }
  bool apply_atomic(std::uint64_t, std::byte*, std::size_t, std::span<const std::byte>, std::byte*) override {
    return true;
  }

  std::deque<std::uint64_t> pending;
  std::vector<std::byte> region = std::vector<std::byte>(256);

 private:
  volatile std::size_t read_ = 0;
};

class Session {
 public:
  explicit Session(std::span<const std::uint8_t> first)
      : choices_(first), engine_(options(), rails, host_, name, Secrets{}, 0) {
    post();
    post();
    send();
    wire::HelloFrame hello;
    hello.session = 5;
    hello.identity = peer_identity;
    hello.known_identity = identity_;
    hello.vfrag_window = 128;
    hello.message_limit = 100;
    hello.byte_limit = 10000;
    hello.name = {&peer_name, 1};
    hello.cookie = authenticator_.cookie(hello.name, hello.identity, 0);
    wire::Writer writer(buffer_, {});
    writer.add(hello);
    give(writer.finish(0));
  }

  void run(std::span<const std::uint8_t> record) {
    choices_ = Choices(record);
    step();
    for (Memory& each : memories_) {
      if (!each.guarded()) std::abort();
    }
  }

  void end() {
    engine_.close(now_);
    while (!host_.pending.empty()) finish_put();
  }

 private:
  static Options options() {
    Options options;
    options_table().apply_defaults(options);
    options.fragment_bytes = 64;
    return options;
  }

  void step() {
    switch (choices_.below(12)) {
      case 0:
        return post();
      case 1:
        return send();
      case 2:
        return reach();
      case 3:
        now_ += static_cast<std::int64_t>(choices_.byte()) << choices_.below(24);
        return engine_.advance(now_);
      case 4:
        return look();
      case 5:
        if (!host_.pending.empty()) finish_put();
        return;
      case 6:
        return any_packet();
      default:
        return packet();
    }
  }

  void post() {
    const std::uint8_t what = choices_.byte();
    const iovec piece = memory();
    ReceiveRequest request;
    request.pieces = {&piece, 1};
    request.peer = (what & 1) != 0 ? peer_id : any_peer;
    request.tagged = (what & 2) == 0;
    request.multi = (what & 6) == 6;
    request.ignore = (what & 8) != 0 ? 0 : ~std::uint64_t{0};
    request.context = next_context();
    engine_.receive(request, now_);
  }

  void send() {
    const std::uint8_t what = choices_.byte();
    const iovec piece = memory();
    engine_.send({.peer = peer_id,
                  .pieces = {&piece, 1},
                  .mode = (what & 1) != 0 ? SendMode::acknowledged : SendMode::buffered,
                  .tagged = (what & 2) != 0,
                  .context = next_context()},
                 now_);
  }

  void reach() {
    const std::uint8_t what = choices_.byte();
    const iovec piece = memory();
    if (what % 3 == 0) engine_.write({.peer = peer_id, .pieces = {&piece, 1}, .remote = {}}, now_);
    if (what % 3 == 1) engine_.read({.peer = peer_id, .pieces = {&piece, 1}, .remote = {}}, now_);
    if (what % 3 == 2) {
      const std::array<std::byte, 8> operand{};
      const iovec result = {piece.iov_base, std::min<std::size_t>(piece.iov_len, 8)};
      engine_.atomic(
          {.peer = peer_id, .operands = operand, .remote = {}, .target_bytes = result.iov_len, .results = {&result, 1}},
          now_);
    }
  }

  void look() {
    const std::uint8_t what = choices_.byte();
    ReceiveRequest request;
    request.tagged = (what & 1) != 0;
    request.ignore = ~std::uint64_t{0};
    request.context = next_context();
    const bool claimed = engine_.peek(request, (what & 2) != 0, now_).has_value() && (what & 2) != 0;
    if (claimed && (what & 4) != 0) {
      engine_.discard_claimed(request.context, now_);
    } else if (claimed && (what & 8) != 0) {
      const iovec piece = memory();
      request.pieces = {&piece, 1};
      engine_.receive_claimed(request, now_);
    } else if ((what & 16) != 0) {
      engine_.cancel(reinterpret_cast<void*>(std::uintptr_t{1} + choices_.byte()), now_);
    }
  }

  void finish_put() {
    const std::uint64_t token = host_.pending.front();
    host_.pending.pop_front();
    engine_.on_put_done(token, (choices_.byte() & 7) != 7, now_);
  }

  wire::PacketHeader header() {
    return {.flags = static_cast<std::uint8_t>(choices_.byte() & 1),
            .rail = choices_.byte(),
            .session = peer_id,
            .key = wire::session_key(peer_identity, identity_),
            .stamp = static_cast<std::uint32_t>(choices_.number()),
            .number = choices_.number(),
            .tag = {}};
  }

  void packet() {
    std::vector<std::byte> payload;
    wire::PacketHeader head = header();
    const std::uint8_t what = choices_.below(8);
    if (what == 1) head.key = 0;
    wire::Writer writer(buffer_, head);
    switch (what) {
      case 0:
        writer.add(ack());
        break;
      case 1:
        writer.add(hello());
        break;
      case 2:
        writer.add(ack());
        writer.add(data(payload));
        break;
      default:
        writer.add(data(payload));
        break;
    }
    const std::span<const std::byte> headers = writer.finish(payload.size());
    std::vector<std::byte> whole(headers.begin(), headers.end());
    whole.insert(whole.end(), payload.begin(), payload.end());
    give(whole);
  }

  wire::AckFrame ack() {
    wire::AckFrame frame;
    frame.cumulative = static_cast<std::uint32_t>(choices_.number());
    frame.complete = choices_.number();
    frame.echo_rail = choices_.byte();
    frame.echo_stamp = static_cast<std::uint32_t>(choices_.number());
    frame.echo_delay = static_cast<std::uint32_t>(choices_.number());
    frame.message_limit = static_cast<std::uint32_t>(choices_.number());
    frame.byte_limit = choices_.number();
    const std::uint8_t flags = choices_.byte();
    frame.truncated = (flags & 1) != 0;
    frame.continued = (flags & 2) != 0;
    frame.partial_count = choices_.below(3);
    for (std::size_t i = 0; i < frame.partial_count; ++i) {
      frame.partials[i] = {static_cast<std::uint32_t>(choices_.number()), choices_.number()};
    }
    return frame;
  }

  wire::HelloFrame hello() {
    wire::HelloFrame frame;
    frame.answer = (choices_.byte() & 1) != 0;
    if ((choices_.byte() & 7) == 7) frame.flags = wire::HelloFrame::flag_over;
    frame.session = static_cast<std::uint32_t>(choices_.number());
    frame.identity = peer_identity + (choices_.byte() & 1);
    frame.known_identity = identity_ + (choices_.byte() & 1);
    frame.cookie = authenticator_.cookie({&peer_name, 1}, frame.identity, choices_.below(4));
    frame.vfrag_window = static_cast<std::uint32_t>(choices_.number());
    frame.message_limit = static_cast<std::uint32_t>(choices_.number());
    frame.byte_limit = choices_.number();
    frame.ack_delay = static_cast<std::uint32_t>(choices_.number());
    frame.name = {&peer_name, 1};
    return frame;
  }

  wire::DataFrame data(std::vector<std::byte>& payload) {
    wire::DataFrame frame;
    const std::uint8_t kind = choices_.below(16);  // plain messages come oftener than the others
    frame.kind = kind < wire::last_message_kind ? static_cast<wire::MessageKind>(1 + kind) : wire::MessageKind::eager;
    frame.flags = choices_.byte() & 7;
    frame.count = static_cast<std::uint8_t>(1 + choices_.below(wire::fragments_per_vfrag));
    frame.index = choices_.below(frame.count);
    frame.vfrag = (choices_.byte() & 3) != 0 ? next_vfrag_++ : static_cast<std::uint32_t>(choices_.number());
    frame.message = choices_.below(4);
    frame.order = (choices_.byte() & 1) != 0 ? next_order_++ : static_cast<std::uint32_t>(choices_.number());
    const std::size_t bytes = choices_.below(100);
    frame.bytes = static_cast<std::uint32_t>(bytes);
    frame.total = (choices_.byte() & 1) != 0 ? bytes : choices_.number();
    frame.offset = frame.total == bytes ? 0 : choices_.number();
    // Handles of the engine's objects have an odd generation above and a small index below.
    const std::uint8_t tag = choices_.byte();
    frame.tag = (tag & 1) != 0 ? (std::uint64_t{1} << 32 | (tag >> 1) % 8U) : choices_.number();
    frame.data = (tag & 2) != 0 ? (std::uint64_t{1} << 32 | choices_.below(8)) : choices_.number();
    frame.address = choices_.number();
    frame.key = choices_.below(2);
    payload = choices_.some(bytes);
    frame.algorithm = integrity::Checksum::crc32c;
    frame.checksum = integrity::checksum(frame.algorithm, payload);
    if (tag == 255) ++frame.checksum;
    return frame;
  }

  /// Bytes that no writer would make.
  void any_packet() {
    const std::uint8_t count = choices_.byte();
    give(choices_.some(count));
  }

  void give(std::span<const std::byte> bytes) {
    const std::vector<std::byte> packet(bytes.begin(), bytes.end());  // on the heap: reading past its end is seen
    engine_.on_packet(static_cast<std::uint32_t>(packet.size() & 1), packet, now_);
  }

  iovec memory() { return memories_.emplace_back(choices_.byte()).piece(); }
  void* next_context() { return reinterpret_cast<void*>(++contexts_); }

  static constexpr std::byte own_name{9};
  static constexpr std::byte peer_name{peer_id};
  static constexpr std::span<const std::byte> name{&own_name, 1};
  static inline const std::array<RailTraits, 2> rails = {
      {{.most_packet_bytes = 2000, .bytes_per_second = 1e9, .checksum = {}},
       {.most_packet_bytes = 2000, .bytes_per_second = 1e9, .checksum = {}}}};

  Choices choices_;
  Authenticator authenticator_{Secrets{}};  ///< what a peer would hear in its challenge
  std::uint64_t identity_ = authenticator_.new_identity();
  std::deque<Memory> memories_;
  Application host_;
  Engine engine_;
  std::array<std::byte, wire::most_data_header_bytes> buffer_{};
  std::int64_t now_ = 0;
  std::uintptr_t contexts_ = 0;
  std::uint32_t next_vfrag_ = 0;
  std::uint32_t next_order_ = 0;
};

}  // namespace

constexpr std::size_t record_bytes = 64;

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most)
    __attribute__((weak));  // libFuzzer's; not there when a corpus is replayed

/// Changes the sequence of records, or one record and not its place.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  std::minstd_rand random(seed);
  const auto below = [&random](std::size_t bound) { return static_cast<std::size_t>(random()) % bound; };
  const std::size_t room = most / record_bytes;
  std::size_t records = std::min((size + record_bytes - 1) / record_bytes, room);
  if (room == 0 || LLVMFuzzerMutate == nullptr) return size;
  if (records * record_bytes > size) std::memset(data + size, 0, records * record_bytes - size);
  const auto at = [data](std::size_t record) { return data + record * record_bytes; };
  const std::size_t what = records == 0 ? 0 : below(10);
  if (what < 3 && records < room) {  // a new record, random or a copy of another
    const std::size_t to = below(records + 1);
    std::uint8_t fresh[record_bytes];
    for (std::uint8_t& each : fresh) each = static_cast<std::uint8_t>(below(256));
    if (records > 0 && below(2) == 0) std::memcpy(fresh, at(below(records)), record_bytes);
    std::memmove(at(to + 1), at(to), (records - to) * record_bytes);
    std::memcpy(at(to), fresh, record_bytes);
    ++records;
  } else if (what == 3 && records > 1) {
    const std::size_t from = below(records);
    std::memmove(at(from), at(from + 1), (records - from - 1) * record_bytes);
    --records;
  } else if (what == 4 && records > 1) {
    std::uint8_t* one = at(below(records));
    std::uint8_t* other = at(below(records));
    if (one != other) std::swap_ranges(one, one + record_bytes, other);
  } else if (what < 7) {
    at(below(records))[below(record_bytes)] = static_cast<std::uint8_t>(below(256));
  } else {
    std::uint8_t* record = at(below(records));
    const std::size_t made = LLVMFuzzerMutate(record, record_bytes, record_bytes);
    std::memset(record + made, 0, record_bytes - made);
  }
  return records * record_bytes;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::span<const std::uint8_t> bytes(data, size);
  Session session(bytes.first(std::min(record_bytes, size)));
  while (!bytes.empty()) {
    const std::size_t here = std::min(record_bytes, bytes.size());
    session.run(bytes.first(here));
    bytes = bytes.subspan(here);
  }
  session.end();
  return 0;
}
