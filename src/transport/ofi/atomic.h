#pragma once

#include <rdma/fi_atomic.h>

#include <cstddef>
#include <cstdint>
#include <span>

/// Atomic operations on the memory of a target, as fi_atomic(3) defines them for each operation and datatype.
namespace holdfast::transport::ofi {

/// Bytes of the target of one operation: with both operands of a compare it fits a fragment of any rail.
inline constexpr std::size_t most_atomic_bytes = 640;

/// Bytes of one element; 0 for datatypes that are not offered (complex numbers, long double).
std::size_t atomic_element_bytes(fi_datatype type);

/// How an initiator uses an operation: which calls of libfabric it belongs to.
enum class AtomicUse : std::uint8_t { write, fetch, compare };

/// Whether this operation is offered for the datatype and the use.
bool atomic_offered(fi_op operation, fi_datatype type, AtomicUse use);

/// Operation and datatype in one number, which the wire carries.
std::uint64_t atomic_code(fi_op operation, fi_datatype type);

/// Applies an operation to the elements at `target`, of `bytes` together. `operands`: as many, then for a compare as
/// many to compare with; none for FI_ATOMIC_READ. `old_values` (may be null) gets what was there. False, with nothing
/// done, when the code or the lengths make no sense. Any bytes are allowed. The caller keeps others away from the
/// target.
bool apply_atomic_code(std::uint64_t code, std::byte* target, std::size_t bytes, std::span<const std::byte> operands,
                       std::byte* old_values);

}  // namespace holdfast::transport::ofi
