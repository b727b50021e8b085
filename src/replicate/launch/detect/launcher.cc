#include "replicate/launch/detect/launcher.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <string_view>
#include <vector>

#include "replicate/launch/detect/capture.h"
#include "replicate/launch/detect/executable.h"

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

/// The launcher of this MPI that a search of these folders finds; `others` gets what was found of other MPIs.
std::optional<std::string> look_in(const std::string& folders, Mpi mpi, Launcher launcher, std::string& others) {
  for (const std::string& candidate : candidates(mpi, launcher)) {
    auto path = find_executable(candidate, folders);
    if (!path.ok()) continue;
    if (named_for(mpi, path.value()) || !launcher_version(mpi, path.value()).empty()) return path.value();
    others += (others.empty() ? "" : ", ") + path.value();
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> launchers_in_path(Mpi mpi) {
  std::vector<std::string> found;
  std::vector<std::filesystem::path> files;
  const char* search = std::getenv("PATH");
  std::string_view rest = search != nullptr ? search : "";
  while (!rest.empty()) {
    const std::string folder(rest.substr(0, rest.find(':')));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    if (folder.empty()) continue;
    std::string others;
    const auto path = look_in(folder, mpi, mpi == Mpi::openmpi ? Launcher::mpirun : Launcher::mpiexec, others);
    std::error_code none;
    if (!path) continue;
    const std::filesystem::path file = std::filesystem::canonical(*path, none);
    if (std::find(files.begin(), files.end(), file) != files.end()) continue;
    files.push_back(file);
    found.push_back(*path);
  }
  return found;
}

std::vector<std::string> program_folders(const std::string& library) {
  std::vector<std::string> folders;
  std::error_code none;
  const std::filesystem::path file = std::filesystem::canonical(library, none);
  constexpr int most_levels = 3;  // lib, lib/x86_64-linux-gnu, lib/release
  std::filesystem::path folder = file.parent_path();
  for (int level = 0; level < most_levels && folder.has_relative_path(); ++level) {
    folder = folder.parent_path();
    if (folder == "/" || folder == "/usr") break;
    folders.push_back((folder / "bin").string());
  }
  return folders;
}

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

Result<std::string> find_launcher(Mpi mpi, std::optional<Launcher> wish, const std::string& library) {
  Launcher launcher = wish.value_or(mpi == Mpi::openmpi ? Launcher::mpirun : Launcher::mpiexec);
  if (launcher == Launcher::srun) {
    auto srun = find_executable("srun");
    if (srun.ok()) return srun;
    return Status(Code::unavailable, "looking for the launcher srun", "it is not in PATH",
                  "apt-get install slurm-client");
  }
  std::string others;
  for (const std::string& folder : program_folders(library))
    if (auto path = look_in(folder, mpi, launcher, others)) return *path;
  const char* search = std::getenv("PATH");
  if (auto path = look_in(search != nullptr ? search : "", mpi, launcher, others)) return *path;
  return Status(Code::unavailable,
                "looking for the launcher " + std::string(name(launcher)) + " of " + std::string(name(mpi)),
                others.empty() ? "there is none in PATH" : others + ": not of this MPI",
                "put the launcher of the program's MPI into PATH: apt-get install " + mpi_packages(mpi));
}

}  // namespace holdfast::launch
