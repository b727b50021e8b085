// Votes, copies that replace wrong ones, and what is said where there is no majority.
#include <algorithm>

#include "replicate/engine/replica.h"

namespace holdfast::replicate {

void Replica::note_culprit(const Verified& verified, int replica) {
  ++counters_[Count::mismatches];
  const int rank = verified.sender_rank();
  if (++wrong_copies_[{rank, replica}] == 1) host_.note_wrong_copy(rank, replica);
}

/// Whose copy this replica holds: under partial replication one replica of the sender gives it to several.
int Replica::giver(const Verified& verified) const {
  return team_.replica % map_.degree(verified.sender_rank());
}

std::string Replica::described(const Verified& verified) const {
  if (!verified.is_message()) return verified.result_name();
  return "message from rank " + std::to_string(verified.sender_rank()) + " to rank " + std::to_string(team_.rank) +
         " (tag " + std::to_string(verified.tag) + ", " + std::to_string(verified.own.bytes) + " bytes)";
}

std::string Replica::no_majority(std::span<const Ballot> ballots) const {
  return ": no majority among the replicas' copies" + ballot_list(ballots) + host_.other_causes();
}

void Replica::supply(const Verified& verified, int replica) {
  const Process to{team_.rank, replica};
  send_correction(to, verified.identity,
                  verified.copy(verified.is_message() ? verified.own.bytes : verified.capacity()));
}

void Replica::send_correction(Process to, const MessageId& id, const Copy& bytes) {
  Record record;
  record.kind = RecordKind::correction;
  record.set_id(id);
  record.bytes = bytes->size();
  record.extra = host_.send_copy(to, bytes);
  host_.send(to, record);
  counters_[Count::payload_bytes] += record.bytes;
}

void Replica::supply_all(const Verified& verified) {
  for (int k = 0; k < team_.degree; ++k)
    if (k != team_.replica && team_.here(k)) supply(verified, k);
}

bool Replica::alike_in_those_left(std::span<const Ballot> ballots) const {
  const Ballot& own = ballots[static_cast<std::size_t>(team_.replica) % ballots.size()];
  for (std::size_t k = 0; k < ballots.size(); ++k)
    if (team_.here(static_cast<int>(k)) && !(ballots[k] == own)) return false;
  return true;
}

/// What each replica of this rank that is left holds: its own copy, or, of a message, that of the sender replica that
/// gave it, which may have given it to several.
std::vector<Ballot> Replica::held_copies(std::span<const Ballot> ballots) const {
  std::vector<Ballot> held(static_cast<std::size_t>(team_.degree), {{}, 0, false});
  for (std::size_t k = 0; k < held.size(); ++k)
    if (team_.here(static_cast<int>(k))) held[k] = ballots[k % ballots.size()];
  return held;
}

void Replica::supply_those_without(const Verified& verified, const Ballot& good, std::span<const Ballot> ballots) {
  const std::vector<Ballot> held = held_copies(ballots);
  for (int k = 0; k < team_.degree; ++k) {
    if (!team_.here(k) || held[static_cast<std::size_t>(k)] == good) continue;
    if (holder_for(k, good, held) == team_.replica) supply(verified, k);
  }
}

/// Wrong ones that nobody of this rank was given are noted by its leader.
void Replica::note_outvoted(const Verified& verified, const Ballot& good, std::span<const Ballot> ballots) {
  if (!team_.leader()) return;
  for (auto k = static_cast<std::size_t>(team_.degree); k < ballots.size(); ++k)
    if (!(ballots[k] == good)) note_culprit(verified, static_cast<int>(k));
}

void Replica::settle(Verified& verified, std::span<const Ballot> ballots, std::span<const Copy> copies) {
  decide(verified, ballots, copies);
  if (verified.stage == Verified::Stage::unsettled) return;
  if (verified.reduction) answer_askers(verified, departures_.size());
  if (!verified.is_message() && verified.stage != Verified::Stage::contested) answer_contests(verified);
}

void Replica::decide(Verified& verified, std::span<const Ballot> ballots, std::span<const Copy> copies) {
  using Stage = Verified::Stage;
  if (alike_in_those_left(ballots) || host_.tolerates(verified)) {
    if (team_.present == 1) ++counters_[Count::unverified];
    if (!asked_for_.empty()) answer_questions(verified, verified.own, held_copies(ballots));
    verified.stage = Stage::complete;
    return;
  }
  std::vector<int> voters;  // the replicas that are left, of those who sent
  std::vector<Ballot> votes;
  for (std::size_t k = 0; k < ballots.size(); ++k) {
    if (!team_.here(static_cast<int>(k))) continue;
    voters.push_back(static_cast<int>(k));
    votes.push_back(ballots[k]);
  }
  if (voters.size() == 2) {
    report_pair(verified, votes[voters[0] == team_.replica % static_cast<int>(ballots.size()) ? 1 : 0]);
    verified.stage = Stage::complete;
    return;
  }
  const Verdict verdict = vote(votes);
  if (verdict.winner < 0 && go_into_parts(verified, ballots)) return;
  if (verdict.winner < 0) host_.fail(Incident::uncorrected, described(verified) + no_majority(ballots));
  const Ballot good = votes[static_cast<std::size_t>(verdict.winner)];
  const bool copied = std::any_of(copies.begin(), copies.end(), [](const Copy& copy) { return copy != nullptr; });
  if (!asked_for_.empty()) answer_questions(verified, good, held_copies(ballots));
  if (verified.own == good) {
    if (!copied) supply_those_without(verified, good, ballots);
    note_outvoted(verified, good, ballots);
    verified.stage = Stage::complete;
    return;
  }
  const auto from = static_cast<std::size_t>(voters[static_cast<std::size_t>(verdict.winner)]);
  if (copied && copies[from]) {
    note_culprit(verified, giver(verified));
    overwrite(verified, *copies[from]);
    note_outvoted(verified, good, ballots);
    verified.own = good;
    verified.stage = Stage::complete;
    return;
  }
  verified.supplier = holder_for(team_.replica, good, held_copies(ballots));
  const bool others_may_count_on_the_dead = !verified.is_message() && team_.present < team_.degree;
  if (others_may_count_on_the_dead) ask_for_correction(verified, ballots);
  verified.own = good;  // what the correction must be
  verified.stage = Stage::disputed;
}

Ballot Replica::ballot_of_copy(const Verified& verified, std::span<const std::byte> bytes) const {
  if (verified.counted == Verified::Counted::elements) return verified.ballot_of_copy(bytes);
  const Ballot whole = host_.digest(bytes);
  return {{whole.digest.low, 0}, whole.bytes};
}

/// The majority's copy, but for addresses, of which this replica has its own.
void Replica::overwrite(Verified& verified, std::span<const std::byte> bytes) {
  if (!verified.overwrite(bytes)) {
    host_.fail(
        Incident::uncorrected,
        described(verified) + ": this replica's copy lacks an address of its own memory, which no other replica knows");
  }
  ++counters_[Count::corrections];
}

bool Replica::take_correction(Verified& verified) {
  if (verified.stage == Verified::Stage::complete) return true;
  const auto found = corrections_.find(verified.identity);
  if (found == corrections_.end()) {
    if (verified.is_message()) return false;  // if the supplier is gone, others are asked (peer_gone)
    if (verified.supplier < 0 || team_.here(verified.supplier)) return false;
    host_.fail(Incident::uncorrected, described(verified) + ": the good copy was that of replica " +
                                          std::to_string(verified.supplier) + ", which died before it had sent it");
  }
  if (!(ballot_of_copy(verified, *found->second) == verified.own))
    host_.fail(Incident::uncorrected, described(verified) + ": the correction that arrived is not the majority's copy");
  note_culprit(verified, giver(verified));
  overwrite(verified, *found->second);
  corrections_.erase(found);
  asking_.erase(verified.identity);
  verified.stage = Verified::Stage::complete;
  return true;
}

Copy Replica::take_copy(const MessageId& identity) {
  const auto found = corrections_.find(identity);
  if (found == corrections_.end()) return nullptr;
  Copy copy = std::move(found->second);
  corrections_.erase(found);
  return copy;
}

void Replica::report_pair(const Verified& verified, const Ballot& other) {
  ++counters_[Count::uncorrected];
  if (team_.leader()) ++counters_[Count::mismatches];
  const Ballot both[] = {verified.own, other};
  const std::string text = described(verified) +
                           ": the two replicas' copies differ, which of them is wrong cannot be told" +
                           ballot_list(both) + "; three replicas would correct it" + host_.other_causes();
  if (setup_.on_corruption == OnCorruption::stop) host_.fail(Incident::uncorrected, text);
  if (team_.leader()) host_.say(text);  // once is enough
}

}  // namespace holdfast::replicate
