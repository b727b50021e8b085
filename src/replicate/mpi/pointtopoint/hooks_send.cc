// Sends. The message goes once, in the sender's own replica world, with MPI's own mode; its digest goes beside it.
#include <memory>

#include "hooks.h"
#include "real_functions.h"
#include "replicate/mpi/agree/progress.h"
#include "replicate/mpi/context/comms.h"
#include "replicate/mpi/context/implementation.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/mpi/intercept/guard.h"
#include "replicate/mpi/pointtopoint/completion.h"
#include "replicate/mpi/pointtopoint/cross_world_send.h"
#include "replicate/mpi/pointtopoint/operation.h"
#include "replicate/mpi/pointtopoint/plausible.h"
#include "replicate/mpi/pointtopoint/post_receive.h"
#include "replicate/mpi/pointtopoint/receive.h"
#include "replicate/mpi/pointtopoint/send.h"
#include "replicate/mpi/verify/packing.h"

namespace holdfast::replicate {

namespace {

/// What one send needs besides MPI's arguments.
struct Outgoing {
  Comm& comm;
  Region region;
  int destination;
  int tag;
};

Outgoing prepare(Function function, const void* buffer, int count, MPI_Datatype type, int destination, int tag,
                 MPI_Comm handle) {
  Comm& comm = runtime().comms.find(handle);
  Region region = Region::borrow(buffer, static_cast<std::uint64_t>(count), type);
  note_call(function, comm, destination, tag, region.bytes());
  inject(region, comm.virtual_rank(destination));
  return {comm, std::move(region), destination, tag};
}

void announce(const Outgoing& out) {
  if (runtime().verifying) announce(out.region, out.destination, out.tag, out.comm);
}

void wait_for(Sends& sends) {
  wait_until([&] {
    set_awaited({});
    return all_done(sends);
  });
}

void wait_native(MPI_Request& request) {
  int done = 0;
  real().Test(&request, &done, MPI_STATUS_IGNORE);  // most are done where they begin
  if (done != 0) return;
  wait_until([&] {
    set_awaited({});
    real().Test(&request, &done, MPI_STATUS_IGNORE);
    return done != 0;
  });
}

/// Where ranks have different numbers of replicas: in all worlds in which this process has a receiver.
int start_in_all(Function function, StartSend start, const void* buffer, int count, MPI_Datatype type, int destination,
                 int tag, MPI_Comm handle, Sends& sends) {
  const Outgoing out = prepare(function, buffer, count, type, destination, tag, handle);
  const bool buffered = function == Function::Bsend || function == Function::Ibsend;
  const int code = buffered ? start_buffered(buffer, count, type, destination, tag, out.comm, sends)
                            : start_in_worlds(start, buffer, count, type, destination, tag, out.comm, sends);
  if (code == MPI_SUCCESS) announce(out);
  return code;
}

int start_in_all(Function function, StartSend start, const void* buffer, int count, MPI_Datatype type, int destination,
                 int tag, MPI_Comm handle, MPI_Request* request) {
  Sends sends;
  const int code = start_in_all(function, start, buffer, count, type, destination, tag, handle, sends);
  if (code == MPI_SUCCESS) *request = sends.size() == 1 ? sends.front() : follow_sends(std::move(sends)).visible;
  return code;
}

/// A send of any mode: `start` is MPI's non-blocking function of that mode.
int start_send(Function function, StartSend start, const void* buffer, int count, MPI_Datatype type, int destination,
               int tag, MPI_Comm comm, MPI_Request* request) {
  if (destination == MPI_PROC_NULL || !plausible_send(count, type, destination, tag, comm)) {
    return start(buffer, count, type, destination, tag, comm, request);
  }
  if (runtime().partial) return start_in_all(function, start, buffer, count, type, destination, tag, comm, request);
  const Outgoing out = prepare(function, buffer, count, type, destination, tag, comm);
  const int code = start(buffer, count, type, destination, tag, comm, request);
  if (code == MPI_SUCCESS) announce(out);
  return code;
}

int send(Function function, StartSend start, const void* buffer, int count, MPI_Datatype type, int destination, int tag,
         MPI_Comm comm) {
  if (runtime().partial && destination != MPI_PROC_NULL && plausible_send(count, type, destination, tag, comm)) {
    Sends sends;
    const int code = start_in_all(function, start, buffer, count, type, destination, tag, comm, sends);
    if (code == MPI_SUCCESS) wait_for(sends);
    return code;
  }
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = start_send(function, start, buffer, count, type, destination, tag, comm, &request);
  if (code == MPI_SUCCESS) wait_native(request);
  return code;
}

/// Elements that were packed before, which the receiver gets as what they were.
int start_packed(Function function, const std::vector<std::byte>& packed, int bytes, const Region& elements,
                 int destination, int tag, MPI_Comm handle, Sends& sends) {
  Comm& comm = runtime().comms.find(handle);
  const bool somewhere = destination != MPI_PROC_NULL;
  note_call(function, comm, destination, tag, static_cast<std::uint64_t>(bytes));
  if (somewhere) inject(elements, comm.virtual_rank(destination));
  int code = MPI_SUCCESS;
  if (runtime().partial && somewhere) {
    code = start_in_worlds(real().Isend, packed.data(), bytes, MPI_PACKED, destination, tag, comm, sends);
  } else {
    sends.emplace_back();
    code = real().Isend(packed.data(), bytes, MPI_PACKED, destination, tag, handle, &sends.back());
  }
  if (code == MPI_SUCCESS && somewhere && runtime().verifying) announce(elements, destination, tag, comm);
  return code;
}

int make_persistent_in_all(Function function, StartSend make, const void* buffer, int count, MPI_Datatype type,
                           int destination, int tag, MPI_Comm comm, MPI_Request* request) {
  Operation& op = runtime().requests.make();
  op.kind = Operation::Kind::persistent_send;
  op.advance = advance_send;
  op.function = function;
  op.use = Operation::Use::inactive;

  op.comm = &runtime().comms.find(comm);
  op.buffer = const_cast<void*>(buffer);
  op.count = count;
  op.type = type;
  op.region = Region::keep(buffer, static_cast<std::uint64_t>(count), type);
  op.source = destination;
  op.tag = tag;
  const int code = make_in_worlds(make, op);
  if (code != MPI_SUCCESS) {
    runtime().requests.drop(op);
    return code;
  }
  runtime().requests.hold_comm(op);
  runtime().requests.file(op);
  *request = op.visible;
  return code;
}

int make_persistent(Function function, StartSend make, const void* buffer, int count, MPI_Datatype type,
                    int destination, int tag, MPI_Comm comm, MPI_Request* request) {
  if (runtime().partial && destination != MPI_PROC_NULL && plausible_send(count, type, destination, tag, comm))
    return make_persistent_in_all(function, make, buffer, count, type, destination, tag, comm, request);
  const int code = make(buffer, count, type, destination, tag, comm, request);
  if (code != MPI_SUCCESS || destination == MPI_PROC_NULL) return code;
  Operation& op = runtime().requests.make();
  op.kind = Operation::Kind::persistent_send;
  op.advance = advance_send;
  op.function = function;
  op.use = Operation::Use::inactive;

  op.native = *request;
  op.comm = &runtime().comms.find(comm);
  op.region = Region::keep(buffer, static_cast<std::uint64_t>(count), type);
  op.source = destination;
  op.tag = tag;
  runtime().requests.hold_comm(op);
  runtime().requests.file(op);
  return code;
}

}  // namespace

int hook::Send(const void* b, int c, MPI_Datatype t, int d, int g, MPI_Comm m) {
  return send(Function::Send, real().Isend, b, c, t, d, g, m);
}
int hook::Bsend(const void* b, int c, MPI_Datatype t, int d, int g, MPI_Comm m) {
  return send(Function::Bsend, real().Ibsend, b, c, t, d, g, m);
}
int hook::Ssend(const void* b, int c, MPI_Datatype t, int d, int g, MPI_Comm m) {
  return send(Function::Ssend, real().Issend, b, c, t, d, g, m);
}
int hook::Rsend(const void* b, int c, MPI_Datatype t, int d, int g, MPI_Comm m) {
  return send(Function::Rsend, real().Isend, b, c, t, d, g, m);  // a follower's receive may be posted later
}
int hook::Isend(const void* b, int c, MPI_Datatype t, int d, int g, MPI_Comm m, MPI_Request* r) {
  return start_send(Function::Isend, real().Isend, b, c, t, d, g, m, r);
}
int hook::Ibsend(const void* b, int c, MPI_Datatype t, int d, int g, MPI_Comm m, MPI_Request* r) {
  return start_send(Function::Ibsend, real().Ibsend, b, c, t, d, g, m, r);
}
int hook::Issend(const void* b, int c, MPI_Datatype t, int d, int g, MPI_Comm m, MPI_Request* r) {
  return start_send(Function::Issend, real().Issend, b, c, t, d, g, m, r);
}
int hook::Irsend(const void* b, int c, MPI_Datatype t, int d, int g, MPI_Comm m, MPI_Request* r) {
  return start_send(Function::Irsend, real().Isend, b, c, t, d, g, m, r);
}
int hook::Send_init(const void* b, int c, MPI_Datatype t, int d, int g, MPI_Comm m, MPI_Request* r) {
  return make_persistent(Function::Send_init, real().Send_init, b, c, t, d, g, m, r);
}
int hook::Bsend_init(const void* b, int c, MPI_Datatype t, int d, int g, MPI_Comm m, MPI_Request* r) {
  return make_persistent(Function::Bsend_init, real().Bsend_init, b, c, t, d, g, m, r);
}
int hook::Ssend_init(const void* b, int c, MPI_Datatype t, int d, int g, MPI_Comm m, MPI_Request* r) {
  return make_persistent(Function::Ssend_init, real().Ssend_init, b, c, t, d, g, m, r);
}
int hook::Rsend_init(const void* b, int c, MPI_Datatype t, int d, int g, MPI_Comm m, MPI_Request* r) {
  return make_persistent(Function::Rsend_init, real().Send_init, b, c, t, d, g, m, r);
}

int hook::Sendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf,
                   int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status* status) {
  const bool sends = dest == MPI_PROC_NULL || plausible_send(sendcount, sendtype, dest, sendtag, comm);
  if (!sends || recvcount < 0 || recvtype == MPI_DATATYPE_NULL) {
    return real().Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag,
                           comm, status);
  }
  MPI_Request incoming = MPI_REQUEST_NULL;
  int code = Irecv(recvbuf, recvcount, recvtype, source, recvtag, comm, &incoming);
  if (code != MPI_SUCCESS) return code;
  code = Send(sendbuf, sendcount, sendtype, dest, sendtag, comm);
  const int received = Wait(&incoming, status);
  return code != MPI_SUCCESS ? code : received;
}

