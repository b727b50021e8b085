#include "record/event_writer.h"

#include <algorithm>
#include <cstring>

#include "record/varint.h"

namespace holdfast::record {
namespace {

constexpr std::size_t slots = 8192;
constexpr std::size_t most_shapes = slots / 2;
constexpr std::size_t most_shape_bytes = 256 << 10;
constexpr std::uint64_t most_rows = 32 << 10;

/// 64-bit FNV-1a: shapes are a few bytes long. Products wrap.
std::uint64_t hash_of(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes)
    (void)__builtin_mul_overflow(hash ^ static_cast<unsigned char>(byte), std::uint64_t{0x100000001b3}, &hash);
  return hash ^ hash >> 29;
}

void put_text(std::string& to, std::string_view text) {
  put_number(to, text.size());
  to += text;
}

/// Runs of ranks with equal steps: a world is one, the columns of a grid a few.
void put_ranks(std::string& to, const std::vector<std::int64_t>& ranks) {
  std::string runs;
  std::uint64_t count = 0;
  for (std::size_t at = 0; at < ranks.size(); ++count) {
    const std::int64_t step = at + 1 < ranks.size() ? ranks[at + 1] - ranks[at] : 0;
    std::size_t end = at + 1;
    while (end < ranks.size() && ranks[end] - ranks[end - 1] == step) ++end;
    put_number(runs, zigzag(ranks[at]));
    put_number(runs, zigzag(step));
    put_number(runs, end - at);
    at = end;
  }
  put_number(to, count);
  to += runs;
}

}  // namespace

EventWriter::EventWriter(const Head& head, NameOf name_of, Sink sink)
    : name_of_(std::move(name_of)), sink_(std::move(sink)), slots_(slots) {
  std::string payload;
  put_number(payload, head.rank);
  put_number(payload, head.ranks);
  put_text(payload, head.job);
  put_text(payload, head.mpi);
  put_text(payload, head.host);
  put_number(payload, zigzag(head.began_ns));
  hand_over(BlockKind::head, payload);
}

std::uint64_t EventWriter::define(Communicator communicator) {
  communicator.ordinal = ordinals_[{communicator.members, communicator.remote}]++;
  communicators_.push_back(std::move(communicator));
  return communicators_.size() - 1;
}

std::uint32_t EventWriter::shape_number(std::string_view shape, std::uint32_t function,
                                        std::span<const FactValue> facts) {
  const std::uint64_t hash = hash_of(shape);
  std::size_t at = hash % slots;
  for (; slots_[at].shape != 0; at = (at + 1) % slots) {
    const auto [offset, length] = shape_at_[slots_[at].shape - 1];
    if (slots_[at].hash == hash && shape == std::string_view(shapes_).substr(offset, length))
      return slots_[at].shape - 1;
  }
  const auto number = static_cast<std::uint32_t>(shape_at_.size());
  slots_[at] = {hash, number + 1};
  shape_at_.emplace_back(shapes_.size(), shape.size());
  shapes_ += shape;
  if (uses_function_.size() <= function) uses_function_.resize(function + 1);
  uses_function_[function] = true;
  uses_communicator_.resize(communicators_.size());
  for (const FactValue& fact : facts)
    if ((fact.fact == Fact::communicator || fact.fact == Fact::made) &&
        static_cast<std::uint64_t>(fact.value) < communicators_.size())
      uses_communicator_[static_cast<std::size_t>(fact.value)] = true;
  return number;
}

void EventWriter::add(std::uint32_t function, std::uint32_t thread, std::span<const FactValue> facts,
                      std::int64_t before_ns, std::int64_t without_core_ns, std::int64_t during_ns,
                      std::int64_t elapsed_ns) {
  if (rows_ == 0 && more_ == 0) start_block();
  elapsed_ns_ = elapsed_ns;
  ++calls_;
  scratch_.clear();
  put_number(scratch_, function);
  put_number(scratch_, thread);
  bool in_vain = false;
  for (const FactValue& fact : facts) {
    put_number(scratch_, static_cast<std::uint64_t>(fact.fact));
    if (is_request(fact.fact))
      put_number(scratch_, fact.value == unknown_request ? 0 : requests_ - static_cast<std::uint64_t>(fact.value));
    else
      put_number(scratch_, has_sign(fact.fact) ? zigzag(fact.value) : static_cast<std::uint64_t>(fact.value));
    in_vain |= fact.fact == Fact::not_yet;
  }
  const std::uint32_t shape = shape_number(scratch_, function, facts);
  if (in_vain && asked_ == shape + 1) {
    ++more_;
    more_before_ns_ += before_ns;
    more_without_core_ns_ += without_core_ns;
    more_during_ns_ += during_ns;
    return;
  }
  put_repeats();
  asked_ = in_vain ? shape + 1 : 0;
  put_number(which_, shape + 1);
  put_number(before_, before_codes_.code(before_ns));
  put_number(without_core_, without_core_codes_.code(without_core_ns));
  put_number(during_, during_codes_.code(during_ns));
  ++rows_;
  if (rows_ >= most_rows || shape_at_.size() >= most_shapes || shapes_.size() >= most_shape_bytes) flush();
}

