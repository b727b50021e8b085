#include "replicate/mpi/correct.h"

#include <cstring>
#include <map>

#include "real_functions.h"
#include "replicate/mpi/failure.h"
#include "replicate/mpi/runtime.h"
#include "replicate/mpi/tolerance.h"

namespace holdfast::replicate {

namespace {

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

void note_culprit(int rank, int replica) {
  Runtime& state = runtime();
  ++state.counters[Count::mismatches];
  ++wrong_copies[{rank, replica}];
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
  if (op.kind == Operation::Kind::receive) {
    op.region.scatter(bytes.first(std::min<std::size_t>(bytes.size(), op.region.bytes())));
    op.was_corrected = true;
    op.corrected_bytes = bytes.size();
  } else {
    for (const Region& region : op.outputs) {
      region.scatter(bytes.first(region.bytes()));
      bytes = bytes.subspan(region.bytes());
    }
  }
}

void overwrite(Operation& op, std::span<const std::byte> bytes) {
  put(op, bytes);
  ++runtime().counters[Count::corrections];
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

void settle(Operation& op, std::span<const Ballot> ballots,
            std::span<const std::shared_ptr<const std::vector<std::byte>>> copies) {
  Runtime& state = runtime();
  const Verdict verdict = vote(ballots);
  if (verdict.unanimous || tolerated(op)) {
    op.stage = Operation::Stage::complete;
    return;
  }
  if (state.degree == 2) {
    report_pair(op, ballots[1 - state.replica]);
    op.stage = Operation::Stage::complete;
    return;
  }
  if (verdict.winner < 0) {
    fail(Incident::uncorrected, described(op) + ": no majority among the replicas' copies" + ballot_list(ballots));
  }
  const Ballot& good = ballots[verdict.winner];
  if (op.own == good) {
    for (int k = 0; k < state.degree; ++k) {
      if (ballots[k] == good || (!copies.empty() && copies[state.replica == 0 ? 1 : 0])) continue;
      if (holder_for(k, verdict, ballots) == state.replica) supply(op, k);
    }
    op.stage = Operation::Stage::complete;
    return;
  }
  if (!copies.empty() && copies[verdict.winner]) {
    note_culprit(sender_rank(op), state.replica);
    overwrite(op, *copies[verdict.winner]);
    op.own = good;
    op.stage = Operation::Stage::complete;
    return;
  }
  op.own = good;  // what the correction must be
  op.stage = Operation::Stage::disputed;
}

bool take_correction(Operation& op) {
  if (op.stage == Operation::Stage::complete) return true;
  const auto found = corrections.find(op.identity);
  if (found == corrections.end()) return false;
  if (!(ballot_of(*found->second) == op.own)) {
    fail(Incident::uncorrected, described(op) + ": the correction that arrived is not the majority's copy");
  }
  note_culprit(sender_rank(op), runtime().replica);
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

void report_pair(Operation& op, const Ballot& other) {
  Runtime& state = runtime();
  ++state.counters[Count::uncorrected];
  if (state.replica == 0) ++state.counters[Count::mismatches];
  const Ballot both[] = {op.own, other};
  const std::string text = described(op) + ": the two replicas' copies differ, which of them is wrong cannot be told" +
                           ballot_list(both) +
                           "; three replicas would correct it, and memory that was never set agrees with --fill-heap";
  if (state.options.on_corruption == OnCorruption::stop) fail(Incident::uncorrected, text);
  if (state.replica == 0) say(text);  // once is enough
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
