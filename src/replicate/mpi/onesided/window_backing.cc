#include "replicate/mpi/onesided/window_backing.h"

#include <fcntl.h>
#include <mpi.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>

#include "core/integrity/xxh3.h"
#include "replicate/engine/degrees.h"
#include "replicate/mpi/context/failure.h"
#include "replicate/mpi/context/implementation.h"
#include "replicate/mpi/intercept/guard.h"
#include "replicate/process/streams.h"

namespace holdfast::replicate {

namespace {

std::string directory;

std::string text_of(const char* name) {
  const char* text = std::getenv(name);
  return text ? text : "";
}

/// The name of a job that `holdfast run` did not start, in as many digits as it gives its own: the same in all
/// processes of the job, and not to be guessed by others, since Open MPI's launcher gives its processes 128 random
/// bits.
std::string started_by_hand() {
  const std::string job = text_of("PMIX_NAMESPACE") + ' ' + text_of("OMPI_MCA_orte_precondition_transports");
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016" PRIx64, integrity::xxh3_64(std::as_bytes(std::span(job))).low);
  return digits.data();
}

/// The replica that this process is going to be; -1 where that cannot be told before MPI_Init, or it is the only one.
int own_replica() {
  const std::optional<Place> place = launched_place();
  return place && asks_for_replicas(text_of("HOLDFAST_REPLICATE_DEGREE")) ? place->replica : -1;
}

}  // namespace

void separate_window_backing() {
  if (!is_open_mpi()) return;
  const int replica = own_replica();
  if (replica < 0) return;
  std::string folders = text_of("HOLDFAST_RUN_SHARED_MEMORY");
  if (folders.empty()) folders = "/dev/shm/holdfast-" + std::to_string(::getuid()) + "-" + started_by_hand();
  directory = folders + "-" + std::to_string(replica);
  ::setenv("OMPI_MCA_osc_sm_backing_directory", directory.c_str(), 0);
  ::setenv("OMPI_MCA_osc_rdma_backing_directory", directory.c_str(), 0);
}

namespace {

int held =
    -1;  ///< the folder, locked as long as this process lives: what nobody holds is removed at another job's start

bool is_own(int folder) {
  struct stat status {};
  return ::fstat(folder, &status) == 0 && status.st_uid == ::geteuid() && (status.st_mode & 077) == 0;
}

bool still_named(int folder) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(folder, &opened) == 0 && ::lstat(directory.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

}  // namespace

void make_window_backing() {
  if (directory.empty() || held >= 0) return;
  const Depth inside;
  for (int tries = 0; tries < 100;
       ++tries) {  // it may be removed between the call that makes and the one that holds it
    ::mkdir(directory.c_str(), 0700);
    const int folder = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0 && errno == ENOENT) continue;
    if (folder < 0 || !is_own(folder))
      fail(Incident::bad_input,
           "making the folder " + directory +
               " for windows: something of that name is there that is not this user's alone: see who "
               "made it");
    ::flock(folder, LOCK_SH);
    if (still_named(folder)) {
      held = ::fcntl(folder, F_DUPFD_CLOEXEC, 100);  // out of the way of programs that count on their descriptors
      ::close(folder);
      return;
    }
    ::close(folder);
  }
}

void remove_window_backing() {
  if (directory.empty()) return;
  ::rmdir(directory.c_str());
  if (held >= 0) ::close(held);
  held = -1;
}

}  // namespace holdfast::replicate