int hook::Sendrecv_replace(void* buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
                           MPI_Comm comm, MPI_Status* status) {
  if (dest != MPI_PROC_NULL && !plausible_send(count, datatype, dest, sendtag, comm)) {
    return real().Sendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm, status);
  }
  int space = 0;
  int code = real().Pack_size(count, datatype, comm, &space);
  if (code != MPI_SUCCESS) return code;
  std::vector<std::byte> copy(static_cast<std::size_t>(space));
  int packed = 0;
  pack(buf, count, datatype, copy.data(), space, &packed, comm);
  MPI_Request incoming = MPI_REQUEST_NULL;
  Sends outgoing;
  const Region elements = Region::packed(copy.data(), static_cast<std::uint64_t>(count), datatype);
  code = start_packed(Function::Sendrecv_replace, copy, packed, elements, dest, sendtag, comm, outgoing);
  if (code != MPI_SUCCESS) return code;
  code = Irecv(buf, count, datatype, source, recvtag, comm, &incoming);
  wait_for(outgoing);
  const int received = Wait(&incoming, status);
  return code != MPI_SUCCESS ? code : received;
}

#ifdef HOLDFAST_HAS_Isendrecv
namespace {

/// One request for both: the receive's, which then ends with the send.
int join(MPI_Request send, MPI_Request receive, MPI_Request* request, std::shared_ptr<void> keepalive) {
  Operation* op = runtime().requests.find(receive);
  if (!op) {  // from MPI_PROC_NULL: over already
    real().Wait(&receive, MPI_STATUS_IGNORE);
    *request = send;
    return MPI_SUCCESS;
  }
  op->companion = send;
  op->keepalive = std::move(keepalive);
  *request = receive;
  return MPI_SUCCESS;
}

}  // namespace

