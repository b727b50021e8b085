// What a region selects, held to MPI_Pack and MPI_Unpack of the MPI that the library stands in front of, on random
// datatypes. Between processes of one kind both MPIs pack the bytes themselves, in type-map order.
#include "replicate/mpi/verify/layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace holdfast::replicate {
namespace {

class RandomTypes {
 public:
  explicit RandomTypes(unsigned seed) : random_(seed) {}
  ~RandomTypes() {
    for (MPI_Datatype& type : made_) {
      forget_type(type);  // as the hook does; the handle's value may be used again
      MPI_Type_free(&type);
    }
  }

  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  /// Committed, with non-negative displacements and no byte selected twice.
  MPI_Datatype type(int depth) {
    MPI_Datatype made = depth == 0 ? basic() : derived(depth);
    if (depth > 0) {
      MPI_Type_commit(&made);
      made_.push_back(made);
    }
    return made;
  }

 private:
  MPI_Datatype basic() {
    const MPI_Datatype all[] = {MPI_CHAR,       MPI_BYTE,      MPI_SHORT,    MPI_INT,
                                MPI_FLOAT,      MPI_LONG,      MPI_DOUBLE,   MPI_C_FLOAT_COMPLEX,
                                MPI_DOUBLE_INT, MPI_SHORT_INT, MPI_LONG_INT, MPI_2INT};
    return all[below(static_cast<int>(std::size(all)))];
  }

  static MPI_Aint extent(MPI_Datatype type) {
    MPI_Aint lower = 0, extent = 0;
    MPI_Type_get_extent(type, &lower, &extent);
    return extent;
  }

  /// Increasing displacements, in elements, of blocks that do not overlap.
  void blocks(std::vector<int>& lengths, std::vector<int>& places, bool one_length) {
    const int n = 1 + below(4), length = below(4);
    int at = below(3);
    for (int i = 0; i < n; ++i) {
      lengths.push_back(one_length ? length : below(4));
      places.push_back(at);
      at += lengths.back() + below(3);
    }
  }

  MPI_Datatype derived(int depth) {
    const MPI_Datatype inner = type(depth - 1);
    MPI_Datatype made = MPI_DATATYPE_NULL;
    std::vector<int> lengths, places;
    std::vector<MPI_Aint> bytes;
    switch (below(10)) {
      case 0:
        MPI_Type_contiguous(below(5), inner, &made);
        break;
      case 1: {
        const int length = below(4);
        MPI_Type_vector(below(4), length, length + below(3), inner, &made);
        break;
      }
      case 2: {
        const int length = below(4);
        MPI_Type_create_hvector(below(4), length, (length + below(3)) * extent(inner) + 8 * below(2), inner, &made);
        break;
      }
      case 3:
        blocks(lengths, places, false);
        MPI_Type_indexed(static_cast<int>(lengths.size()), lengths.data(), places.data(), inner, &made);
        break;
      case 4:
        blocks(lengths, places, false);
        for (const int place : places) bytes.push_back(place * extent(inner));
        MPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), bytes.data(), inner, &made);
        break;
      case 5:
        blocks(lengths, places, true);
        MPI_Type_create_indexed_block(static_cast<int>(lengths.size()), lengths[0], places.data(), inner, &made);
        break;
      case 6: {
        const MPI_Datatype second = type(depth - 1);
        const int pair[] = {below(3), below(3)};
        const MPI_Aint at[] = {8 * below(2), 8 + (below(3) + pair[0]) * extent(inner)};
        const MPI_Datatype types[] = {inner, second};
        MPI_Type_create_struct(2, pair, at, types, &made);
        break;
      }
      case 7:
        MPI_Type_create_resized(inner, 0, extent(inner) + 8 * below(3), &made);
        break;
      case 8: {
        const int sizes[] = {2 + below(3), 2 + below(3)}, part[] = {1 + below(sizes[0]), 1 + below(sizes[1])};
        const int first[] = {below(sizes[0] - part[0] + 1), below(sizes[1] - part[1] + 1)};
        MPI_Type_create_subarray(2, sizes, part, first, below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, inner, &made);
        break;
      }
      default:
        MPI_Type_dup(inner, &made);
    }
    return made;
  }

  std::mt19937 random_;
  std::vector<MPI_Datatype> made_;
};

