#include "record/import/dumpi_datatypes.h"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::record {
namespace {

/// A call with these lines as its fields.
void take(DumpiDatatypes& datatypes, const std::string& function, const std::string& fields) {
  const std::string text = function + " entering at walltime 1.0, cputime 0 seconds in thread 0.\n" + fields + "\n" +
                           function + " returning at walltime 1.0, cputime 0 seconds in thread 0.\n";
  DumpiReader reader(text);
  DumpiCall call;
  ASSERT_TRUE(reader.next(call).value());
  datatypes.take(call);
}

TEST(DumpiDatatypes, CountsTheBytesOfWhatIsMade) {
  DumpiDatatypes datatypes({});
  EXPECT_EQ(datatypes.bytes_of(14), 8);  // MPI_DOUBLE
  EXPECT_EQ(datatypes.bytes_of(9), 4);   // MPI_INT
  EXPECT_EQ(datatypes.bytes_of(28), std::nullopt);
  take(datatypes, "MPI_Type_contiguous",
       "int count=3\nMPI_Datatype oldtype=14 (MPI_DOUBLE)\nMPI_Datatype newtype=28 (x)");
  EXPECT_EQ(datatypes.bytes_of(28), 24);
  take(datatypes, "MPI_Type_vector",
       "int count=5\nint blocklength=2\nint stride=100\nMPI_Datatype oldtype=28 (x)\nMPI_Datatype newtype=29 (x)");
  EXPECT_EQ(datatypes.bytes_of(29), 240);
  take(datatypes, "MPI_Type_indexed",
       "int count=2\nint lengths[2]=[1, 4]\nint indices[2]=[0, 9]\nMPI_Datatype oldtype=9 (x)\nMPI_Datatype newtype=30 "
       "(x)");
  EXPECT_EQ(datatypes.bytes_of(30), 20);
  take(datatypes, "MPI_Type_struct",
       "int count=2\nint lengths[2]=[2, 3]\nint indices[2]=[0, 64]\nMPI_Datatype oldtypes[2]=[9, 14]\n"
       "MPI_Datatype newtype=31 (x)");
  EXPECT_EQ(datatypes.bytes_of(31), 32);
  take(datatypes, "MPI_Type_create_subarray",
       "int ndims=2\nint sizes[2]=[9, 9]\nint subsizes[2]=[3, 4]\nMPI_Datatype oldtype=14 (x)\nMPI_Datatype newtype=32 "
       "(x)");
  EXPECT_EQ(datatypes.bytes_of(32), 96);
  take(datatypes, "MPI_Type_dup", "MPI_Datatype oldtype=32 (x)\nMPI_Datatype newtype=33 (x)");
  EXPECT_EQ(datatypes.bytes_of(33), 96);
}

TEST(DumpiDatatypes, KnowsWhatIsStatedAndNothingFromNonsense) {
  DumpiDatatypes datatypes({{28, 7}, {4, 3}});
  EXPECT_EQ(datatypes.bytes_of(28), 7);
  EXPECT_EQ(datatypes.bytes_of(4), 3);
  take(datatypes, "MPI_Type_contiguous",
       "int count=9223372036854775807\nMPI_Datatype oldtype=14 (x)\nMPI_Datatype newtype=29 (x)");
  take(datatypes, "MPI_Type_contiguous", "int count=-4\nMPI_Datatype oldtype=14 (x)\nMPI_Datatype newtype=30 (x)");
  take(datatypes, "MPI_Type_struct",
       "int lengths[2]=[1, 1]\nMPI_Datatype oldtypes[1]=[9]\nMPI_Datatype newtype=31 (x)");
  take(datatypes, "MPI_Type_contiguous", "int count=2\nMPI_Datatype oldtype=99 (x)\nMPI_Datatype newtype=32 (x)");
  for (const int none : {29, 30, 31, 32}) EXPECT_EQ(datatypes.bytes_of(none), std::nullopt) << none;
  take(datatypes, "MPI_Type_contiguous", "int count=2\nMPI_Datatype oldtype=14 (x)\nMPI_Datatype newtype=14 (x)");
  EXPECT_EQ(datatypes.bytes_of(14), 8) << "a datatype that MPI has is made by nobody";
}

}  // namespace
}  // namespace holdfast::record
