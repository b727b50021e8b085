#pragma once

#include <string>

namespace holdfast::launch {

/// Where Open MPI's windows have their files, a folder for each replica on each host: `prefix`-<replica>, which the
/// library makes before the first window and removes at MPI_Finalize (mpi/onesided/window_backing.h).
/// HOLDFAST_RUN_WINDOWS tells it the prefix. A name that no other job has: `job` is a random number.
std::string window_folders(unsigned long job);
/// Removes what a job that was killed has left of them on this host, with all that is in them.
void remove_window_folders(const std::string& prefix, int replicas);

/// Removes what jobs that were killed together with their `holdfast run`, or were started without it, have left of them
/// on this host: folders of this user alone, and only those that no process holds (mpi/onesided/window_backing.cc locks
/// its folder) or is going to use. `place`: where to look.
void remove_left_window_folders(const std::string& place = "/dev/shm");

}  // namespace holdfast::launch
