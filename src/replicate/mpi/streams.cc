// Standard streams of the replicas. The user sees replica 0; the others write to files in the run directory, from the
// first instruction of main on, and every rank 0 reads the job's standard input.
#include "replicate/mpi/streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "replicate/engine/replica_map.h"

namespace holdfast::replicate {

namespace {

int original_stderr = STDERR_FILENO;

int number(const char* name) {
  const char* text = std::getenv(name);
  return text ? std::atoi(text) : -1;
}

void send_to_file(int descriptor, const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) return;
  ::dup2(file, descriptor);
  ::close(file);
}

void read_from(std::string path, int replica) {
  const std::size_t mark = path.find("%r");
  if (mark != std::string::npos) path.replace(mark, 2, std::to_string(replica));
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  ::dup2(file, STDIN_FILENO);
  ::close(file);
}

std::optional<ReplicaMap> announced_map() {
  if (const char* path = std::getenv("HOLDFAST_REPLICATE_MAP"); path && *path) {
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    auto map = ReplicaMap::parse(text, path);
    return map.ok() ? std::optional(std::move(map).value()) : std::nullopt;
  }
  const char* text = std::getenv("HOLDFAST_REPLICATE_DEGREE");
  const auto degrees = Degrees::parse(text ? text : "");
  if (!degrees.ok()) return std::nullopt;
  auto map = ReplicaMap::of(degrees.value(), number("HOLDFAST_RUN_RANKS"));
  return map.ok() ? std::optional(std::move(map).value()) : std::nullopt;
}

__attribute__((constructor)) void place_streams() {
  const char* directory = std::getenv("HOLDFAST_RUN_DIRECTORY");
  const std::optional<Place> place = launched_place();
  if (!place || !directory) return;
  const auto [rank, replica] = *place;
  if (const char* input = std::getenv("HOLDFAST_RUN_STDIN"); input && rank == 0) read_from(input, replica);
  const bool all_to_files = std::getenv("HOLDFAST_RUN_OUTPUT") != nullptr;
  if ((replica == 0 && !all_to_files) || std::getenv("HOLDFAST_RUN_REDIRECTED")) return;
  original_stderr = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 100);
  const std::string stem =
      std::string(directory) + "/rank-" + std::to_string(rank) + ".replica-" + std::to_string(replica);
  send_to_file(STDOUT_FILENO, stem + ".out");
  send_to_file(STDERR_FILENO, stem + ".err");
  if (all_to_files) ::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // as under a launcher with a terminal: shown line by line
}

}  // namespace

int job_stderr() {
  return original_stderr;
}

int launched_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"}) {
    if (const int rank = number(name); rank >= 0) return rank;
  }
  return -1;
}

std::optional<Place> launched_place() {
  const int native = launched_rank();
  if (native < 0) return std::nullopt;
  const std::optional<ReplicaMap> map = announced_map();
  if (!map || native >= map->natives()) return std::nullopt;
  return Place{map->virtual_rank(native), map->replica(native)};
}

}  // namespace holdfast::replicate
