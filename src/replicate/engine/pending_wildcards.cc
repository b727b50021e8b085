#include "replicate/engine/pending_wildcards.h"

namespace holdfast::replicate {

void PendingWildcards::add(std::uint64_t number, Verified& receive) {
  remove(number);
  by_number_[number] = in_order_.emplace_hint(in_order_.end(), posted_++, &receive);
}

Verified* PendingWildcards::find(std::uint64_t number) const {
  const auto found = by_number_.find(number);
  return found == by_number_.end() ? nullptr : found->second->second;
}

bool PendingWildcards::remove(std::uint64_t number) {
  const auto found = by_number_.find(number);
  if (found == by_number_.end()) return false;
  in_order_.erase(found->second);
  by_number_.erase(found);
  return true;
}

std::span<Verified* const> PendingWildcards::in_turn(std::size_t most) {
  chosen_.clear();
  auto next = in_order_.begin();
  for (; next != in_order_.end() && chosen_.size() < most; ++next) chosen_.push_back(next->second);
  if (next == in_order_.end()) return chosen_;
  const auto first = next;
  if (turn_ > first->first) next = in_order_.lower_bound(turn_);
  if (next == in_order_.end()) next = first;
  for (; next != in_order_.end() && chosen_.size() < 2 * most; ++next) chosen_.push_back(next->second);
  turn_ = next == in_order_.end() ? 0 : next->first;
  return chosen_;
}

}  // namespace holdfast::replicate