int hook::Isendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf,
                    int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                    MPI_Request* request) {
  MPI_Request receive = MPI_REQUEST_NULL;
  MPI_Request send = MPI_REQUEST_NULL;
  int code = Irecv(recvbuf, recvcount, recvtype, source, recvtag, comm, &receive);
  if (code != MPI_SUCCESS) return code;
  code = Isend(sendbuf, sendcount, sendtype, dest, sendtag, comm, &send);
  return code == MPI_SUCCESS ? join(send, receive, request, nullptr) : code;
}

int hook::Isendrecv_replace(void* buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
                            MPI_Comm comm, MPI_Request* request) {
  if (dest != MPI_PROC_NULL && !plausible_send(count, datatype, dest, sendtag, comm)) {
    return real().Isendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm, request);
  }
  int space = 0;
  int packed = 0;
  int code = real().Pack_size(count, datatype, comm, &space);
  if (code != MPI_SUCCESS) return code;
  auto copy = std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(space));
  pack(buf, count, datatype, copy->data(), space, &packed, comm);
  MPI_Request receive = MPI_REQUEST_NULL;
  MPI_Request send = MPI_REQUEST_NULL;
  Sends sends;
  const Region elements = Region::packed(copy->data(), static_cast<std::uint64_t>(count), datatype);
  code = start_packed(Function::Isendrecv_replace, *copy, packed, elements, dest, sendtag, comm, sends);
  if (code != MPI_SUCCESS) return code;
  send = sends.size() == 1 ? sends.front() : follow_sends(std::move(sends)).visible;
  code = Irecv(buf, count, datatype, source, recvtag, comm, &receive);
  if (source == MPI_PROC_NULL) hook::Wait(&send, MPI_STATUS_IGNORE);  // nothing else holds the copy
  return code == MPI_SUCCESS ? join(send, receive, request, copy) : code;
}
#endif

