#include "replicate/launch/detect/command.h"

#include <algorithm>
#include <array>

#include "core/status/hint.h"
#include "replicate/launch/detect/shell_quote.h"

namespace holdfast::launch {
namespace {

constexpr std::array<std::string_view, 3> launcher_names{"mpirun", "mpiexec", "srun"};

using Words = std::vector<std::string>;

void append(Words& words, std::initializer_list<std::string> more) {
  words.insert(words.end(), more);
}

Words openmpi_words(const CommandSpec& spec) {
  Words words{spec.launcher, "-n", std::to_string(spec.processes)};
  if (spec.as_root) words.emplace_back("--allow-run-as-root");
  if (spec.placement_file.empty())
    words.emplace_back("--oversubscribe");
  else
    append(words, {"--map-by", "seq", "--hostfile", spec.placement_file});
  if (spec.recovers) words.emplace_back("--enable-recovery");
  if (spec.processes > spec.cores) append(words, {"--mca", "mpi_yield_when_idle", "1"});
  words.insert(words.end(), spec.users_words.begin(), spec.users_words.end());
  for (const auto& [variable, value] : spec.variables) append(words, {"-x", variable + "=" + value});
  if (!spec.preload.empty()) append(words, {"-x", "LD_PRELOAD=" + spec.preload});
  return words;
}

Words hydra_words(const CommandSpec& spec) {
  Words words{spec.launcher, "-n", std::to_string(spec.processes)};
  if (!spec.placement_file.empty()) append(words, {"-f", spec.placement_file});
  words.insert(words.end(), spec.users_words.begin(), spec.users_words.end());
  for (const auto& [variable, value] : spec.variables) append(words, {"-genv", variable, value});
  if (!spec.preload.empty()) append(words, {"-genv", "LD_PRELOAD", spec.preload});
  return words;
}

/// srun's --export splits at commas, so variables travel in srun's environment, and LD_PRELOAD is set by env(1) on the
/// node, for the application alone.
Words srun_words(const CommandSpec& spec) {
  Words words{spec.launcher,  "-n",           std::to_string(spec.processes),
              "--export=ALL", "--input=none", "--quit-on-interrupt"};
  if (!spec.slurm_mpi_type_set) words.emplace_back(spec.mpi == Mpi::openmpi ? "--mpi=pmix" : "--mpi=pmi2");
  if (!spec.placement_file.empty()) words.emplace_back("--distribution=arbitrary");
  words.insert(words.end(), spec.users_words.begin(), spec.users_words.end());
  if (!spec.preload.empty()) append(words, {"env", "LD_PRELOAD=" + spec.preload});
  return words;
}

}  // namespace

std::string_view name(Launcher launcher) {
  return launcher_names[static_cast<std::size_t>(launcher)];
}

Result<Launcher> launcher_named(std::string_view text) {
  auto found = std::find(launcher_names.begin(), launcher_names.end(), text);
  if (found != launcher_names.end()) return static_cast<Launcher>(found - launcher_names.begin());
  return Status(Code::bad_input, "reading --launcher", "'" + std::string(text) + "' is no launcher that Holdfast knows",
                did_you_mean(text, launcher_names, "mpirun, mpiexec and srun are"));
}

Command build_command(const CommandSpec& spec) {
  Command command;
  if (spec.srun) {
    command.argv = srun_words(spec);
    command.environment = spec.variables;
    if (!spec.placement_file.empty()) command.environment.emplace_back("SLURM_HOSTFILE", spec.placement_file);
  } else {
    command.argv = spec.mpi == Mpi::openmpi ? openmpi_words(spec) : hydra_words(spec);
  }
  command.argv.insert(command.argv.end(), spec.application.begin(), spec.application.end());
  return command;
}

std::string as_shell(const Command& command) {
  std::string line;
  for (const auto& [variable, value] : command.environment) line += variable + "=" + shell_quote(value) + " ";
  for (const std::string& word : command.argv) line += shell_quote(word) + " ";
  line.pop_back();
  return line;
}

}  // namespace holdfast::launch
