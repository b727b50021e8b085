#include "transport/ofi/atomic.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace holdfast::transport::ofi {

namespace {

constexpr std::uint64_t code_types = 256;

bool is_compare(fi_op operation) {
  return operation >= FI_CSWAP && operation <= FI_MSWAP;
}

bool is_bitwise(fi_op operation) {
  return operation == FI_BOR || operation == FI_BAND || operation == FI_BXOR || operation == FI_MSWAP;
}

bool is_floating(fi_datatype type) {
  return type == FI_FLOAT || type == FI_DOUBLE;
}

/// Wraps around where C++ would have an overflow.
template <class T, class Function>
T wrapped(T a, T b, Function function) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(function(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
  } else {
    return function(a, b);
  }
}

/// The new value; `compare` is looked at by the operations that compare. fi_atomic(3), "Operations".
template <class T>
T result_of(fi_op operation, T old, T operand, T compare) {
  switch (operation) {
    case FI_MIN:
      return std::min(old, operand);
    case FI_MAX:
      return std::max(old, operand);
    case FI_SUM:
      return wrapped(old, operand, [](auto a, auto b) { return a + b; });
    case FI_PROD:
      return wrapped(old, operand, [](auto a, auto b) { return a * b; });
    case FI_LOR:
      return static_cast<T>(old != T{} || operand != T{});
    case FI_LAND:
      return static_cast<T>(old != T{} && operand != T{});
    case FI_LXOR:
      return static_cast<T>((old != T{}) != (operand != T{}));
    case FI_ATOMIC_WRITE:
      return operand;
    case FI_CSWAP:
      return compare == old ? operand : old;
    case FI_CSWAP_NE:
      return compare != old ? operand : old;
    case FI_CSWAP_LE:
      return compare <= old ? operand : old;
    case FI_CSWAP_LT:
      return compare < old ? operand : old;
    case FI_CSWAP_GE:
      return compare >= old ? operand : old;
    case FI_CSWAP_GT:
      return compare > old ? operand : old;
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    switch (operation) {
      case FI_BOR:
        return static_cast<T>(old | operand);
      case FI_BAND:
        return static_cast<T>(old & operand);
      case FI_BXOR:
        return static_cast<T>(old ^ operand);
      case FI_MSWAP:
        return static_cast<T>((operand & compare) | (old & ~compare));
      default:
        break;
    }
  }
  return old;  // FI_ATOMIC_READ
}

template <class T>
void apply_to(fi_op operation, std::byte* target, std::size_t bytes, const std::byte* operands) {
  for (std::size_t at = 0; at < bytes; at += sizeof(T)) {
    T old;
    T operand{};
    T compare{};
    std::memcpy(&old, target + at, sizeof old);
    if (operands != nullptr) std::memcpy(&operand, operands + at, sizeof operand);
    if (is_compare(operation)) std::memcpy(&compare, operands + bytes + at, sizeof compare);
    const T fresh = result_of(operation, old, operand, compare);
    std::memcpy(target + at, &fresh, sizeof fresh);
  }
}

}  // namespace

std::size_t atomic_element_bytes(fi_datatype type) {
  switch (type) {
    case FI_INT8:
    case FI_UINT8:
      return 1;
    case FI_INT16:
    case FI_UINT16:
      return 2;
    case FI_INT32:
    case FI_UINT32:
    case FI_FLOAT:
      return 4;
    case FI_INT64:
    case FI_UINT64:
    case FI_DOUBLE:
      return 8;
    default:
      return 0;
  }
}

bool atomic_offered(fi_op operation, fi_datatype type, AtomicUse use) {
  if (atomic_element_bytes(type) == 0 || operation > FI_MSWAP) return false;
  if (is_floating(type) && is_bitwise(operation)) return false;
  if (is_compare(operation)) return use == AtomicUse::compare;
  if (operation == FI_ATOMIC_READ) return use == AtomicUse::fetch;
  return use != AtomicUse::compare;
}

std::uint64_t atomic_code(fi_op operation, fi_datatype type) {
  return static_cast<std::uint64_t>(operation) * code_types + static_cast<std::uint64_t>(type);
}

bool apply_atomic_code(std::uint64_t code, std::byte* target, std::size_t bytes, std::span<const std::byte> operands,
                       std::byte* old_values) {
  if (code / code_types > FI_MSWAP || code % code_types >= FI_DATATYPE_LAST) return false;
  const auto operation = static_cast<fi_op>(code / code_types);
  const auto type = static_cast<fi_datatype>(code % code_types);
  const AtomicUse use = is_compare(operation) ? AtomicUse::compare : AtomicUse::fetch;
  if (!atomic_offered(operation, type, use) || bytes == 0 || bytes % atomic_element_bytes(type) != 0) return false;
  const std::size_t wanted = operation == FI_ATOMIC_READ ? 0 : is_compare(operation) ? 2 * bytes : bytes;
  if (operands.size() != wanted) return false;
  if (old_values != nullptr) std::memcpy(old_values, target, bytes);
  const std::byte* from = wanted == 0 ? nullptr : operands.data();
  switch (type) {
    case FI_INT8:
      apply_to<std::int8_t>(operation, target, bytes, from);
      return true;
    case FI_UINT8:
      apply_to<std::uint8_t>(operation, target, bytes, from);
      return true;
    case FI_INT16:
      apply_to<std::int16_t>(operation, target, bytes, from);
      return true;
    case FI_UINT16:
      apply_to<std::uint16_t>(operation, target, bytes, from);
      return true;
    case FI_INT32:
      apply_to<std::int32_t>(operation, target, bytes, from);
      return true;
    case FI_UINT32:
      apply_to<std::uint32_t>(operation, target, bytes, from);
      return true;
    case FI_INT64:
      apply_to<std::int64_t>(operation, target, bytes, from);
      return true;
    case FI_UINT64:
      apply_to<std::uint64_t>(operation, target, bytes, from);
      return true;
    case FI_FLOAT:
      apply_to<float>(operation, target, bytes, from);
      return true;
    case FI_DOUBLE:
      apply_to<double>(operation, target, bytes, from);
      return true;
    default:
      return false;
  }
}

}  // namespace holdfast::transport::ofi
