#include "replicate/mpi/window_backing.h"

#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "replicate/engine/degrees.h"
#include "replicate/mpi/streams.h"

namespace holdfast::replicate {

namespace {

std::string directory;

#ifdef OPEN_MPI
std::string text_of(const char* name) {
  const char* text = std::getenv(name);
  return text ? text : "";
}

/// The replica that this process is going to be; -1 where that cannot be told before MPI_Init, or it is the only one.
int own_replica() {
  const std::optional<Place> place = launched_place();
  return place && asks_for_replicas(text_of("HOLDFAST_REPLICATE_DEGREE")) ? place->replica : -1;
}
#endif

}  // namespace

void separate_window_backing() {
#ifdef OPEN_MPI
  const int replica = own_replica();
  if (replica < 0) return;
  std::string folders = text_of("HOLDFAST_RUN_WINDOWS");
  if (folders.empty()) {
    const std::string job = text_of("PMIX_NAMESPACE");
    folders = "/dev/shm/holdfast-" + std::to_string(::getuid()) + "-" + (job.empty() ? "job" : job);
  }
  directory = folders + "-" + std::to_string(replica);
  ::setenv("OMPI_MCA_osc_sm_backing_directory", directory.c_str(), 0);
  ::setenv("OMPI_MCA_osc_rdma_backing_directory", directory.c_str(), 0);
#endif
}

void make_window_backing() {
  if (!directory.empty()) ::mkdir(directory.c_str(), 0700);
}

void remove_window_backing() {
  if (!directory.empty()) ::rmdir(directory.c_str());
}

}  // namespace holdfast::replicate
