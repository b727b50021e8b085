#pragma once

#include <sys/types.h>

namespace holdfast::replicate {

/// Tells the program under replication from what is around it: launchers, scripts and children, which load the
/// preloaded library too, libraries' constructors, and the MPI library's own calls and threads. Only what the program
/// itself asks for on its first thread is answered alike in all replicas outside MPI; anything else cannot be put into
/// one order.

/// Whether the calling code may be the program's own: on the first thread of a process that is the program, after the
/// loader's work, and neither inside MPI nor inside Holdfast. One system call.
///
/// The program is HOLDFAST_RUN_PROGRAM. Where that is a script, or has no MPI itself (env, taskset, Python), as
/// HOLDFAST_RUN_STARTER says, so is all that it starts, but for shells, and but for what is started by a process that
/// has called MPI_Init.
bool program_asks();
/// The same in exit handlers, too: for what replicas answer alike without asking each other.
bool program_asks_until_its_end();

/// Whether the process was started as HOLDFAST_RUN_PROGRAM itself.
bool program_is_named();

/// Whether what starts the program is at work, before any process has called MPI_Init.
bool starts_before_mpi();
/// Whether this is a shell that does.
bool shell_starts_program();

/// Whether the process is the program and its shared libraries' constructors are at work, of which some are the
/// program's own. On the first thread, which is alone then.
bool program_is_loaded();

/// The shared libraries are loaded, the program's own code comes next. Called once, by the first thread.
void program_begins();

/// MPI_Init is called: what this process starts from here on is not the program.
void program_calls_mpi();

/// main() has returned, or exit() was called: what comes is the libraries' own clearing up.
void program_ends();

/// The process id that the kernel knows, whatever getpid() says.
pid_t real_process_id();

}  // namespace holdfast::replicate
