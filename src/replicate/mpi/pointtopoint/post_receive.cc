#include "replicate/mpi/pointtopoint/post_receive.h"

#include "real_functions.h"
#include "replicate/mpi/agree/decide.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/mpi/pointtopoint/receive.h"

namespace holdfast::replicate {

namespace {

void prepare(Operation& op, void* buffer, int count, MPI_Datatype type, Comm& comm) {
  op.kind = Operation::Kind::receive;
  op.advance = advance_receive;
  op.comm = &comm;
  ++comm.pending;
  op.region = Region::keep(buffer, static_cast<std::uint64_t>(count), type);
}

}  // namespace

void post_receive(Operation& op, void* buffer, int count, MPI_Datatype type, int source, int tag, Comm& comm) {
  prepare(op, buffer, count, type, comm);
  op.buffer = buffer;
  op.count = count;
  op.type = type;
  const bool wildcard = source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG;
  runtime().engine->post(op, comm.id, comm.order, engine_source(source), engine_tag(tag),
                         wildcard ? poster_of_wildcard() : 0);
}

void post_matched(Operation& op, void* buffer, int count, MPI_Datatype type, MPI_Message* message,
                  const MessageId& place, Comm& comm) {
  prepare(op, buffer, count, type, comm);
  runtime().engine->post_matched(op, place);
  real().Imrecv(buffer, count, type, message, &op.native);
}

}  // namespace holdfast::replicate
