#include "replicate/launch/detect/library.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace holdfast::launch {
namespace {

namespace fs = std::filesystem;

std::string own_folder() {
  std::error_code failed;
  return fs::read_symlink("/proc/self/exe", failed).parent_path().string();
}

}  // namespace

std::string library_file(std::string_view flavour) {
  return "libholdfast-replicate-" + std::string(flavour) + ".so";
}

std::string_view mpi_library(Mpi mpi) {
  return mpi == Mpi::openmpi ? HOLDFAST_OPENMPI_SONAME : HOLDFAST_MPICH_SONAME;
}

std::vector<std::string> library_folders(const std::string& program_folder, const std::string& users) {
  std::vector<std::string> folders;
  std::string_view rest = users;
  while (!rest.empty()) {
    std::size_t colon = std::min(rest.find(':'), rest.size());
    std::error_code nowhere;  // the working folder is gone
    const fs::path folder = fs::absolute(rest.substr(0, colon), nowhere);
    if (colon > 0 && !nowhere) folders.push_back(folder.lexically_normal().string());
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  for (const char* relative : {"../lib", HOLDFAST_INSTALLED_LIBRARIES})
    folders.push_back((fs::path(program_folder) / relative).lexically_normal().string());
  folders.push_back(program_folder);
  return folders;
}

namespace {

Result<std::string> find_file(const std::string& file, const std::string& remedy) {
  const char* users = std::getenv("HOLDFAST_LIBRARY_PATH");
  std::string searched;
  for (const std::string& folder : library_folders(own_folder(), users != nullptr ? users : "")) {
    std::string path = folder + "/" + file;
    std::error_code failed;
    if (fs::is_regular_file(path, failed)) return path;
    searched += (searched.empty() ? "" : ", ") + folder;
  }
  return Status(Code::unavailable, "looking for " + file, "it is in none of " + searched, remedy);
}

/// How to get what is built for an MPI.
std::string get_for(std::string_view flavour) {
  if (flavour == "abi")
    return "build Holdfast for the standard's interface of MPI (-DHOLDFAST_MPI_ABI_MPICC=/opt/mpi/bin/mpicc_abi), "
           "or set HOLDFAST_LIBRARY_PATH";
  return "install Holdfast for " + std::string(flavour) + ", or set HOLDFAST_LIBRARY_PATH";
}

}  // namespace

Result<std::string> find_library(std::string_view flavour) {
  return find_file(library_file(flavour), get_for(flavour));
}

Result<std::string> find_self_test(std::string_view flavour) {
  return find_file("holdfast-self-test-" + std::string(flavour),
                   "install Holdfast whole, or set HOLDFAST_LIBRARY_PATH");
}

Result<std::string> find_calibration(Mpi mpi) {
  return find_file("holdfast-calibrate-" + std::string(name(mpi)), get_for(name(mpi)));
}

Result<std::string> find_recorder(std::string_view flavour) {
  return find_file("libholdfast-record-" + std::string(flavour) + ".so", get_for(flavour));
}

Result<std::string> find_heap() {
  return find_file("libholdfast-heap.so", "install Holdfast whole, or set HOLDFAST_LIBRARY_PATH");
}

Result<std::string> find_commands() {
  return find_file("holdfast-commands", "packaging/prepare commands builds it, or install Holdfast whole");
}

Result<std::string> find_provider() {
  return find_file("libholdfast-fi.so", "build Holdfast with libfabric-dev, or set HOLDFAST_LIBRARY_PATH");
}

}  // namespace holdfast::launch
