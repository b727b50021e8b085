#include "replicate/engine/tolerance_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::replicate {
namespace {

using testing::HasSubstr;

TEST(Tolerance, NothingIsNoPlace) {
  EXPECT_TRUE(parse_tolerance("").value().empty());
}

TEST(Tolerance, ReadsEveryMember) {
  const auto places = parse_tolerance("rank 2 tag 3 bytes 64; call MPI_Alltoall").value();
  ASSERT_EQ(places.size(), 2U);
  EXPECT_EQ(places[0].rank, 2);
  EXPECT_EQ(places[0].tag, 3);
  EXPECT_EQ(places[0].bytes, 64);
  EXPECT_EQ(places[0].call, "");
  EXPECT_EQ(places[1].rank, -1);
  EXPECT_EQ(places[1].call, "MPI_Alltoall");
}

TEST(Tolerance, NamesTheWordThatIsWrong) {
  EXPECT_THAT(parse_tolerance("tagg 3").status().message(), HasSubstr("tagg"));
  EXPECT_THAT(parse_tolerance("tag three").status().message(), HasSubstr("'tag three'"));
  EXPECT_FALSE(parse_tolerance("tag").ok());
  EXPECT_EQ(parse_tolerance("rank x").status().code(), Code::bad_input);
  EXPECT_THAT(parse_tolerance("tag 7, rank 0").status().message(), HasSubstr("'tag 7,'"));
}

TEST(Tolerance, RefusesNumbersBeyondTheTypeRatherThanTakeTheRestOfThem) {
  EXPECT_THAT(parse_tolerance("rank 4294967297").status().message(), HasSubstr("'rank 4294967297'"));
  EXPECT_FALSE(parse_tolerance("tag 2147483648").ok());
  EXPECT_EQ(parse_tolerance("tag 2147483647").value().front().tag, 2147483647);
  EXPECT_FALSE(parse_tolerance("bytes 9223372036854775808").ok());
  EXPECT_FALSE(parse_tolerance("rank -1").ok());
}

TEST(Tolerance, TakesEachWordOnceAPlace) {
  for (const char* twice : {"tag 3 tag 4", "rank 0 rank 0", "bytes 8 bytes 8", "call MPI_Recv call MPI_Recv"})
    EXPECT_FALSE(parse_tolerance(twice).ok()) << twice;
  EXPECT_EQ(parse_tolerance("tag 3; tag 4;;").value().size(), 2U);
}

TEST(Tolerance, FitsWhereAllThatIsSaidHolds) {
  const TolerancePlace there{2, 3, 64, "MPI_Recv"};
  EXPECT_TRUE(parse_tolerance("rank 2 bytes 64").value().front().fits(there));
  EXPECT_TRUE(parse_tolerance("call MPI_Recv").value().front().fits(there));
  EXPECT_FALSE(parse_tolerance("rank 2 bytes 63").value().front().fits(there));
  EXPECT_FALSE(parse_tolerance("rank 1").value().front().fits(there));
  EXPECT_FALSE(parse_tolerance("tag 2").value().front().fits(there));
  EXPECT_FALSE(parse_tolerance("call MPI_Irecv").value().front().fits(there));
}

}  // namespace
}  // namespace holdfast::replicate
