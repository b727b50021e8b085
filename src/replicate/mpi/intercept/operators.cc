#include "replicate/mpi/intercept/operators.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <unordered_map>

#include "hooks.h"
#include "real_functions.h"
#include "replicate/mpi/intercept/handle.h"

namespace holdfast::replicate {

namespace {

struct Use {
  std::size_t reductions = 0;
  bool freed = false;  ///< by the application
};
std::unordered_map<std::uint64_t, Use> used;

}  // namespace

bool predefined_operator(MPI_Op op) {
  const MPI_Op all[] = {MPI_SUM, MPI_PROD, MPI_MAX,  MPI_MIN,    MPI_LAND,   MPI_BAND,    MPI_LOR,
                        MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC, MPI_REPLACE, MPI_NO_OP};
  return std::find(std::begin(all), std::end(all), op) != std::end(all);
}

void use_operator(MPI_Op op) {
  ++used[handle_key(op)].reductions;
}

void leave_operator(MPI_Op op) {
  const auto found = used.find(handle_key(op));
  if (--found->second.reductions > 0) return;
  const bool freed = found->second.freed;
  used.erase(found);
  if (freed) real().Op_free(&op);
}

int hook::Op_free(MPI_Op* op) {
  const auto found = used.find(handle_key(*op));
  if (found == used.end() || found->second.freed) return real().Op_free(op);
  found->second.freed = true;
  *op = MPI_OP_NULL;
  return MPI_SUCCESS;
}

}  // namespace holdfast::replicate