void EventWriter::put_repeats() {
  if (more_ == 0) return;
  put_number(which_, 0);
  put_number(repeats_, more_);
  put_number(before_, before_codes_.code(more_before_ns_));
  put_number(without_core_, without_core_codes_.code(more_without_core_ns_));
  put_number(during_, during_codes_.code(more_during_ns_));
  ++rows_;
  more_ = 0;
  more_before_ns_ = more_without_core_ns_ = more_during_ns_ = 0;
}

void EventWriter::count(std::uint32_t function, bool local, std::uint64_t calls) {
  const std::size_t at = std::size_t{function} * 2 + (local ? 0 : 1);
  if (counted_.size() <= at) counted_.resize(2 * (std::size_t{function} + 1));
  counted_[at] += calls;
  any_counted_ = true;
}

void EventWriter::start_block() {
  std::fill(slots_.begin(), slots_.end(), Slot{});
  shapes_.clear();
  shape_at_.clear();
  std::fill(uses_function_.begin(), uses_function_.end(), false);
  std::fill(uses_communicator_.begin(), uses_communicator_.end(), false);
  asked_ = 0;
}

void EventWriter::flush() {
  put_repeats();
  if (rows_ == 0 && !any_counted_) return;
  if (rows_ == 0) start_block();
  std::string payload;
  put_number(payload, static_cast<std::uint64_t>(elapsed_ns_));
  put_number(payload, requests_);
  if (uses_function_.size() * 2 < counted_.size()) uses_function_.resize(counted_.size() / 2);
  for (std::size_t at = 0; at < counted_.size(); ++at)
    if (counted_[at] > 0) uses_function_[at / 2] = true;
  put_number(payload, static_cast<std::uint64_t>(std::count(uses_function_.begin(), uses_function_.end(), true)));
  for (std::uint32_t function = 0; function < uses_function_.size(); ++function) {
    if (!uses_function_[function]) continue;
    put_number(payload, function);
    put_text(payload, name_of_(function));
  }
  put_number(payload,
             static_cast<std::uint64_t>(std::count(uses_communicator_.begin(), uses_communicator_.end(), true)));
  for (std::size_t at = 0; at < uses_communicator_.size(); ++at) {
    if (!uses_communicator_[at]) continue;
    put_number(payload, at);
    put_number(payload, communicators_[at].ordinal);
    put_ranks(payload, communicators_[at].members);
    put_ranks(payload, communicators_[at].remote);
  }
  put_number(payload,
             static_cast<std::uint64_t>(std::count_if(counted_.begin(), counted_.end(), [](auto n) { return n > 0; })));
  for (std::size_t at = 0; at < counted_.size(); ++at) {
    if (counted_[at] == 0) continue;
    put_number(payload, at);
    put_number(payload, counted_[at]);
    counted_[at] = 0;
  }
  any_counted_ = false;
  put_number(payload, shape_at_.size());
  for (const auto& [offset, length] : shape_at_) put_text(payload, std::string_view(shapes_).substr(offset, length));
  put_number(payload, rows_);
  for (std::string* column : {&which_, &before_, &without_core_, &during_, &repeats_}) {
    put_text(payload, *column);
    column->clear();
  }
  rows_ = 0;
  asked_ = 0;
  flushed_at_ns_ = elapsed_ns_;
  hand_over(BlockKind::calls, payload);
}

void EventWriter::end(Ending ending) {
  flush();
  std::string payload;
  put_number(payload, static_cast<std::uint64_t>(ending));
  put_number(payload, calls_);
  put_number(payload, static_cast<std::uint64_t>(elapsed_ns_));
  hand_over(BlockKind::end, payload);
}

void EventWriter::hand_over(BlockKind kind, std::string_view payload) {
  sink_(make_block(kind, blocks_++, payload));
}

}  // namespace holdfast::record
