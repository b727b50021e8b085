#include "replicate/mpi/send.h"
#include "replicate/mpi/answers.h"

#include "core/fault/grammar.h"
#include "core/random/stream.h"
#include "real_functions.h"
#include "replicate/mpi/carry.h"
#include "replicate/mpi/decide.h"
#include "replicate/mpi/evidence.h"
#include "replicate/mpi/failure.h"
#include "replicate/mpi/runtime.h"
#include "replicate/mpi/threads.h"

namespace holdfast::replicate {

namespace {

struct Injector {
  std::vector<fault::Fault> faults;
  random::Stream draw{0};
  std::uint64_t messages = 0;
};
Injector injector;

bool strikes(const fault::Fault& fault, int destination_rank) {
  const Runtime& state = runtime();
  const fault::Place& place = fault.place;
  if (place.rank && *place.rank != static_cast<unsigned>(state.rank)) return false;
  if (place.replica && *place.replica != static_cast<unsigned>(state.replica)) return false;
  if (place.peer && *place.peer != static_cast<unsigned>(destination_rank)) return false;
  if (const auto* at = std::get_if<fault::Message>(&fault.when)) return at->number == injector.messages;
  if (const auto* rate = std::get_if<fault::Rate>(&fault.when)) {
    return injector.draw.chance(rate->chance.numerator, rate->chance.denominator);
  }
  return false;
}

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
  auto faults = fault::parse(state.options.inject);
  if (!faults) fail(Incident::bad_input, faults.status().message());
  for (const fault::Fault& fault : faults.value()) {
    const bool when =
        std::holds_alternative<fault::Message>(fault.when) || std::holds_alternative<fault::Rate>(fault.when);
    if (fault.kind != fault::Kind::flip || !when) {
      fail(Incident::bad_input,
           "injecting '" + fault::format(fault) + "': only flips at a message or at a rate can be injected here");
    }
  }
  injector.faults = std::move(faults).value();
  injector.draw = random::Stream(state.options.seed)
                      .child("replicate")
                      .child("inject")
                      .child(static_cast<std::uint64_t>(state.rank))
                      .child(static_cast<std::uint64_t>(state.replica));
}

void inject(const Region& region, int destination_rank) {
  if (injector.faults.empty()) return;
  ++injector.messages;
  if (region.bytes() == 0) return;
  for (std::size_t i = 0; i < injector.faults.size(); ++i) {
    const fault::Fault& fault = injector.faults[i];
    if (!strikes(fault, destination_rank)) continue;
    note_struck(i);
    const std::uint64_t bits = region.bytes() * 8;
    region.flip(fault.bit ? *fault.bit % bits : injector.draw.below(bits));
    ++runtime().counters[Count::injected];
  }
}

void set_digest(Record& record, const Region& region) {
  const Ballot ballot = region.ballot();
  record.digest = ballot.digest;
  record.bytes = ballot.bytes;
  if (!region.padded()) return;
  record.flags |= padded_elements;
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
