#include "replicate/mpi/correct.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

#include "real_functions.h"
#include "replicate/mpi/contest.h"
#include "replicate/mpi/evidence.h"
#include "replicate/mpi/failure.h"
#include "replicate/mpi/runtime.h"
#include "replicate/mpi/thread_order.h"
#include "replicate/mpi/tolerance.h"

namespace holdfast::replicate {

namespace {

/// What else than a flipped bit makes copies differ.
std::string other_causes() {
  const bool same_memory = std::getenv("HOLDFAST_RUN_SAME_MEMORY") != nullptr;
  return (same_memory ? "" : "; memory that was never set agrees with --same-memory") + threads_advice();
}

using Bytes = std::shared_ptr<const std::vector<std::byte>>;

/// A payload on its way to this process.
struct Transfer {
  RecordKind kind;
  MPI_Request request;
  MessageId id;
  int native;
  int from_replica;
  std::shared_ptr<std::vector<std::byte>> bytes;
  std::vector<Lane>* lanes = nullptr;  // all-to-all: where the copy belongs
  std::uint64_t ordinal = 0;
};

std::unordered_map<MessageId, Bytes, MessageIdHash> corrections;  // arrived, not yet taken
std::vector<Transfer> transfers;
std::map<std::pair<int, int>, std::uint64_t> wrong_copies;

int sender_rank(const Operation& op) {
  return op.kind == Operation::Kind::receive ? op.comm->virtual_rank(op.source) : runtime().rank;
}

void note_culprit(const Operation& op, int replica) {
  ++runtime().counters[Count::mismatches];
  if (++wrong_copies[{sender_rank(op), replica}] == 1) note_wrong_copy(sender_rank(op), replica);
}

/// Whose copy this replica holds: under partial replication one replica of the sender gives it to several.
int giver(const Operation& op) {
  const Runtime& state = runtime();
  return state.replica % state.map->degree(sender_rank(op));
}

Bytes copy_of(const Operation& op) {
  auto bytes = std::make_shared<std::vector<std::byte>>();
  if (op.kind == Operation::Kind::receive) {
    op.region.gather(op.own.bytes, *bytes);
  } else {
    std::vector<std::byte> part;
    for (const Region& region : op.outputs) {
      region.gather(region.bytes(), part);
      bytes->insert(bytes->end(), part.begin(), part.end());
    }
  }
  return bytes;
}

void put(Operation& op, std::span<const std::byte> bytes) {
  for (const Region& region : op.outputs) {
    region.scatter(bytes.first(region.bytes()));
    bytes = bytes.subspan(region.bytes());
  }
}

/// The majority's copy, but for addresses, of which this replica has its own.
void overwrite(Operation& op, std::span<const std::byte> bytes) {
  bool known = true;
  if (op.kind == Operation::Kind::receive) {
    MPI_Count arrived = 0;
    real().Get_elements_x(&op.status, MPI_BYTE, &arrived);
    known = op.region.restore(bytes.first(std::min<std::size_t>(bytes.size(), op.region.bytes())),
                              static_cast<std::uint64_t>(std::max<MPI_Count>(arrived, 0)));
    op.was_corrected = true;
    op.corrected_bytes = bytes.size();
  } else {
    for (const Region& region : op.outputs) {
      known = known && region.restore(bytes.first(region.bytes()), region.bytes());
      bytes = bytes.subspan(region.bytes());
    }
  }
  if (!known)
    fail(Incident::uncorrected,
         described(op) + ": this replica's copy lacks an address of its own memory, which no other replica knows");
  ++runtime().counters[Count::corrections];
}

/// The ballot that a copy of the operation's data would have: of several blocks, made of each one's digest
/// (collective.cc).
Ballot ballot_of_copy(const Operation& op, std::span<const std::byte> bytes) {
  if (op.kind == Operation::Kind::receive) {
    if (!op.whole) return op.region.ballot_of_copy(bytes);
    const Ballot whole = ballot_of(bytes);
    return {{whole.digest.low, 0}, whole.bytes};
  }
  if (op.outputs.size() == 1) return op.outputs.front().ballot_of_copy(bytes);
  std::vector<integrity::Digest> digests;
  std::size_t at = 0;
  for (const Region& region : op.outputs) {
    const std::size_t length = std::min<std::size_t>(region.bytes(), bytes.size() - at);
    digests.push_back(region.ballot_of_copy(bytes.subspan(at, length)).digest);
    at += length;
  }
  Ballot whole = ballot_of(std::as_bytes(std::span(digests)));
  whole.bytes = bytes.size();
  return whole;
}

void finish_transfer(const Transfer& transfer) {
  if (transfer.kind == RecordKind::correction) {
    corrections[transfer.id] = transfer.bytes;
    return;
  }
  Arrival* arrival = (*transfer.lanes)[transfer.from_replica].find(transfer.ordinal);
  arrival->ballot = ballot_of(*transfer.bytes);
  arrival->copy = transfer.bytes;
  arrival->complete = true;
}

}  // namespace

void supply(const Operation& op, int replica) {
  Runtime& state = runtime();
  const Bytes bytes = copy_of(op);
  const int native = state.team_native(replica);
  Record record;
  record.kind = RecordKind::correction;
  record.set_id(op.identity);
  record.bytes = bytes->size();
  record.extra = static_cast<std::uint64_t>(state.post.send_payload(native, bytes));
  state.post.send(native, record);
  state.counters[Count::payload_bytes] += record.bytes;
}

std::string described(const Operation& op) {
  if (op.kind == Operation::Kind::receive) {
    return "message from rank " + std::to_string(sender_rank(op)) + " to rank " + std::to_string(runtime().rank) +
           " (tag " + std::to_string(op.tag) + ", " + std::to_string(op.own.bytes) + " bytes)";
  }
  return std::string("result of ") + std::string(function_name(op.function)) + " at rank " +
         std::to_string(runtime().rank);
}

void supply_followers(const Operation& op) {
  const Runtime& state = runtime();
  for (int k = 0; k < state.degree; ++k) {
    if (k != state.replica && state.here(k)) supply(op, k);
  }
}

bool alike_in_those_left(std::span<const Ballot> ballots) {
  const Runtime& state = runtime();
  const Ballot& own = ballots[static_cast<std::size_t>(state.replica) % ballots.size()];
  for (std::size_t k = 0; k < ballots.size(); ++k) {
    if (state.here(static_cast<int>(k)) && !(ballots[k] == own)) return false;
  }
  return true;
}

void forget_transfers_from(int replica) {
  static std::vector<Transfer> never_to_come;  // MPI may still write into their memory
  for (std::size_t i = transfers.size(); i-- > 0;) {
    if (transfers[i].from_replica != replica) continue;
    never_to_come.push_back(std::move(transfers[i]));
    transfers.erase(transfers.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

namespace {

/// What each replica of this rank that is left holds: its own copy, or, of a message, that of the sender replica that
/// gave it, which may have given it to several.
std::vector<Ballot> held_copies(std::span<const Ballot> ballots) {
  const Runtime& state = runtime();
  std::vector<Ballot> held(static_cast<std::size_t>(state.degree), {{}, 0, false});
  for (std::size_t k = 0; k < held.size(); ++k) {
    if (state.here(static_cast<int>(k))) held[k] = ballots[k % ballots.size()];
  }
  return held;
}

void supply_those_without(const Operation& op, const Ballot& good, std::span<const Ballot> ballots) {
  const Runtime& state = runtime();
  const std::vector<Ballot> held = held_copies(ballots);
  for (int k = 0; k < state.degree; ++k) {
    if (!state.here(k) || held[static_cast<std::size_t>(k)] == good) continue;
    if (holder_for(k, good, held) == state.replica) supply(op, k);
  }
}

/// Wrong ones that nobody of this rank was given are noted by its leader.
void note_outvoted(const Operation& op, const Ballot& good, std::span<const Ballot> ballots) {
  if (!runtime().leader()) return;
  for (auto k = static_cast<std::size_t>(runtime().degree); k < ballots.size(); ++k) {
    if (!(ballots[k] == good)) note_culprit(op, static_cast<int>(k));
  }
}

/// No whole copy of a result has a majority: whether what it was made of may have one.
bool go_into_parts(Operation& op) {
  if (!op.repeatable) return contest(op);
  op.without_majority = true;
  op.stage = Operation::Stage::complete;
  return true;
}

}  // namespace

void settle(Operation& op, std::span<const Ballot> ballots,
            std::span<const std::shared_ptr<const std::vector<std::byte>>> copies) {
  Runtime& state = runtime();
  if (alike_in_those_left(ballots) || tolerated(op)) {
    if (state.present == 1) ++state.counters[Count::unverified];
    op.stage = Operation::Stage::complete;
    return;
  }
  std::vector<int> voters;  // the replicas that are left, of those who sent
  std::vector<Ballot> votes;
  for (std::size_t k = 0; k < ballots.size(); ++k) {
    if (!state.here(static_cast<int>(k))) continue;
    voters.push_back(static_cast<int>(k));
    votes.push_back(ballots[k]);
  }
  if (voters.size() == 2) {
    report_pair(op, votes[voters[0] == state.replica % static_cast<int>(ballots.size()) ? 1 : 0]);
    op.stage = Operation::Stage::complete;
    return;
  }
  const Verdict verdict = vote(votes);
  if (verdict.winner < 0) {
    if (op.kind == Operation::Kind::collective && go_into_parts(op)) return;
    fail(Incident::uncorrected, described(op) + no_majority(ballots));
  }
  const Ballot good = votes[static_cast<std::size_t>(verdict.winner)];
  const bool copied = std::any_of(copies.begin(), copies.end(), [](const Bytes& copy) { return copy != nullptr; });
  if (op.own == good) {
    if (!copied) supply_those_without(op, good, ballots);
    note_outvoted(op, good, ballots);
    op.stage = Operation::Stage::complete;
    return;
  }
  const auto from = static_cast<std::size_t>(voters[static_cast<std::size_t>(verdict.winner)]);
  if (copied && copies[from]) {
    note_culprit(op, giver(op));
    overwrite(op, *copies[from]);
    note_outvoted(op, good, ballots);
    op.own = good;
    op.stage = Operation::Stage::complete;
    return;
  }
  op.supplier = holder_for(state.replica, good, held_copies(ballots));
  op.own = good;  // what the correction must be
  op.stage = Operation::Stage::disputed;
}

bool take_correction(Operation& op) {
  if (op.stage == Operation::Stage::complete) return true;
  const auto found = corrections.find(op.identity);
  if (found == corrections.end()) {
    if (op.supplier < 0 || runtime().here(op.supplier)) return false;
    fail(Incident::uncorrected, described(op) + ": the good copy was that of replica " + std::to_string(op.supplier) +
                                    ", which died before it had sent it");
  }
  if (!(ballot_of_copy(op, *found->second) == op.own)) {
    fail(Incident::uncorrected, described(op) + ": the correction that arrived is not the majority's copy");
  }
  note_culprit(op, giver(op));
  overwrite(op, *found->second);
  corrections.erase(found);
  op.stage = Operation::Stage::complete;
  return true;
}

bool take_copy(Operation& op) {
  const auto found = corrections.find(op.identity);
  if (found == corrections.end()) return false;
  put(op, *found->second);
  corrections.erase(found);
  return true;
}

void note_wrong_result(const Operation& op) {
  note_culprit(op, runtime().replica);
  ++runtime().counters[Count::corrections];
}

std::string no_majority(std::span<const Ballot> ballots) {
  return ": no majority among the replicas' copies" + ballot_list(ballots) + other_causes();
}

void report_pair(Operation& op, const Ballot& other) {
  Runtime& state = runtime();
  ++state.counters[Count::uncorrected];
  if (state.leader()) ++state.counters[Count::mismatches];
  const Ballot both[] = {op.own, other};
  const std::string text = described(op) + ": the two replicas' copies differ, which of them is wrong cannot be told" +
                           ballot_list(both) + "; three replicas would correct it" + other_causes();
  if (state.options.on_corruption == OnCorruption::stop) fail(Incident::uncorrected, text);
  if (state.leader()) say(text);  // once is enough
}

void receive_announced(int native, const Record& record) {
  Runtime& state = runtime();
  Transfer transfer;
  transfer.kind = record.kind;
  transfer.id = record.id();
  transfer.native = native;
  transfer.from_replica = state.map->replica(native);
  transfer.bytes = std::make_shared<std::vector<std::byte>>(record.bytes);
  if (record.kind == RecordKind::payload) {
    transfer.lanes = &state.inbox->lanes(record.id().channel);
    Lane& lane = (*transfer.lanes)[transfer.from_replica];
    transfer.ordinal = lane.pushed();
    Arrival arrival;
    arrival.sequence = record.ordinal;
    arrival.complete = false;
    lane.push(std::move(arrival));
  }
  transfer.request = state.post.receive_payload(native, static_cast<int>(record.extra), *transfer.bytes);
  transfers.push_back(std::move(transfer));
}

void poll_transfers() {
  for (std::size_t i = 0; i < transfers.size();) {
    int done = 0;
    real().Test(&transfers[i].request, &done, MPI_STATUS_IGNORE);
    if (!done) {
      ++i;
      continue;
    }
    const Transfer transfer = std::move(transfers[i]);
    transfers.erase(transfers.begin() + static_cast<std::ptrdiff_t>(i));
    finish_transfer(transfer);
  }
}

std::vector<std::pair<std::pair<int, int>, std::uint64_t>> culprits() {
  return {wrong_copies.begin(), wrong_copies.end()};
}

}  // namespace holdfast::replicate
