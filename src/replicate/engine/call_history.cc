#include "replicate/engine/call_history.h"

namespace holdfast::replicate {
namespace {

/// One step of a running hash. Multiplication carries every bit upward, the shift brings it down again; both are
/// invertible, so two histories that differ in one field of one call cannot meet again in that step.
std::uint64_t fold(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0xd6e8feb86659fd93ULL;
  return hash ^ (hash >> 32);
}

std::uint64_t pair(std::uint32_t high, std::uint32_t low) {
  return (static_cast<std::uint64_t>(high) << 32) | low;
}

}  // namespace

void CallHistory::note(const Call& call) {
  calls_[count_ % kept] = call;
  hashes_[count_ % kept] = hash_;
  ++count_;
  hash_ = fold(hash_, call.function);
  hash_ = fold(hash_, pair(static_cast<std::uint32_t>(call.peer), static_cast<std::uint32_t>(call.tag)));
  hash_ = fold(hash_, call.communicator);
  hash_ = fold(hash_, call.bytes);
}

bool CallHistory::find(std::uint64_t number, Call& call) const {
  if (number >= count_ || count_ - number > kept) return false;
  call = calls_[number % kept];
  return true;
}

std::optional<std::uint64_t> CallHistory::hash_after(std::uint64_t calls) const {
  if (calls == count_) return hash_;
  if (calls > count_ || count_ - calls > kept) return std::nullopt;
  return hashes_[calls % kept];
}

}  // namespace holdfast::replicate
