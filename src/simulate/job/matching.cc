#include "simulate/job/matching.h"

namespace holdfast::simulate::job {

std::uint32_t Matching::take(Exact& from, Exact::iterator at) {
  const std::uint32_t value = at->second.front().value;
  at->second.pop_front();
  if (at->second.empty()) from.erase(at);
  return value;
}

std::optional<std::uint32_t> Matching::arrive(const Envelope& message, std::uint32_t value) {
  const auto exact = receives_.find(message);
  for (auto wildcard = wildcards_.begin(); wildcard != wildcards_.end(); ++wildcard) {
    if (exact != receives_.end() && exact->second.front().order < wildcard->first) break;
    if (!wildcard->second.first.takes(message)) continue;
    const std::uint32_t receive = wildcard->second.second;
    wildcards_.erase(wildcard);
    return receive;
  }
  if (exact != receives_.end()) return take(receives_, exact);
  messages_[message].push_back({next_++, value});
  return std::nullopt;
}

std::optional<std::uint32_t> Matching::post(const Envelope& receive, std::uint32_t value) {
  if (const auto found = first_taken_by(receive); found != messages_.end())
    return take(messages_, messages_.find(found->first));
  if (receive.is_exact())
    receives_[receive].push_back({next_++, value});
  else
    wildcards_.emplace(next_++, std::pair(receive, value));
  return std::nullopt;
}

Matching::Exact::const_iterator Matching::first_taken_by(const Envelope& receive) const {
  if (receive.is_exact()) return messages_.find(receive);
  auto first = messages_.end();
  for (auto kept = messages_.begin(); kept != messages_.end(); ++kept)
    if (receive.takes(kept->first) &&
        (first == messages_.end() || kept->second.front().order < first->second.front().order))
      first = kept;
  return first;
}

std::optional<std::uint32_t> Matching::probe(const Envelope& receive) const {
  const auto found = first_taken_by(receive);
  if (found == messages_.end()) return std::nullopt;
  return found->second.front().value;
}

std::map<std::uint64_t, Envelope> Matching::in_order(const Exact& exact) {
  std::map<std::uint64_t, Envelope> ordered;
  for (const auto& [envelope, kept] : exact)
    for (const Kept& one : kept) ordered.emplace(one.order, envelope);
  return ordered;
}

std::map<std::uint64_t, Envelope> Matching::waiting_receives() const {
  auto ordered = in_order(receives_);
  for (const auto& [order, receive] : wildcards_) ordered.emplace(order, receive.first);
  return ordered;
}

}  // namespace holdfast::simulate::job
