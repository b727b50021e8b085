// Collectives: run by MPI in each replica's own world; below stands, for each, which memory goes in and which memory
// comes out at this rank (MPI 3.1, chapters 5 and 7).
#include "hooks.h"
#include "real_functions.h"
#include "replicate/mpi/collective/collective.h"
#include "replicate/mpi/collective/collective_memory.h"

namespace holdfast::replicate {

int hook::Barrier(MPI_Comm comm) {
  Collective call(Function::Barrier, comm);
  return call.run_polled([&](MPI_Request* r) { return real().Ibarrier(comm, r); }, [&] { return real().Barrier(comm); },
                         [&](Schedule& s) { algorithm::barrier(s); });
}
int hook::Ibarrier(MPI_Comm comm, MPI_Request* request) {
  Collective call(Function::Ibarrier, comm);
  return call.start(
      request, [&](MPI_Request* r) { return real().Ibarrier(comm, r); }, [&](Schedule& s) { algorithm::barrier(s); });
}

int hook::Allgather(const void* sb, int sc, MPI_Datatype st, void* rb, int rc, MPI_Datatype rt, MPI_Comm comm) {
  Collective call(Function::Allgather, comm);
  input_gathered(call, sb, sc, st, rb, rc, rt);
  call.output(rb, size_of(rc) * size_of(call.size()), rt, size_of(call.size()));
  return call.run([&] { return real().Allgather(sb, sc, st, rb, rc, rt, comm); },
                  [&](Schedule& s) { algorithm::allgather(s, sb, sc, st, rb, rc, rt); });
}
int hook::Iallgather(const void* sb, int sc, MPI_Datatype st, void* rb, int rc, MPI_Datatype rt, MPI_Comm comm,
                     MPI_Request* request) {
  Collective call(Function::Iallgather, comm);
  input_gathered(call, sb, sc, st, rb, rc, rt);
  call.output(rb, size_of(rc) * size_of(call.size()), rt, size_of(call.size()));
  return call.start(
      request, [&](MPI_Request* r) { return real().Iallgather(sb, sc, st, rb, rc, rt, comm, r); },
      [&](Schedule& s) { algorithm::allgather(s, sb, sc, st, rb, rc, rt); });
}

int hook::Allgatherv(const void* sb, int sc, MPI_Datatype st, void* rb, const int rc[], const int rd[], MPI_Datatype rt,
                     MPI_Comm comm) {
  Collective call(Function::Allgatherv, comm);
  input_gathered(call, sb, sc, st, rb, rc, rd, rt);
  call.outputs(rb, rc, rd, rt, call.size());
  return call.run([&] { return real().Allgatherv(sb, sc, st, rb, rc, rd, rt, comm); },
                  [&](Schedule& s) { algorithm::allgatherv(s, sb, sc, st, rb, rc, rd, rt); });
}
int hook::Iallgatherv(const void* sb, int sc, MPI_Datatype st, void* rb, const int rc[], const int rd[],
                      MPI_Datatype rt, MPI_Comm comm, MPI_Request* request) {
  Collective call(Function::Iallgatherv, comm);
  input_gathered(call, sb, sc, st, rb, rc, rd, rt);
  call.outputs(rb, rc, rd, rt, call.size());
  return call.start(
      request, [&](MPI_Request* r) { return real().Iallgatherv(sb, sc, st, rb, rc, rd, rt, comm, r); },
      [&](Schedule& s) { algorithm::allgatherv(s, sb, sc, st, rb, rc, rd, rt); });
}

int hook::Allreduce(const void* sb, void* rb, int c, MPI_Datatype t, MPI_Op op, MPI_Comm comm) {
  Collective call(Function::Allreduce, comm);
  call.operation(op);
  call.operand(sb, rb, size_of(c), t);
  call.output(rb, size_of(c), t, size_of(c));
  return call.reduce([&] { return real().Allreduce(sb, rb, c, t, op, comm); },
                     [&](Schedule& s) { algorithm::allreduce(s, sb, rb, c, t, op); }, true);
}
int hook::Iallreduce(const void* sb, void* rb, int c, MPI_Datatype t, MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  Collective call(Function::Iallreduce, comm);
  call.operation(op);
  call.input(sb == MPI_IN_PLACE ? rb : sb, size_of(c), t);
  call.output(rb, size_of(c), t, size_of(c));
  return call.start(
      request, [&](MPI_Request* r) { return real().Iallreduce(sb, rb, c, t, op, comm, r); },
      [&](Schedule& s) { algorithm::allreduce(s, sb, rb, c, t, op); });
}

int hook::Alltoall(const void* sb, int sc, MPI_Datatype st, void* rb, int rc, MPI_Datatype rt, MPI_Comm comm) {
  Collective call(Function::Alltoall, comm);
  input_exchanged(call, sb, sc, st, rb, rc, rt);
  call.output(rb, size_of(rc) * size_of(call.size()), rt, size_of(call.size()));
  return call.run([&] { return real().Alltoall(sb, sc, st, rb, rc, rt, comm); },
                  [&](Schedule& s) { algorithm::alltoall(s, sb, sc, st, rb, rc, rt); });
}
int hook::Ialltoall(const void* sb, int sc, MPI_Datatype st, void* rb, int rc, MPI_Datatype rt, MPI_Comm comm,
                    MPI_Request* request) {
  Collective call(Function::Ialltoall, comm);
  input_exchanged(call, sb, sc, st, rb, rc, rt);
  call.output(rb, size_of(rc) * size_of(call.size()), rt, size_of(call.size()));
  return call.start(
      request, [&](MPI_Request* r) { return real().Ialltoall(sb, sc, st, rb, rc, rt, comm, r); },
      [&](Schedule& s) { algorithm::alltoall(s, sb, sc, st, rb, rc, rt); });
}

int hook::Alltoallv(const void* sb, const int sc[], const int sd[], MPI_Datatype st, void* rb, const int rc[],
                    const int rd[], MPI_Datatype rt, MPI_Comm comm) {
  Collective call(Function::Alltoallv, comm);
  input_exchanged(call, sb, sc, sd, st, rb, rc, rd, rt);
  call.outputs(rb, rc, rd, rt, call.size());
  return call.run([&] { return real().Alltoallv(sb, sc, sd, st, rb, rc, rd, rt, comm); },
                  [&](Schedule& s) { algorithm::alltoallv(s, sb, sc, sd, st, rb, rc, rd, rt); });
}
int hook::Ialltoallv(const void* sb, const int sc[], const int sd[], MPI_Datatype st, void* rb, const int rc[],
                     const int rd[], MPI_Datatype rt, MPI_Comm comm, MPI_Request* request) {
  Collective call(Function::Ialltoallv, comm);
  input_exchanged(call, sb, sc, sd, st, rb, rc, rd, rt);
  call.outputs(rb, rc, rd, rt, call.size());
  return call.start(
      request, [&](MPI_Request* r) { return real().Ialltoallv(sb, sc, sd, st, rb, rc, rd, rt, comm, r); },
      [&](Schedule& s) { algorithm::alltoallv(s, sb, sc, sd, st, rb, rc, rd, rt); });
}

int hook::Alltoallw(const void* sb, const int sc[], const int sd[], const MPI_Datatype st[], void* rb, const int rc[],
                    const int rd[], const MPI_Datatype rt[], MPI_Comm comm) {
  Collective call(Function::Alltoallw, comm);
  input_exchanged(call, sb, sc, sd, st, rb, rc, rd, rt);
  outputs_each(call, rb, rc, rd, rt, call.size());
  return call.run([&] { return real().Alltoallw(sb, sc, sd, st, rb, rc, rd, rt, comm); },
                  [&](Schedule& s) { algorithm::alltoallw(s, sb, sc, sd, st, rb, rc, rd, rt); });
}
int hook::Ialltoallw(const void* sb, const int sc[], const int sd[], const MPI_Datatype st[], void* rb, const int rc[],
                     const int rd[], const MPI_Datatype rt[], MPI_Comm comm, MPI_Request* request) {
  Collective call(Function::Ialltoallw, comm);
  input_exchanged(call, sb, sc, sd, st, rb, rc, rd, rt);
  outputs_each(call, rb, rc, rd, rt, call.size());
  return call.start(
      request, [&](MPI_Request* r) { return real().Ialltoallw(sb, sc, sd, st, rb, rc, rd, rt, comm, r); },
      [&](Schedule& s) { algorithm::alltoallw(s, sb, sc, sd, st, rb, rc, rd, rt); });
}

int hook::Bcast(void* b, int c, MPI_Datatype t, int root, MPI_Comm comm) {
  Collective call(Function::Bcast, comm);
  if (call.is_root(root)) call.input(b, size_of(c), t);
  if (!call.idle_root(root)) call.output(b, size_of(c), t);  // the root's, too: what it gives away, it goes on with
  const auto blocking = [&] { return real().Bcast(b, c, t, root, comm); };
  const auto by_messages = [&](Schedule& s) { algorithm::broadcast(s, b, c, t, root); };
  if (!call.passed_on_whole(size_of(c), t)) return call.run(blocking, by_messages);
  return call.run_polled([&](MPI_Request* r) { return real().Ibcast(b, c, t, root, comm, r); }, blocking, by_messages);
}
int hook::Ibcast(void* b, int c, MPI_Datatype t, int root, MPI_Comm comm, MPI_Request* request) {
  Collective call(Function::Ibcast, comm);
  if (call.is_root(root)) call.input(b, size_of(c), t);
  if (!call.idle_root(root)) call.output(b, size_of(c), t);  // the root's, too: what it gives away, it goes on with
  return call.start(
      request, [&](MPI_Request* r) { return real().Ibcast(b, c, t, root, comm, r); },
      [&](Schedule& s) { algorithm::broadcast(s, b, c, t, root); });
}

int hook::Exscan(const void* sb, void* rb, int c, MPI_Datatype t, MPI_Op op, MPI_Comm comm) {
  Collective call(Function::Exscan, comm);
  call.within_one_group();
  call.operation(op);
  call.operand(sb, rb, size_of(c), t);
  if (call.comm().rank > 0) call.output(rb, size_of(c), t, size_of(c));
  return call.reduce([&] { return real().Exscan(sb, rb, c, t, op, comm); },
                     [&](Schedule& s) { algorithm::exscan(s, sb, rb, c, t, op); }, false);
}
int hook::Iexscan(const void* sb, void* rb, int c, MPI_Datatype t, MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  Collective call(Function::Iexscan, comm);
  call.within_one_group();
  call.operation(op);
  call.input(sb == MPI_IN_PLACE ? rb : sb, size_of(c), t);
  if (call.comm().rank > 0) call.output(rb, size_of(c), t, size_of(c));
  return call.start(
      request, [&](MPI_Request* r) { return real().Iexscan(sb, rb, c, t, op, comm, r); },
      [&](Schedule& s) { algorithm::exscan(s, sb, rb, c, t, op); });
}

int hook::Scan(const void* sb, void* rb, int c, MPI_Datatype t, MPI_Op op, MPI_Comm comm) {
  Collective call(Function::Scan, comm);
  call.within_one_group();
  call.operation(op);
  call.operand(sb, rb, size_of(c), t);
  call.output(rb, size_of(c), t, size_of(c));
  return call.reduce([&] { return real().Scan(sb, rb, c, t, op, comm); },
                     [&](Schedule& s) { algorithm::scan(s, sb, rb, c, t, op); }, false);
}
int hook::Iscan(const void* sb, void* rb, int c, MPI_Datatype t, MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  Collective call(Function::Iscan, comm);
  call.within_one_group();
  call.operation(op);
  call.input(sb == MPI_IN_PLACE ? rb : sb, size_of(c), t);
  call.output(rb, size_of(c), t, size_of(c));
  return call.start(
      request, [&](MPI_Request* r) { return real().Iscan(sb, rb, c, t, op, comm, r); },
      [&](Schedule& s) { algorithm::scan(s, sb, rb, c, t, op); });
}

int hook::Gather(const void* sb, int sc, MPI_Datatype st, void* rb, int rc, MPI_Datatype rt, int root, MPI_Comm comm) {
  Collective call(Function::Gather, comm);
  if (contributes(call, root)) input_gathered(call, sb, sc, st, rb, rc, rt);
  if (call.is_root(root)) call.output(rb, size_of(rc) * size_of(call.size()), rt, size_of(call.size()));
  return call.run_polled([&](MPI_Request* r) { return real().Igather(sb, sc, st, rb, rc, rt, root, comm, r); },
                         [&] { return real().Gather(sb, sc, st, rb, rc, rt, root, comm); },
                         [&](Schedule& s) { algorithm::gather(s, sb, sc, st, rb, rc, rt, root); });
}
int hook::Igather(const void* sb, int sc, MPI_Datatype st, void* rb, int rc, MPI_Datatype rt, int root, MPI_Comm comm,
                  MPI_Request* request) {
  Collective call(Function::Igather, comm);
  if (contributes(call, root)) input_gathered(call, sb, sc, st, rb, rc, rt);
  if (call.is_root(root)) call.output(rb, size_of(rc) * size_of(call.size()), rt, size_of(call.size()));
  return call.start(
      request, [&](MPI_Request* r) { return real().Igather(sb, sc, st, rb, rc, rt, root, comm, r); },
      [&](Schedule& s) { algorithm::gather(s, sb, sc, st, rb, rc, rt, root); });
}

int hook::Gatherv(const void* sb, int sc, MPI_Datatype st, void* rb, const int rc[], const int rd[], MPI_Datatype rt,
                  int root, MPI_Comm comm) {
  Collective call(Function::Gatherv, comm);
  if (contributes(call, root)) input_gathered(call, sb, sc, st, rb, rc, rd, rt);
  if (call.is_root(root)) call.outputs(rb, rc, rd, rt, call.size());
  return call.run_polled([&](MPI_Request* r) { return real().Igatherv(sb, sc, st, rb, rc, rd, rt, root, comm, r); },
                         [&] { return real().Gatherv(sb, sc, st, rb, rc, rd, rt, root, comm); },
                         [&](Schedule& s) { algorithm::gatherv(s, sb, sc, st, rb, rc, rd, rt, root); });
}
int hook::Igatherv(const void* sb, int sc, MPI_Datatype st, void* rb, const int rc[], const int rd[], MPI_Datatype rt,
                   int root, MPI_Comm comm, MPI_Request* request) {
  Collective call(Function::Igatherv, comm);
  if (contributes(call, root)) input_gathered(call, sb, sc, st, rb, rc, rd, rt);
  if (call.is_root(root)) call.outputs(rb, rc, rd, rt, call.size());
  return call.start(
      request, [&](MPI_Request* r) { return real().Igatherv(sb, sc, st, rb, rc, rd, rt, root, comm, r); },
      [&](Schedule& s) { algorithm::gatherv(s, sb, sc, st, rb, rc, rd, rt, root); });
}

int hook::Scatter(const void* sb, int sc, MPI_Datatype st, void* rb, int rc, MPI_Datatype rt, int root, MPI_Comm comm) {
  Collective call(Function::Scatter, comm);
  if (call.is_root(root)) call.input(sb, size_of(sc) * size_of(call.size()), st);
  if (receives(call, root)) call.output(rb, size_of(rc), rt);
  return call.run_polled([&](MPI_Request* r) { return real().Iscatter(sb, sc, st, rb, rc, rt, root, comm, r); },
                         [&] { return real().Scatter(sb, sc, st, rb, rc, rt, root, comm); },
                         [&](Schedule& s) { algorithm::scatter(s, sb, sc, st, rb, rc, rt, root); });
}
int hook::Iscatter(const void* sb, int sc, MPI_Datatype st, void* rb, int rc, MPI_Datatype rt, int root, MPI_Comm comm,
                   MPI_Request* request) {
  Collective call(Function::Iscatter, comm);
  if (call.is_root(root)) call.input(sb, size_of(sc) * size_of(call.size()), st);
  if (receives(call, root)) call.output(rb, size_of(rc), rt);
  return call.start(
      request, [&](MPI_Request* r) { return real().Iscatter(sb, sc, st, rb, rc, rt, root, comm, r); },
      [&](Schedule& s) { algorithm::scatter(s, sb, sc, st, rb, rc, rt, root); });
}

int hook::Scatterv(const void* sb, const int sc[], const int sd[], MPI_Datatype st, void* rb, int rc, MPI_Datatype rt,
                   int root, MPI_Comm comm) {
  Collective call(Function::Scatterv, comm);
  if (call.is_root(root)) input_block(call, sb, sc, sd, st);
  if (receives(call, root)) call.output(rb, size_of(rc), rt);
  return call.run_polled([&](MPI_Request* r) { return real().Iscatterv(sb, sc, sd, st, rb, rc, rt, root, comm, r); },
                         [&] { return real().Scatterv(sb, sc, sd, st, rb, rc, rt, root, comm); },
                         [&](Schedule& s) { algorithm::scatterv(s, sb, sc, sd, st, rb, rc, rt, root); });
}
int hook::Iscatterv(const void* sb, const int sc[], const int sd[], MPI_Datatype st, void* rb, int rc, MPI_Datatype rt,
                    int root, MPI_Comm comm, MPI_Request* request) {
  Collective call(Function::Iscatterv, comm);
  if (call.is_root(root)) input_block(call, sb, sc, sd, st);
  if (receives(call, root)) call.output(rb, size_of(rc), rt);
  return call.start(
      request, [&](MPI_Request* r) { return real().Iscatterv(sb, sc, sd, st, rb, rc, rt, root, comm, r); },
      [&](Schedule& s) { algorithm::scatterv(s, sb, sc, sd, st, rb, rc, rt, root); });
}

int hook::Reduce(const void* sb, void* rb, int c, MPI_Datatype t, MPI_Op op, int root, MPI_Comm comm) {
  Collective call(Function::Reduce, comm);
  call.operation(op);
  if (contributes(call, root)) call.operand(sb, rb, size_of(c), t);
  if (call.is_root(root)) call.output(rb, size_of(c), t, size_of(c));
  return call.reduce([&] { return real().Reduce(sb, rb, c, t, op, root, comm); },
                     [&](Schedule& s) { algorithm::reduce(s, sb, rb, c, t, op, root); }, false);
}
int hook::Ireduce(const void* sb, void* rb, int c, MPI_Datatype t, MPI_Op op, int root, MPI_Comm comm,
                  MPI_Request* request) {
  Collective call(Function::Ireduce, comm);
  call.operation(op);
  if (contributes(call, root)) call.input(sb == MPI_IN_PLACE ? rb : sb, size_of(c), t);
  if (call.is_root(root)) call.output(rb, size_of(c), t, size_of(c));
  return call.start(
      request, [&](MPI_Request* r) { return real().Ireduce(sb, rb, c, t, op, root, comm, r); },
      [&](Schedule& s) { algorithm::reduce(s, sb, rb, c, t, op, root); });
}

int hook::Reduce_scatter(const void* sb, void* rb, const int rc[], MPI_Datatype t, MPI_Op op, MPI_Comm comm) {
  Collective call(Function::Reduce_scatter, comm);
  call.operation(op);
  call.operand(sb, rb, sum(rc, call.comm().size), t);
  call.output(rb, size_of(rc[call.comm().rank]), t, size_of(rc[call.comm().rank]));
  return call.reduce([&] { return real().Reduce_scatter(sb, rb, rc, t, op, comm); },
                     [&](Schedule& s) { algorithm::reduce_scatter(s, sb, rb, rc, t, op); }, false);
}
int hook::Ireduce_scatter(const void* sb, void* rb, const int rc[], MPI_Datatype t, MPI_Op op, MPI_Comm comm,
                          MPI_Request* request) {
  Collective call(Function::Ireduce_scatter, comm);
  call.operation(op);
  call.input(sb == MPI_IN_PLACE ? rb : sb, sum(rc, call.comm().size), t);
  call.output(rb, size_of(rc[call.comm().rank]), t, size_of(rc[call.comm().rank]));
  return call.start(
      request, [&](MPI_Request* r) { return real().Ireduce_scatter(sb, rb, rc, t, op, comm, r); },
      [&](Schedule& s) { algorithm::reduce_scatter(s, sb, rb, rc, t, op); });
}

int hook::Reduce_scatter_block(const void* sb, void* rb, int rc, MPI_Datatype t, MPI_Op op, MPI_Comm comm) {
  Collective call(Function::Reduce_scatter_block, comm);
  call.operation(op);
  call.operand(sb, rb, size_of(rc) * size_of(call.comm().size), t);
  call.output(rb, size_of(rc), t, size_of(rc));
  return call.reduce([&] { return real().Reduce_scatter_block(sb, rb, rc, t, op, comm); },
                     [&](Schedule& s) { algorithm::reduce_scatter_block(s, sb, rb, rc, t, op); }, false);
}
int hook::Ireduce_scatter_block(const void* sb, void* rb, int rc, MPI_Datatype t, MPI_Op op, MPI_Comm comm,
                                MPI_Request* request) {
  Collective call(Function::Ireduce_scatter_block, comm);
  call.operation(op);
  call.input(sb == MPI_IN_PLACE ? rb : sb, size_of(rc) * size_of(call.comm().size), t);
  call.output(rb, size_of(rc), t, size_of(rc));
  return call.start(
      request, [&](MPI_Request* r) { return real().Ireduce_scatter_block(sb, rb, rc, t, op, comm, r); },
      [&](Schedule& s) { algorithm::reduce_scatter_block(s, sb, rb, rc, t, op); });
}

int hook::Neighbor_allgather(const void* sb, int sc, MPI_Datatype st, void* rb, int rc, MPI_Datatype rt,
                             MPI_Comm comm) {
  Collective call(Function::Neighbor_allgather, comm);
  call.input(sb, size_of(sc), st);
  from_neighbours(call, rb, rc, rt);
  return call.run([&] { return real().Neighbor_allgather(sb, sc, st, rb, rc, rt, comm); },
                  [&](Schedule& s) { algorithm::neighbor_allgather(s, sb, sc, st, rb, rc, rt); });
}
int hook::Ineighbor_allgather(const void* sb, int sc, MPI_Datatype st, void* rb, int rc, MPI_Datatype rt, MPI_Comm comm,
                              MPI_Request* request) {
  Collective call(Function::Ineighbor_allgather, comm);
  call.input(sb, size_of(sc), st);
  from_neighbours(call, rb, rc, rt);
  return call.start(
      request, [&](MPI_Request* r) { return real().Ineighbor_allgather(sb, sc, st, rb, rc, rt, comm, r); },
      [&](Schedule& s) { algorithm::neighbor_allgather(s, sb, sc, st, rb, rc, rt); });
}

int hook::Neighbor_allgatherv(const void* sb, int sc, MPI_Datatype st, void* rb, const int rc[], const int rd[],
                              MPI_Datatype rt, MPI_Comm comm) {
  Collective call(Function::Neighbor_allgatherv, comm);
  call.input(sb, size_of(sc), st);
  from_neighbours(call, rb, rc, rd, rt);
  return call.run([&] { return real().Neighbor_allgatherv(sb, sc, st, rb, rc, rd, rt, comm); },
                  [&](Schedule& s) { algorithm::neighbor_allgatherv(s, sb, sc, st, rb, rc, rd, rt); });
}
int hook::Ineighbor_allgatherv(const void* sb, int sc, MPI_Datatype st, void* rb, const int rc[], const int rd[],
                               MPI_Datatype rt, MPI_Comm comm, MPI_Request* request) {
  Collective call(Function::Ineighbor_allgatherv, comm);
  call.input(sb, size_of(sc), st);
  from_neighbours(call, rb, rc, rd, rt);
  return call.start(
      request, [&](MPI_Request* r) { return real().Ineighbor_allgatherv(sb, sc, st, rb, rc, rd, rt, comm, r); },
      [&](Schedule& s) { algorithm::neighbor_allgatherv(s, sb, sc, st, rb, rc, rd, rt); });
}

int hook::Neighbor_alltoall(const void* sb, int sc, MPI_Datatype st, void* rb, int rc, MPI_Datatype rt, MPI_Comm comm) {
  Collective call(Function::Neighbor_alltoall, comm);
  to_neighbours(call, sb, sc, st);
  from_neighbours(call, rb, rc, rt);
  return call.run([&] { return real().Neighbor_alltoall(sb, sc, st, rb, rc, rt, comm); },
                  [&](Schedule& s) { algorithm::neighbor_alltoall(s, sb, sc, st, rb, rc, rt); });
}
int hook::Ineighbor_alltoall(const void* sb, int sc, MPI_Datatype st, void* rb, int rc, MPI_Datatype rt, MPI_Comm comm,
                             MPI_Request* request) {
  Collective call(Function::Ineighbor_alltoall, comm);
  to_neighbours(call, sb, sc, st);
  from_neighbours(call, rb, rc, rt);
  return call.start(
      request, [&](MPI_Request* r) { return real().Ineighbor_alltoall(sb, sc, st, rb, rc, rt, comm, r); },
      [&](Schedule& s) { algorithm::neighbor_alltoall(s, sb, sc, st, rb, rc, rt); });
}

int hook::Neighbor_alltoallv(const void* sb, const int sc[], const int sd[], MPI_Datatype st, void* rb, const int rc[],
                             const int rd[], MPI_Datatype rt, MPI_Comm comm) {
  Collective call(Function::Neighbor_alltoallv, comm);
  to_neighbours(call, sb, sc, sd, st);
  from_neighbours(call, rb, rc, rd, rt);
  return call.run([&] { return real().Neighbor_alltoallv(sb, sc, sd, st, rb, rc, rd, rt, comm); },
                  [&](Schedule& s) { algorithm::neighbor_alltoallv(s, sb, sc, sd, st, rb, rc, rd, rt); });
}
int hook::Ineighbor_alltoallv(const void* sb, const int sc[], const int sd[], MPI_Datatype st, void* rb, const int rc[],
                              const int rd[], MPI_Datatype rt, MPI_Comm comm, MPI_Request* request) {
  Collective call(Function::Ineighbor_alltoallv, comm);
  to_neighbours(call, sb, sc, sd, st);
  from_neighbours(call, rb, rc, rd, rt);
  return call.start(
      request, [&](MPI_Request* r) { return real().Ineighbor_alltoallv(sb, sc, sd, st, rb, rc, rd, rt, comm, r); },
      [&](Schedule& s) { algorithm::neighbor_alltoallv(s, sb, sc, sd, st, rb, rc, rd, rt); });
}

int hook::Neighbor_alltoallw(const void* sb, const int sc[], const MPI_Aint sd[], const MPI_Datatype st[], void* rb,
                             const int rc[], const MPI_Aint rd[], const MPI_Datatype rt[], MPI_Comm comm) {
  Collective call(Function::Neighbor_alltoallw, comm);
  to_neighbours(call, sb, sc, sd, st);
  from_neighbours(call, rb, rc, rd, rt);
  return call.run([&] { return real().Neighbor_alltoallw(sb, sc, sd, st, rb, rc, rd, rt, comm); },
                  [&](Schedule& s) { algorithm::neighbor_alltoallw(s, sb, sc, sd, st, rb, rc, rd, rt); });
}
int hook::Ineighbor_alltoallw(const void* sb, const int sc[], const MPI_Aint sd[], const MPI_Datatype st[], void* rb,
                              const int rc[], const MPI_Aint rd[], const MPI_Datatype rt[], MPI_Comm comm,
                              MPI_Request* request) {
  Collective call(Function::Ineighbor_alltoallw, comm);
  to_neighbours(call, sb, sc, sd, st);
  from_neighbours(call, rb, rc, rd, rt);
  return call.start(
      request, [&](MPI_Request* r) { return real().Ineighbor_alltoallw(sb, sc, sd, st, rb, rc, rd, rt, comm, r); },
      [&](Schedule& s) { algorithm::neighbor_alltoallw(s, sb, sc, sd, st, rb, rc, rd, rt); });
}

}  // namespace holdfast::replicate
