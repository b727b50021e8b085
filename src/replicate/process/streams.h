#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <optional>
#include <span>

namespace holdfast::replicate {

/// The standard error of the job: this process's own before it was redirected to a file.
int job_stderr();

/// This process ends with that status. Where it is the one that the launcher started, a script's shell perhaps, which
/// ends after the program does, it leaves it in the run directory, as `launched-<v>.<k>`: Open MPI's mpirun does not
/// tell the status of a process where the job is to go on without one that died. Nothing in any other process, and
/// nothing where the launcher starts the program itself.
void leave_launched_status(int status);

/// Own rank in the real world as the launcher's environment tells it before MPI_Init; -1 when it does not.
int launched_rank();

/// Which rank this process plays, in which replica, as far as the environment tells before MPI_Init, which checks it.
struct Place {
  int rank = 0;
  int replica = 0;
};
std::optional<Place> launched_place();

/// What the program itself writes to its standard output and error is recorded in the run directory, for the launcher
/// to compare (docs/design/files.md): a copy where the user sees what this process writes, the only one elsewhere. What
/// MPI, the launcher, child processes and the C library's own last words write is not the program's, and stays out.

/// Whether this process is one of a job whose streams and files are compared.
bool to_be_recorded();
/// From here on this process's is, until it ends; its children's is not. By the program's first thread, or the one that
/// calls MPI_Init; again is nothing.
void record_streams();

/// Which thread that was.
bool recording_thread();
/// Whether this process records.
bool recording();

/// Whether a descriptor that was 1 or 2 (`stream`) when the program began still is that stream.
bool is_stream(int descriptor, int stream);
/// Whether it leads to the file that this replica's standard output or error was made to lead to, in the program or in
/// what starts it.
bool is_placed_stream(int descriptor);
/// Whether the record takes the place of what the stream would show.
bool recorded_only(int stream);
/// Appends to the record of stream 1 or 2, or of the other one where both lead to the same (2>&1): how many bytes, or
/// -1 with errno. Any thread.
ssize_t record(int stream, std::span<const iovec> pieces);
/// How many bytes the record of stream 1 or 2 has got from this process. Any thread.
std::uint64_t recorded_bytes(int stream);
/// Descriptors that the program has not opened and must not close; they begin at lowest_descriptor, out of the way of
/// programs that count on theirs.
inline constexpr int lowest_descriptor = 100;
bool holds_record(int descriptor);

}  // namespace holdfast::replicate
