// What the launcher tells a process by its environment, where it is another one in each replica: who of the real world
// it is. The program is told which rank it plays, and of how many, by getenv() and in `environ`; MPI, Holdfast and
// other programs' calls of getenv() get what the launcher said.
#include "replicate/libc/environment.h"

#include <stdlib.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "replicate/libc/files.h"
#include "replicate/mpi/intercept/guard.h"
#include "replicate/process/job.h"
#include "replicate/process/program.h"
#include "replicate/process/streams.h"

extern char** environ;

namespace holdfast::replicate {

namespace {

constexpr const char* rank_names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID",
                                      "OMPI_MCA_ess_base_vpid"};
constexpr const char* size_names[] = {"OMPI_COMM_WORLD_SIZE",   "PMI_SIZE",
                                      "SLURM_NTASKS",           "SLURM_NPROCS",
                                      "OMPI_APP_CTX_NUM_PROCS", "OMPI_MCA_orte_ess_num_procs"};
/// Among the processes of one host.
constexpr const char* local_rank_names[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_NODE_RANK",
                                            "MPI_LOCALRANKID", "SLURM_LOCALID", "OMPI_MCA_orte_ess_node_rank"};
constexpr const char* local_size_names[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"};
/// JOB.RANK.
constexpr const char* member_names[] = {"PMIX_ID"};
/// FOLDER/RANK, where PRRTE puts files that it was asked to take along.
constexpr const char* folder_names[] = {"OMPI_FILE_LOCATION"};
/// The number of an open file: MPI's own, so that the program is told none.
constexpr const char* descriptor_names[] = {"PMI_FD"};

/// What the launcher said, for those that the program starts: NAME=SAID=TOLD, with a space after each.
constexpr const char* kept_name = "HOLDFAST_RUN_LAUNCHED";

template <std::size_t n>
bool one_of(const char* name, const char* const (&names)[n]) {
  for (const char* each : names) {
    if (std::strcmp(name, each) == 0) return true;
  }
  return false;
}

using Look = char* (*)(const char*);

char* look_really(const char* name) {
  static const auto real = next_function<Look>("getenv");
  return real(name);
}

struct Part {
  std::string rank, ranks;
  bool one_host = false;
};

/// What the program is told where the launcher said something else; nothing: the same.
std::optional<std::string> told_instead(const char* name, const char* said, const Part& part) {
  const bool local_rank = one_of(name, local_rank_names);
  const bool local_size = one_of(name, local_size_names);
  if ((local_rank || local_size) && !part.one_host) return std::nullopt;
  if (local_rank || one_of(name, rank_names)) return part.rank;
  if (local_size || one_of(name, size_names)) return part.ranks;
  if (one_of(name, descriptor_names)) return "-1";
  const char separator = one_of(name, member_names) ? '.' : one_of(name, folder_names) ? '/' : '\0';
  const char* const end = separator != '\0' ? std::strrchr(said, separator) : nullptr;
  return end ? std::optional(std::string(said, end + 1) + part.rank) : std::nullopt;
}

struct Variable {
  std::string name, said, told;
};
using Variables = std::vector<Variable>;

bool has(const Variables& variables, const std::string& name) {
  return std::any_of(variables.begin(), variables.end(), [&](const Variable& each) { return each.name == name; });
}

/// Puts what the program is told in the place of what the launcher said, whose strings stay where they are. `replaced`:
/// where that was done before.
Variables replace_variables(const Part& part, Variables replaced) {
  for (char** each = environ; *each; ++each) {
    const char* const equals = std::strchr(*each, '=');
    if (!equals || !std::strchr("OPMS", **each)) continue;
    Variable variable{std::string(*each, static_cast<std::size_t>(equals - *each)), equals + 1, {}};
    const auto told = told_instead(variable.name.c_str(), equals + 1, part);
    if (!told || has(replaced, variable.name)) continue;
    variable.told = *told;
    const std::string entry = variable.name + "=" + variable.told;
    *each = ::strdup(entry.c_str());  // the environment's, for the process's life
    replaced.push_back(std::move(variable));
  }
  return replaced;
}

std::string keep(const Variables& variables) {
  std::string text;
  for (const Variable& each : variables) text += each.name + "=" + each.said + "=" + each.told + " ";
  return text;
}

/// None where another launcher has said something else since.
Variables variables_kept_by_parent() {
  Variables variables;
  const char* const kept = look_really(kept_name);
  std::string text = kept ? kept : "";
  while (!text.empty()) {
    const std::string entry = text.substr(0, text.find(' '));
    text.erase(0, entry.size() + 1);
    const std::size_t first = entry.find('=');
    const std::size_t last = entry.rfind('=');
    if (first == std::string::npos || first == last) return {};
    Variable variable{entry.substr(0, first), entry.substr(first + 1, last - first - 1), entry.substr(last + 1)};
    const char* const now = look_really(variable.name.c_str());
    if (!now || variable.told != now) return {};
    variables.push_back(std::move(variable));
  }
  return variables;
}

const Variables* own_variables = nullptr;

const Variables& launchers_variables() {
  if (own_variables) return *own_variables;
  static const Variables* const of_parent = new Variables(variables_kept_by_parent());
  return *of_parent;
}

char* look_up(const char* name, Look real) {
  char* const here = real(name);
  if (!here || !std::strchr("HOPMS", name[0])) return here;
  if (name[0] == 'H') return std::strcmp(name, kept_name) == 0 && program_asks() ? nullptr : here;
  const bool told = own_variables && program_asks();
  if (told) return here;
  const Depth inside;
  for (const Variable& each : launchers_variables())
    if (each.name == name) return const_cast<char*>(each.said.c_str());
  return here;
}

/// Where all processes of the job are on this host, the ranks of a replica are numbered here as everywhere. By what the
/// launcher said: inside Holdfast.
bool on_one_host() {
  const char* local = nullptr;
  for (const char* name : local_size_names) local = local ? local : look_up(name, look_really);
  const char* all = nullptr;
  for (const char* name : size_names) all = all ? all : look_up(name, look_really);
  return local && all && std::strcmp(local, all) == 0;
}

std::optional<Part> own_part() {
  const std::optional<Place> place = launched_place();
  const char* ranks = look_really("HOLDFAST_RUN_RANKS");
  if (!place || !ranks || !look_really("HOLDFAST_RUN_IDENTITY")) return std::nullopt;
  return Part{std::to_string(place->rank), ranks, on_one_host()};
}

}  // namespace

void tell_program_its_part() {
  const bool shell = shell_starts_program();
  if (!program_asks() && !shell) return;
  const Depth inside;
  std::optional<Part> part = own_part();
  if (!part) return;
  if (shell) part->one_host = false;  // they place processes by their numbers on a host
  auto replaced = new Variables(replace_variables(*part, launchers_variables()));  // what started it was told, perhaps
  set_variable(kept_name, keep(*replaced));
  own_variables = replaced;  // for the process's life: getenv() gives pointers
}

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
