// Receives and probes.
#include "hooks.h"
#include "real_functions.h"
#include "replicate/mpi/agree/decide.h"
#include "replicate/mpi/agree/progress.h"
#include "replicate/mpi/agree/thread_order.h"
#include "replicate/mpi/context/comms.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/mpi/intercept/handle.h"
#include "replicate/mpi/pointtopoint/completion.h"
#include "replicate/mpi/pointtopoint/operation.h"
#include "replicate/mpi/pointtopoint/plausible.h"
#include "replicate/mpi/pointtopoint/post_receive.h"
#include "replicate/mpi/pointtopoint/receive.h"
#include "replicate/mpi/pointtopoint/send.h"
#include "replicate/mpi/pointtopoint/status.h"

namespace holdfast::replicate {

namespace {

/// Messages that a matched probe took out of MPI's queue: their place on the channel, by message handle.
struct Matched {
  MessageId place;
  Comm* comm;
};
std::unordered_map<std::uint64_t, Matched> matched;

/// Asks MPI once; status is filled when the answer is yes. An earlier wildcard receive that is not resolved yet could
/// own the message at a follower, so that the answer is no until it is.
template <class Ask>
bool look(Comm& comm, int source, int tag, Ask ask) {
  progress();
  if (runtime().engine->probe_must_wait(comm.order, engine_source(source), engine_tag(tag))) return false;
  return ask(source, tag);
}

void wait_for_matches_before(Comm& comm, const MPI_Status& found) {
  if (!runtime().engine->match_is_unsaid(comm.order, found.MPI_SOURCE, found.MPI_TAG)) return;
  wait_until([&] {
    set_awaited({});
    return !runtime().engine->match_is_unsaid(comm.order, found.MPI_SOURCE, found.MPI_TAG);
  });
}

/// A probe in which the leader decides; `once` has looked and found nothing yet. Returns whether there is a message,
/// with source and tag set to the leader's. Where threads go in the leader's order, finding has a turn of its own, so
/// that no other thread's receive takes the message before, and the messages of matched probes are taken in one order.
template <class Ask>
bool agreed_probe(Comm& comm, int& source, int& tag, bool blocking, MPI_Status* status, Ask ask) {
  const auto mine = [&] {
    const bool found = look(comm, source, tag, ask);
    if (found) wait_for_matches_before(comm, *status);
    set_awaited({});
    return found;
  };
  bool found = false;
  const auto now = [&] { return found = found || mine(); };
  const auto find = [&] { wait_until(now); };
  if (!blocking && !decide([&] { return found = mine(); })) return false;
  if (source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG) {
    source = static_cast<int>(decide_number([&] {
      find();
      return status->MPI_SOURCE;
    }));
    tag = static_cast<int>(decide_number([&] {
      find();
      return status->MPI_TAG;
    }));
  }
  wait_in_order(now);
  return true;
}

auto native_probe(MPI_Comm handle, Comm& comm, MPI_Status* status) {
  return [=, &comm](int source, int tag) {
    if (requeued_matches(comm, source, tag, status)) return true;
    int found = 0;
    real().Iprobe(source, tag, handle, &found, status);
    return found != 0;
  };
}

/// MPI has no handle for a message that it has given to a receive.
auto native_matched_probe(MPI_Comm handle, Comm& comm, MPI_Message* message, MPI_Status* status) {
  return [=, &comm](int source, int tag) {
    if (requeued_matches(comm, source, tag, status))
      refuse(Function::Improbe,
             "a matched probe of a message that a cancelled receive had taken in this replica alone");
    int found = 0;
    real().Improbe(source, tag, handle, &found, message, status);
    return found != 0;
  };
}

/// Takes the message's place among the receives, which is known when the wildcard receives before it that could have
/// taken a message of its channel are done: MPI has given them theirs, but may not have said so.
void file_matched(Comm& comm, MPI_Message message, const MPI_Status& status) {
  const ReceiveOrder::Ticket ticket = comm.order.post(status.MPI_SOURCE, status.MPI_TAG);
  wait_until([&] {
    set_awaited({});
    return comm.order.placed(ticket);
  });
  MessageId place = comm.order.place(ticket);
  place.channel.communicator = comm.id;
  comm.order.done(ticket);
  ++comm.pending;
  matched[handle_key(message)] = {place, &comm};
}

int probe(Function function, int source, int tag, MPI_Comm handle, int* flag, MPI_Status* status) {
  Comm& comm = runtime().comms.find(handle);
  note_probe(function, comm, source, tag, flag == nullptr);
  MPI_Status own{};
  const bool found = agreed_probe(comm, source, tag, flag == nullptr, &own, native_probe(handle, comm, &own));
  if (flag) *flag = found ? 1 : 0;
  if (found) hand_over(own, status);
  return MPI_SUCCESS;
}

int matched_probe(Function function, int source, int tag, MPI_Comm handle, int* flag, MPI_Message* message,
                  MPI_Status* status) {
  Comm& comm = runtime().comms.find(handle);
  note_probe(function, comm, source, tag, flag == nullptr);
  MPI_Status own{};
  const bool found =
      agreed_probe(comm, source, tag, flag == nullptr, &own, native_matched_probe(handle, comm, message, &own));
  if (flag) *flag = found ? 1 : 0;
  if (!found) return MPI_SUCCESS;
  file_matched(comm, *message, own);
  hand_over(own, status);
  return MPI_SUCCESS;
}

}  // namespace

int hook::Irecv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request* request) {
  if (source == MPI_PROC_NULL || !runtime().verifying || !plausible_receive(count, datatype, source, tag, comm)) {
    return real().Irecv(buf, count, datatype, source, tag, comm, request);
  }
  Comm& on = runtime().comms.find(comm);
  note_call(Function::Irecv, on, source, tag, 0);
  Operation& op = runtime().requests.make();
  op.function = Function::Irecv;
  post_receive(op, buf, count, datatype, source, tag, on);
  if (op.stage == Operation::Stage::unplaced || op.native == MPI_REQUEST_NULL) runtime().requests.give_placeholder(op);
  runtime().requests.file(op);
  *request = op.visible;
  return MPI_SUCCESS;
}

