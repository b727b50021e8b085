#include "replicate/mpi/pointtopoint/partitioned.h"

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>

#include "real_functions.h"
#include "replicate/engine/mix.h"
#include "replicate/mpi/agree/control_channel.h"
#include "replicate/mpi/context/comms.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/mpi/pointtopoint/cross_world_send.h"
#include "replicate/mpi/pointtopoint/operation.h"
#include "replicate/mpi/pointtopoint/post_receive.h"
#include "replicate/mpi/pointtopoint/receive.h"
#include "replicate/mpi/pointtopoint/send.h"
#include "replicate/process/threads.h"

namespace holdfast::replicate {

#ifdef HOLDFAST_HAS_Psend_init

namespace {

constexpr std::uint64_t partitioned_mark = 0x706172746974;  // tells its communicator's id from the world's

struct Side {
  std::unordered_map<MessageId, std::uint64_t, MessageIdHash> made;  ///< by name with ordinal 0: requests made so far
};

struct State {
  std::unique_ptr<Comm> comm;
  Side sends;
  Side receives;
  std::vector<std::uint32_t> tags;                                   ///< by destination: tags given out so far
  std::unordered_map<MessageId, int, MessageIdHash> told;            ///< tags of senders
  std::unordered_map<MessageId, Operation*, MessageIdHash> waiting;  ///< started receives whose tag is not known yet
};

State& state() {
  static auto* all = new State();
  return *all;
}

MessageId name(Side& side, std::uint64_t communicator, int source, int tag, int peer) {
  MessageId channel{{communicator, source, tag}, 0};
  MessageId counted = channel;
  counted.ordinal = static_cast<std::uint32_t>(peer);
  channel.ordinal = side.made[counted]++;
  return channel;
}

void post(Operation& op, int tag) {
  post_receive(op, op.buffer, op.count, op.type, op.source, tag, *state().comm);
}

void prepare(Operation& op, int partitions) {
  op.use = Operation::Use::inactive;

  op.comm = state().comm.get();
  op.partitions = std::make_unique<Partitions>();
  op.partitions->count = partitions;
  op.start = start_partitioned;
}

}  // namespace

void open_partitioned() {
  Runtime& replication = runtime();
  state().comm = replication.comms.make_hidden(replication.world, replication.other_worlds, mix(1, partitioned_mark));
}

void close_partitioned() {
  if (state().comm) Comms::free_hidden(*state().comm);
  state().comm.reset();
}

void make_partitioned_send(Operation& op, int partitions, int destination, int tag) {
  Runtime& replication = runtime();
  Comm& application = *op.comm;
  prepare(op, partitions);
  op.kind = Operation::Kind::persistent_send;
  op.advance = advance_send;
  op.partitions->channel = name(state().sends, application.id, application.rank, tag, destination);
  op.source = application.virtual_rank(destination);
  const auto peer = static_cast<std::size_t>(op.source);
  if (peer >= state().tags.size()) state().tags.resize(peer + 1);
  op.tag = static_cast<int>(state().tags[peer]++ % tag_range);
  make_in_worlds(real().Send_init, op);
  Record record;
  record.kind = RecordKind::partitioned;
  record.set_id(op.partitions->channel);
  record.extra = static_cast<std::uint64_t>(op.tag);
  for (int to = replication.replica; to < replication.map->degree(op.source); to += replication.degree)
    replication.control.send(replication.map->physical_rank(op.source, to), record);  // those that get its message
}

void make_partitioned_receive(Operation& op, int partitions, int source, int tag) {
  Comm& application = *op.comm;
  prepare(op, partitions);
  op.kind = Operation::Kind::receive;
  op.advance = advance_receive;
  op.partitions->channel = name(state().receives, application.id, source, tag, 0);
  op.posted_source = source;
  op.posted_tag = tag;
  op.source = application.virtual_rank(source);
  real().Recv_init(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, op.comm->handle, &op.native);
}

int start_partitioned(Operation& op) {
  Partitions& parts = *op.partitions;
  op.use = Operation::Use::active;
  op.stage = Operation::Stage::native;
  if (op.kind == Operation::Kind::persistent_send) {
    parts.ready.assign(static_cast<std::size_t>(parts.count), false);
    parts.unready = parts.count;
    return MPI_SUCCESS;
  }
  note_call(Function::Start, *op.comm, op.source, op.posted_tag, 0);
  op.native = MPI_REQUEST_NULL;
  op.holds = Operation::Holds::nothing;
  op.corrected_bytes.reset();
  const auto told = state().told.find(parts.channel);
  if (told != state().told.end()) {
    post(op, told->second);
  } else {
    op.stage = Operation::Stage::unplaced;
    state().waiting[parts.channel] = &op;
  }
  return MPI_SUCCESS;
}

int part_is_ready(Operation& op, int partition) {
  Partitions& parts = *op.partitions;
  parts.ready[static_cast<std::size_t>(partition)] = true;
  if (--parts.unready > 0) return MPI_SUCCESS;
  note_call_of_any_thread(Function::Pready, *op.comm, op.source, op.tag, op.region.bytes());
  inject(op.region, op.source);
  const int code = start_made(op);
  if (code == MPI_SUCCESS) announce(op.region, op.source, op.tag, *op.comm);
  return code;
}

void forget_partitioned(Operation& op) {
  if (op.kind == Operation::Kind::receive) state().told.erase(op.partitions->channel);
}

void file_partitioned_tag(const Record& record) {
  const MessageId channel = record.id();
  const int tag = static_cast<int>(record.extra);
  state().told[channel] = tag;
  const auto waiting = state().waiting.find(channel);
  if (waiting == state().waiting.end()) return;
  Operation& op = *waiting->second;
  state().waiting.erase(waiting);
  post(op, tag);
}

#else

void open_partitioned() {}
void close_partitioned() {}
int start_partitioned(Operation&) {
  return MPI_SUCCESS;
}
void forget_partitioned(Operation&) {}
void file_partitioned_tag(const Record&) {}

#endif

}  // namespace holdfast::replicate
