#pragma once

#include <string>

namespace holdfast::replicate {

/// What the program writes, seen on its way to the kernel: by write(2) and its kin, which the run-time libraries of C++
/// and Fortran call, and by the C library's streams, whose last step is taken over in the table of functions that glibc
/// keeps for them. To standard output and error it is recorded (process/streams.h); to files, stretch by stretch, its
/// digest is told to the other replicas (mpi/io/written.h). Files are followed from the thread that called MPI_Init
/// alone, and only as long as no other thread writes to them: threads have no order that replicas could agree on.
///
/// Not seen: mappings, sendfile(2), splice(2), io_uring. What is not seen is seen in no replica, so nothing is reported
/// of it here; files are compared when the job has ended all the same.

/// Takes over the C library's streams. Once, before the program's own code runs.
void watch_writes();

/// The program has opened the file of this name, as it names it; `to_write`: its contents are followed until it is
/// closed.
void opened(int descriptor, const std::string& name, bool to_write);
/// A copy of standard output or error, for a program that opens it by another name (/dev/stdout, /proc/self/fd/2) to
/// write: natively that is a pipe, which opening neither empties nor writes from its beginning; here it may be a file.
/// -1: it is none.
int copy_of_stream(const char* path, int flags);
/// A descriptor that is given out now, or gone, is not that of a file that was followed before.
void forget_descriptor(int descriptor);

}  // namespace holdfast::replicate
