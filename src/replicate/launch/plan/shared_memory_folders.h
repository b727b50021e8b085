#pragma once

#include <string>

namespace holdfast::launch {

/// Where Open MPI's windows have their files, and replicas what they share with their own ranks by a name, a key or a
/// number (libc/shared_names.h), a folder for each replica on each host: `prefix`-<replica>, which the library makes
/// when it is needed and removes at MPI_Finalize where nothing is in it. HOLDFAST_RUN_SHARED_MEMORY tells it the
/// prefix. A name that no other job has: `job` is a random number.
std::string shared_memory_folders(unsigned long job);
/// Removes what a job that was killed has left of them on this host, with all that is in them, and the semaphores,
/// message queues and segments that the folders name: those of the replicas but the first, whose are the program's.
void remove_shared_memory_folders(const std::string& prefix, int replicas);

/// Removes what jobs that were killed together with their `holdfast run`, or were started without it, have left of them
/// on this host: folders of this user alone, and only those that no process holds (mpi/onesided/window_backing.cc locks
/// its folder) or is going to use. `place`: where to look.
void remove_left_shared_memory_folders(const std::string& place = "/dev/shm");

}  // namespace holdfast::launch