/// A buffer for `count` elements of a type, and the same bytes as MPI packs them.
struct Sample {
  Sample(RandomTypes& types, unsigned seed) : count(types.below(4)), type(types.type(types.below(4))) {
    int size = 0, at = 0;
    MPI_Type_size(type, &size);
    if (size * count == 0) return;  // Open MPI packs no nothing, and gives it bounds without meaning
    MPI_Aint lower = 0, extent = 0, true_lower = 0, true_extent = 0;
    MPI_Type_get_extent(type, &lower, &extent);
    MPI_Type_get_true_extent(type, &true_lower, &true_extent);
    memory.resize(static_cast<std::size_t>(true_lower + true_extent + count * extent) + 16);
    std::mt19937 random(seed);
    for (std::byte& byte : memory) byte = static_cast<std::byte>(random());
    MPI_Pack_size(count, type, MPI_COMM_SELF, &size);
    packed.resize(static_cast<std::size_t>(size));
    MPI_Pack(memory.data(), count, type, packed.data(), size, &at, MPI_COMM_SELF);
    packed.resize(static_cast<std::size_t>(at));
  }
  int count;
  MPI_Datatype type;
  std::vector<std::byte> memory, packed;
};

class LayoutTest : public testing::TestWithParam<unsigned> {};

TEST_P(LayoutTest, GathersWhatMpiPacks) {
  RandomTypes types(GetParam());
  const Sample sample(types, GetParam());
  const Region region = Region::borrow(sample.memory.data(), static_cast<std::uint64_t>(sample.count), sample.type);
  ASSERT_EQ(region.bytes(), sample.packed.size());
  std::vector<std::byte> out;
  region.gather(region.bytes(), out);
  EXPECT_EQ(out, sample.packed);
  const std::uint64_t half = region.bytes() / 2;
  region.gather(half, out);
  EXPECT_TRUE(std::equal(out.begin(), out.end(), sample.packed.begin(), sample.packed.begin() + half));
  EXPECT_EQ(region.ballot().digest, ballot_of(sample.packed).digest);
  EXPECT_EQ(region.ballot(half).digest, ballot_of(std::span(sample.packed).first(half)).digest);
  if (region.contiguous() && region.bytes() > 0) {
    EXPECT_TRUE(std::equal(sample.packed.begin(), sample.packed.end(), region.data()));
  }
}

TEST_P(LayoutTest, ScattersWhatMpiUnpacks) {
  RandomTypes types(GetParam());
  Sample sample(types, GetParam());
  if (sample.packed.empty()) return;
  std::reverse(sample.packed.begin(), sample.packed.end());
  std::vector<std::byte> by_mpi = sample.memory;
  int at = 0;
  MPI_Unpack(sample.packed.data(), static_cast<int>(sample.packed.size()), &at, by_mpi.data(), sample.count,
             sample.type, MPI_COMM_SELF);
  Region::keep(sample.memory.data(), static_cast<std::uint64_t>(sample.count), sample.type).scatter(sample.packed);
  EXPECT_EQ(sample.memory, by_mpi);
}

