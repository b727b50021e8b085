#pragma once

#include <mpi.h>

#include <vector>

#include "functions.h"
#include "replicate/mpi/pointtopoint/operation.h"

namespace holdfast::replicate {

/// What is different where ranks have different numbers of replicas (docs/design/partial-replication.md): a rank with
/// fewer than others is played in several worlds by one process, which gives its messages to the receivers of each.

/// MPI's non-blocking send of some mode.
using StartSend = int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
/// The sends of one message, by world; at least one, which may be a send to nobody.
using Sends = std::vector<MPI_Request>;

/// Starts one message in all worlds in which this process gives it to a receiver. After an error of MPI, nothing is
/// started.
int start_in_worlds(StartSend start, const void* buffer, int count, MPI_Datatype type, int destination, int tag,
                    Comm& comm, Sends& sends);
/// The same for a buffered send: into other worlds than its own goes a copy of the library's, since the memory that the
/// application has attached is for one send.
int start_buffered(const void* buffer, int count, MPI_Datatype type, int destination, int tag, Comm& comm,
                   Sends& sends);
/// Makes a persistent send of `op` in all those worlds; `make` is MPI's function of its mode. A buffered one (`op` says
/// by its function) is made in its own world.
int make_in_worlds(StartSend make, Operation& op);
/// Starts it there; of a buffered one copies go into the other worlds, as start_buffered() sends them.
int start_made(Operation& op);
/// An operation of the application that ends with all sends, which are several.
Operation& follow_sends(Sends sends);
/// Whether all are done; frees them.
bool all_done(Sends& sends);

/// Ends the job where ranks have different numbers of replicas: the function is not protected then.
void require_equal_degrees(Function function);

}  // namespace holdfast::replicate
