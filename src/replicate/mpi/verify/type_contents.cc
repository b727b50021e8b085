#include "replicate/mpi/verify/type_contents.h"

#include <algorithm>

#include "real_functions.h"

namespace holdfast::replicate {

namespace {

struct Envelope {
  MPI_Count integers = 0;
  MPI_Count addresses = 0;
  MPI_Count large_counts = 0;
  MPI_Count types = 0;
  int combiner = MPI_COMBINER_NAMED;
};

/// MPICH refuses the classic call for a type that was made with MPI_Count; Open MPI 4.1 has no such types.
Envelope envelope_of(MPI_Datatype type) {
  Envelope e;
#ifdef HOLDFAST_HAS_Type_get_envelope_c
  real().Type_get_envelope_c(type, &e.integers, &e.addresses, &e.large_counts, &e.types, &e.combiner);
#else
  int integers = 0;
  int addresses = 0;
  int types = 0;
  real().Type_get_envelope(type, &integers, &addresses, &types, &e.combiner);
  e.integers = integers;
  e.addresses = addresses;
  e.types = types;
#endif
  return e;
}

}  // namespace

bool predefined(MPI_Datatype type) {
  return envelope_of(type).combiner == MPI_COMBINER_NAMED;
}

void free_unless_predefined(MPI_Datatype type) {
  if (!predefined(type)) real().Type_free(&type);
}

namespace {

std::uint64_t size_of(MPI_Datatype type) {
  MPI_Count size = 0;
  real().Type_size_x(type, &size);
  return size > 0 ? static_cast<std::uint64_t>(size) : 0;
}

}  // namespace

bool ends_within_element(MPI_Datatype type, std::uint64_t bytes) {
  const std::uint64_t size = size_of(type);
  std::uint64_t rest = size == 0 ? 0 : bytes % size;
  if (rest == 0) return false;
  const TypeContents contents(type);
  if (contents.combiner == MPI_COMBINER_NAMED) return true;
  if (contents.combiner != MPI_COMBINER_STRUCT) return ends_within_element(contents.types.front(), rest);
  for (std::size_t i = 0; i < contents.types.size(); ++i) {
    const std::uint64_t part = static_cast<std::uint64_t>(contents.integers[1 + i]) * size_of(contents.types[i]);
    if (rest < part) return ends_within_element(contents.types[i], rest);
    rest -= part;
  }
  return false;
}

TypeContents::TypeContents(MPI_Datatype type) {
  const Envelope e = envelope_of(type);
  combiner = e.combiner;
  if (combiner == MPI_COMBINER_NAMED) return;
  integers.resize(static_cast<std::size_t>(e.integers + e.large_counts));
  addresses.resize(static_cast<std::size_t>(e.addresses));
  types.resize(static_cast<std::size_t>(e.types));
  if (e.large_counts > 0) {
    read_large(type);
  } else {
    read_classic(type);
  }
}

TypeContents::~TypeContents() {
  for (const MPI_Datatype type : types) free_unless_predefined(type);
}

void TypeContents::read_classic(MPI_Datatype type) {
  std::vector<int> narrow(integers.size());
  real().Type_get_contents(type, static_cast<int>(narrow.size()), static_cast<int>(addresses.size()),
                           static_cast<int>(types.size()), narrow.data(), addresses.data(), types.data());
  std::copy(narrow.begin(), narrow.end(), integers.begin());
}

#ifdef HOLDFAST_HAS_Type_get_envelope_c
namespace {

/// How many of the counts are integers in the classic form; those behind them are addresses there.
std::size_t integers_among(int combiner, const std::vector<MPI_Count>& counts) {
  switch (combiner) {
    case MPI_COMBINER_RESIZED:
      return 0;
    case MPI_COMBINER_HVECTOR:
    case MPI_COMBINER_HINDEXED_BLOCK:
      return 2;
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_STRUCT:
      return 1 + static_cast<std::size_t>(counts[0]);
    default:
      return counts.size();
  }
}

}  // namespace

void TypeContents::read_large(MPI_Datatype type) {
  std::vector<int> narrow(integers.size());  // of subarrays and distributed arrays, which have both
  real().Type_get_contents_c(type, static_cast<MPI_Count>(narrow.size()), static_cast<MPI_Count>(addresses.size()),
                             static_cast<MPI_Count>(integers.size()), static_cast<MPI_Count>(types.size()),
                             narrow.data(), addresses.data(), integers.data(), types.data());
  const auto first_address = integers.begin() + static_cast<std::ptrdiff_t>(integers_among(combiner, integers));
  addresses.insert(addresses.end(), first_address, integers.end());
  integers.erase(first_address, integers.end());
}
#else
void TypeContents::read_large(MPI_Datatype) {}
#endif

}  // namespace holdfast::replicate
