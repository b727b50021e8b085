#include "record/import/dumpi_communicators.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace holdfast::record {
namespace {

using testing::ElementsAre;
using testing::IsNull;
using testing::Pointee;

class Job {
 public:
  explicit Job(std::uint64_t ranks) : communicators(ranks), ranks_(ranks) {}

  void call(std::uint64_t rank, const std::string& function, const std::string& fields) {
    const std::string text = function + " entering at walltime 1.0, cputime 0 seconds in thread 0.\n" + fields + "\n" +
                             function + " returning at walltime 1.0, cputime 0 seconds in thread 0.\n";
    DumpiReader reader(text);
    DumpiCall call;
    ASSERT_TRUE(reader.next(call).value());
    communicators.take(rank, call);
  }
  void split(std::uint64_t rank, int from, int colour, int key, int made) {
    call(rank, "MPI_Comm_split",
         fmt::format("MPI_Comm oldcomm={} (x)\nint color={}\nint key={}\nMPI_Comm newcomm={} (x)", from, colour, key,
                     made));
  }
  template <class Do>
  void all(Do act) {
    for (std::uint64_t rank = 0; rank < ranks_; ++rank) act(rank);
  }

  DumpiCommunicators communicators;

 private:
  std::uint64_t ranks_;
};

TEST(DumpiCommunicators, SplitsByColourAndKey) {
  Job job(5);
  job.all([&](std::uint64_t rank) {
    const int made = rank == 4 ? 1 : 4;  // rank 4 is in none
    job.split(rank, 2, rank == 4 ? -32766 : static_cast<int>(rank % 2), -static_cast<int>(rank), made);
  });
  // A communicator is made of one that was made; the ranks' calls come in different numbers before.
  job.split(0, 4, 7, 0, 5);
  job.split(2, 4, 7, 0, 5);
  job.communicators.resolve();
  EXPECT_THAT(job.communicators.made(0, 0), Pointee(ElementsAre(2, 0)));
  EXPECT_THAT(job.communicators.made(3, 0), Pointee(ElementsAre(3, 1)));
  EXPECT_THAT(job.communicators.made(4, 0), IsNull());
  EXPECT_THAT(job.communicators.made(2, 1), Pointee(ElementsAre(2, 0))) << "of equal keys, as they were before";
  EXPECT_THAT(job.communicators.made(0, 2), IsNull());
}

TEST(DumpiCommunicators, FollowsGroups) {
  Job job(4);
  job.all([&](std::uint64_t rank) {
    job.call(rank, "MPI_Comm_group", "MPI_Comm comm=2 (x)\nMPI_Group group=3 (x)");
    job.call(rank, "MPI_Group_incl",
             "MPI_Group group=3 (x)\nint count=2\nint ranks[2]=[3, 1]\nMPI_Group newgroup=4 (x)");
    job.call(rank, "MPI_Group_excl", "MPI_Group group=3 (x)\nint count=1\nint ranks[1]=[3]\nMPI_Group newgroup=5 (x)");
    job.call(rank, "MPI_Group_union", "MPI_Group group1=4 (x)\nMPI_Group group2=5 (x)\nMPI_Group newgroup=6 (x)");
    job.call(rank, "MPI_Group_difference", "MPI_Group group1=5 (x)\nMPI_Group group2=4 (x)\nMPI_Group newgroup=7 (x)");
    job.call(rank, "MPI_Group_intersection",
             "MPI_Group group1=5 (x)\nMPI_Group group2=4 (x)\nMPI_Group newgroup=8 (x)");
    job.call(rank, "MPI_Group_range_incl",
             "MPI_Group group=3 (x)\nint count=1\nint ranges[1][3]=[[2, 0, -2]]\nMPI_Group newgroup=9 (x)");
    for (int group = 4; group <= 9; ++group) {
      const bool in = group == 4   ? rank % 2 == 1
                      : group == 5 ? rank != 3
                      : group == 6 ? true
                      : group == 8 ? rank == 1
                                   : rank % 2 == 0;
      job.call(rank, "MPI_Comm_create",
               fmt::format("MPI_Comm oldcomm=2 (x)\nMPI_Group group={} (x)\nMPI_Comm newcomm={} (x)", group,
                           in ? group : 1));
    }
  });
  job.communicators.resolve();
  EXPECT_THAT(job.communicators.made(1, 0), Pointee(ElementsAre(3, 1)));
  EXPECT_THAT(job.communicators.made(0, 1), Pointee(ElementsAre(0, 1, 2)));
  EXPECT_THAT(job.communicators.made(0, 2), Pointee(ElementsAre(3, 1, 0, 2)));
  EXPECT_THAT(job.communicators.made(0, 3), Pointee(ElementsAre(0, 2)));
  EXPECT_THAT(job.communicators.made(1, 4), Pointee(ElementsAre(1)));
  EXPECT_THAT(job.communicators.made(0, 5), Pointee(ElementsAre(2, 0)));
}

TEST(DumpiCommunicators, CutsGridsAlongDimensions) {
  Job job(7);
  job.all([&](std::uint64_t rank) {
    job.call(rank, "MPI_Cart_create",
             fmt::format("MPI_Comm oldcomm=2 (x)\nint ndim=2\nint dims[2]=[2, 3]\nMPI_Comm newcomm={} (x)",
                         rank < 6 ? 4 : 1));
    if (rank < 6)
      job.call(rank, "MPI_Cart_sub",
               "int ndim=2\nMPI_Comm oldcomm=4 (x)\nint remain_dims[2]=[0, 1]\nMPI_Comm newcomm=5 (x)");
  });
  job.communicators.resolve();
  EXPECT_THAT(job.communicators.made(5, 0), Pointee(ElementsAre(0, 1, 2, 3, 4, 5)));
  EXPECT_THAT(job.communicators.made(6, 0), IsNull());
  EXPECT_THAT(job.communicators.made(1, 1), Pointee(ElementsAre(0, 1, 2)));
  EXPECT_THAT(job.communicators.made(4, 1), Pointee(ElementsAre(3, 4, 5)));
}

TEST(DumpiCommunicators, DoesNotGuess) {
  Job job(2);
  job.split(0, 2, 0, 0, 4);  // rank 1 never comes to it
  job.split(0, 4, 0, 0, 5);
  job.call(1, "MPI_Comm_create", "MPI_Comm oldcomm=3 (x)\nMPI_Group group=77 (x)\nMPI_Comm newcomm=4 (x)");
  job.call(1, "MPI_Intercomm_create", "MPI_Comm localcomm=3 (x)\nMPI_Comm newcomm=5 (x)");
  job.call(1, "MPI_Comm_dup", "MPI_Comm oldcomm=99 (x)\nMPI_Comm newcomm=6 (x)");
  job.communicators.resolve();
  for (const std::size_t index : {0U, 1U, 2U, 3U}) {
    EXPECT_THAT(job.communicators.made(0, index), IsNull());
    EXPECT_THAT(job.communicators.made(1, index), IsNull());
  }
}

TEST(DumpiCommunicators, DifferentCallsOnOneCommunicatorMakeNothing) {
  Job job(2);
  job.split(0, 2, 0, 0, 4);
  job.call(1, "MPI_Comm_dup", "MPI_Comm oldcomm=2 (x)\nMPI_Comm newcomm=4 (x)");
  job.call(0, "MPI_Comm_dup", "MPI_Comm oldcomm=2 (x)\nMPI_Comm newcomm=5 (x)");
  job.call(1, "MPI_Comm_dup", "MPI_Comm oldcomm=2 (x)\nMPI_Comm newcomm=5 (x)");
  job.communicators.resolve();
  EXPECT_THAT(job.communicators.made(0, 0), IsNull());
  EXPECT_THAT(job.communicators.made(1, 1), Pointee(ElementsAre(0, 1)));
}

}  // namespace
}  // namespace holdfast::record
