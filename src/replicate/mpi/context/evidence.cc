#include "replicate/mpi/context/evidence.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <mutex>
#include <set>
#include <string>

#include "replicate/mpi/context/runtime.h"
#include "replicate/mpi/intercept/guard.h"
#include "replicate/process/job.h"
#include "replicate/process/real_clock.h"

namespace holdfast::replicate {

namespace {

std::mutex mutex;
std::set<std::string> noted;

void note(const std::string& what) {
  const char* directory = run_directory();
  const std::lock_guard<std::mutex> lock(mutex);
  if (!directory || !noted.insert(what).second) return;
  const Depth inside;
  timespec now{};
  real_clock_gettime(CLOCK_REALTIME, &now);
  const std::string line =
      job_identity() + " " + std::to_string(now.tv_sec) + " " + std::to_string(now.tv_nsec) + " " + what + "\n";
  const std::string path =
      std::string(directory) + "/evidence-" + std::to_string(runtime().rank) + "." + std::to_string(runtime().replica);
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return;
  if (::write(file, line.data(), line.size()) < 0) noted.erase(what);  // perhaps the next one can
  ::close(file);
}

}  // namespace

void note_struck(std::size_t fault) {
  note("struck " + std::to_string(fault) + " 0");
}

void note_wrong_copy(int rank, int replica) {
  note("wrong " + std::to_string(rank) + " " + std::to_string(replica));
}

}  // namespace holdfast::replicate
