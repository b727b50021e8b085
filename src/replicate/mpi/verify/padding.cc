#include "replicate/mpi/verify/padding.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace holdfast::replicate {

namespace {

/// Elsewhere than on x86 all bytes of a long double are its value.
constexpr std::uint64_t long_double_bytes = sizeof(long double);
constexpr std::uint64_t value_bytes = std::numeric_limits<long double>::digits == 64 ? 10 : long_double_bytes;

/// Where Linux puts the memory of processes, on x86-64 and on Arm: stack, libraries and position-independent programs
/// lie high. No window has displacements of a TiB.
bool is_address(std::span<const std::byte> element) {
  std::uint64_t value = 0;
  if (element.size() < sizeof value) return false;
  std::memcpy(&value, element.data(), sizeof value);
  return value >= (std::uint64_t{1} << 40) && value < (std::uint64_t{1} << 48);
}

}  // namespace

std::shared_ptr<const Padding> Padding::of_runs(std::vector<Run> runs) {
  auto one = std::make_shared<Padding>();
  one->runs_ = std::move(runs);
  return one;
}

std::shared_ptr<const Padding> Padding::of_predefined(MPI_Datatype type) {
  static const auto address = sizeof(MPI_Aint) == 8 ? of_runs({{sizeof(MPI_Aint), Kind::address, nullptr}}) : nullptr;
  if (type == MPI_AINT) return address;
  if (value_bytes == long_double_bytes) return nullptr;
  static const auto long_double =
      of_runs({{value_bytes, Kind::value, nullptr}, {long_double_bytes - value_bytes, Kind::padding, nullptr}});
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
      whole->runs_.push_back({part.bytes, Kind::value, part.padding});
    }
  }
  if (!any) return nullptr;
  return whole->runs_.size() == 1 ? whole->runs_.front().inner : whole;
}

bool Padding::has(Kind kind) const {
  return std::any_of(runs_.begin(), runs_.end(),
                     [&](const Run& run) { return run.kind == kind || (run.inner && run.inner->has(kind)); });
}

template <class Act>
void Padding::visit(std::size_t at, std::size_t end, Act& act) const {
  while (at < end) {
    for (const Run& run : runs_) {
      const std::size_t bytes = std::min<std::size_t>(run.bytes, end - at);
      if (run.kind != Kind::value) act(run.kind, at, bytes);
      if (run.inner) run.inner->visit(at, at + bytes, act);
      at += bytes;
    }
  }
}

void Padding::clear(std::span<std::byte> packed) const {
  const auto act = [&](Kind kind, std::size_t at, std::size_t bytes) {
    if (kind == Kind::padding) std::fill_n(packed.begin() + static_cast<std::ptrdiff_t>(at), bytes, std::byte{0});
  };
  visit(0, packed.size(), act);
}

void Padding::mask(std::span<std::byte> packed) const {
  constexpr std::byte some_address{0xaa};
  const auto act = [&](Kind kind, std::size_t at, std::size_t bytes) {
    const auto here = packed.subspan(at, bytes);
    if (kind == Kind::padding) std::fill(here.begin(), here.end(), std::byte{0});
    if (kind == Kind::address && is_address(here)) std::fill(here.begin(), here.end(), some_address);
  };
  visit(0, packed.size(), act);
}

bool Padding::keep_addresses(std::span<std::byte> copy, std::span<const std::byte> own) const {
  bool known = true;
  const auto act = [&](Kind kind, std::size_t at, std::size_t bytes) {
    if (kind != Kind::address || !is_address(copy.subspan(at, bytes))) return;
    const bool there = at + bytes <= own.size() && is_address(own.subspan(at, bytes));
    known = known && there;
    if (there)
      std::copy_n(own.begin() + static_cast<std::ptrdiff_t>(at), bytes, copy.begin() + static_cast<std::ptrdiff_t>(at));
  };
  visit(0, copy.size(), act);
  return known;
}

bool Padding::any_address(std::span<const std::byte> packed) const {
  bool any = false;
  const auto act = [&](Kind kind, std::size_t at, std::size_t bytes) {
    any = any || (kind == Kind::address && is_address(packed.subspan(at, bytes)));
  };
  visit(0, packed.size(), act);
  return any;
}

}  // namespace holdfast::replicate
