#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/status/status.h"
#include "replicate/launch/detect/program.h"

namespace holdfast::launch {

enum class Launcher { mpirun, mpiexec, srun };

/// "mpirun", "mpiexec", "srun".
std::string_view name(Launcher launcher);
/// The launcher of that name. Error: bad_input, with a hint.
Result<Launcher> launcher_named(std::string_view text);

using Variable = std::pair<std::string, std::string>;  ///< name, value

/// All that decides how the processes are started.
struct CommandSpec {
  Mpi mpi{};
  bool srun = false;     ///< Slurm's srun instead of the MPI's own launcher
  std::string launcher;  ///< path of the launcher
  int processes = 1;
  int cores = 1;  ///< of this host; more processes than that, and waiting processes yield
  bool as_root = false;
  bool recovers = false;            ///< the job goes on when a process dies; Open MPI's mpirun only
  bool slurm_mpi_type_set = false;  ///< the user chose Slurm's MPI plugin by SLURM_MPI_TYPE
  std::string placement_file;       ///< in the launcher's own format; empty: all on this host, as many as asked for
  std::vector<std::string> users_words;  ///< further options of the launcher
  std::vector<Variable> variables;       ///< for the application
  std::string preload;                   ///< LD_PRELOAD for the application alone; empty: none
  std::vector<std::string> application;
};

/// What to execute.
struct Command {
  std::vector<std::string> argv;
  std::vector<Variable> environment;  ///< set besides the environment of this process
};

/// The exact command of the launcher (Open MPI 4.1 orterun(1), MPICH 4.0 hydra, Slurm srun(1)). The launcher itself
/// gets neither LD_PRELOAD nor a changed environment, except with srun, which hands its own environment on. Pure.
Command build_command(const CommandSpec& spec);

/// The command as a line for a POSIX shell.
std::string as_shell(const Command& command);

}  // namespace holdfast::launch
