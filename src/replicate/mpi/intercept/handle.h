#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstring>

namespace holdfast::replicate {

/// A number for an MPI handle, which is a pointer in Open MPI and an int in MPICH. Never zero for a live object's
/// handle.
template <class Handle>
std::uint64_t handle_key(Handle handle) {
  static_assert(sizeof(Handle) <= sizeof(std::uint64_t));
  std::uint64_t key = 0;
  std::memcpy(&key, &handle, sizeof handle);
  return key;
}

}  // namespace holdfast::replicate
