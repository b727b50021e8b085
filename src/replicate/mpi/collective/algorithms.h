#pragma once

#include "replicate/mpi/collective/schedule.h"

/// Collectives as schedules of point-to-point messages. Arguments are those of the MPI functions (MPI 3.1, chapter 5),
/// MPI_IN_PLACE included on intracommunicators. On intercommunicators (section 5.2.2), which have no scans, all that
/// has to cross goes directly between two ranks, in one round. Which messages travel, and in which order operands are
/// combined, depends on the ranks, the number of ranks and the counts alone, never on hosts or timing: every replica
/// gets the same bits from a reduction. Operands are combined in the order of ranks, as MPI asks where an operation
/// does not commute.
namespace holdfast::replicate::algorithm {

/// Dissemination: ceil(log2 n) rounds.
void barrier(Schedule& schedule);
/// Binomial tree.
void broadcast(Schedule& schedule, void* buffer, int count, MPI_Datatype type, int root);
/// Directly between each rank and the root, in one round.
void gather(Schedule& schedule, const void* sb, int sc, MPI_Datatype st, void* rb, int rc, MPI_Datatype rt, int root);
void gatherv(Schedule& schedule, const void* sb, int sc, MPI_Datatype st, void* rb, const int rc[], const int rd[],
             MPI_Datatype rt, int root);
void scatter(Schedule& schedule, const void* sb, int sc, MPI_Datatype st, void* rb, int rc, MPI_Datatype rt, int root);
void scatterv(Schedule& schedule, const void* sb, const int sc[], const int sd[], MPI_Datatype st, void* rb, int rc,
              MPI_Datatype rt, int root);
/// Directly between all pairs, in one round.
void allgather(Schedule& schedule, const void* sb, int sc, MPI_Datatype st, void* rb, int rc, MPI_Datatype rt);
void allgatherv(Schedule& schedule, const void* sb, int sc, MPI_Datatype st, void* rb, const int rc[], const int rd[],
                MPI_Datatype rt);
void alltoall(Schedule& schedule, const void* sb, int sc, MPI_Datatype st, void* rb, int rc, MPI_Datatype rt);
void alltoallv(Schedule& schedule, const void* sb, const int sc[], const int sd[], MPI_Datatype st, void* rb,
               const int rc[], const int rd[], MPI_Datatype rt);
/// Displacements in bytes.
void alltoallw(Schedule& schedule, const void* sb, const int sc[], const int sd[], const MPI_Datatype st[], void* rb,
               const int rc[], const int rd[], const MPI_Datatype rt[]);
/// Binomial tree to rank 0, and one message from there to another root.
void reduce(Schedule& schedule, const void* sb, void* rb, int count, MPI_Datatype type, MPI_Op op, int root);
/// Recursive doubling where the number of ranks is a power of two, else reduction and broadcast.
void allreduce(Schedule& schedule, const void* sb, void* rb, int count, MPI_Datatype type, MPI_Op op);
/// Reduction to rank 0 and a scatter.
void reduce_scatter(Schedule& schedule, const void* sb, void* rb, const int counts[], MPI_Datatype type, MPI_Op op);
void reduce_scatter_block(Schedule& schedule, const void* sb, void* rb, int count, MPI_Datatype type, MPI_Op op);
/// A chain through the ranks.
void scan(Schedule& schedule, const void* sb, void* rb, int count, MPI_Datatype type, MPI_Op op);
void exscan(Schedule& schedule, const void* sb, void* rb, int count, MPI_Datatype type, MPI_Op op);

/// Between topology neighbours (MPI 3.1, section 7.6): directly, in one round.
void neighbor_allgather(Schedule& schedule, const void* sb, int sc, MPI_Datatype st, void* rb, int rc, MPI_Datatype rt);
void neighbor_allgatherv(Schedule& schedule, const void* sb, int sc, MPI_Datatype st, void* rb, const int rc[],
                         const int rd[], MPI_Datatype rt);
void neighbor_alltoall(Schedule& schedule, const void* sb, int sc, MPI_Datatype st, void* rb, int rc, MPI_Datatype rt);
void neighbor_alltoallv(Schedule& schedule, const void* sb, const int sc[], const int sd[], MPI_Datatype st, void* rb,
                        const int rc[], const int rd[], MPI_Datatype rt);
/// Displacements in bytes.
void neighbor_alltoallw(Schedule& schedule, const void* sb, const int sc[], const MPI_Aint sd[],
                        const MPI_Datatype st[], void* rb, const int rc[], const MPI_Aint rd[],
                        const MPI_Datatype rt[]);

}  // namespace holdfast::replicate::algorithm
