#include "replicate/mpi/pointtopoint/send.h"

#include <utility>

#include "real_functions.h"
#include "replicate/engine/mix.h"
#include "replicate/mpi/agree/answers.h"
#include "replicate/mpi/agree/decide.h"
#include "replicate/mpi/context/evidence.h"
#include "replicate/mpi/context/failure.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/process/threads.h"

namespace holdfast::replicate {

namespace {

class RegionContents final : public Contents {
 public:
  explicit RegionContents(const Region& region) : region_(region) {}
  std::uint64_t capacity() const override { return region_.bytes(); }
  Ballot ballot(std::uint64_t bytes) const override { return region_.ballot(bytes); }
  bool padded() const override { return region_.padded(); }
  Ballot whole_ballot(std::uint64_t bytes) const override { return region_.whole_ballot(bytes); }
  Copy copy(std::uint64_t bytes) const override {
    auto packed = std::make_shared<std::vector<std::byte>>();
    region_.gather(bytes, *packed);
    return packed;
  }

 private:
  const Region& region_;
};

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

/// Where threads are told apart by what their calls are about.
std::uint64_t order_of_channel(const Comm& comm, int peer, int tag) {
  return mix(comm.id, static_cast<std::uint32_t>(peer < 0 ? -1 : tag));
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
  if (state.injector.none()) return;
  for (const Injector::Strike& strike : state.injector.message(destination_rank, region.bytes() * 8)) {
    note_struck(strike.fault);
    region.flip(strike.bit);
    ++state.counters[Count::injected];
  }
}

void announce(const Region& region, int destination, int tag, Comm& comm) {
  const std::uint64_t ordinal = next_ordinal(comm, destination, tag);
  runtime().engine->announce({comm.id, comm.rank, tag, comm.virtual_rank(destination), ordinal},
                             RegionContents(region));
}

bool advance_send(Operation& op) {
  if (op.partitions && op.partitions->unready > 0) return false;
  int done = 0;
  real().Request_get_status(op.native, &done, &op.status);
  for (std::size_t i = 0; done && i < op.other_worlds.size(); ++i)
    real().Request_get_status(op.other_worlds[i], &done, MPI_STATUS_IGNORE);
  return done != 0;
}

void note_call(Function function, const Comm& comm, int peer, int tag, std::uint64_t bytes) {
  pass_point();
  if (many_threads()) {
    if (!threads_in_order()) asking.order = order_of_channel(comm, peer, tag);
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
  if (blocking) return note_call(function, comm, peer, tag, 0);
  if (asked_by_channel()) asking.order = order_of_channel(comm, peer, tag);
}

}  // namespace holdfast::replicate
