#include "record/import/dumpi_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::record {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view example = R"(version=13.0.0
starttime=Thu Sep 26 10:55:53 2013

hostname=deepthought.magrathea.gov
MPI_Recv entering at walltime 8153.0493, cputime 0.0044 seconds in thread 2.
Perfcounters: [PAPI_TOT_CYC=99]
int count=100
MPI_Datatype datatype=14 (MPI_DOUBLE)
int source=-1 (MPI_ANY_SOURCE)
int tag=7
MPI_Comm comm=2 (MPI_COMM_WORLD)
MPI_Status status=[{bytes=800, cancelled=0, source=3, tag=7, error=0}]
MPI_Recv returning at walltime 8153.0495, cputime 0.0045 seconds in thread 2.
MPI_Group_range_incl entering at walltime 8154.000000001, cputime 0.1 seconds in thread 0.
MPI_Group group=3 (user-defined-group)
int count=2
int ranges[2][3]=[[0, 3, 1]
[-8, 12, 2]
]
MPI_Group newgroup=4 (user-defined-group)
MPI_Group_range_incl returning at walltime 8154.000000002, cputime 0.1 seconds in thread 0.
MPI_Waitall entering at walltime 8155, cputime 0.1 seconds in thread 0.
int count=2
MPI_Request requests[2]=[4, 5]
MPI_Status statuses[2]=<IGNORED>
MPI_Waitall returning at walltime 8155, cputime 0.1 seconds in thread 0.
MPI_Recv called 1 times and ignored 0 times
Datatype 14 (MPI_DOUBLE) has size 8
Datatype 28 (user-defined-datatype) has size 24
)";

TEST(DumpiText, GivesCallsWithTheirFields) {
  DumpiReader reader(example);
  DumpiCall call;
  ASSERT_TRUE(reader.next(call).value());
  EXPECT_EQ(call.function, "MPI_Recv");
  EXPECT_EQ(call.thread, 2U);
  EXPECT_EQ(call.entered_ns, 8'153'049'300'000);
  EXPECT_EQ(call.left_ns, 8'153'049'500'000);
  EXPECT_EQ(call.number("count"), 100);
  EXPECT_EQ(call.number("datatype"), 14);
  EXPECT_EQ(call.number("source"), -1);
  EXPECT_EQ(call.number("dest"), std::nullopt);
  const auto statuses = call.statuses("status");
  ASSERT_EQ(statuses.size(), 1U);
  EXPECT_EQ(statuses[0].bytes, 800);
  EXPECT_EQ(statuses[0].source, 3);
  EXPECT_FALSE(statuses[0].cancelled);
  ASSERT_TRUE(reader.next(call).value());
  EXPECT_EQ(call.entered_ns, 8'154'000'000'001);
  EXPECT_THAT(call.numbers("ranges"), ElementsAre(0, 3, 1, -8, 12, 2));
  EXPECT_EQ(call.number("newgroup"), 4);
  ASSERT_TRUE(reader.next(call).value());
  EXPECT_THAT(call.numbers("requests"), ElementsAre(4, 5));
  EXPECT_THAT(call.statuses("statuses"), IsEmpty());
  EXPECT_FALSE(reader.next(call).value());
  EXPECT_EQ(reader.calls(), 3U);
  EXPECT_EQ(reader.host(), "deepthought.magrathea.gov");
  EXPECT_EQ(reader.datatype_bytes().at(28), 24);
}

TEST(DumpiText, NamesTheLineOfWhatIsWrong) {
  const auto wrong = [](std::string text) {
    DumpiReader reader(text);
    DumpiCall call;
    const auto read = reader.next(call);
    return read.ok() ? std::string("nothing") : read.status().message();
  };
  const std::string begin =
      "hostname=a\nMPI_Send entering at walltime 1.5, cputime 0 seconds in thread 0.\nint count=1\n";
  EXPECT_THAT(wrong(begin), HasSubstr("line 3: the text ends within a call of MPI_Send"));
  EXPECT_THAT(wrong(begin + begin), HasSubstr("line 5: another call begins within one of MPI_Send"));
  EXPECT_THAT(wrong(begin + "MPI_Recv returning at walltime 2, cputime 0 seconds in thread 0.\n"),
              HasSubstr("line 4: a call of MPI_Send ends as one of MPI_Recv"));
  EXPECT_THAT(wrong(begin + "MPI_Send returning at walltime soon, cputime 0 seconds in thread 0.\n"),
              HasSubstr("line 4: the moment of a call is no number"));
  EXPECT_THAT(wrong("MPI_Send entering at walltime 99999999999999999999, cputime\n"), HasSubstr("line 1: the moment"));
  EXPECT_THAT(wrong("MPI_\xc3\xa5 entering at walltime 1.5, cputime\n"), HasSubstr("no function's name"));
  EXPECT_EQ(wrong(""), "nothing");
}

}  // namespace
}  // namespace holdfast::record
