// Persistent collectives (MPI 4.0, section 6.13): MPI_X_init, or MPIX_X_init in Open MPI 4.1. As in
// hooks_collective.cc, each says which memory goes in and which comes out; what came out is compared at each
// completion.
#include "hooks.h"
#include "real_functions.h"
#include "replicate/mpi/collective/collective.h"
#include "replicate/mpi/collective/collective_memory.h"

#ifdef HOLDFAST_HAS_X_Allreduce_init
#define PERSISTENT(name) X_##name##_init
#else
#define PERSISTENT(name) name##_init
#endif

namespace holdfast::replicate {

int hook::PERSISTENT(Barrier)(MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  Collective call(Function::PERSISTENT(Barrier), comm, Collective::Kind::persistent);
  return call.make_persistent(
      request, [&](MPI_Request* r) { return real().PERSISTENT(Barrier)(comm, info, r); },
      [&](Schedule& s) { algorithm::barrier(s); });
}

int hook::PERSISTENT(Allgather)(const void* sb, int sc, MPI_Datatype st, void* rb, int rc, MPI_Datatype rt,
                                MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  Collective call(Function::PERSISTENT(Allgather), comm, Collective::Kind::persistent);
  input_gathered(call, sb, sc, st, rb, rc, rt);
  call.output(rb, size_of(rc) * size_of(call.size()), rt, size_of(call.size()));
  return call.make_persistent(
      request, [&](MPI_Request* r) { return real().PERSISTENT(Allgather)(sb, sc, st, rb, rc, rt, comm, info, r); },
      [&](Schedule& s) { algorithm::allgather(s, sb, sc, st, rb, rc, rt); });
}

int hook::PERSISTENT(Allgatherv)(const void* sb, int sc, MPI_Datatype st, void* rb, const int rc[], const int rd[],
                                 MPI_Datatype rt, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  Collective call(Function::PERSISTENT(Allgatherv), comm, Collective::Kind::persistent);
  input_gathered(call, sb, sc, st, rb, rc, rd, rt);
  call.outputs(rb, rc, rd, rt, call.size());
  return call.make_persistent(
      request, [&](MPI_Request* r) { return real().PERSISTENT(Allgatherv)(sb, sc, st, rb, rc, rd, rt, comm, info, r); },
      [&](Schedule& s) { algorithm::allgatherv(s, sb, sc, st, rb, rc, rd, rt); });
}

int hook::PERSISTENT(Allreduce)(const void* sb, void* rb, int c, MPI_Datatype t, MPI_Op op, MPI_Comm comm,
                                MPI_Info info, MPI_Request* request) {
  Collective call(Function::PERSISTENT(Allreduce), comm, Collective::Kind::persistent);
  call.operation(op);
  call.input(sb == MPI_IN_PLACE ? rb : sb, size_of(c), t);
  call.output(rb, size_of(c), t, size_of(c));
  return call.make_persistent(
      request, [&](MPI_Request* r) { return real().PERSISTENT(Allreduce)(sb, rb, c, t, op, comm, info, r); },
      [&](Schedule& s) { algorithm::allreduce(s, sb, rb, c, t, op); });
}

int hook::PERSISTENT(Alltoall)(const void* sb, int sc, MPI_Datatype st, void* rb, int rc, MPI_Datatype rt,
                               MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  Collective call(Function::PERSISTENT(Alltoall), comm, Collective::Kind::persistent);
  input_exchanged(call, sb, sc, st, rb, rc, rt);
  call.output(rb, size_of(rc) * size_of(call.size()), rt, size_of(call.size()));
  return call.make_persistent(
      request, [&](MPI_Request* r) { return real().PERSISTENT(Alltoall)(sb, sc, st, rb, rc, rt, comm, info, r); },
      [&](Schedule& s) { algorithm::alltoall(s, sb, sc, st, rb, rc, rt); });
}

int hook::PERSISTENT(Alltoallv)(const void* sb, const int sc[], const int sd[], MPI_Datatype st, void* rb,
                                const int rc[], const int rd[], MPI_Datatype rt, MPI_Comm comm, MPI_Info info,
                                MPI_Request* request) {
  Collective call(Function::PERSISTENT(Alltoallv), comm, Collective::Kind::persistent);
  input_exchanged(call, sb, sc, sd, st, rb, rc, rd, rt);
  call.outputs(rb, rc, rd, rt, call.size());
  return call.make_persistent(
      request,
      [&](MPI_Request* r) { return real().PERSISTENT(Alltoallv)(sb, sc, sd, st, rb, rc, rd, rt, comm, info, r); },
      [&](Schedule& s) { algorithm::alltoallv(s, sb, sc, sd, st, rb, rc, rd, rt); });
}

int hook::PERSISTENT(Alltoallw)(const void* sb, const int sc[], const int sd[], const MPI_Datatype st[], void* rb,
                                const int rc[], const int rd[], const MPI_Datatype rt[], MPI_Comm comm, MPI_Info info,
                                MPI_Request* request) {
  Collective call(Function::PERSISTENT(Alltoallw), comm, Collective::Kind::persistent);
  input_exchanged(call, sb, sc, sd, st, rb, rc, rd, rt);
  outputs_each(call, rb, rc, rd, rt, call.size());
  return call.make_persistent(
      request,
      [&](MPI_Request* r) { return real().PERSISTENT(Alltoallw)(sb, sc, sd, st, rb, rc, rd, rt, comm, info, r); },
      [&](Schedule& s) { algorithm::alltoallw(s, sb, sc, sd, st, rb, rc, rd, rt); });
}

int hook::PERSISTENT(Bcast)(void* b, int c, MPI_Datatype t, int root, MPI_Comm comm, MPI_Info info,
                            MPI_Request* request) {
  Collective call(Function::PERSISTENT(Bcast), comm, Collective::Kind::persistent);
  if (call.is_root(root)) call.input(b, size_of(c), t);
  if (!call.idle_root(root)) call.output(b, size_of(c), t);  // the root's, too: what it gives away, it goes on with
  return call.make_persistent(
      request, [&](MPI_Request* r) { return real().PERSISTENT(Bcast)(b, c, t, root, comm, info, r); },
      [&](Schedule& s) { algorithm::broadcast(s, b, c, t, root); });
}

int hook::PERSISTENT(Exscan)(const void* sb, void* rb, int c, MPI_Datatype t, MPI_Op op, MPI_Comm comm, MPI_Info info,
                             MPI_Request* request) {
  Collective call(Function::PERSISTENT(Exscan), comm, Collective::Kind::persistent);
  call.within_one_group();
  call.operation(op);
  call.input(sb == MPI_IN_PLACE ? rb : sb, size_of(c), t);
  if (call.comm().rank > 0) call.output(rb, size_of(c), t, size_of(c));
  return call.make_persistent(
      request, [&](MPI_Request* r) { return real().PERSISTENT(Exscan)(sb, rb, c, t, op, comm, info, r); },
      [&](Schedule& s) { algorithm::exscan(s, sb, rb, c, t, op); });
}

int hook::PERSISTENT(Scan)(const void* sb, void* rb, int c, MPI_Datatype t, MPI_Op op, MPI_Comm comm, MPI_Info info,
                           MPI_Request* request) {
  Collective call(Function::PERSISTENT(Scan), comm, Collective::Kind::persistent);
  call.within_one_group();
  call.operation(op);
  call.input(sb == MPI_IN_PLACE ? rb : sb, size_of(c), t);
  call.output(rb, size_of(c), t, size_of(c));
  return call.make_persistent(
      request, [&](MPI_Request* r) { return real().PERSISTENT(Scan)(sb, rb, c, t, op, comm, info, r); },
      [&](Schedule& s) { algorithm::scan(s, sb, rb, c, t, op); });
}

int hook::PERSISTENT(Gather)(const void* sb, int sc, MPI_Datatype st, void* rb, int rc, MPI_Datatype rt, int root,
                             MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  Collective call(Function::PERSISTENT(Gather), comm, Collective::Kind::persistent);
  if (contributes(call, root)) input_gathered(call, sb, sc, st, rb, rc, rt);
  if (call.is_root(root)) call.output(rb, size_of(rc) * size_of(call.size()), rt, size_of(call.size()));
  return call.make_persistent(
      request, [&](MPI_Request* r) { return real().PERSISTENT(Gather)(sb, sc, st, rb, rc, rt, root, comm, info, r); },
      [&](Schedule& s) { algorithm::gather(s, sb, sc, st, rb, rc, rt, root); });
}

int hook::PERSISTENT(Gatherv)(const void* sb, int sc, MPI_Datatype st, void* rb, const int rc[], const int rd[],
                              MPI_Datatype rt, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  Collective call(Function::PERSISTENT(Gatherv), comm, Collective::Kind::persistent);
  if (contributes(call, root)) input_gathered(call, sb, sc, st, rb, rc, rd, rt);
  if (call.is_root(root)) call.outputs(rb, rc, rd, rt, call.size());
  return call.make_persistent(
      request,
      [&](MPI_Request* r) { return real().PERSISTENT(Gatherv)(sb, sc, st, rb, rc, rd, rt, root, comm, info, r); },
      [&](Schedule& s) { algorithm::gatherv(s, sb, sc, st, rb, rc, rd, rt, root); });
}

int hook::PERSISTENT(Scatter)(const void* sb, int sc, MPI_Datatype st, void* rb, int rc, MPI_Datatype rt, int root,
                              MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  Collective call(Function::PERSISTENT(Scatter), comm, Collective::Kind::persistent);
  if (call.is_root(root)) call.input(sb, size_of(sc) * size_of(call.size()), st);
  if (receives(call, root)) call.output(rb, size_of(rc), rt);
  return call.make_persistent(
      request, [&](MPI_Request* r) { return real().PERSISTENT(Scatter)(sb, sc, st, rb, rc, rt, root, comm, info, r); },
      [&](Schedule& s) { algorithm::scatter(s, sb, sc, st, rb, rc, rt, root); });
}

int hook::PERSISTENT(Scatterv)(const void* sb, const int sc[], const int sd[], MPI_Datatype st, void* rb, int rc,
                               MPI_Datatype rt, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  Collective call(Function::PERSISTENT(Scatterv), comm, Collective::Kind::persistent);
  if (call.is_root(root)) input_block(call, sb, sc, sd, st);
  if (receives(call, root)) call.output(rb, size_of(rc), rt);
  return call.make_persistent(
      request,
      [&](MPI_Request* r) { return real().PERSISTENT(Scatterv)(sb, sc, sd, st, rb, rc, rt, root, comm, info, r); },
      [&](Schedule& s) { algorithm::scatterv(s, sb, sc, sd, st, rb, rc, rt, root); });
}

int hook::PERSISTENT(Reduce)(const void* sb, void* rb, int c, MPI_Datatype t, MPI_Op op, int root, MPI_Comm comm,
                             MPI_Info info, MPI_Request* request) {
  Collective call(Function::PERSISTENT(Reduce), comm, Collective::Kind::persistent);
  call.operation(op);
  if (contributes(call, root)) call.input(sb == MPI_IN_PLACE ? rb : sb, size_of(c), t);
  if (call.is_root(root)) call.output(rb, size_of(c), t, size_of(c));
  return call.make_persistent(
      request, [&](MPI_Request* r) { return real().PERSISTENT(Reduce)(sb, rb, c, t, op, root, comm, info, r); },
      [&](Schedule& s) { algorithm::reduce(s, sb, rb, c, t, op, root); });
}

int hook::PERSISTENT(Reduce_scatter)(const void* sb, void* rb, const int rc[], MPI_Datatype t, MPI_Op op, MPI_Comm comm,
                                     MPI_Info info, MPI_Request* request) {
  Collective call(Function::PERSISTENT(Reduce_scatter), comm, Collective::Kind::persistent);
  call.operation(op);
  call.input(sb == MPI_IN_PLACE ? rb : sb, sum(rc, call.comm().size), t);
  call.output(rb, size_of(rc[call.comm().rank]), t, size_of(rc[call.comm().rank]));
  return call.make_persistent(
      request, [&](MPI_Request* r) { return real().PERSISTENT(Reduce_scatter)(sb, rb, rc, t, op, comm, info, r); },
      [&](Schedule& s) { algorithm::reduce_scatter(s, sb, rb, rc, t, op); });
}

int hook::PERSISTENT(Reduce_scatter_block)(const void* sb, void* rb, int rc, MPI_Datatype t, MPI_Op op, MPI_Comm comm,
                                           MPI_Info info, MPI_Request* request) {
  Collective call(Function::PERSISTENT(Reduce_scatter_block), comm, Collective::Kind::persistent);
  call.operation(op);
  call.input(sb == MPI_IN_PLACE ? rb : sb, size_of(rc) * size_of(call.comm().size), t);
  call.output(rb, size_of(rc), t, size_of(rc));
  return call.make_persistent(
      request,
      [&](MPI_Request* r) { return real().PERSISTENT(Reduce_scatter_block)(sb, rb, rc, t, op, comm, info, r); },
      [&](Schedule& s) { algorithm::reduce_scatter_block(s, sb, rb, rc, t, op); });
}

int hook::PERSISTENT(Neighbor_allgather)(const void* sb, int sc, MPI_Datatype st, void* rb, int rc, MPI_Datatype rt,
                                         MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  Collective call(Function::PERSISTENT(Neighbor_allgather), comm, Collective::Kind::persistent);
  call.input(sb, size_of(sc), st);
  from_neighbours(call, rb, rc, rt);
  return call.make_persistent(
      request,
      [&](MPI_Request* r) { return real().PERSISTENT(Neighbor_allgather)(sb, sc, st, rb, rc, rt, comm, info, r); },
      [&](Schedule& s) { algorithm::neighbor_allgather(s, sb, sc, st, rb, rc, rt); });
}

int hook::PERSISTENT(Neighbor_allgatherv)(const void* sb, int sc, MPI_Datatype st, void* rb, const int rc[],
                                          const int rd[], MPI_Datatype rt, MPI_Comm comm, MPI_Info info,
                                          MPI_Request* request) {
  Collective call(Function::PERSISTENT(Neighbor_allgatherv), comm, Collective::Kind::persistent);
  call.input(sb, size_of(sc), st);
  from_neighbours(call, rb, rc, rd, rt);
  return call.make_persistent(
      request,
      [&](MPI_Request* r) { return real().PERSISTENT(Neighbor_allgatherv)(sb, sc, st, rb, rc, rd, rt, comm, info, r); },
      [&](Schedule& s) { algorithm::neighbor_allgatherv(s, sb, sc, st, rb, rc, rd, rt); });
}

int hook::PERSISTENT(Neighbor_alltoall)(const void* sb, int sc, MPI_Datatype st, void* rb, int rc, MPI_Datatype rt,
                                        MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  Collective call(Function::PERSISTENT(Neighbor_alltoall), comm, Collective::Kind::persistent);
  to_neighbours(call, sb, sc, st);
  from_neighbours(call, rb, rc, rt);
  return call.make_persistent(
      request,
      [&](MPI_Request* r) { return real().PERSISTENT(Neighbor_alltoall)(sb, sc, st, rb, rc, rt, comm, info, r); },
      [&](Schedule& s) { algorithm::neighbor_alltoall(s, sb, sc, st, rb, rc, rt); });
}

int hook::PERSISTENT(Neighbor_alltoallv)(const void* sb, const int sc[], const int sd[], MPI_Datatype st, void* rb,
                                         const int rc[], const int rd[], MPI_Datatype rt, MPI_Comm comm, MPI_Info info,
                                         MPI_Request* request) {
  Collective call(Function::PERSISTENT(Neighbor_alltoallv), comm, Collective::Kind::persistent);
  to_neighbours(call, sb, sc, sd, st);
  from_neighbours(call, rb, rc, rd, rt);
  return call.make_persistent(
      request,
      [&](MPI_Request* r) {
        return real().PERSISTENT(Neighbor_alltoallv)(sb, sc, sd, st, rb, rc, rd, rt, comm, info, r);
      },
      [&](Schedule& s) { algorithm::neighbor_alltoallv(s, sb, sc, sd, st, rb, rc, rd, rt); });
}

int hook::PERSISTENT(Neighbor_alltoallw)(const void* sb, const int sc[], const MPI_Aint sd[], const MPI_Datatype st[],
                                         void* rb, const int rc[], const MPI_Aint rd[], const MPI_Datatype rt[],
                                         MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  Collective call(Function::PERSISTENT(Neighbor_alltoallw), comm, Collective::Kind::persistent);
  to_neighbours(call, sb, sc, sd, st);
  from_neighbours(call, rb, rc, rd, rt);
  return call.make_persistent(
      request,
      [&](MPI_Request* r) {
        return real().PERSISTENT(Neighbor_alltoallw)(sb, sc, sd, st, rb, rc, rd, rt, comm, info, r);
      },
      [&](Schedule& s) { algorithm::neighbor_alltoallw(s, sb, sc, sd, st, rb, rc, rd, rt); });
}

}  // namespace holdfast::replicate
