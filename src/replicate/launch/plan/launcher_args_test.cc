#include "replicate/launch/plan/launcher_args.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(LauncherArgs, AreSplitAsAShellDoesIt) {
  EXPECT_THAT(launcher_args("", Mpi::openmpi, false).value(), IsEmpty());
  EXPECT_THAT(launcher_args(R"(--bind-to none  --mca a 'b c' --x "d \" e" -f\ g '' )", Mpi::openmpi, false).value(),
              ElementsAre("--bind-to", "none", "--mca", "a", "b c", "--x", "d \" e", "-f g", ""));
  EXPECT_FALSE(launcher_args("--mca a 'b", Mpi::openmpi, false).ok());
}

TEST(LauncherArgs, NothingThatHoldfastSetsItself) {
  for (const char* text :
       {"-n 4", "--np 4", "--hostfile x", "-host a", "--map-by node", "--enable-recovery", "-x LD_PRELOAD=a",
        "-x HOLDFAST_REPLICATE_DEGREE=1", "--bind-to none : -n 1 other", "program", "-- program", "--version"})
    EXPECT_EQ(launcher_args(text, Mpi::openmpi, false).status().code(), Code::bad_input) << text;
  for (const char* text : {"-n 4", "-f hosts", "-genv LD_PRELOAD a", "-env HOLDFAST_RUN_JOB a", "-configfile x"})
    EXPECT_EQ(launcher_args(text, Mpi::mpich, false).status().code(), Code::bad_input) << text;
  for (const char* text : {"-n4", "-n 4", "--ntasks=4", "--export=NONE", "--mpi=none", "-mblock"})
    EXPECT_EQ(launcher_args(text, Mpi::openmpi, true).status().code(), Code::bad_input) << text;
  EXPECT_THAT(launcher_args("-x LD_PRELOAD", Mpi::openmpi, false).status().message(),
              HasSubstr("holdfast sets LD_PRELOAD"));
}

TEST(LauncherArgs, WhatIsTheUsersChoice) {
  for (const char* text : {"--bind-to none", "--mca btl self,vader", "-x OMP_NUM_THREADS=2", "--report-bindings"})
    EXPECT_TRUE(launcher_args(text, Mpi::openmpi, false).ok()) << text;
  for (const char* text : {"-bind-to core", "-genv OMP_NUM_THREADS 2", "-print-rank-map"})
    EXPECT_TRUE(launcher_args(text, Mpi::mpich, false).ok()) << text;
  for (const char* text : {"--cpu-bind=none", "--partition debug", "-p debug"})
    EXPECT_TRUE(launcher_args(text, Mpi::openmpi, true).ok()) << text;
}

}  // namespace
}  // namespace holdfast::launch
