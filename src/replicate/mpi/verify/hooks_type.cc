#include "hooks.h"
#include "real_functions.h"
#include "replicate/mpi/verify/layout.h"

namespace holdfast::replicate {

int hook::Type_free(MPI_Datatype* datatype) {
  forget_type(*datatype);
  return real().Type_free(datatype);
}

}  // namespace holdfast::replicate
