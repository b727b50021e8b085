#include "replicate/mpi/padding.h"

#include <algorithm>
#include <limits>

namespace holdfast::replicate {

namespace {

/// Elsewhere than on x86 all bytes of a long double are its value.
constexpr std::uint64_t long_double_bytes = sizeof(long double);
constexpr std::uint64_t value_bytes = std::numeric_limits<long double>::digits == 64 ? 10 : long_double_bytes;

}  // namespace

std::shared_ptr<const Padding> Padding::of_predefined(MPI_Datatype type) {
  if (value_bytes == long_double_bytes) return nullptr;
  static const auto long_double = [] {
    auto one = std::make_shared<Padding>();
    one->runs_ = {{value_bytes, false, nullptr}, {long_double_bytes - value_bytes, true, nullptr}};
    return one;
  }();
  static const auto long_double_int = of_parts({{long_double_bytes, long_double}, {sizeof(int), nullptr}});
  if (type == MPI_LONG_DOUBLE || type == MPI_C_LONG_DOUBLE_COMPLEX || type == MPI_CXX_LONG_DOUBLE_COMPLEX)
    return long_double;
  return type == MPI_LONG_DOUBLE_INT ? long_double_int : nullptr;
}

std::shared_ptr<const Padding> Padding::of_parts(const std::vector<Part>& parts) {
  auto whole = std::make_shared<Padding>();
  bool any = false;
  for (const Part& part : parts) {
    if (part.bytes == 0) continue;
    any = any || part.padding != nullptr;
    Run* last = whole->runs_.empty() ? nullptr : &whole->runs_.back();
    if (last && last->inner == part.padding) {
      last->bytes += part.bytes;
    } else {
      whole->runs_.push_back({part.bytes, false, part.padding});
    }
  }
  if (!any) return nullptr;
  return whole->runs_.size() == 1 ? whole->runs_.front().inner : whole;
}

void Padding::clear(std::span<std::byte> packed) const {
  while (!packed.empty()) {
    for (const Run& run : runs_) {
      const auto here = packed.first(std::min<std::size_t>(run.bytes, packed.size()));
      if (run.padding) std::fill(here.begin(), here.end(), std::byte{0});
      if (run.inner) run.inner->clear(here);
      packed = packed.subspan(here.size());
    }
  }
}

}  // namespace holdfast::replicate
