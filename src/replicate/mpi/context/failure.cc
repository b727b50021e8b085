#include "replicate/mpi/context/failure.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "functions.h"
#include "real_functions.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/mpi/intercept/guard.h"
#include "replicate/process/call_site.h"
#include "replicate/process/job.h"
#include "replicate/process/liveness.h"
#include "replicate/process/streams.h"

namespace holdfast::replicate {

namespace {

const char* word(Incident incident) {
  switch (incident) {
    case Incident::uncorrected:
      return "uncorrected";
    case Incident::diverged:
      return "diverged";
    case Incident::silent:
      return "silent";
    case Incident::refused:
      return "refused";
    case Incident::bad_input:
      return "bad_input";
    case Incident::abort:
      return "abort";
    case Incident::outvoted:
      return "outvoted";
  }
  return "unknown";
}

/// The exit code that the launcher sees; the same table as `holdfast run`'s.
int exit_code(Incident incident) {
  switch (incident) {
    case Incident::uncorrected:
      return 3;
    case Incident::diverged:
    case Incident::silent:
      return 4;
    case Incident::refused:
      return 6;
    case Incident::bad_input:
      return 2;
    case Incident::abort:
    case Incident::outvoted:
      return 1;
  }
  return 7;
}

}  // namespace

bool report_incident(Incident incident, std::string_view message) {
  const char* directory = run_directory();
  if (!directory) return false;
  const Runtime& state = runtime();
  const nlohmann::json json = {{"job", job_identity()},    {"kind", word(incident)},        {"rank", state.rank},
                               {"replica", state.replica}, {"call", state.history.count()}, {"message", message}};
  const std::string path = std::string(directory) + "/incident-" + std::to_string(state.rank) + "." +
                           std::to_string(state.replica) + ".json";
  const std::string text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  const std::string draft = path + ".draft";  // the job may be ended at any moment: whole or not at all
  const int file = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return false;
  const bool written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(file);
  if (written && ::rename(draft.c_str(), path.c_str()) == 0) return true;
  std::perror("holdfast: writing the incident file");
  return false;
}

void say(std::string_view message) {
  const Depth inside;  // not the program's own words
  const std::string line = "holdfast: " + std::string(message) + "\n";
  if (::write(job_stderr(), line.data(), line.size()) < 0) return;  // nobody is left to tell
}

namespace {

void tell(Incident incident, std::string_view message) {
  if (!report_incident(incident, message)) say(message);  // `holdfast run` tells what is in the file
  say_failed();
}

}  // namespace

void fail_unseen() {
  tell(Incident::refused,
       "the program opened its MPI library for itself alone (dlopen), where Holdfast cannot stand before it: give "
       "`holdfast run` the program itself (python3 and its arguments) in place of a script that starts it, or set "
       "LD_PRELOAD to the MPI library");
  std::_Exit(exit_code(Incident::refused));
}

namespace {

/// Where the program is, for those who look for what went another way; and whether replicas asked the system for other
/// things, as threads and collectors of memory do.
std::string circumstances() {
  std::string text;
  if (const std::string site = call_site_text(); !site.empty()) text += "; noticed in a call from " + site;
  const std::uint64_t apart = runtime().counters[Count::answers_apart];
  if (apart > 0)
    text += "; until then this replica had read clocks, or what else the system tells, " + std::to_string(apart) +
            " times where replica " + std::to_string(runtime().leading) + " did not";
  return text;
}

}  // namespace

void fail(Incident incident, std::string_view message) {
  const bool differs = incident == Incident::uncorrected || incident == Incident::diverged;
  tell(incident, differs ? std::string(message) + circumstances() : std::string(message));
  depth = 1;
  int running = 0;
  int over = 0;
  real().Initialized(&running);
  real().Finalized(&over);
  if (running && !over) real().Abort(MPI_COMM_WORLD, exit_code(incident));
  std::_Exit(exit_code(incident));
}

void fail_unsupported(std::string_view what, std::string_view remedy) {
  fail(Incident::refused, std::string(what) + ": " + std::string(remedy));
}

int refuse(Function function, const char* because) {
  fail(Incident::refused, std::string(function_name(function)) + " is refused under replication: " + because);
}

}  // namespace holdfast::replicate
