#pragma once

#include <string>
#include <vector>

#include "core/status/status.h"
#include "replicate/launch/detect/program.h"

namespace holdfast::launch {

/// "libholdfast-replicate-openmpi.so", of what flavour() says.
std::string library_file(std::string_view flavour);
/// The name by which programs ask for the MPI library itself (its soname); empty where Holdfast was built without it.
std::string_view mpi_library(Mpi mpi);

/// Where libraries are looked for, in order: the folders of HOLDFAST_LIBRARY_PATH (`users`, separated by ':'); ../lib
/// of the program's folder, as in the build tree; the installed place relative to it; and the program's folder itself,
/// for a program that lies among the libraries.
std::vector<std::string> library_folders(const std::string& program_folder, const std::string& users);

/// The preloaded library of that flavour, found relative to this process's executable. Error: unavailable.
Result<std::string> find_library(std::string_view flavour);

/// The program of `holdfast doctor --test` of that flavour, in the same folders. Error: unavailable.
Result<std::string> find_self_test(std::string_view flavour);

/// The program of `holdfast calibrate` for an MPI, in the same folders. Error: unavailable.
Result<std::string> find_calibration(Mpi mpi);

/// The library that is preloaded too where replicas have the same memory, in the same folders. Error: unavailable.
Result<std::string> find_heap();

/// The library that records what a program does, of that flavour, in the same folders. Error: unavailable.
Result<std::string> find_recorder(std::string_view flavour);

/// The program with all commands of `holdfast`, in the same folders. Error: unavailable.
Result<std::string> find_commands();

/// The libfabric provider, in the same folders. Error: unavailable.
Result<std::string> find_provider();

}  // namespace holdfast::launch
