#include "replicate/launch/detect/launcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace holdfast::launch {
namespace {

using testing::HasSubstr;

/// A PATH with made-up launchers only.
class FindLauncher : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "holdfast-launcher-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    path_ = std::getenv("PATH");
    setenv("PATH", folder_.c_str(), 1);
  }
  void TearDown() override {
    setenv("PATH", path_.c_str(), 1);
    std::filesystem::remove_all(folder_);
  }
  void make(const std::string& base, const std::string& version) {
    std::ofstream(folder_ + "/" + base) << "#!/bin/sh\nprintf '" << version << "'\n";
    chmod((folder_ + "/" + base).c_str(), 0755);
  }
  std::string folder_;
  std::string path_;
  static constexpr const char* openmpi = "mpirun (Open MPI) 4.1.4\\n";
  static constexpr const char* hydra = "HYDRA build details:\\n    Version:         4.0.2\\n";
};

TEST_F(FindLauncher, PrefersTheNameThatSaysIt) {
  make("mpirun", openmpi);
  make("mpirun.openmpi", openmpi);
  EXPECT_EQ(find_launcher(Mpi::openmpi, {}).value(), folder_ + "/mpirun.openmpi");
}

TEST_F(FindLauncher, TakesAPlainNameOfTheRightMpiOnly) {
  make("mpirun", openmpi);
  make("mpiexec", hydra);
  EXPECT_EQ(find_launcher(Mpi::openmpi, {}).value(), folder_ + "/mpirun");
  EXPECT_EQ(find_launcher(Mpi::mpich, {}).value(), folder_ + "/mpiexec");
  EXPECT_THAT(find_launcher(Mpi::mpich, Launcher::mpirun).status().message(), HasSubstr("apt-get install mpich"));
  EXPECT_EQ(find_launcher(Mpi::openmpi, Launcher::mpiexec).status().code(), Code::unavailable);
}

TEST_F(FindLauncher, KnowsTheFileBehindTheLinks) {
  make("orterun", "not asked");
  std::filesystem::create_symlink("orterun", folder_ + "/mpirun");
  EXPECT_EQ(find_launcher(Mpi::openmpi, {}).value(), folder_ + "/mpirun");
  EXPECT_FALSE(find_launcher(Mpi::mpich, Launcher::mpirun).ok());
}

TEST_F(FindLauncher, PrefersThePrefixOfTheProgramsMpi) {
  namespace fs = std::filesystem;
  fs::create_directories(folder_ + "/opt/lib/release");
  fs::create_directories(folder_ + "/opt/bin");
  std::ofstream(folder_ + "/opt/lib/libmpi.so.40.40.7") << "";
  fs::create_symlink("../libmpi.so.40.40.7", folder_ + "/opt/lib/release/libmpi.so.40");
  make("mpirun.openmpi", openmpi);
  make("opt/bin/mpirun", openmpi);
  const std::string own = fs::canonical(folder_ + "/opt/bin/mpirun");
  EXPECT_EQ(find_launcher(Mpi::openmpi, {}, folder_ + "/opt/lib/release/libmpi.so.40").value(), own);
  EXPECT_EQ(find_launcher(Mpi::openmpi, {}, folder_ + "/none/libmpi.so.40").value(), folder_ + "/mpirun.openmpi");
  EXPECT_TRUE(program_folders("/usr/lib/os-release").empty()) << "/usr is the prefix of all";
}

TEST_F(FindLauncher, NamesThatOfAnotherMpi) {
  make("mpirun", hydra);
  const auto refused = find_launcher(Mpi::openmpi, {}).status();
  EXPECT_EQ(refused.code(), Code::unavailable);
  EXPECT_THAT(refused.message(),
              HasSubstr(folder_ + "/mpirun: not of this MPI: put the launcher of the program's MPI"));
}

TEST_F(FindLauncher, TakesAnySrun) {
  EXPECT_THAT(find_launcher(Mpi::mpich, Launcher::srun).status().message(), HasSubstr("slurm-client"));
  make("srun", "slurm 22.05");
  EXPECT_EQ(find_launcher(Mpi::mpich, Launcher::srun).value(), folder_ + "/srun");
}

TEST_F(FindLauncher, ReadsVersions) {
  make("a", openmpi);
  make("b", hydra);
  make("c", "mpirun.openmpi (OpenRTE) 4.1.4\\n");
  EXPECT_EQ(launcher_version(Mpi::openmpi, folder_ + "/a"), "4.1.4");
  EXPECT_EQ(launcher_version(Mpi::mpich, folder_ + "/b"), "4.0.2");
  EXPECT_EQ(launcher_version(Mpi::openmpi, folder_ + "/c"), "4.1.4");
  EXPECT_EQ(launcher_version(Mpi::mpich, folder_ + "/a"), "");
}

}  // namespace
}  // namespace holdfast::launch
