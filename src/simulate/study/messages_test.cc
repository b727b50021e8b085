#include "simulate/study/messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "core/scratch/scratch_folder.h"

namespace holdfast::simulate::study {
namespace {

class Messaging : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE", "PMIX_RANK",
                             "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"})
      ::unsetenv(name);
  }
  void TearDown() override { SetUp(); }
};

TEST_F(Messaging, PlaceInAJob) {
  EXPECT_EQ(job_place().size, 1U);
  ::setenv("SLURM_PROCID", "2", 1);
  ::setenv("SLURM_STEP_NUM_TASKS", "4", 1);
  EXPECT_EQ(job_place().rank, 2U);
  EXPECT_THAT(job_place().libraries, testing::ElementsAre("mpich", "openmpi"));
  ::setenv("PMIX_RANK", "2", 1);
  EXPECT_THAT(job_place().libraries, testing::ElementsAre("openmpi", "mpich"));
  ::setenv("PMI_RANK", "3", 1);
  ::setenv("PMI_SIZE", "8", 1);
  EXPECT_EQ(job_place().rank, 3U);
  EXPECT_EQ(job_place().size, 8U);
  ::setenv("PMI_RANK", "8", 1);
  EXPECT_EQ(job_place().size, 4U) << "nonsense is no place";
  ::setenv("OMPI_COMM_WORLD_RANK", "0", 1);
  ::setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
  EXPECT_EQ(job_place().size, 2U);
  EXPECT_THAT(job_place().libraries, testing::ElementsAre("openmpi"));
}

TEST_F(Messaging, ALibraryThatIsNotThereOrIsNone) {
  const scratch::ScratchFolder scratch;
  const std::string& folder = scratch.path();
  const JobPlace place{0, 2, {"openmpi"}};
  const auto none = load_mpi(place, {folder});
  EXPECT_EQ(none.status().code(), Code::unavailable);
  EXPECT_THAT(none.status().message(), testing::HasSubstr("is in none of " + folder));
  std::ofstream(folder + "/libholdfast-study-openmpi.so") << "no library";
  const auto broken = load_mpi(place, {folder});
  EXPECT_EQ(broken.status().code(), Code::unavailable);
  EXPECT_THAT(broken.status().message(), testing::HasSubstr("libholdfast-study-openmpi.so"));
}

}  // namespace
}  // namespace holdfast::simulate::study
