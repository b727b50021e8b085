// Reading attributes. What an application attaches to MPI_COMM_WORLD lives on its replica's own world, but the
// attributes that MPI itself attaches (MPI 4.0, 9.1.2) are on the real one only: Open MPI does not give them to a split
// of it.
#include "replicate/mpi/intercept/attributes.h"

#include "hooks.h"
#include "real_functions.h"
#include "replicate/mpi/intercept/guard.h"

namespace holdfast::replicate {

bool attached_by_mpi(int keyval) {
  switch (keyval) {
    case MPI_TAG_UB:
    case MPI_HOST:
    case MPI_IO:
    case MPI_WTIME_IS_GLOBAL:
    case MPI_UNIVERSE_SIZE:
    case MPI_APPNUM:
    case MPI_LASTUSEDCODE:
      return true;
    default:
      return false;
  }
}

namespace {

MPI_Comm holder(MPI_Comm comm, int keyval) {
  return comm == protection.world && attached_by_mpi(keyval) ? MPI_COMM_WORLD : comm;
}

}  // namespace

int hook::Comm_get_attr(MPI_Comm comm, int comm_keyval, void* attribute_val, int* flag) {
  return real().Comm_get_attr(holder(comm, comm_keyval), comm_keyval, attribute_val, flag);
}

int hook::Attr_get(MPI_Comm comm, int keyval, void* attribute_val, int* flag) {
  return real().Attr_get(holder(comm, keyval), keyval, attribute_val, flag);
}

}  // namespace holdfast::replicate
