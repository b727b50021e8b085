#include "replicate/mpi/send.h"
#include "replicate/mpi/answers.h"

#include <utility>

#include "real_functions.h"
#include "replicate/mpi/carry.h"
#include "replicate/mpi/decide.h"
#include "replicate/mpi/evidence.h"
#include "replicate/mpi/failure.h"
#include "replicate/mpi/runtime.h"
#include "replicate/mpi/threads.h"

namespace holdfast::replicate {

namespace {

void send_copies(const Region& region, const Record& record, int destination) {
  const Runtime& state = runtime();
  for (int k = 0; k < state.degree; ++k) {
    if (k != state.replica && state.here(k)) send_copy(region, record, state.map->native(destination, k));
  }
}

/// The number of the next message, which is its name in all replicas: what they say of a message, and the good copy
/// that is sent for a wrong one, is found by it. So it counts what leaves in the same order everywhere. Threads, and
/// collectives made of messages, may send to one rank in another order in each replica, but not with one tag.
std::uint64_t next_ordinal(Comm& comm, int destination, int tag) {
  if (many_threads() || comm.ordered_by_tag)
    return comm.sent_by_tag[(std::uint64_t{static_cast<std::uint32_t>(destination)} << 32) |
                            static_cast<std::uint32_t>(tag)]++;
  if (static_cast<std::size_t>(destination) >= comm.sent.size())
    comm.sent.resize(static_cast<std::size_t>(destination) + 1);
  return comm.sent[static_cast<std::size_t>(destination)]++;
}

}  // namespace

void open_injector() {
  Runtime& state = runtime();
  if (state.options.inject.empty()) return;
  auto injector = Injector::read(state.options.inject, state.options.seed, {state.rank, state.replica});
  if (!injector) fail(Incident::bad_input, injector.status().message());
  state.injector = std::move(injector).value();
}

void inject(const Region& region, int destination_rank) {
  Runtime& state = runtime();
  for (const Injector::Strike& strike : state.injector.message(destination_rank, region.bytes() * 8)) {
    note_struck(strike.fault);
    region.flip(strike.bit);
    ++state.counters[Count::injected];
  }
}

void set_digest(Record& record, const Region& region) {
  const Ballot ballot = region.ballot();
  record.digest = ballot.digest;
  record.bytes = ballot.bytes;
  if (!region.padded()) return;
  record.flags = padded_elements;
  record.extra = region.whole_ballot(region.bytes()).digest.low;
}

void announce(const Region& region, int destination, int tag, Comm& comm) {
  Runtime& state = runtime();
  Record record;
  record.kind = RecordKind::digest;
  record.communicator = comm.id;
  record.source = comm.rank;
  record.tag = tag;
  record.ordinal = next_ordinal(comm, destination, tag);
  const int rank = comm.virtual_rank(destination);
  if (state.partial) {
    announce_to_those_without(region, record, rank);
    return;
  }
  if (state.options.protocol == Protocol::all_to_all) {
    send_copies(region, record, rank);
    return;
  }
  if (state.present == 1) return;
  set_digest(record, region);
  const int audience = state.options.protocol == Protocol::msg_plus_hash ? 1 : state.degree - 1;
  for (int step = 1; step <= audience; ++step) {
    const int to = (state.replica + step) % state.degree;
    if (!state.here(to)) continue;
    state.post.send(state.map->native(rank, to), record);
    ++state.counters[Count::records_sent];
  }
}

void send_copy(const Region& region, const Record& record, int native) {
  Runtime& state = runtime();
  auto bytes = std::make_shared<std::vector<std::byte>>();
  region.gather(region.bytes(), *bytes);
  Record announcing = record;
  announcing.kind = RecordKind::payload;
  announcing.bytes = bytes->size();
  state.counters[Count::payload_bytes] += bytes->size();
  announcing.extra = static_cast<std::uint64_t>(state.post.send_payload(native, std::move(bytes)));
  state.post.send(native, announcing);
}

bool advance_send(Operation& op) {
  if (op.partitions && op.partitions->unready > 0) return false;
  int done = 0;
  real().Request_get_status(op.native, &done, &op.status);
  for (std::size_t i = 0; done && i < op.carried.size(); ++i)
    real().Request_get_status(op.carried[i], &done, MPI_STATUS_IGNORE);
  return done != 0;
}

void note_call(Function function, const Comm& comm, int peer, int tag, std::uint64_t bytes) {
  pass_point();
  if (many_threads()) {
    if (!threads_in_order()) asking.order = mix(comm.id, static_cast<std::uint32_t>(peer < 0 ? -1 : tag));
    asking.channels = mix(asking.channels, asking.order);
    ++asking.calls;
  }
  note_call_of_any_thread(function, comm, peer, tag, bytes);
}

void note_call_of_any_thread(Function function, const Comm& comm, int peer, int tag, std::uint64_t bytes) {
  runtime().history.note({static_cast<std::uint32_t>(function), peer, tag, comm.id, bytes});
  flush_decisions();
}

void note_probe(Function function, const Comm& comm, int peer, int tag, bool blocking) {
  if (blocking) note_call(function, comm, peer, tag, 0);
}

}  // namespace holdfast::replicate
