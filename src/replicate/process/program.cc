#include "replicate/process/program.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>

#include "replicate/engine/degrees.h"
#include "replicate/process/depth.h"
#include "replicate/process/job.h"

namespace holdfast::replicate {

namespace {

/// Of the program's first thread, how far it is.
enum class FirstThread : unsigned char { none, running, ending };
[[gnu::tls_model("initial-exec")]] constinit thread_local FirstThread first_thread = FirstThread::none;
constexpr pid_t loading = -1;  // the constructors of shared libraries are at work
pid_t process = loading;       // that of the program once it has begun; 0 in any other

/// Alone, a process has nobody to agree with.
bool has_replicas() {
  const char* degree = std::getenv("HOLDFAST_REPLICATE_DEGREE");
  return degree && asks_for_replicas(degree);
}

constexpr const char* program_runs_mpi = "HOLDFAST_RUN_MPI_BEGUN";

/// Shells run scripts, whose commands are what is meant.
bool is_shell(std::string_view path) {
  constexpr std::string_view shells[] = {"sh", "bash", "dash", "ksh", "zsh", "csh", "tcsh", "fish", "busybox"};
  const std::string_view base = path.substr(path.rfind('/') + 1);
  return std::find(std::begin(shells), std::end(shells), base) != std::end(shells);
}

std::string own_path() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  return {path, length > 0 ? static_cast<std::size_t>(length) : 0};
}

bool started_by_program(std::string_view own) {
  return std::getenv("HOLDFAST_RUN_STARTER") && !std::getenv(program_runs_mpi) && !is_shell(own);
}

}  // namespace

bool program_asks() {
  return first_thread == FirstThread::running && program_asks_until_its_end();
}

bool program_asks_until_its_end() {
  return first_thread != FirstThread::none && depth == 0 && real_process_id() == process;
}

bool program_is_named() {
  const char* program = std::getenv("HOLDFAST_RUN_PROGRAM");
  return program && own_path() == program;
}

bool starts_before_mpi() {
  return has_replicas() && std::getenv("HOLDFAST_RUN_STARTER") && !std::getenv(program_runs_mpi);
}

bool shell_starts_program() {
  return starts_before_mpi() && is_shell(own_path());
}

bool program_is_loaded() {
  if (process != loading || !has_replicas() || !std::getenv("HOLDFAST_RUN_PROGRAM")) return false;
  return program_is_named() || started_by_program(own_path());
}

void program_begins() {
  process = program_is_loaded() ? real_process_id() : 0;
  first_thread = process != 0 ? FirstThread::running : FirstThread::none;
}

void program_calls_mpi() {
  if (std::getenv("HOLDFAST_RUN_STARTER")) set_variable(program_runs_mpi, "1");
}

void program_ends() {
  if (first_thread == FirstThread::running) first_thread = FirstThread::ending;
}

pid_t real_process_id() {
  return static_cast<pid_t>(syscall(SYS_getpid));
}

}  // namespace holdfast::replicate
