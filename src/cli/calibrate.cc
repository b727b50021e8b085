#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <thread>

#include "cli/subcommands.h"
#include "core/output/output_file.h"
#include "replicate/launch/detect/capture.h"
#include "replicate/launch/detect/command.h"
#include "replicate/launch/detect/launcher.h"
#include "replicate/launch/detect/library.h"
#include "simulate/predict/calibration.h"

namespace holdfast::cli {
namespace {

struct CalibrateFlags {
  std::string mpi, launcher, file;
  std::vector<std::string> words;  ///< after "--", for the launcher
};

Result<launch::Mpi> mpi_of(const CalibrateFlags& flags) {
  for (const launch::Mpi mpi : {launch::Mpi::openmpi, launch::Mpi::mpich})
    if (flags.mpi.empty() ? !launch::launchers_in_path(mpi).empty() : flags.mpi == launch::name(mpi)) return mpi;
  return Status{Code::unavailable, "looking for an MPI", "there is no launcher of Open MPI or MPICH in PATH",
                "install " + launch::mpi_packages(launch::Mpi::openmpi)};
}

Result<launch::CommandSpec> command_of(const CalibrateFlags& flags, launch::Mpi mpi) {
  launch::CommandSpec spec;
  std::optional<launch::Launcher> wish;
  if (!flags.launcher.empty()) {
    auto named = launch::launcher_named(flags.launcher);
    if (!named.ok()) return named.status();
    wish = named.value();
  }
  auto program = launch::find_calibration(mpi);
  if (!program.ok()) return program.status();
  auto launcher = launch::find_launcher(mpi, wish);
  if (!launcher.ok()) return launcher.status();
  spec.mpi = mpi;
  spec.srun = wish == launch::Launcher::srun;
  spec.launcher = launcher.value();
  spec.processes = 2;
  spec.cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  spec.as_root = ::geteuid() == 0;
  spec.users_words = flags.words;
  spec.application = {program.value()};
  return spec;
}

int calibrate(const CalibrateFlags& flags) {
  auto mpi = mpi_of(flags);
  if (!mpi.ok()) return complain(mpi.status());
  auto spec = command_of(flags, mpi.value());
  if (!spec.ok()) return complain(spec.status());
  const launch::Command command = launch::build_command(spec.value());
  const auto said = launch::capture(command.argv, {"LD_PRELOAD"}, std::chrono::minutes(2));
  if (!said.ok()) return complain(said.status());
  if (said.value().exit_status != 0) {
    std::cerr << said.value().errors;
    return complain({Code::unavailable, "measuring messages of " + std::string(launch::name(mpi.value())),
                     "its program ended with " + std::to_string(said.value().exit_status),
                     "does " + launch::as_shell(command) + " work?"});
  }
  auto measured = simulate::predict::read_measurements(said.value().output);
  if (!measured.ok()) return complain(measured.status());
  auto fitted = simulate::predict::fit(measured.value());
  if (!fitted.ok()) return complain(fitted.status());
  if (fitted.value().was_busy())
    std::cerr << "holdfast: note: the machine was busy while MPI was measured; measure again when it is not\n";
  const std::string text = simulate::predict::to_toml(fitted.value(), launch::name(mpi.value()));
  if (flags.file.empty()) {
    std::cout << text;
    return 0;
  }
  const Status status = output::write_file(flags.file, text);
  return status.ok() ? 0 : complain(status);
}

}  // namespace

void add_calibrate(CLI::App& app, Action& action, const std::vector<std::string>& words) {
  CLI::App* command = app.add_subcommand(
      "calibrate", "Measure what MPI takes for a message here, for 'simulate --trace' and 'predict'");
  command->footer(
      "Examples:\n"
      "  holdfast calibrate -o machine.toml\n"
      "  holdfast calibrate --mpi mpich -o machine.toml\n"
      "  holdfast calibrate -o machine.toml -- --host node1,node2\n"
      "  holdfast predict job.trace --fabric cluster.ibnetdiscover --config machine.toml\n\n"
      "Two processes exchange messages of several lengths for a few seconds, on a machine that has nothing else to "
      "do.\n"
      "On one host they measure the way through its memory; the network's eager limit needs two, which the launcher's\n"
      "own options name, after --. The file is TOML, table [mpi]; what is not in it stays assumed.\n");
  auto flags = std::make_shared<CalibrateFlags>();
  command->add_option("--mpi", flags->mpi, "openmpi or mpich. Default: the first that is there")
      ->type_name("NAME")
      ->check(CLI::IsMember({"openmpi", "mpich"}));
  command->add_option("--launcher", flags->launcher, "mpirun, mpiexec or srun. Default: the MPI's own")
      ->type_name("NAME");
  command->add_option("-o,--output", flags->file, "Write to this file. Default: standard output")->type_name("FILE");
  command->callback([flags, &action, &words] {
    flags->words = words;
    action = [flags] { return calibrate(*flags); };
  });
}

}  // namespace holdfast::cli
