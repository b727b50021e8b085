#include "replicate/mpi/verify/tolerance.h"

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
  EXPECT_THAT(parse_tolerance("tag three").status().message(), HasSubstr("'tag'"));
  EXPECT_FALSE(parse_tolerance("tag").ok());
  EXPECT_EQ(parse_tolerance("rank x").status().code(), Code::bad_input);
}

}  // namespace
}  // namespace holdfast::replicate
