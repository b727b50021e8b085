#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "functions.h"
#include "real_functions.h"

#ifdef HOLDFAST_HAS_Type_contiguous_c
namespace holdfast::replicate {

/// One call of a function that takes its counts as MPI_Count (MPI 4.0, section 2.5.8), served by the hook that takes
/// them as int: a count beyond int becomes one element of a datatype that is so many elements of the given one, whose
/// type signature is the same. What cannot be said so (counts of reductions, arrays of counts) and is beyond int ends
/// the job by name. Used by generated code; one thread at a time.
class LargeCount {
 public:
  explicit LargeCount(Function function) : function_(function) {}
  ~LargeCount();
  LargeCount(const LargeCount&) = delete;
  LargeCount& operator=(const LargeCount&) = delete;

  /// A count of elements of `type`, which changes where the count is beyond int.
  int count(MPI_Count count, MPI_Datatype& type);
  int scalar(MPI_Count count) const;
  /// `n` counts (MPI_Count) or displacements (MPI_Aint), which some MPIs make one type; null stays null.
  template <class Wide>
  const int* array(const Wide* values, int n) {
    static_assert(sizeof(Wide) <= sizeof(MPI_Count));
    if (!values) return nullptr;
    std::vector<int>& narrow = new_array(n);
    for (int i = 0; i < n; ++i) narrow[static_cast<std::size_t>(i)] = scalar(values[i]);
    return narrow.data();
  }

  int size(MPI_Comm comm) const;
  int indegree(MPI_Comm comm) const;
  int outdegree(MPI_Comm comm) const;

  /// Leaves the arrays to the operation behind the request that the call made.
  void keep(int code, const MPI_Request* request);

 private:
  std::vector<int>& new_array(int n);

  Function function_;
  std::shared_ptr<std::vector<std::vector<int>>> arrays_;
  std::vector<MPI_Datatype> types_;
};

}  // namespace holdfast::replicate
#endif
