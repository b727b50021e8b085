#pragma once

#include "replicate/mpi/pointtopoint/operation.h"

namespace holdfast::replicate {

/// Before a send: flips bits of the buffer where the injector says so.
void inject(const Region& region, int destination_rank);
/// Reads the injector's faults from the options. Errors end the job.
void open_injector();

/// After the native send of a message was started: tells the receivers in the other replicas what it must be, by its
/// digest, to the next one or to all, or, under all-to-all, by a whole copy that the control channel owns.
void announce(const Region& region, int destination, int tag, Comm& comm);

bool advance_send(Operation& op);

/// Notes a call of the application: its history, and what the followers must hear before this process goes on.
void note_call(Function function, const Comm& comm, int peer, int tag, std::uint64_t bytes);

/// The same where replicas cannot agree on which thread makes the call: it counts for none.
void note_call_of_any_thread(Function function, const Comm& comm, int peer, int tag, std::uint64_t bytes);

/// The same for calls whose answer the leader publishes itself: polling ones do not end a run of "no".
void note_probe(Function function, const Comm& comm, int peer, int tag, bool blocking);

}  // namespace holdfast::replicate
