#include "replicate/mpi/pointtopoint/cross_world_send.h"

#include <climits>
#include <memory>
#include <string>
#include <utility>

#include "real_functions.h"
#include "replicate/mpi/context/failure.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/mpi/intercept/guard.h"
#include "replicate/mpi/pointtopoint/send.h"

namespace holdfast::replicate {

namespace {

/// How many processes play the rank at the other end.
int receivers_at(const Comm& comm, int destination) {
  return runtime().map->degree(comm.virtual_rank(destination));
}

int to_nobody(Comm& comm, int tag, Sends& sends) {
  sends.emplace_back();
  return real().Isend(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, tag, comm.handle, &sends.back());
}

/// A buffered send into other worlds than its own: of a copy of the library's, since the memory that the application
/// has attached is for one send.
void buffer_for_others(const void* buffer, int count, MPI_Datatype type, int destination, int tag, const Comm& comm) {
  const int receivers = receivers_at(comm, destination);
  if (comm.other_worlds.empty() || comm.other_worlds.front().world >= receivers) return;
  const Region region = Region::borrow(buffer, static_cast<std::uint64_t>(count), type);
  if (region.bytes() > INT_MAX)
    fail_unsupported("a buffered send of more than 2 GiB between ranks with different numbers of replicas",
                     "use MPI_Send, or the same number for all ranks");
  auto copy = std::make_shared<std::vector<std::byte>>();
  region.gather(region.bytes(), *copy);
  Sends others;
  for (const InWorld& other : comm.other_worlds) {
    if (other.world >= receivers) break;
    others.emplace_back();
    real().Isend(copy->data(), static_cast<int>(copy->size()), MPI_BYTE, destination, tag, other.handle,
                 &others.back());
  }
  Operation& op = follow_sends(std::move(others));
  op.keepalive = std::move(copy);
  runtime().requests.orphan(op);
}

}  // namespace

int start_in_worlds(StartSend start, const void* buffer, int count, MPI_Datatype type, int destination, int tag,
                    Comm& comm, Sends& sends) {
  const int receivers = receivers_at(comm, destination);
  if (runtime().replica >= receivers) return to_nobody(comm, tag, sends);
  sends.emplace_back();
  int code = start(buffer, count, type, destination, tag, comm.handle, &sends.back());
  for (const InWorld& other : comm.other_worlds) {
    if (code != MPI_SUCCESS || other.world >= receivers) break;
    sends.emplace_back();
    code = start(buffer, count, type, destination, tag, other.handle, &sends.back());
  }
  return code;
}

int start_buffered(const void* buffer, int count, MPI_Datatype type, int destination, int tag, Comm& comm,
                   Sends& sends) {
  if (runtime().replica >= receivers_at(comm, destination)) return to_nobody(comm, tag, sends);
  sends.emplace_back();
  const int code = real().Ibsend(buffer, count, type, destination, tag, comm.handle, &sends.back());
  if (code == MPI_SUCCESS) buffer_for_others(buffer, count, type, destination, tag, comm);
  return code;
}

int make_in_worlds(StartSend make, Operation& op) {
  const int receivers = receivers_at(*op.comm, op.source);
  const int destination = runtime().replica < receivers ? op.source : MPI_PROC_NULL;
  int code = make(op.buffer, op.count, op.type, destination, op.tag, op.comm->handle, &op.native);
  if (op.function == Function::Bsend_init) return code;
  for (const InWorld& other : op.comm->other_worlds) {
    if (code != MPI_SUCCESS || other.world >= receivers || destination == MPI_PROC_NULL) break;
    op.other_worlds.emplace_back();
    code = make(op.buffer, op.count, op.type, destination, op.tag, other.handle, &op.other_worlds.back());
  }
  return code;
}

int start_made(Operation& op) {
  const int code = real().Start(&op.native);
  if (code != MPI_SUCCESS) return code;
  if (!op.other_worlds.empty()) real().Startall(static_cast<int>(op.other_worlds.size()), op.other_worlds.data());
  if (op.function == Function::Bsend_init) buffer_for_others(op.buffer, op.count, op.type, op.source, op.tag, *op.comm);
  return code;
}

Operation& follow_sends(Sends sends) {
  Operation& op = runtime().requests.make();
  op.kind = Operation::Kind::send;
  op.advance = advance_send;
  op.native = sends.front();
  sends.erase(sends.begin());
  op.other_worlds = std::move(sends);
  runtime().requests.give_placeholder(op);  // MPI may use one handle for many sends that are over at once
  runtime().requests.file(op);
  return op;
}

bool all_done(Sends& sends) {
  int done = 0;
  real().Testall(static_cast<int>(sends.size()), sends.data(), &done, MPI_STATUSES_IGNORE);
  return done != 0;
}

void require_equal_degrees(Function function) {
  if (!runtime().partial) return;
  refuse(function, "ranks have different numbers of replicas here: give all the same with --replicas 2 or 3");
}

}  // namespace holdfast::replicate