int hook::Start(MPI_Request* request) {
  Operation* op = runtime().requests.find(*request);
  if (!op || !op->persistent()) return real().Start(request);
  if (!op->idle() && !is_open_mpi()) {  // which takes it
    real().Comm_call_errhandler(protection.world, MPI_ERR_REQUEST);
    return MPI_ERR_REQUEST;
  }
  if (op->start) return op->start(*op);
  op->use = Operation::Use::active;
  if (op->kind == Operation::Kind::receive) {
    note_call(Function::Start, *op->comm, -1, 0, 0);
    if (!runtime().verifying) return real().Start(request);
    op->native = op->visible;
    op->corrected_bytes.reset();
    op->cancellation = Operation::Cancellation::none;
    op->stage = Operation::Stage::native;
    post_receive(*op, op->buffer, op->count, op->type, op->posted_source, op->posted_tag, *op->comm);
    return MPI_SUCCESS;
  }
  op->stage = Operation::Stage::native;
  note_call(Function::Start, *op->comm, op->source, op->tag, op->region.bytes());
  inject(op->region, op->comm->virtual_rank(op->source));
  const int code = start_made(*op);
  if (code == MPI_SUCCESS && runtime().verifying) announce(op->region, op->source, op->tag, *op->comm);
  return code;
}

int hook::Startall(int count, MPI_Request requests[]) {
  if (count < 0) return real().Startall(count, requests);
  for (int i = 0; i < count; ++i) {
    const int code = Start(&requests[i]);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

}  // namespace holdfast::replicate
