#pragma once

namespace holdfast::replicate {

/// At MPI_Finalize: waits until all replicas of this rank are here and nothing of theirs is under way.
void finish_team();
/// That replica has said that it is there.
void file_finished(int replica);

}  // namespace holdfast::replicate