int hook::Recv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  if (source == MPI_PROC_NULL || !runtime().verifying || !plausible_receive(count, datatype, source, tag, comm)) {
    return real().Recv(buf, count, datatype, source, tag, comm, status);
  }
  Comm& on = runtime().comms.find(comm);
  note_call(Function::Recv, on, source, tag, 0);
  Operation& op = runtime().requests.make();
  op.function = Function::Recv;
  post_receive(op, buf, count, datatype, source, tag, on);
  wait_until([&] { return advance_receive(op); });
  const int code = finish_receive(op, status);
  runtime().requests.drop(op);
  return code;
}

int hook::Recv_init(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                    MPI_Request* request) {
  const int code = real().Recv_init(buf, count, datatype, source, tag, comm, request);
  if (code != MPI_SUCCESS || source == MPI_PROC_NULL || !runtime().verifying) return code;
  Operation& op = runtime().requests.make();
  op.kind = Operation::Kind::receive;
  op.advance = advance_receive;
  op.use = Operation::Use::inactive;

  op.native = *request;
  op.comm = &runtime().comms.find(comm);
  op.buffer = buf;
  op.count = count;
  op.type = datatype;
  op.posted_source = source;
  op.posted_tag = tag;
  runtime().requests.hold_comm(op);
  runtime().requests.file(op);
  return code;
}

int hook::Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  if (source == MPI_PROC_NULL || !runtime().verifying || !plausible_receive(0, MPI_BYTE, source, tag, comm))
    return real().Probe(source, tag, comm, status);
  return probe(Function::Probe, source, tag, comm, nullptr, status);
}

int hook::Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  if (source == MPI_PROC_NULL || !runtime().verifying || !plausible_receive(0, MPI_BYTE, source, tag, comm))
    return real().Iprobe(source, tag, comm, flag, status);
  return probe(Function::Iprobe, source, tag, comm, flag, status);
}

int hook::Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  if (source == MPI_PROC_NULL || !runtime().verifying || !plausible_receive(0, MPI_BYTE, source, tag, comm))
    return real().Mprobe(source, tag, comm, message, status);
  return matched_probe(Function::Mprobe, source, tag, comm, nullptr, message, status);
}

int hook::Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  if (source == MPI_PROC_NULL || !runtime().verifying || !plausible_receive(0, MPI_BYTE, source, tag, comm))
    return real().Improbe(source, tag, comm, flag, message, status);
  return matched_probe(Function::Improbe, source, tag, comm, flag, message, status);
}

int hook::Imrecv(void* buf, int count, MPI_Datatype datatype, MPI_Message* message, MPI_Request* request) {
  const auto found = matched.find(handle_key(*message));
  if (found == matched.end()) return real().Imrecv(buf, count, datatype, message, request);
  const Matched match = found->second;
  matched.erase(found);
  --match.comm->pending;
  Operation& op = runtime().requests.make();
  post_matched(op, buf, count, datatype, message, match.place, *match.comm);
  runtime().requests.file(op);
  *request = op.visible;
  return MPI_SUCCESS;
}

int hook::Mrecv(void* buf, int count, MPI_Datatype datatype, MPI_Message* message, MPI_Status* status) {
  if (!matched.contains(handle_key(*message))) return real().Mrecv(buf, count, datatype, message, status);
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = Imrecv(buf, count, datatype, message, &request);
  return code == MPI_SUCCESS ? Wait(&request, status) : code;
}

}  // namespace holdfast::replicate
