#include "record/import/dumpi_datatypes.h"

#include <array>
#include <utility>
#include <vector>

#include "core/arithmetic/checked.h"

namespace holdfast::record {
namespace {

/// By DUMPI's number: MPI_CHAR is 2, MPI_INT 9, MPI_DOUBLE 14. Of the pairs that MPI_MINLOC takes, without padding.
constexpr std::array<std::int64_t, 28> built_in{0, 0,  1, 1, 1, 1, 4, 2, 2, 4,  4,  8, 8, 4,
                                                8, 16, 8, 8, 8, 1, 0, 0, 8, 12, 12, 6, 8, 20};

std::optional<std::int64_t> product(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  if (!a || !b || *a < 0 || *b < 0) return std::nullopt;
  return arithmetic::checked_multiply(*a, *b);
}

std::optional<std::int64_t> sum(const std::vector<std::int64_t>& values) {
  std::optional<std::int64_t> total = 0;
  for (const std::int64_t value : values) {
    if (value < 0 || !total) return std::nullopt;
    total = arithmetic::checked_add(*total, value);
  }
  return total;
}

bool says(std::string_view function, std::string_view part) {
  return function.find(part) != std::string_view::npos;
}

}  // namespace

DumpiDatatypes::DumpiDatatypes(std::map<std::int64_t, std::int64_t> stated) : bytes_(std::move(stated)) {
  for (std::size_t i = 0; i < built_in.size(); ++i) bytes_.try_emplace(static_cast<std::int64_t>(i), built_in[i]);
}

std::optional<std::int64_t> DumpiDatatypes::bytes_of(std::int64_t datatype) const {
  const auto known = bytes_.find(datatype);
  return known == bytes_.end() ? std::nullopt : std::optional(known->second);
}

std::optional<std::int64_t> DumpiDatatypes::made_by(const DumpiCall& call) const {
  const std::string_view function = call.function;
  if (says(function, "_struct")) {
    const std::vector<std::int64_t> lengths = call.numbers("lengths"), types = call.numbers("oldtypes");
    if (lengths.size() != types.size()) return std::nullopt;
    std::vector<std::int64_t> parts;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      const auto part = product(lengths[i], bytes_of(types[i]));
      if (!part) return std::nullopt;
      parts.push_back(*part);
    }
    return sum(parts);
  }
  const auto old_type = call.number("oldtype");
  const auto old = old_type ? bytes_of(*old_type) : std::nullopt;
  if (says(function, "_contiguous")) return product(call.number("count"), old);
  if (says(function, "vector") || says(function, "indexed_block"))
    return product(product(call.number("count"), call.number("blocklength")), old);
  if (says(function, "indexed")) return product(sum(call.numbers("lengths")), old);
  if (says(function, "_dup") || says(function, "_resized")) return old;
  if (says(function, "_subarray")) {
    std::optional<std::int64_t> elements = 1;
    for (const std::int64_t size : call.numbers("subsizes")) elements = product(elements, size);
    return product(elements, old);
  }
  return std::nullopt;
}

void DumpiDatatypes::take(const DumpiCall& call) {
  if (!call.function.starts_with("MPI_Type_")) return;
  const auto made = call.number("newtype");
  if (!made || *made < static_cast<std::int64_t>(built_in.size())) return;
  if (const auto bytes = made_by(call)) bytes_[*made] = *bytes;
}

}  // namespace holdfast::record
