#include "replicate/mpi/bindings/large_count.h"

#include <algorithm>
#include <limits>
#include <string>

#include "real_functions.h"
#include "replicate/mpi/collective/neighbours.h"
#include "replicate/mpi/context/comms.h"
#include "replicate/mpi/context/failure.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/mpi/pointtopoint/operation.h"
#include "replicate/mpi/verify/layout.h"

#ifdef HOLDFAST_HAS_Type_contiguous_c
namespace holdfast::replicate {

namespace {
constexpr MPI_Count most = std::numeric_limits<int>::max();
}  // namespace

LargeCount::~LargeCount() {
  for (MPI_Datatype& type : types_) free_type(type);
}

int LargeCount::scalar(MPI_Count count) const {
  if (count > most) {
    fail_unsupported(
        std::string(function_name(function_)) + " with a count or displacement of " + std::to_string(count),
        "only up to 2147483647 is protected here: divide the call, or use a larger datatype");
  }
  return static_cast<int>(std::max<MPI_Count>(count, std::numeric_limits<int>::min()));
}

int LargeCount::count(MPI_Count count, MPI_Datatype& type) {
  if (count <= most || type == MPI_DATATYPE_NULL) return scalar(std::min(count, most));
  MPI_Datatype whole = MPI_DATATYPE_NULL;
  real().Type_contiguous_c(count, type, &whole);
  real().Type_commit(&whole);
  types_.push_back(whole);
  type = whole;
  return 1;
}

std::vector<int>& LargeCount::new_array(int n) {
  if (!arrays_) arrays_ = std::make_shared<std::vector<std::vector<int>>>();
  return arrays_->emplace_back(static_cast<std::size_t>(std::max(n, 1)));
}

int LargeCount::size(MPI_Comm comm) const {
  return runtime().comms.find(comm).peer_count;
}

int LargeCount::indegree(MPI_Comm comm) const {
  return neighbours(comm).in;
}

int LargeCount::outdegree(MPI_Comm comm) const {
  return neighbours(comm).out;
}

void LargeCount::keep(int code, const MPI_Request* request) {
  if (code != MPI_SUCCESS || !arrays_) return;
  if (Operation* op = runtime().requests.find(*request)) op->keepalive = arrays_;
}

}  // namespace holdfast::replicate
#endif
