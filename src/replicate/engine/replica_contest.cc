// A result of a collective of which no whole copy has a majority, because ranks that contributed to it were corrupted
// in different replicas. All replicas of this rank know it from the same ballots. Where the result is made of blocks
// that one rank each has given, or of the elements of a reduction, the replicas of the rank send each other their
// copies, and each votes block by block (block_vote.h). No other rank takes part or needs to know.
#include "replicate/engine/block_vote.h"
#include "replicate/engine/replica.h"

namespace holdfast::replicate {

/// No whole copy of a result has a majority: whether what it was made of may have one.
bool Replica::go_into_parts(Verified& result) {
  if (result.is_message()) return false;
  if (!result.repeatable) return contest(result);
  result.without_majority = true;
  result.stage = Verified::Stage::complete;
  return true;
}

/// False where the result has no blocks, or padding, which no copy can be compared in.
bool Replica::contest(Verified& result) {
  if (result.block_ends().empty()) return false;
  const Copy own = result.copy(result.capacity());
  contested_[result.identity][team_.replica] = own;
  for (int k = 0; k < team_.degree; ++k) {
    if (k == team_.replica || !team_.here(k)) continue;
    const Process to{team_.rank, k};
    Record record;
    record.kind = RecordKind::contested;
    record.set_id(result.identity);
    record.bytes = own->size();
    record.extra = host_.send_copy(to, own);
    host_.send(to, record);
    counters_[Count::payload_bytes] += record.bytes;
  }
  result.stage = Verified::Stage::contested;
  return true;
}

bool Replica::all_contested_here(const std::map<int, Copy>& copies) const {
  for (int k = 0; k < team_.degree; ++k)
    if (team_.here(k) && !copies.contains(k)) return false;
  return true;
}

bool Replica::take_contest(Verified& result) {
  const std::map<int, Copy>& copies = contested_[result.identity];
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
  contested_.erase(result.identity);
  result.stage = Verified::Stage::complete;
  return true;
}

}  // namespace holdfast::replicate
