#pragma once

#include <mpi.h>

namespace holdfast::replicate {

/// Fills a status of the application, which may be MPI_STATUS_IGNORE. Functions that return one status leave its error
/// field as it is (MPI 3.1, section 3.2.5).
inline void hand_over(const MPI_Status& from, MPI_Status* to) {
  if (to == MPI_STATUS_IGNORE) return;
  const int kept_error = to->MPI_ERROR;
  *to = from;
  to->MPI_ERROR = kept_error;
}

}  // namespace holdfast::replicate
