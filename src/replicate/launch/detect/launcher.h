#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/status/status.h"
#include "replicate/launch/detect/command.h"

namespace holdfast::launch {

/// Finds the launcher: Slurm's srun, or the mpirun/mpiexec of this MPI, preferring names that say so (mpirun.openmpi,
/// mpiexec.mpich, mpiexec.hydra). A plain mpirun or mpiexec must be of the right MPI: the file behind its links
/// (orterun, mpiexec.hydra) or else its --version tells. Without a wish: mpirun for Open MPI, mpiexec for MPICH.
/// `library`: the MPI library that the program links, or empty: where it lies in a prefix of its own, the launcher of
/// that prefix comes before those of PATH. Error: unavailable, with the launcher of another MPI that was found and the
/// Debian package.
Result<std::string> find_launcher(Mpi mpi, std::optional<Launcher> wish, const std::string& library = {});

/// Every launcher of this MPI that is in PATH, in its order, each file once however many names it has.
std::vector<std::string> launchers_in_path(Mpi mpi);

/// The folders of programs beside a library's: PREFIX/bin for PREFIX/lib/libmpi.so.40, the nearest first, of prefixes
/// other than / and /usr, which several MPIs share.
std::vector<std::string> program_folders(const std::string& library);

/// What a launcher's --version says: "4.1.4"; empty when it is none of this MPI.
std::string launcher_version(Mpi mpi, const std::string& path);

/// The Debian packages that bring an MPI: "openmpi-bin libopenmpi-dev".
std::string mpi_packages(Mpi mpi);

}  // namespace holdfast::launch
