#pragma once

#include <sys/types.h>

namespace holdfast::replicate {

/// Tells the program under replication from what is around it: launchers, scripts and children, which load the
/// preloaded library too, libraries' constructors, and the MPI library's own calls and threads. Only what the program
/// itself asks for on its first thread is answered alike in all replicas outside MPI; anything else cannot be put into
/// one order.

/// Whether the calling code may be the program's own: on the first thread of the process that was started as
/// HOLDFAST_RUN_PROGRAM, after the loader's work, and neither inside MPI nor inside Holdfast. One system call.
bool program_asks();

/// Whether the process is the program and its shared libraries' constructors are at work, of which some are the
/// program's own. On the first thread, which is alone then.
bool program_is_loaded();

/// The shared libraries are loaded, the program's own code comes next. Called once, by the first thread.
void program_begins();

/// main() has returned, or exit() was called: what comes is the libraries' own clearing up.
void program_ends();

/// The process id that the kernel knows, whatever getpid() says.
pid_t real_process_id();

}  // namespace holdfast::replicate
