#include "replicate/launch/launcher.h"

#include <filesystem>
#include <regex>
#include <vector>

#include "replicate/launch/capture.h"
#include "replicate/launch/executable.h"

namespace holdfast::launch {
namespace {

std::vector<std::string> candidates(Mpi mpi, Launcher launcher) {
  const std::string base(name(launcher));
  if (mpi == Mpi::openmpi) return {base + ".openmpi", base};
  if (launcher == Launcher::mpirun) return {"mpirun.mpich", "mpirun"};
  return {"mpiexec.mpich", "mpiexec.hydra", "mpiexec"};
}

/// Whether the file that a launcher's links lead to can only be of this MPI; --version need not be asked then, which
/// takes longer than all else before the job starts.
bool named_for(Mpi mpi, const std::string& path) {
  std::error_code none;
  const std::string base = std::filesystem::canonical(path, none).filename();
  return mpi == Mpi::openmpi ? base == "orterun" || base == "prterun" || base == "mpirun.openmpi"
                             : base == "mpiexec.hydra";
}

}  // namespace

std::string launcher_version(Mpi mpi, const std::string& path) {
  auto said = capture({path, "--version"});
  if (!said.ok()) return {};
  static const std::regex openmpi(R"((?:OpenRTE|Open MPI)\)?\s+v?([0-9][^\s]*))");
  static const std::regex hydra(R"(HYDRA[^\n]*\n\s*Version:\s+([0-9][^\s]*))");
  std::smatch match;
  const std::string& text = said.value().output;
  return std::regex_search(text, match, mpi == Mpi::openmpi ? openmpi : hydra) ? match[1].str() : std::string();
}

std::string mpi_packages(Mpi mpi) {
  return mpi == Mpi::openmpi ? "openmpi-bin libopenmpi-dev" : "mpich libmpich-dev";
}

Result<std::string> find_launcher(Mpi mpi, std::optional<Launcher> wish) {
  Launcher launcher = wish.value_or(mpi == Mpi::openmpi ? Launcher::mpirun : Launcher::mpiexec);
  if (launcher == Launcher::srun) {
    auto srun = find_executable("srun");
    if (srun.ok()) return srun;
    return Status(Code::unavailable, "looking for the launcher srun", "it is not in PATH",
                  "apt-get install slurm-client");
  }
  for (const std::string& candidate : candidates(mpi, launcher)) {
    auto path = find_executable(candidate);
    if (path.ok() && (named_for(mpi, path.value()) || !launcher_version(mpi, path.value()).empty())) return path;
  }
  return Status(Code::unavailable,
                "looking for the launcher " + std::string(name(launcher)) + " of " + std::string(name(mpi)),
                "there is none in PATH", "apt-get install " + mpi_packages(mpi));
}

}  // namespace holdfast::launch
