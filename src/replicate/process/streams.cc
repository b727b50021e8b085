// Standard streams of the replicas. The user sees replica 0; the others write to files in the run directory, from the
// first instruction of main on, and every rank 0 reads the job's standard input.
#include "replicate/process/streams.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "core/config/environment.h"
#include "core/config/settings.h"
#include "replicate/engine/degrees.h"
#include "replicate/engine/options.h"
#include "replicate/engine/replica_map.h"
#include "replicate/process/depth.h"
#include "replicate/process/job.h"
#include "replicate/process/program.h"

namespace holdfast::replicate {

namespace {

/// Of this process, or of the one that started it.
struct {
  int job_stderr = STDERR_FILENO;
  pid_t launched = 0;  ///< the one that the launcher started
} placing;

int announced_number(const char* name) {
  const Depth inside;  // what the launcher says, not what the program is told
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
  auto map = ReplicaMap::of(degrees.value(), announced_number("HOLDFAST_RUN_RANKS"));
  return map.ok() ? std::optional(std::move(map).value()) : std::nullopt;
}

/// One of descriptors 1 and 2 as it was when the program began, and where what the program writes to it is recorded.
struct StandardStream {
  std::string path;
  std::string placed;     ///< the file that it was made to lead to
  std::string elsewhere;  ///< the mark that it was sent elsewhere
  dev_t device = 0;
  ino_t inode = 0;
  bool only = false;            ///< nothing of it is shown from this process
  StandardStream* into = this;  ///< that with whose record its own is one: 2>&1
  std::atomic<int> file{-1};    ///< opened by the first write
  std::atomic<std::uint64_t> bytes{0};

  bool leads_to(const struct stat& status) const { return device == status.st_dev && inode == status.st_ino; }
};

/// Made once and never gone: programs write in exit handlers.
struct Recording {
  std::array<StandardStream, 2> streams;
  bool all_to_files = false;  ///< the launcher shows what is recorded, of whichever replica
  bool first = false;         ///< of the replicas
};
Recording* prepared = nullptr;
std::atomic<const Recording*> present{nullptr};
[[gnu::tls_model("initial-exec")]] constinit thread_local bool on_recording_thread = false;

bool compared() {
  config::Settings<Options> settings(options_table());
  return config::read_environment(settings, environ).ok() && settings.options().files &&
         asks_for_replicas(settings.options().degree);
}

/// A child's output is not the program's.
void stop_in_child() {
  present = nullptr;
  recorded_printing = nullptr;
}

StandardStream& stream_of(int number) {
  return prepared->streams[static_cast<std::size_t>(number - 1)];
}

/// Two threads may come at once: one of them keeps its descriptor.
int record_file(StandardStream& stream) {
  int file = stream.file.load(std::memory_order_acquire);
  if (file >= 0) return file;
  const Depth inside;
  const int low = ::open(stream.path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (low < 0) return -1;
  const int mine = ::fcntl(low, F_DUPFD_CLOEXEC, lowest_descriptor);
  ::close(low);
  if (mine < 0 || stream.file.compare_exchange_strong(file, mine, std::memory_order_acq_rel)) return mine;
  ::close(mine);
  return file;
}

/// In the environment of what a process starts whose streams were placed: which descriptor the standard error of the
/// job is, which process the launcher started, and where its output goes. A child has its parent's streams, or those
/// that the parent gave it (a pipe, a file).
constexpr const char* placed_variable = "HOLDFAST_RUN_PLACED";

bool placed_by_parent(const std::string& stem) {
  const char* text = std::getenv(placed_variable);
  if (!text) return false;
  char* rest = nullptr;
  const auto descriptor = static_cast<int>(std::strtol(text, &rest, 10));
  const auto launched = static_cast<pid_t>(std::strtol(rest, &rest, 10));
  if (stem != rest + (*rest == ' ')) return false;  // that of another job
  if (::fcntl(descriptor, F_GETFD) >= 0) placing.job_stderr = descriptor;
  placing.launched = launched;
  return true;
}

/// Whether the path is this replica's own copy of a file (docs/design/files.md).
bool is_own_copy(const std::string& path) {
  char whole[PATH_MAX];
  const char* const directory = ::realpath(run_directory(), whole);
  return directory && path.starts_with(std::string(directory) + "/holdfast-files/replica-");
}

std::string path_of(int descriptor) {
  char path[PATH_MAX];
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t length = ::readlink(link.c_str(), path, sizeof path);
  return {path, length > 0 ? static_cast<std::size_t>(length) : 0};
}

/// What started the program may have sent its stream to a file or into a pipe of its own, or to the other stream: there
/// it goes. A pipe is each replica's own, and so may a file be; else one of its writers is enough.
void follow_redirection(int number) {
  StandardStream& stream = stream_of(number);
  StandardStream& other = stream_of(STDOUT_FILENO + STDERR_FILENO - number);
  struct stat status {};
  if (::stat(stream.placed.c_str(), &status) != 0 || stream.leads_to(status)) return;
  if (::stat(other.placed.c_str(), &status) == 0 && stream.leads_to(status)) {
    if (prepared->all_to_files && other.leads_to(status)) stream.into = &other;
    return;
  }
  const bool is_file = ::fstat(number, &status) == 0 && !S_ISFIFO(status.st_mode) && !S_ISSOCK(status.st_mode);
  const std::string path = is_file ? path_of(number) : "";
  const bool own = is_own_copy(path);
  stream.only = is_file && !prepared->first && !own;
  if (prepared->all_to_files) std::ofstream(stream.elsewhere) << (own ? "" : path);
}

void place_streams(const Place& place, const std::string& stem, bool shown) {
  if (const char* input = std::getenv("HOLDFAST_RUN_STDIN"); input && place.rank == 0) read_from(input, place.replica);
  if (!shown) {
    placing.job_stderr = ::fcntl(STDERR_FILENO, F_DUPFD, lowest_descriptor);
    const std::string rest = stem + (prepared ? ".other" : "");
    send_to_file(STDOUT_FILENO, rest + ".out");
    send_to_file(STDERR_FILENO, rest + ".err");
  }
  placing.launched = real_process_id();
  set_variable(placed_variable,
               std::to_string(placing.job_stderr) + " " + std::to_string(placing.launched) + " " + stem);
}

__attribute__((constructor)) void prepare_streams() {
  const char* directory = run_directory();
  const std::optional<Place> place = launched_place();
  if (!place || !directory) return;
  const bool all_to_files = std::getenv("HOLDFAST_RUN_OUTPUT") != nullptr;
  const bool shown = place->replica == 0 && !all_to_files;
  const std::string stem =
      std::string(directory) + "/rank-" + std::to_string(place->rank) + ".replica-" + std::to_string(place->replica);
  if (compared()) {
    prepared = new Recording();
    prepared->all_to_files = all_to_files;
    prepared->first = place->replica == 0;
    for (const int number : {STDOUT_FILENO, STDERR_FILENO}) {
      const std::string ending = number == STDOUT_FILENO ? ".out" : ".err";
      stream_of(number).path = stem + ending;
      stream_of(number).placed = stem + ".other" + ending;
      stream_of(number).elsewhere = stem + ".elsewhere" + ending;
      stream_of(number).only = !shown;
    }
  }
  if (!placed_by_parent(stem)) place_streams(*place, stem, shown);
  if (all_to_files)
    ::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // as under a launcher with a terminal: shown line by line
}

}  // namespace

int job_stderr() {
  return placing.job_stderr;
}

void leave_launched_status(int status) {
  const Depth inside;
  if (placing.launched == 0 || placing.launched != real_process_id() || !std::getenv("HOLDFAST_RUN_STARTER")) return;
  const std::optional<Place> place = launched_place();
  if (!place || !run_directory()) return;
  (void)leave_status(
      std::string(run_directory()) + "/launched-" + std::to_string(place->rank) + "." + std::to_string(place->replica),
      status & 0xff);
}

int launched_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"}) {
    if (const int rank = announced_number(name); rank >= 0) return rank;
  }
  return -1;
}

