#include "replicate/mpi/window_backing.h"

#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "replicate/engine/replica_map.h"
#include "replicate/mpi/streams.h"

namespace holdfast::replicate {

namespace {

std::string directory;

#ifdef OPEN_MPI
std::string text_of(const char* name) {
  const char* text = std::getenv(name);
  return text ? text : "";
}

/// The replica that this process is going to be; -1 where that cannot be told before MPI_Init.
int own_replica() {
  const int native = launched_rank();
  if (native < 0) return -1;
  if (const std::string path = text_of("HOLDFAST_REPLICATE_MAP"); !path.empty()) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    const auto map = ReplicaMap::parse(text.str(), path);
    return map && native < map.value().natives() ? map.value().replica(native) : -1;
  }
  const int natives = std::atoi(text_of("OMPI_COMM_WORLD_SIZE").c_str());
  const int degree = std::atoi(text_of("HOLDFAST_REPLICATE_DEGREE").c_str());
  if (degree < 2 || natives < degree) return -1;
  return native / (natives / degree);
}
#endif

}  // namespace

void separate_window_backing() {
#ifdef OPEN_MPI
  const int replica = own_replica();
  if (replica < 0) return;
  const std::string job = text_of("PMIX_NAMESPACE");
  directory = "/dev/shm/holdfast-" + std::to_string(::getuid()) + "-" + (job.empty() ? "job" : job) + "-" +
              std::to_string(replica);
  ::mkdir(directory.c_str(), 0700);
  ::setenv("OMPI_MCA_osc_sm_backing_directory", directory.c_str(), 0);
  ::setenv("OMPI_MCA_osc_rdma_backing_directory", directory.c_str(), 0);
#endif
}

void remove_window_backing() {
  if (!directory.empty()) ::rmdir(directory.c_str());
}

}  // namespace holdfast::replicate
