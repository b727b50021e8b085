// A result of a reduction that all ranks get alike, of which no copy has a majority, because what ranks gave was wrong
// in different replicas. It is made again, of operands that were compared, but only where all make it again: a rank
// that has a majority has left the call. Ranks may differ in that, since replicas hear of a death at different moments
// and vote with the dead or without them, and since a rank's copies may be wrong by themselves.
//
// So whoever has no majority asks all processes that get the result. It repeats when all that are left have asked as
// well. One that has a majority answers with the number of departures that it had heard of when it voted. Departures
// come in one order everywhere, so that whoever hears that votes again as that one did, and tells the others it had
// asked: a majority that anybody found holds for all.
#include <algorithm>

#include "replicate/engine/replica.h"

namespace holdfast::replicate {

namespace {

MessageId name_of(const Verified& result) {
  return {{result.identity.channel.communicator, -1, -1}, *result.reduction};
}

}  // namespace

void Replica::send_again(Process to, const MessageId& reduction, std::uint16_t word, std::uint64_t departures) {
  Record record;
  record.kind = RecordKind::again;
  record.set_id(reduction);
  record.flags = word;
  record.extra = departures;
  host_.send(to, record);
  ++counters_[Count::records_sent];
}

/// All processes that get the result and are left, but this one.
std::vector<Process> Replica::others_that_get(const Verified& result) const {
  std::vector<Process> others;
  for (const int rank : result.ranks())
    for (int k = 0; k < map_.degree(rank); ++k)
      if (team_.here(k) && !(rank == team_.rank && k == team_.replica)) others.push_back({rank, k});
  return others;
}

void Replica::ask_to_repeat(Verified& result, std::span<const Ballot> ballots) {
  const MessageId name = name_of(result);
  Repeat& repeat = repeats_[name];
  repeat.result = &result;
  repeat.ballots.assign(ballots.begin(), ballots.end());
  result.stage = Verified::Stage::unsettled;
  for (const Process other : others_that_get(result)) send_again(other, name, no_majority_here, 0);
}

/// `departures`: of so many it had heard when it voted.
void Replica::note_reduction(const MessageId& name, std::size_t departures) {
  Reductions& reductions = reductions_[name.channel.communicator];
  reductions.past = name.ordinal + 1;
  while (reductions.first_after.size() < departures) reductions.first_after.push_back(name.ordinal);
}

/// This replica has found a majority, and so holds it for all that have not.
void Replica::answer_askers(const Verified& result, std::size_t departures) {
  const MessageId name = name_of(result);
  note_reduction(name, departures);
  const auto found = repeats_.find(name);
  if (found == repeats_.end()) return;
  for (const Process asker : found->second.without)
    if (team_.here(asker.replica)) send_again(asker, name, majority_here, departures);
  repeats_.erase(found);
}

void Replica::on_again(const ControlMessage& message) {
  const MessageId name = message.record.id();
  const bool majority = message.record.flags == majority_here;
  const Reductions& reductions = reductions_[name.channel.communicator];
  if (name.ordinal >= reductions.past) {
    Repeat& repeat = repeats_[name];
    majority ? void(repeat.departures = message.record.extra) : repeat.without.push_back(message.from);
    return;
  }
  const bool repeated = reductions.repeated == name.ordinal + 1;
  if (majority && repeated)
    host_.fail(Incident::uncorrected,
               "a reduction of rank " + std::to_string(team_.rank) +
                   " was made again for want of a majority, which another rank had: a replica died meanwhile");
  if (majority || repeated) return;
  const auto& after = reductions.first_after;
  const auto departures =
      std::count_if(after.begin(), after.end(), [&](std::uint64_t first) { return first <= name.ordinal; });
  send_again(message.from, name, majority_here, static_cast<std::uint64_t>(departures));
}

bool Replica::take_repeat(Verified& result) {
  const MessageId name = name_of(result);
  const Repeat& repeat = repeats_.at(name);
  if (repeat.departures) {
    if (*repeat.departures > departures_.size()) return false;  // what another has heard comes here as well
    settle_like_another(result, *repeat.departures);
    return true;
  }
  const std::vector<Process> others = others_that_get(result);
  const auto asked = [&](Process other) {
    return std::find(repeat.without.begin(), repeat.without.end(), other) != repeat.without.end();
  };
  if (!std::all_of(others.begin(), others.end(), asked)) return false;
  note_reduction(name, departures_.size());
  reductions_[name.channel.communicator].repeated = name.ordinal + 1;
  repeats_.erase(name);
  result.stage = Verified::Stage::repeated;
  return true;
}

/// Another process has a majority of those that were left after so many departures.
void Replica::settle_like_another(Verified& result, std::uint64_t departures) {
  const MessageId name = name_of(result);
  const std::vector<Ballot> ballots = std::move(repeats_.at(name).ballots);
  for (const Process other : others_that_get(result)) send_again(other, name, majority_here, departures);
  note_reduction(name, departures);
  repeats_.erase(name);
  std::vector<Ballot> votes;
  const auto gone_then = departures_.begin() + static_cast<std::ptrdiff_t>(departures);
  for (int k = 0; k < team_.degree; ++k)
    if (std::find(departures_.begin(), gone_then, k) == gone_then)
      votes.push_back(ballots[static_cast<std::size_t>(k)]);
  const Verdict verdict = vote(votes);
  if (verdict.winner < 0)
    host_.fail(Incident::uncorrected,
               described(result) + ": no majority among the replicas' copies, though another rank has one of its own" +
                   ballot_list(votes) + host_.other_causes());
  settle_as_voted(result, votes[static_cast<std::size_t>(verdict.winner)], ballots);
}

void Replica::settle_as_voted(Verified& result, const Ballot& good, std::span<const Ballot> ballots) {
  const std::vector<Ballot> held = held_copies(ballots);
  if (std::find(held.begin(), held.end(), good) == held.end())
    host_.fail(Incident::uncorrected, described(result) + ": a replica died while it was voted on, with the good copy");
  answer_questions(result, good, held);
  if (result.own == good) {
    supply_those_without(result, good, ballots);
    result.stage = Verified::Stage::complete;
    return;
  }
  result.supplier = holder_for(team_.replica, good, held);
  ask_for_correction(result, ballots);
  result.own = good;
  result.stage = Verified::Stage::disputed;
}

/// Whether that result is open here, and all ranks may make it again.
bool Replica::unsettled(const MessageId& identity) const {
  return std::any_of(repeats_.begin(), repeats_.end(), [&](const auto& entry) {
    return entry.second.result && entry.second.result->identity == identity;
  });
}

}  // namespace holdfast::replicate
