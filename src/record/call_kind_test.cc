#include "record/call_kind.h"

#include <gtest/gtest.h>

namespace holdfast::record {
namespace {

TEST(CallKind, IsThatOfAllFormsOfAFunction) {
  for (const char* name : {"MPI_Send", "MPI_Bsend", "MPI_Isend_c", "MPI_Irsend"})
    EXPECT_EQ(kind_of(name), CallKind::send);
  for (const char* name : {"MPI_Recv", "MPI_Imrecv_c"}) EXPECT_EQ(kind_of(name), CallKind::receive);
  for (const char* name : {"MPI_Sendrecv", "MPI_Isendrecv_replace_c"}) EXPECT_EQ(kind_of(name), CallKind::send_receive);
  for (const char* name : {"MPI_Send_init", "MPI_Ssend_init_c", "MPI_Psend_init"})
    EXPECT_EQ(kind_of(name), CallKind::persistent_send);
  for (const char* name : {"MPI_Recv_init", "MPI_Precv_init"}) EXPECT_EQ(kind_of(name), CallKind::persistent_receive);
  for (const char* name : {"MPI_Probe", "MPI_Iprobe", "MPI_Mprobe", "MPI_Improbe"})
    EXPECT_EQ(kind_of(name), CallKind::probe);
  for (const char* name : {"MPI_Barrier", "MPI_Ibarrier", "MPI_Iallreduce_c", "MPIX_Scan_init", "MPI_Ireduce_scatter"})
    EXPECT_EQ(kind_of(name), CallKind::collective);
  for (const char* name : {"MPI_Neighbor_alltoallw", "MPI_Ineighbor_allgather_c", "MPI_Neighbor_alltoall_init"})
    EXPECT_EQ(kind_of(name), CallKind::neighbours);
  for (const char* name : {"MPI_Put", "MPI_Rget_accumulate_c"}) EXPECT_EQ(kind_of(name), CallKind::one_sided);
  EXPECT_EQ(kind_of("MPI_Win_fence"), CallKind::synchronisation);
  EXPECT_EQ(kind_of("MPI_File_write_all"), CallKind::file);
  EXPECT_EQ(kind_of("MPI_Cart_sub"), CallKind::communicator);
  EXPECT_EQ(kind_of("MPI_Testany"), CallKind::completion);
  EXPECT_EQ(kind_of("MPI_Startall"), CallKind::start);
  EXPECT_EQ(kind_of("MPI_Finalize"), CallKind::other);
}

TEST(KnownKinds, SaysWhatTheNameSays) {
  KnownKinds known;
  for (int time = 0; time < 2; ++time)
    for (const char* name : {"MPI_Send", "MPI_Recv", "MPI_Waitall", "MPI_Ibcast", "MPI_Finalize", ""})
      EXPECT_EQ(known.of(name), kind_of(name)) << name;
}

TEST(CallKind, NamesTheCollectiveOfAForm) {
  EXPECT_EQ(collective_of("MPI_Ibcast_c"), "Bcast");
  EXPECT_EQ(collective_of("MPIX_Reduce_scatter_block_init"), "Reduce_scatter_block");
  EXPECT_EQ(collective_of("MPI_Ineighbor_alltoallv"), "alltoallv");
  EXPECT_EQ(collective_of("MPI_Send_init"), "");
  EXPECT_TRUE(is_persistent_collective("MPI_Bcast_init"));
  EXPECT_FALSE(is_persistent_collective("MPI_Bcast"));
  EXPECT_FALSE(is_persistent_collective("MPI_Send_init"));
}

}  // namespace
}  // namespace holdfast::record
