#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include <cstddef>
#include <cstdint>

/// Calls on libfabric's objects that this provider has not: fi_control(3) and others call through these pointers
/// without looking whether they are null.
namespace holdfast::transport::ofi {

inline int no_bind(fid*, fid*, std::uint64_t) {
  return -FI_ENOSYS;
}
inline int no_control(fid*, int, void*) {
  return -FI_ENOSYS;
}
inline int no_more_calls(fid*, const char*, std::uint64_t, void**, void*) {
  return -FI_ENOSYS;
}
inline int no_text(const fid*, char*, std::size_t) {
  return -FI_ENOSYS;
}
inline int no_other_calls(fid*, const char*, std::uint64_t, void*, void*) {
  return -FI_ENOSYS;
}

/// The calls that every object has: closing, and what an object has of the others.
constexpr fi_ops object_calls(int (*close)(fid*), int (*bind)(fid*, fid*, std::uint64_t) = no_bind,
                              int (*control)(fid*, int, void*) = no_control) {
  return {sizeof(fi_ops), close, bind, control, no_more_calls, no_text, no_other_calls};
}

}  // namespace holdfast::transport::ofi
