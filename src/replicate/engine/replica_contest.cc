// A result of a collective of which no whole copy has a majority, because ranks that contributed to it were corrupted
// in different replicas. All replicas of this rank know it from the same ballots. Where the result is made of blocks
// that one rank each has given, or of the elements of a reduction, the replicas of the rank send each other their
// copies, and each votes block by block (block_vote.h). No other rank takes part or needs to know.
#include <algorithm>

#include "replicate/engine/block_vote.h"
#include "replicate/engine/replica.h"

namespace holdfast::replicate {

/// No whole copy of a result has a majority: whether what it was made of may have one.
bool Replica::go_into_parts(Verified& result, std::span<const Ballot> ballots) {
  if (result.is_message()) return false;
  if (!result.reduction) return contest(result, ballots);
  ask_to_repeat(result, ballots);
  return true;
}

/// False where the result has no blocks, or padding, which no copy can be compared in.
bool Replica::contest(Verified& result, std::span<const Ballot> ballots) {
  if (result.block_ends().empty()) return false;
  const Copy own = result.copy(result.capacity());
  Contest& contest = contests_[result.identity];
  contest.copies[team_.replica] = own;
  contest.ballots.assign(ballots.begin(), ballots.end());
  contest.present = team_.present;
  for (int k = 0; k < team_.degree; ++k)
    if (k != team_.replica && team_.here(k)) send_contested(k, result.identity, own);
  asking_[result.identity] = {described(result), result.own};
  result.stage = Verified::Stage::contested;
  return true;
}

void Replica::send_contested(int to_replica, const MessageId& result, const Copy& own) {
  const Process to{team_.rank, to_replica};
  Record record;
  record.kind = RecordKind::contested;
  record.set_id(result);
  record.bytes = own->size();
  record.extra = host_.send_copy(to, own);
  host_.send(to, record);
  counters_[Count::payload_bytes] += record.bytes;
}

/// This replica has found a majority. Others have not, who have heard of a death earlier or later, and wait for its
/// copy.
void Replica::answer_contests(const Verified& result) {
  std::set<int> contesting;
  std::erase_if(transfers_, [&](const auto& entry) {
    const Transfer& transfer = entry.second;
    const bool one = transfer.kind == RecordKind::contested && transfer.id == result.identity;
    if (one) contesting.insert(transfer.from_replica);
    return one;
  });
  if (const auto found = contests_.find(result.identity); found != contests_.end()) {
    for (const auto& [replica, copy] : found->second.copies) contesting.insert(replica);
    contests_.erase(found);
  }
  contesting.erase(team_.replica);
  for (const int replica : contesting)
    if (team_.here(replica)) send_contested(replica, result.identity, result.copy(result.capacity()));
}

bool Replica::all_contested_here(const std::map<int, Copy>& copies) const {
  for (int k = 0; k < team_.degree; ++k)
    if (team_.here(k) && !copies.contains(k)) return false;
  return true;
}

/// Without the copies of the dead another one may have a majority, as it has for those that heard of the death before
/// they voted. True when it has; they have this one's copy, and give theirs as after any vote.
bool Replica::settle_without_the_dead(Verified& result) {
  Contest& contest = contests_[result.identity];
  if (contest.present == team_.present) return false;
  contest.present = team_.present;
  std::vector<Ballot> left;
  for (std::size_t k = 0; k < contest.ballots.size(); ++k)
    if (team_.here(static_cast<int>(k))) left.push_back(contest.ballots[k]);
  if (left.size() > 2 && vote(left).winner < 0) return false;
  const std::vector<Ballot> ballots = std::move(contest.ballots);
  contests_.erase(result.identity);
  decide(result, ballots, {});
  if (result.stage == Verified::Stage::complete) asking_.erase(result.identity);
  return true;
}

/// Another one has a majority, since it counted a replica that is gone here, and gave its copy as after any vote. True
/// when it has; those that contest the result are given it.
bool Replica::settle_by_correction(Verified& result) {
  const auto correction = corrections_.find(result.identity);
  if (correction == corrections_.end()) return false;
  const Ballot good = ballot_of_copy(result, *correction->second);
  const std::vector<Ballot>& ballots = contests_.at(result.identity).ballots;
  if (std::find(ballots.begin(), ballots.end(), good) == ballots.end())
    host_.fail(Incident::uncorrected, described(result) + ": the correction that arrived is no replica's copy");
  result.own = good;
  take_correction(result);
  answer_contests(result);
  return true;
}

bool Replica::take_contest(Verified& result) {
  if (settle_without_the_dead(result) || settle_by_correction(result)) return true;
  const std::map<int, Copy>& copies = contests_[result.identity].copies;
  if (!all_contested_here(copies)) return false;
  std::vector<int> voters;
  std::vector<std::span<const std::byte>> held;
  const std::size_t bytes = copies.at(team_.replica)->size();
  for (const auto& [replica, copy] : copies) {
    if (!team_.here(replica) || copy->size() != bytes) continue;
    voters.push_back(replica);
    held.emplace_back(*copy);
  }
  const auto verdict = vote_by_blocks(held, result.block_ends());
  if (!verdict || held.size() < 3)
    host_.fail(Incident::uncorrected,
               described(result) + ": no majority among the replicas' copies, of the whole and of a block");
  for (std::size_t i = 0; i < voters.size(); ++i) {
    if (!verdict->wrong[i] || voters[i] != team_.replica) continue;
    note_culprit(result, team_.replica);
    overwrite(result, verdict->bytes);
  }
  contests_.erase(result.identity);
  asking_.erase(result.identity);
  result.stage = Verified::Stage::complete;
  return true;
}

}  // namespace holdfast::replicate
