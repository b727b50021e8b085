// Types made with large counts are to say the same as those made with small ones.
#include "replicate/mpi/verify/type_contents.h"

#include <gtest/gtest.h>

#include <functional>

#include "real_functions.h"

namespace holdfast::replicate {
namespace {

TEST(TypeContents, KnowsWhatMpiBrings) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(3, MPI_INT, &made);
  EXPECT_TRUE(predefined(MPI_INT));
  EXPECT_FALSE(predefined(made));
  free_unless_predefined(MPI_INT);
  free_unless_predefined(made);
  EXPECT_TRUE(predefined(MPI_INT));
}

TEST(TypeContents, GivesBackTheArguments) {
  const int lengths[] = {2, 1};
  const MPI_Aint places[] = {0, 24};
  const MPI_Datatype kinds[] = {MPI_DOUBLE, MPI_INT};
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(2, lengths, places, kinds, &made);
  {
    const TypeContents contents(made);
    EXPECT_EQ(contents.combiner, MPI_COMBINER_STRUCT);
    EXPECT_EQ(contents.integers, (std::vector<MPI_Count>{2, 2, 1}));
    EXPECT_EQ(contents.addresses, (std::vector<MPI_Aint>{0, 24}));
    EXPECT_EQ(contents.types, (std::vector<MPI_Datatype>{MPI_DOUBLE, MPI_INT}));
  }
  MPI_Type_free(&made);
}

TEST(TypeContents, KnowsWhereElementsEnd) {
  const int lengths[] = {2, 1};
  const MPI_Aint places[] = {0, 24};
  const MPI_Datatype kinds[] = {MPI_DOUBLE, MPI_INT};
  MPI_Datatype made = MPI_DATATYPE_NULL, several = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(2, lengths, places, kinds, &made);
  MPI_Type_vector(2, 3, 5, made, &several);
  for (std::uint64_t bytes = 0; bytes < 300; ++bytes) {
    const std::uint64_t rest = bytes % 20;  // two doubles and an int
    const bool ends = rest == 0 || rest == 8 || rest == 16;
    EXPECT_EQ(ends_within_element(made, bytes), !ends) << bytes;
    EXPECT_EQ(ends_within_element(several, bytes), !ends) << bytes;
    EXPECT_EQ(ends_within_element(MPI_INT, bytes), bytes % 4 != 0) << bytes;
  }
  MPI_Type_free(&several);
  MPI_Type_free(&made);
}

#ifdef HOLDFAST_HAS_Type_get_envelope_c
void expect_the_same(const std::function<void(MPI_Datatype*)>& small, const std::function<void(MPI_Datatype*)>& large) {
  MPI_Datatype one = MPI_DATATYPE_NULL, two = MPI_DATATYPE_NULL;
  small(&one);
  large(&two);
  {
    const TypeContents a(one), b(two);
    EXPECT_EQ(a.combiner, b.combiner);
    EXPECT_EQ(a.integers, b.integers);
    EXPECT_EQ(a.addresses, b.addresses);
    EXPECT_EQ(a.types, b.types);
  }
  EXPECT_FALSE(predefined(two));
  free_unless_predefined(one);
  free_unless_predefined(two);
}

TEST(TypeContents, OfLargeCountsAreThoseOfSmallOnes) {
  const int n[] = {2, 1}, at[] = {0, 5};
  const MPI_Count large_n[] = {2, 1}, large_at[] = {0, 5}, large_bytes[] = {0, 40};
  const MPI_Aint bytes[] = {0, 40};
  const MPI_Datatype kinds[] = {MPI_DOUBLE, MPI_INT};
  expect_the_same([](auto* t) { MPI_Type_contiguous(4, MPI_INT, t); },
                  [](auto* t) { MPI_Type_contiguous_c(4, MPI_INT, t); });
  expect_the_same([](auto* t) { MPI_Type_vector(4, 2, 3, MPI_INT, t); },
                  [](auto* t) { MPI_Type_vector_c(4, 2, 3, MPI_INT, t); });
  expect_the_same([](auto* t) { MPI_Type_create_hvector(4, 2, 30, MPI_INT, t); },
                  [](auto* t) { MPI_Type_create_hvector_c(4, 2, 30, MPI_INT, t); });
  expect_the_same([&](auto* t) { MPI_Type_indexed(2, n, at, MPI_INT, t); },
                  [&](auto* t) { MPI_Type_indexed_c(2, large_n, large_at, MPI_INT, t); });
  expect_the_same([&](auto* t) { MPI_Type_create_hindexed(2, n, bytes, MPI_INT, t); },
                  [&](auto* t) { MPI_Type_create_hindexed_c(2, large_n, large_bytes, MPI_INT, t); });
  expect_the_same([&](auto* t) { MPI_Type_create_indexed_block(2, 3, at, MPI_INT, t); },
                  [&](auto* t) { MPI_Type_create_indexed_block_c(2, 3, large_at, MPI_INT, t); });
  expect_the_same([&](auto* t) { MPI_Type_create_hindexed_block(2, 3, bytes, MPI_INT, t); },
                  [&](auto* t) { MPI_Type_create_hindexed_block_c(2, 3, large_bytes, MPI_INT, t); });
  expect_the_same([&](auto* t) { MPI_Type_create_struct(2, n, bytes, kinds, t); },
                  [&](auto* t) { MPI_Type_create_struct_c(2, large_n, large_bytes, kinds, t); });
  expect_the_same([](auto* t) { MPI_Type_create_resized(MPI_INT, 0, 16, t); },
                  [](auto* t) { MPI_Type_create_resized_c(MPI_INT, 0, 16, t); });
}
#endif

}  // namespace
}  // namespace holdfast::replicate
