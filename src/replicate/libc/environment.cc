// What the launcher tells a process by its environment, where it is another one in each replica: who of the real world
// it is. The program is told which rank it plays, and of how many.
#include <stdlib.h>

#include <cstring>
#include <iterator>
#include <optional>
#include <string>

#include "replicate/libc/files.h"
#include "replicate/mpi/intercept/guard.h"
#include "replicate/process/program.h"
#include "replicate/process/streams.h"

namespace holdfast::replicate {

namespace {

constexpr const char* rank_names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
constexpr const char* size_names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS", "SLURM_NPROCS"};
/// Among the processes of one host.
constexpr const char* local_rank_names[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_NODE_RANK",
                                            "MPI_LOCALRANKID", "SLURM_LOCALID"};
constexpr const char* local_size_names[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"};

template <std::size_t n>
bool one_of(const char* name, const char* const (&names)[n]) {
  for (const char* each : names) {
    if (std::strcmp(name, each) == 0) return true;
  }
  return false;
}

using Look = char* (*)(const char*);

/// Where all processes of the job are on this host, the ranks of a replica are numbered here as everywhere.
bool on_one_host(Look real) {
  const char* local = nullptr;
  for (const char* name : local_size_names) local = local ? local : real(name);
  const char* all = nullptr;
  for (const char* name : size_names) all = all ? all : real(name);
  return local && all && std::strcmp(local, all) == 0;
}

/// Kept for the process's life: getenv() gives pointers.
struct Told {
  std::string rank, ranks;
  bool one_host = false;
};

const Told* told(Look real) {
  static const Told* const both = [real]() -> const Told* {
    const std::optional<Place> place = launched_place();
    const char* ranks = real("HOLDFAST_RUN_RANKS");
    return place && ranks && real("HOLDFAST_RUN_IDENTITY")
               ? new Told{std::to_string(place->rank), ranks, on_one_host(real)}
               : nullptr;
  }();
  return both;
}

char* look_up(const char* name, Look real) {
  char* const own = real(name);
  if (!own || !name || !std::strchr("OPMS", name[0])) return own;
  const bool local_rank = one_of(name, local_rank_names);
  const bool local_size = one_of(name, local_size_names);
  const bool rank = local_rank || one_of(name, rank_names);
  if (!rank && !local_size && !one_of(name, size_names)) return own;
  if (!program_asks()) return own;
  const Depth inside;
  const Told* const here = told(real);
  if (!here || ((local_rank || local_size) && !here->one_host)) return own;
  return const_cast<char*>(rank ? here->rank.c_str() : here->ranks.c_str());
}

}  // namespace

}  // namespace holdfast::replicate

namespace hr = holdfast::replicate;

extern "C" {

[[gnu::visibility("default")]] char* getenv(const char* name) noexcept {
  static const auto real = hr::next_function<hr::Look>("getenv");
  return hr::look_up(name, real);
}
[[gnu::visibility("default")]] char* secure_getenv(const char* name) noexcept {
  static const auto real = hr::next_function<hr::Look>("secure_getenv");
  return hr::look_up(name, real);
}

}  // extern "C"
