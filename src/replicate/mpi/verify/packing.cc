#include "replicate/mpi/verify/packing.h"

#include "real_functions.h"

namespace holdfast::replicate {

namespace {

/// The same bytes of memory as n elements of the type at MPI_BOTTOM, seen from another address.
class FromElsewhere {
 public:
  FromElsewhere(int n, MPI_Datatype type) {
    const MPI_Aint back = -distance;
    real().Type_create_hindexed_block(1, n, &back, type, &type_);
    real().Type_commit(&type_);
  }
  ~FromElsewhere() { real().Type_free(&type_); }
  FromElsewhere(const FromElsewhere&) = delete;
  FromElsewhere& operator=(const FromElsewhere&) = delete;

  static void* address() { return reinterpret_cast<void*>(distance); }
  MPI_Datatype type() const { return type_; }

 private:
  static constexpr MPI_Aint distance = 4096;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

}  // namespace

int pack(const void* from, int n, MPI_Datatype type, void* to, int space_bytes, int* position, MPI_Comm comm) {
  if (from != nullptr || n == 0) return real().Pack(from, n, type, to, space_bytes, position, comm);
  const FromElsewhere moved(n, type);
  return real().Pack(FromElsewhere::address(), 1, moved.type(), to, space_bytes, position, comm);
}

int unpack(const void* from, int bytes, int* position, void* to, int n, MPI_Datatype type, MPI_Comm comm) {
  if (to != nullptr || n == 0) return real().Unpack(from, bytes, position, to, n, type, comm);
  const FromElsewhere moved(n, type);
  return real().Unpack(from, bytes, position, FromElsewhere::address(), 1, moved.type(), comm);
}

}  // namespace holdfast::replicate
