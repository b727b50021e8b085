#include "replicate/mpi/life/closing.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "replicate/mpi/agree/agreeing_thread.h"
#include "replicate/mpi/agree/answers.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/mpi/intercept/guard.h"
#include "replicate/process/job.h"
#include "replicate/process/standing_clocks.h"
#include "replicate/process/streams.h"

namespace holdfast::replicate {

namespace {

bool has_changed_files(const std::string& directory) {
  const int replica = runtime().replica;
  const std::string own = replica == 0 ? "base" : "replica-" + std::to_string(replica);
  return ::access((directory + "/holdfast-files/" + own).c_str(), F_OK) == 0;
}

constexpr std::uint32_t closing_moment = 0x434c4f53;  // among the subjects of answers, which are hashes

}  // namespace

void stop_clocks() {
  const Runtime& state = runtime();
  if (!state.verifying || !state.options.clocks || !agreeing_thread()) return;
  Moment moment = this_moment();
  std::string bytes(reinterpret_cast<const char*>(&moment), sizeof moment);
  if (agree_on_answer(closing_moment, bytes) && bytes.size() == sizeof moment)
    std::memcpy(&moment, bytes.data(), sizeof moment);
  stand_at(moment);
}

void leave_closing_statement() {
  const char* directory = run_directory();
  if (!directory || !runtime().verifying) return;
  const Depth inside;
  const std::string path =
      std::string(directory) + "/finished-" + std::to_string(runtime().rank) + "." + std::to_string(runtime().replica);
  const std::string text = "job " + job_identity() + " stdout " + std::to_string(recorded_bytes(STDOUT_FILENO)) +
                           " stderr " + std::to_string(recorded_bytes(STDERR_FILENO)) + " files " +
                           (has_changed_files(directory) ? "1" : "0") + "\n";
  const std::string draft = path + ".draft";
  const int file = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return;  // the launcher says what is missing
  const bool written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(file);
  if (written) (void)std::rename(draft.c_str(), path.c_str());
}

}  // namespace holdfast::replicate
