#include "replicate/mpi/contest.h"

#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "real_functions.h"
#include "replicate/engine/block_vote.h"
#include "replicate/mpi/correct.h"
#include "replicate/mpi/failure.h"
#include "replicate/mpi/runtime.h"

namespace holdfast::replicate {

namespace {

struct ContestedCopy {
  std::shared_ptr<std::vector<std::byte>> bytes;
  MPI_Request request = MPI_REQUEST_NULL;  ///< as long as it is on its way
};
std::unordered_map<MessageId, std::map<int, ContestedCopy>, MessageIdHash> contested;  // by result and replica

std::vector<std::byte> packed_result(const Operation& op) {
  std::vector<std::byte> all;
  std::vector<std::byte> part;
  for (const Region& region : op.outputs) {
    region.gather(region.bytes(), part);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

/// Where the blocks of the packed result end; nothing where it has only one.
std::vector<std::size_t> block_ends(const Operation& op) {
  std::vector<std::size_t> ends;
  std::size_t end = 0;
  if (op.outputs.size() > 1) {
    for (const Region& region : op.outputs) ends.push_back(end += region.bytes());
    return ends;
  }
  const std::uint64_t bytes = op.outputs.front().bytes();
  if (op.blocks < 2 || bytes % op.blocks != 0) return ends;
  for (std::uint64_t b = 1; b <= op.blocks; ++b) ends.push_back(b * (bytes / op.blocks));
  return ends;
}

bool padded(const Operation& op) {
  for (const Region& region : op.outputs)
    if (region.padded() || region.any_address()) return true;
  return false;
}

/// Whether it has come, or will not: its replica was taken out.
bool settled(ContestedCopy& copy) {
  int done = 1;
  if (copy.request != MPI_REQUEST_NULL) real().Test(&copy.request, &done, MPI_STATUS_IGNORE);
  return done != 0;
}

bool all_copies_here(std::map<int, ContestedCopy>& copies) {
  const Runtime& state = runtime();
  for (int k = 0; k < state.degree; ++k) {
    if (k == state.replica || !state.here(k)) continue;
    const auto found = copies.find(k);
    if (found == copies.end() || !settled(found->second)) return false;
  }
  return true;
}

/// MPI may still write what one that was taken out had begun to send.
void forget_contest(const MessageId& result) {
  static std::vector<ContestedCopy> never_to_come;
  for (auto& [replica, copy] : contested[result])
    if (copy.request != MPI_REQUEST_NULL) never_to_come.push_back(std::move(copy));
  contested.erase(result);
}

void put_blocks(const Operation& op, std::span<const std::byte> bytes) {
  for (const Region& region : op.outputs) {
    region.scatter(bytes.first(region.bytes()));
    bytes = bytes.subspan(region.bytes());
  }
}

}  // namespace

bool contest(Operation& op) {
  Runtime& state = runtime();
  if (op.outputs.empty() || padded(op) || block_ends(op).empty()) return false;
  const auto own = std::make_shared<std::vector<std::byte>>(packed_result(op));
  contested[op.identity][state.replica] = {own};
  for (int k = 0; k < state.degree; ++k) {
    if (k == state.replica || !state.here(k)) continue;
    const int native = state.team_native(k);
    Record record;
    record.kind = RecordKind::contested;
    record.set_id(op.identity);
    record.bytes = own->size();
    record.extra = static_cast<std::uint64_t>(state.post.send_payload(native, own));
    state.post.send(native, record);
    state.counters[Count::payload_bytes] += record.bytes;
  }
  op.stage = Operation::Stage::contested;
  return true;
}

bool take_contest(Operation& op) {
  Runtime& state = runtime();
  std::map<int, ContestedCopy>& copies = contested[op.identity];
  if (!all_copies_here(copies)) return false;
  std::vector<int> voters;
  std::vector<std::span<const std::byte>> held;
  const std::size_t bytes = copies[state.replica].bytes->size();
  for (const auto& [replica, copy] : copies) {
    if (!state.here(replica) || copy.bytes->size() != bytes) continue;
    voters.push_back(replica);
    held.emplace_back(*copy.bytes);
  }
  const auto verdict = vote_by_blocks(held, block_ends(op));
  if (!verdict || held.size() < 3)
    fail(Incident::uncorrected,
         described(op) + ": no majority among the replicas' copies, of the whole and of a block");
  for (std::size_t i = 0; i < voters.size(); ++i) {
    if (!verdict->wrong[i] || voters[i] != state.replica) continue;
    note_wrong_result(op);
    put_blocks(op, verdict->bytes);
  }
  forget_contest(op.identity);
  op.stage = Operation::Stage::complete;
  return true;
}

void receive_contested(int native, const Record& record) {
  Runtime& state = runtime();
  ContestedCopy copy{std::make_shared<std::vector<std::byte>>(record.bytes)};
  copy.request = state.post.receive_payload(native, static_cast<int>(record.extra), *copy.bytes);
  contested[record.id()][state.map->replica(native)] = std::move(copy);
}

}  // namespace holdfast::replicate
