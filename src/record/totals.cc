#include "record/totals.h"

#include <algorithm>

#include "core/arithmetic/totals.h"
#include "record/call_kind.h"

namespace holdfast::record {
namespace {

/// A file may claim more than there is: sums stop at the largest number.
template <class Number>
void grow(Number& total, Number by) {
  total = arithmetic::add_or_most(total, by);
}

void add(std::map<std::int64_t, Flow>& flows, std::int64_t peer, std::uint64_t bytes) {
  if (peer == nobody) return;
  Flow& flow = flows[peer];
  ++flow.messages;
  grow(flow.bytes, bytes);
}

/// What this rank gives: its part, or the sum of what goes to each member.
std::uint64_t bytes_of(const Call& call) {
  std::uint64_t sum = 0;
  for (const FactValue& fact : call.facts)
    if (fact.fact == Fact::bytes || fact.fact == Fact::bytes_to) grow(sum, static_cast<std::uint64_t>(fact.value));
  return sum;
}

}  // namespace

void RankTotals::communicator(std::uint64_t number, const Communicator& made) {
  std::vector<std::int64_t> members = made.members;
  members.insert(members.end(), made.remote.begin(), made.remote.end());
  communicators_[static_cast<std::int64_t>(number)] = {std::move(members), made.ordinal};
}

void RankTotals::counted(std::string_view name, bool is_local, std::uint64_t count) {
  grow((is_local ? local : unrecorded)[std::string(name)], count);
}

void RankTotals::count_collective(std::int64_t communicator) {
  if (const auto known = communicators_.find(communicator); known != communicators_.end()) ++collectives[known->second];
}

void RankTotals::call(const Call& call) {
  auto place = calls.find(call.name);
  if (place == calls.end()) place = calls.emplace(call.name, CallTotals{}).first;
  CallTotals& totals = place->second;
  grow(totals.calls, call.repeats);
  grow(totals.during_ns, call.during_ns);
  grow(in_mpi_ns, call.during_ns);
  grow(without_core_ns, std::min(call.without_core_ns, call.before_ns));
  grow(computing_ns, std::max<std::int64_t>(call.before_ns - call.without_core_ns, 0));
  if (call.get(Fact::not_yet, 0) != 0) {
    grow(totals.in_vain, call.repeats);
    return;
  }
  if (call.get(Fact::error, 0) != 0) return;
  const CallKind kind = kind_of(call.name);
  const std::uint64_t bytes = bytes_of(call);
  const std::int64_t request = call.get(Fact::request, unknown_request);
  const bool has_request = request != unknown_request;
  const std::int64_t peer = call.get(Fact::peer, nobody);
  Pending pending;
  pending.communicator = call.get(Fact::communicator, -1);
  switch (kind) {
    case CallKind::send:
      add(sent, peer, bytes);
      grow(totals.bytes, bytes);
      break;
    case CallKind::send_receive:
      add(sent, peer, bytes);
      grow(totals.bytes, bytes);
      pending.receives = true;
      pending.from = call.get(Fact::receives_from, nobody);
      if (!has_request)
        add(received, call.get(Fact::source, pending.from),
            static_cast<std::uint64_t>(call.get(Fact::source_bytes, 0)));
      break;
    case CallKind::receive:
      pending.receives = true;
      pending.from = peer;
      if (has_request) break;
      grow(totals.bytes, static_cast<std::uint64_t>(call.get(Fact::source_bytes, 0)));
      add(received, call.get(Fact::source, peer), static_cast<std::uint64_t>(call.get(Fact::source_bytes, 0)));
      break;
    case CallKind::persistent_send:
      pending.sends = true;
      pending.to = peer;
      pending.bytes = bytes;
      break;
    case CallKind::persistent_receive:
      pending.receives = true;
      pending.from = peer;
      break;
    case CallKind::start:
      for (const FactValue& fact : call.facts)
        if (fact.fact == Fact::starts) start(fact.value, totals);
      break;
    case CallKind::collective:
    case CallKind::neighbours:
      pending.collective = true;
      pending.bytes = bytes;
      if (is_persistent_collective(call.name)) break;
      grow(totals.bytes, bytes);
      count_collective(pending.communicator);
      break;
    case CallKind::one_sided: {
      grow(totals.bytes, bytes);
      const bool gets =
          call.name == "MPI_Get" || call.name == "MPI_Rget" || call.name == "MPI_Get_c" || call.name == "MPI_Rget_c";
      add(gets ? got : put, peer, bytes);
      break;
    }
    case CallKind::file:
      grow(totals.bytes, bytes);
      break;
    default:
      break;
  }
  if (has_request) {
    pending.persistent = kind == CallKind::persistent_send || kind == CallKind::persistent_receive ||
                         is_persistent_collective(call.name);
    pending_[request] = pending;
  }
  complete(call);
}

void RankTotals::start(std::int64_t request, CallTotals& totals) {
  const auto known = pending_.find(request);
  if (known == pending_.end()) return;
  if (known->second.sends) add(sent, known->second.to, known->second.bytes);
  if (known->second.sends || known->second.collective) grow(totals.bytes, known->second.bytes);
  if (known->second.collective) count_collective(known->second.communicator);
}

/// Facts about a completed request stand behind it, in the order of the requests.
void RankTotals::complete(const Call& call) {
  for (std::size_t i = 0; i < call.facts.size(); ++i) {
    if (call.facts[i].fact == Fact::frees) pending_.erase(call.facts[i].value);
    if (call.facts[i].fact != Fact::completes) continue;
    const auto known = pending_.find(call.facts[i].value);
    if (known == pending_.end()) continue;
    std::int64_t from = known->second.from;
    std::uint64_t bytes = 0;
    bool cancelled = false;
    for (std::size_t k = i + 1; k < call.facts.size() && call.facts[k].fact != Fact::completes; ++k) {
      if (call.facts[k].fact == Fact::source) from = call.facts[k].value;
      if (call.facts[k].fact == Fact::source_bytes) bytes = static_cast<std::uint64_t>(call.facts[k].value);
      cancelled |= call.facts[k].fact == Fact::cancelled;
    }
    if (known->second.receives && !cancelled) add(received, from, bytes);
    if (!known->second.persistent) pending_.erase(known);
  }
}

}  // namespace holdfast::record
