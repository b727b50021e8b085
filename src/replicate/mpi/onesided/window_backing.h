#pragma once

namespace holdfast::replicate {

/// Open MPI 4.1 names the files behind its windows by host, job and the communicator's number, which is the same in
/// each replica's world: windows of two replicas on one host would share memory. So each replica gets a directory of
/// its own for them (osc_sm_backing_directory, osc_rdma_backing_directory), unless the user has chosen one. Before
/// MPI_Init of the MPI library.
void separate_window_backing();
/// Makes the directory, before a window that may need it.
void make_window_backing();
/// Removes the directory when the last process of the replica on this host leaves. Of a job that is killed,
/// `holdfast run` removes it (launch/plan/shared_memory_folders.h).
void remove_window_backing();

}  // namespace holdfast::replicate