TEST_P(LayoutTest, FlipsOneSelectedBit) {
  RandomTypes types(GetParam());
  Sample sample(types, GetParam());
  if (sample.packed.empty()) return;
  const std::uint64_t bit = static_cast<std::uint64_t>(types.below(1 << 20)) % (8 * sample.packed.size());
  sample.packed[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
  const Region region = Region::borrow(sample.memory.data(), static_cast<std::uint64_t>(sample.count), sample.type);
  region.flip(bit);
  std::vector<std::byte> out;
  region.gather(region.bytes(), out);
  EXPECT_EQ(out, sample.packed);
}

TEST_P(LayoutTest, FindsTheSameAtBottom) {
  RandomTypes types(GetParam());
  Sample sample(types, GetParam());
  if (sample.packed.empty()) return;
  MPI_Aint address = 0;
  MPI_Datatype absolute = MPI_DATATYPE_NULL;
  MPI_Get_address(sample.memory.data(), &address);
  MPI_Type_create_hindexed_block(1, sample.count, &address, sample.type, &absolute);
  MPI_Type_commit(&absolute);
  const Region region = Region::borrow(MPI_BOTTOM, 1, absolute);
  std::vector<std::byte> out;
  region.gather(region.bytes(), out);
  EXPECT_EQ(out, sample.packed);
  const std::vector<std::byte> before = sample.memory;
  region.scatter(out);
  EXPECT_EQ(sample.memory, before);
  forget_type(absolute);
  MPI_Type_free(&absolute);
}

/// What a region of long doubles says, whatever lies between their values.
class LongDoubles : public testing::Test {
 protected:
  struct Element {
    int number;
    long double value[2];
  };
  static constexpr int count = 5;

  void SetUp() override {
    if (std::numeric_limits<long double>::digits != 64) GTEST_SKIP() << "long doubles have no padding here";
    const int lengths[] = {1, 2};
    const MPI_Aint places[] = {0, offsetof(Element, value)};
    const MPI_Datatype kinds[] = {MPI_INT, MPI_LONG_DOUBLE};
    MPI_Type_create_struct(2, lengths, places, kinds, &members_);
    MPI_Type_create_resized(members_, 0, sizeof(Element), &element_);
    MPI_Type_create_hvector(count, 2, sizeof(Element), MPI_LONG_DOUBLE, &values_);
    MPI_Type_commit(&element_);
    MPI_Type_commit(&values_);
  }
  void TearDown() override {
    for (MPI_Datatype* type : {&members_, &element_, &values_})
      if (*type != MPI_DATATYPE_NULL) free_type(*type);
  }

  /// The same values, with something else in every byte that is none.
  static std::vector<Element> elements(int between) {
    std::vector<Element> made(count);
    std::memset(static_cast<void*>(made.data()), between, count * sizeof(Element));
    for (int i = 0; i < count; ++i) {
      made[i].number = i;
      for (int k = 0; k < 2; ++k) {
        const long double value = 1.0L / (3 * i + k + 1);
        std::memcpy(&made[i].value[k], &value, 10);
      }
    }
    return made;
  }
  static Ballot ballot(const void* memory, int n, MPI_Datatype type) {
    return Region::keep(memory, static_cast<std::uint64_t>(n), type).ballot();
  }

  MPI_Datatype members_ = MPI_DATATYPE_NULL, element_ = MPI_DATATYPE_NULL, values_ = MPI_DATATYPE_NULL;
  std::vector<Element> one_ = elements(0x11), two_ = elements(0x22);
};

TEST_F(LongDoubles, PaddingDoesNotCount) {
  EXPECT_EQ(ballot(one_.data(), count, element_), ballot(two_.data(), count, element_));
  EXPECT_EQ(ballot(one_[0].value, 1, values_), ballot(two_[0].value, 1, values_));
  EXPECT_EQ(ballot(one_[3].value, 2, MPI_LONG_DOUBLE), ballot(two_[3].value, 2, MPI_LONG_DOUBLE));
  EXPECT_EQ(ballot(one_[3].value, 1, MPI_C_LONG_DOUBLE_COMPLEX), ballot(two_[3].value, 2, MPI_LONG_DOUBLE));
  EXPECT_FALSE(ballot(one_[3].value, 32, MPI_BYTE) == ballot(two_[3].value, 32, MPI_BYTE));
}

TEST_F(LongDoubles, EveryBitOfAValueCounts) {
  for (int bit = 0; bit < 80; ++bit) {
    std::vector<Element> wrong = elements(0x22);
    Region::borrow(wrong[4].value, 2, MPI_LONG_DOUBLE).flip(static_cast<std::uint64_t>(128 + bit));
    EXPECT_FALSE(ballot(one_.data(), count, element_) == ballot(wrong.data(), count, element_)) << bit;
    EXPECT_FALSE(ballot(one_[0].value, 1, values_) == ballot(wrong[0].value, 1, values_)) << bit;
  }
  two_[2].number ^= 1;
  EXPECT_FALSE(ballot(one_.data(), count, element_) == ballot(two_.data(), count, element_));
}

TEST_F(LongDoubles, ACopyHasTheBallotOfWhatItWasGatheredFrom) {
  const Region one = Region::borrow(one_.data(), count, element_), two = Region::borrow(two_.data(), count, element_);
  std::vector<std::byte> copy;
  two.gather(two.bytes(), copy);
  EXPECT_EQ(one.ballot_of_copy(copy), one.ballot());
  EXPECT_FALSE(one.ballot_of_copy(copy) == two.whole_ballot(two.bytes()));
  EXPECT_EQ(Region::packed(copy.data(), count, element_).ballot(), one.ballot());
  EXPECT_EQ(one.ballot_of_copy(std::span(copy).first(50)), two.ballot(50)) << "the last element there in part";
}

TEST_F(LongDoubles, PairsHaveOneValueAndAnInteger) {
  struct Pair {
    long double value;
    int place;
  } one, two;
  std::memset(static_cast<void*>(&one), 0x11, sizeof one);
  std::memset(static_cast<void*>(&two), 0x22, sizeof two);
  const long double value = 1.0L / 3;
  for (Pair* pair : {&one, &two}) {
    std::memcpy(&pair->value, &value, 10);
    pair->place = 5;
  }
  EXPECT_EQ(ballot(&one, 1, MPI_LONG_DOUBLE_INT), ballot(&two, 1, MPI_LONG_DOUBLE_INT));
  two.place = 6;
  EXPECT_FALSE(ballot(&one, 1, MPI_LONG_DOUBLE_INT) == ballot(&two, 1, MPI_LONG_DOUBLE_INT));
}

/// The predefined pairs select their two members and nothing between or behind them.
template <class First>
void expect_no_gap(MPI_Datatype type) {
  struct Pair {
    First first;
    int second;
  } pairs[2][2];
  for (int k = 0; k < 2; ++k) {
    std::memset(static_cast<void*>(pairs[k]), 0x11 * (k + 1), sizeof pairs[k]);
    for (int i = 0; i < 2; ++i) {
      pairs[k][i].first = static_cast<First>(i + 3);
      pairs[k][i].second = i + 8;
    }
  }
  const Region one = Region::borrow(pairs[0], 2, type);
  EXPECT_EQ(one.bytes(), 2 * (sizeof(First) + sizeof(int)));
  EXPECT_FALSE(one.padded());
  EXPECT_EQ(one.ballot(), Region::borrow(pairs[1], 2, type).ballot());
}

TEST(Pairs, HaveNoGaps) {
  expect_no_gap<short>(MPI_SHORT_INT);
  expect_no_gap<long>(MPI_LONG_INT);
  expect_no_gap<double>(MPI_DOUBLE_INT);
  expect_no_gap<float>(MPI_FLOAT_INT);
}

TEST(Types, AHandleThatIsUsedAgainIsAnotherType) {
  for (int n = 1; n < 4; ++n) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(n, MPI_INT, &type);
    EXPECT_EQ(type_facts(type).size, static_cast<std::uint64_t>(n) * sizeof(int));
    free_type(type);
  }
}

INSTANTIATE_TEST_SUITE_P(Random, LayoutTest, testing::Range(0U, 300U));

}  // namespace
}  // namespace holdfast::replicate