std::optional<Place> launched_place() {
  const int physical = launched_rank();
  if (physical < 0) return std::nullopt;
  const std::optional<ReplicaMap> map = announced_map();
  if (!map || physical >= map->physical_ranks()) return std::nullopt;
  return Place{map->virtual_rank(physical), map->replica(physical)};
}

bool to_be_recorded() {
  return prepared != nullptr;
}

void record_streams() {
  if (!prepared || present.load()) return;
  const Depth inside;
  for (const int number : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat status {};
    if (::fstat(number, &status) != 0) continue;
    stream_of(number).device = status.st_dev;
    stream_of(number).inode = status.st_ino;
  }
  for (const int number : {STDOUT_FILENO, STDERR_FILENO}) follow_redirection(number);
  ::pthread_atfork(nullptr, nullptr, stop_in_child);
  on_recording_thread = true;
  recorded_printing = stdout;
  present = prepared;
}

bool recording_thread() {
  return on_recording_thread;
}

bool recording() {
  return present.load(std::memory_order_relaxed) != nullptr;
}

bool is_stream(int descriptor, int stream) {
  struct stat status {};
  const StandardStream& begun = stream_of(stream);
  return begun.inode != 0 && ::fstat(descriptor, &status) == 0 && status.st_ino == begun.inode &&
         status.st_dev == begun.device;
}

bool is_placed_stream(int descriptor) {
  struct stat status {};
  struct stat placed {};
  if (!prepared || ::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return false;
  return std::any_of(prepared->streams.begin(), prepared->streams.end(), [&](const StandardStream& stream) {
    return ::stat(stream.placed.c_str(), &placed) == 0 && placed.st_dev == status.st_dev &&
           placed.st_ino == status.st_ino;
  });
}

bool recorded_only(int stream) {
  return stream_of(stream).only;
}

ssize_t record(int stream, std::span<const iovec> pieces) {
  StandardStream& recorded = *stream_of(stream).into;
  const int file = record_file(recorded);
  if (file < 0) return -1;
  const Depth inside;  // not the program's own write
  const ssize_t written = ::writev(file, pieces.data(), static_cast<int>(pieces.size()));
  if (written > 0) recorded.bytes.fetch_add(static_cast<std::uint64_t>(written), std::memory_order_relaxed);
  return written;
}

std::uint64_t recorded_bytes(int stream) {
  return prepared ? stream_of(stream).bytes.load(std::memory_order_relaxed) : 0;
}

bool holds_record(int descriptor) {
  return recording() && (descriptor == stream_of(STDOUT_FILENO).file.load(std::memory_order_relaxed) ||
                         descriptor == stream_of(STDERR_FILENO).file.load(std::memory_order_relaxed));
}

}  // namespace holdfast::replicate
