#include "replicate/process/program.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "replicate/engine/degrees.h"
#include "replicate/process/depth.h"

namespace holdfast::replicate {

namespace {

[[gnu::tls_model("initial-exec")]] constinit thread_local bool first_thread = false;
constexpr pid_t loading = -1;  // the constructors of shared libraries are at work
pid_t process = loading;       // that of the program once it has begun; 0 in any other

/// Alone, a process has nobody to agree with.
bool has_replicas() {
  const char* degree = std::getenv("HOLDFAST_REPLICATE_DEGREE");
  return degree && asks_for_replicas(degree);
}

bool started_as_program() {
  const char* program = std::getenv("HOLDFAST_RUN_PROGRAM");
  char path[4096];
  const ssize_t length = program ? readlink("/proc/self/exe", path, sizeof(path)) : 0;
  return length > 0 && std::string_view(path, static_cast<std::size_t>(length)) == program;
}

}  // namespace

bool program_asks() {
  return first_thread && depth == 0 && real_process_id() == process;
}

bool program_is_loaded() {
  return process == loading && has_replicas() && started_as_program();
}

void program_begins() {
  process = program_is_loaded() ? real_process_id() : 0;
  first_thread = process != 0;
}

void program_ends() {
  first_thread = false;
}

pid_t real_process_id() {
  return static_cast<pid_t>(syscall(SYS_getpid));
}

}  // namespace holdfast::replicate
