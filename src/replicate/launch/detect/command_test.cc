#include "replicate/launch/detect/command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::launch {
namespace {

using testing::HasSubstr;
using testing::Not;

CommandSpec sample(Mpi mpi) {
  CommandSpec spec;
  spec.mpi = mpi;
  spec.launcher = "/usr/bin/launcher";
  spec.processes = 6;
  spec.cores = 8;
  spec.variables = {{"A", "flip at rank 1; two"}, {"B", "2"}};
  spec.preload = "/l/ours.so:/l/theirs.so";
  spec.application = {"/home/x/my app", "-n", "it's"};
  return spec;
}

TEST(BuildCommand, OpenMpiOnThisHost) {
  EXPECT_EQ(as_shell(build_command(sample(Mpi::openmpi))),
            "/usr/bin/launcher -n 6 --oversubscribe -x 'A=flip at rank 1; two' -x B=2 "
            "-x LD_PRELOAD=/l/ours.so:/l/theirs.so '/home/x/my app' -n 'it'\\''s'");
}

TEST(BuildCommand, OpenMpiYieldsWhereProcessesOutnumberCores) {
  CommandSpec spec = sample(Mpi::openmpi);
  spec.cores = 2;
  spec.as_root = true;
  EXPECT_THAT(as_shell(build_command(spec)),
              HasSubstr("-n 6 --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1 -x"));
}

TEST(BuildCommand, OpenMpiOnSeveralHosts) {
  CommandSpec spec = sample(Mpi::openmpi);
  spec.placement_file = "/run/hosts";
  std::string line = as_shell(build_command(spec));
  EXPECT_THAT(line, HasSubstr("--map-by seq --hostfile /run/hosts"));
  EXPECT_THAT(line, Not(HasSubstr("--oversubscribe")));
}

TEST(BuildCommand, Hydra) {
  CommandSpec spec = sample(Mpi::mpich);
  spec.placement_file = "/run/hosts";
  EXPECT_EQ(as_shell(build_command(spec)),
            "/usr/bin/launcher -n 6 -f /run/hosts -genv A 'flip at rank 1; two' -genv B 2 "
            "-genv LD_PRELOAD /l/ours.so:/l/theirs.so '/home/x/my app' -n 'it'\\''s'");
}

TEST(BuildCommand, Srun) {
  CommandSpec spec = sample(Mpi::mpich);
  spec.srun = true;
  spec.placement_file = "/run/hosts";
  EXPECT_EQ(
      as_shell(build_command(spec)),
      "A='flip at rank 1; two' B=2 SLURM_HOSTFILE=/run/hosts /usr/bin/launcher -n 6 --export=ALL --input=none "
      "--quit-on-interrupt "
      "--mpi=pmi2 --distribution=arbitrary env LD_PRELOAD=/l/ours.so:/l/theirs.so '/home/x/my app' -n 'it'\\''s'");
  spec.slurm_mpi_type_set = true;
  EXPECT_THAT(as_shell(build_command(spec)), Not(HasSubstr("--mpi=")));
}

TEST(LauncherNamed, HintsAtANearName) {
  EXPECT_EQ(launcher_named("srun").value(), Launcher::srun);
  EXPECT_THAT(launcher_named("mpirum").status().message(), HasSubstr("did you mean 'mpirun'?"));
}

}  // namespace
}  // namespace holdfast::launch
