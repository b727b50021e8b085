// A replica that ends alone went another way than the others; replicas that end alike show a fault of the application.
// So whoever is about to end notes it in the run directory, and waits a moment for the others of its rank to do the
// same, before the launcher ends everybody. In a signal handler: nothing here but system calls (POSIX, 2.4.3).
#include "replicate/mpi/context/crash.h"

#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "functions.h"
#include "replicate/mpi/context/failure.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/process/job.h"
#include "replicate/process/liveness.h"

namespace holdfast::replicate {

namespace {

constexpr int fatal_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr int waits = 100;  // of 10 ms

char own_path[4096];
char own_text[NSIG][400];
int own_length[NSIG];
std::vector<std::pair<int, std::string>>* team_paths;  // by replica

std::string incident_path(int replica) {
  return std::string(run_directory()) + "/incident-" + std::to_string(runtime().rank) + "." + std::to_string(replica) +
         ".json";
}

bool taken_out(int replica) {
  const std::size_t count = departures();
  for (std::size_t n = 0; n < count; ++n)
    if (departed(n) == replica) return true;
  return false;
}

/// Whether all other replicas of this rank that are left have noted an end too.
bool wait_for_the_others() {
  if (!team_paths) return true;
  for (int i = 0; i < waits; ++i) {
    bool all = true;
    for (const auto& [replica, path] : *team_paths)
      all = all && (taken_out(replica) || ::access(path.c_str(), F_OK) == 0);
    if (all) return true;
    const timespec moment{0, 10000000};
    ::nanosleep(&moment, nullptr);
  }
  return false;
}

/// Where the job goes on without a replica, one that ends alone ends for itself: its world is not that of the others.
void end_alone_unless(bool all) {
  if (!all && runtime().survives && runtime().present > 1) ::_exit(0);
}

void on_crash(int signal) {
  const int file = ::open(own_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file >= 0) {
    const ssize_t written = ::write(file, own_text[signal], static_cast<std::size_t>(own_length[signal]));
    ::close(file);
    if (written > 0) (void)wait_for_the_others();
  }
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

}  // namespace

void watch_for_crashes() {
  if (!run_directory()) return;
  Runtime& state = runtime();
  std::snprintf(own_path, sizeof own_path, "%s", incident_path(state.replica).c_str());
  team_paths = new std::vector<std::pair<int, std::string>>();
  for (int k = 0; k < state.degree; ++k) {
    if (k != state.replica) team_paths->emplace_back(k, incident_path(k));
  }
  for (const int signal : fatal_signals) {
    own_length[signal] = std::snprintf(
        own_text[signal], sizeof own_text[signal],
        "{\"job\": \"%s\", \"kind\": \"crash\", \"rank\": %d, \"replica\": %d, \"signal\": %d, \"message\": \"rank %d "
        "replica %d was ended by "
        "signal %d (%s)\"}\n",
        job_identity().c_str(), state.rank, state.replica, signal, state.rank, state.replica, signal,
        ::strsignal(signal));
    struct sigaction action {};
    action.sa_handler = on_crash;
    sigemptyset(&action.sa_mask);
    ::sigaction(signal, &action, nullptr);
  }
}

void note_fatal_error(std::string_view what) {
  Call last;
  const CallHistory& history = runtime().history;
  const bool known = history.count() > 0 && history.find(history.count() - 1, last);
  (void)report_incident(Incident::abort,
                        "rank " + std::to_string(runtime().rank) + " replica " + std::to_string(runtime().replica) +
                            " ran into an error" +
                            (known ? " in " + std::string(function_name(static_cast<Function>(last.function))) : "") +
                            ": " + std::string(what));
  end_alone_unless(wait_for_the_others());
}

void note_abort(int code) {
  (void)report_incident(Incident::abort, "rank " + std::to_string(runtime().rank) + " replica " +
                                             std::to_string(runtime().replica) + " called MPI_Abort with code " +
                                             std::to_string(code));
  end_alone_unless(wait_for_the_others());
}

void end_alone(std::string_view why) {
  if (!runtime().survives || runtime().present < 2) fail(Incident::uncorrected, why);
  say("rank " + std::to_string(runtime().rank) + " replica " + std::to_string(runtime().replica) +
      " ends, and the job goes on without it: " + std::string(why));
  ::_exit(0);
}

}  // namespace holdfast::replicate
