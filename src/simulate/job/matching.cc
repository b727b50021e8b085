#include "simulate/job/matching.h"

namespace holdfast::simulate::job {
namespace {

/// The first of the free places, or a new one.
template <class Entry>
std::uint32_t free_place(std::vector<Entry>& entries, std::uint32_t& free) {
  if (free != WaitingLines::none) return std::exchange(free, entries[free].next);
  entries.emplace_back();
  return static_cast<std::uint32_t>(entries.size() - 1);
}

}  // namespace

// -------------------------------------------------------------------------------------------------------------- lines

std::uint32_t WaitingLines::take(std::uint32_t index) {
  Line& line = lines_[index];
  const std::uint32_t taken = line.first;
  line.first = kept_[taken].next;
  kept_[taken].next = std::exchange(free_kept_, taken);
  if (line.first == none) close(index);
  return kept_[taken].value;
}

void WaitingLines::push(const Envelope& envelope, std::uint64_t order, std::uint32_t value) {
  std::uint32_t index = find(envelope);
  if (index == none) index = open(envelope);
  const std::uint32_t at = free_place(kept_, free_kept_);
  kept_[at] = {order, value, none};
  Line& line = lines_[index];
  (line.first == none ? line.first : kept_[line.last].next) = at;
  line.last = at;
}

std::uint32_t WaitingLines::open(const Envelope& envelope) {
  if (open_ == heads_.size()) grow();
  ++open_;
  const std::uint32_t index = free_place(lines_, free_line_);
  std::uint32_t& head = heads_[place_of(envelope)];
  lines_[index] = {envelope, none, none, std::exchange(head, index)};
  return index;
}

void WaitingLines::close(std::uint32_t index) {
  std::uint32_t* link = &heads_[place_of(lines_[index].envelope)];
  while (*link != index) link = &lines_[*link].next;
  *link = lines_[index].next;
  lines_[index].next = std::exchange(free_line_, index);
  --open_;
}

void WaitingLines::grow() {
  for (std::uint32_t line : std::exchange(heads_, std::vector<std::uint32_t>(2 * heads_.size(), none))) {
    while (line != none) {
      const std::uint32_t next = lines_[line].next;
      lines_[line].next = std::exchange(heads_[place_of(lines_[line].envelope)], line);
      line = next;
    }
  }
}

std::map<std::uint64_t, Envelope> WaitingLines::in_order() const {
  std::map<std::uint64_t, Envelope> ordered;
  visit([&](std::uint32_t line, const Envelope& envelope) {
    for (std::uint32_t at = lines_[line].first; at != none; at = kept_[at].next)
      ordered.emplace(kept_[at].order, envelope);
  });
  return ordered;
}

// ----------------------------------------------------------------------------------------------------------- matching

std::optional<std::uint32_t> Matching::arrive(const Envelope& message, std::uint32_t value) {
  const std::uint32_t exact = receives_.find(message);
  for (auto wildcard = wildcards_.begin(); wildcard != wildcards_.end(); ++wildcard) {
    if (exact != WaitingLines::none && receives_.first(exact).order < wildcard->first) break;
    if (!wildcard->second.first.takes(message)) continue;
    const std::uint32_t receive = wildcard->second.second;
    wildcards_.erase(wildcard);
    return receive;
  }
  if (exact != WaitingLines::none) return receives_.take(exact);
  messages_.push(message, next_++, value);
  return std::nullopt;
}

std::optional<std::uint32_t> Matching::post(const Envelope& receive, std::uint32_t value) {
  if (const std::uint32_t found = first_taken_by(receive); found != WaitingLines::none) return messages_.take(found);
  if (receive.is_exact())
    receives_.push(receive, next_++, value);
  else
    wildcards_.emplace(next_++, std::pair(receive, value));
  return std::nullopt;
}

/// The line of messages whose first it is; WaitingLines::none: there is none.
std::uint32_t Matching::first_taken_by(const Envelope& receive) const {
  if (receive.is_exact()) return messages_.find(receive);
  std::uint32_t first = WaitingLines::none;
  messages_.visit([&](std::uint32_t line, const Envelope& envelope) {
    if (receive.takes(envelope) &&
        (first == WaitingLines::none || messages_.first(line).order < messages_.first(first).order))
      first = line;
  });
  return first;
}

std::optional<std::uint32_t> Matching::probe(const Envelope& receive) const {
  const std::uint32_t found = first_taken_by(receive);
  if (found == WaitingLines::none) return std::nullopt;
  return messages_.first(found).value;
}

std::map<std::uint64_t, Envelope> Matching::waiting_receives() const {
  auto ordered = receives_.in_order();
  for (const auto& [order, receive] : wildcards_) ordered.emplace(order, receive.first);
  return ordered;
}

}  // namespace holdfast::simulate::job
