#pragma once

#include <optional>
#include <string>

#include "core/status/status.h"
#include "replicate/launch/command.h"

namespace holdfast::launch {

/// Finds the launcher: Slurm's srun, or the mpirun/mpiexec of this MPI, preferring names that say so (mpirun.openmpi,
/// mpiexec.mpich, mpiexec.hydra). A plain mpirun or mpiexec must be of the right MPI: the file behind its links (orterun,
/// mpiexec.hydra) or else its --version tells. Without a wish: mpirun for Open MPI, mpiexec for MPICH. Error: unavailable, with the Debian package.
Result<std::string> find_launcher(Mpi mpi, std::optional<Launcher> wish);

/// What a launcher's --version says: "4.1.4"; empty when it is none of this MPI.
std::string launcher_version(Mpi mpi, const std::string& path);

/// The Debian packages that bring an MPI: "openmpi-bin libopenmpi-dev".
std::string mpi_packages(Mpi mpi);

}  // namespace holdfast::launch
