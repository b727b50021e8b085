#include "record/import/dumpi_rank.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/rank_reader.h"

namespace holdfast::record {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Facts : public Visitor {
 public:
  void call(const Call& call) override {
    calls.emplace_back(call.name, std::vector(call.facts.begin(), call.facts.end()));
  }
  void communicator(std::uint64_t, const Communicator&) override {}
  void counted(std::string_view name, bool local, std::uint64_t) override {
    counts.emplace_back(std::string(name) + (local ? " local" : ""));
  }
  std::vector<std::pair<std::string, std::vector<FactValue>>> calls;
  std::vector<std::string> counts;
};

/// The calls of rank 0 of 2 that have these fields.
class Converted {
 public:
  explicit Converted(const std::vector<std::pair<std::string, std::string>>& calls) {
    DumpiCommunicators communicators(2);
    communicators.resolve();
    ImportedRank to({0, 2, "job", "dumpi", "host", 0});
    DumpiRank rank(0, communicators, {}, to);
    for (const auto& [function, fields] : calls) {
      const std::string text = function + " entering at walltime 1.0, cputime 0 seconds in thread 0.\n" + fields +
                               "\n" + function + " returning at walltime 1.5, cputime 0 seconds in thread 0.\n";
      DumpiReader reader(text);
      DumpiCall call;
      EXPECT_TRUE(reader.next(call).value());
      rank.take(call);
    }
    unknown_sizes = rank.unknown_sizes();
    unknown_communicators = rank.unknown_communicators();
    file = read_rank(to.finish(rank.ending()), facts);
  }
  Facts facts;
  RankFile file;
  std::uint64_t unknown_sizes = 0, unknown_communicators = 0;
};

const std::string world = "\nMPI_Comm comm=2 (MPI_COMM_WORLD)";

TEST(DumpiRank, RequestsKeepTheirNumbersUntilTheyAreComplete) {
  const Converted made({
      {"MPI_Irecv",
       "int count=4\nMPI_Datatype datatype=9 (MPI_INT)\nint source=-1 (MPI_ANY_SOURCE)\nint tag=-1 (MPI_ANY_TAG)" +
           world + "\nMPI_Request request=[8]"},
      {"MPI_Isend",
       "int count=1\nMPI_Datatype datatype=14 (x)\nint dest=1\nint tag=5" + world + "\nMPI_Request request=[9]"},
      {"MPI_Test", "MPI_Request request=[9]\nint flag=0\nMPI_Status status=<IGNORED>"},
      {"MPI_Waitsome",
       "int count=2\nMPI_Request requests[2]=[9, 8]\nint outcount=1\nint indices[1]=[1]\n"
       "MPI_Status statuses[1]=[{bytes=12, cancelled=0, source=1, tag=3, error=0}]"},
      {"MPI_Isend",
       "int count=0\nMPI_Datatype datatype=9 (x)\nint dest=-1\nint tag=5" + world + "\nMPI_Request request=[8]"},
      {"MPI_Waitall", "int count=3\nMPI_Request requests[3]=[8, 1, 9]\nMPI_Status statuses[3]=<IGNORED>"},
  });
  ASSERT_EQ(made.facts.calls.size(), 6U);
  EXPECT_THAT(made.facts.calls[0].second, ElementsAre(FactValue{Fact::communicator, 0}, FactValue{Fact::peer, anybody},
                                                      FactValue{Fact::tag, any_tag}, FactValue{Fact::source_bytes, 16},
                                                      FactValue{Fact::request, 0}));
  EXPECT_THAT(made.facts.calls[1].second,
              ElementsAre(FactValue{Fact::communicator, 0}, FactValue{Fact::peer, 1}, FactValue{Fact::tag, 5},
                          FactValue{Fact::bytes, 8}, FactValue{Fact::request, 1}));
  EXPECT_THAT(made.facts.calls[2].second, ElementsAre(FactValue{Fact::concerns, 1}, FactValue{Fact::not_yet, 1}));
  EXPECT_THAT(made.facts.calls[3].second,
              ElementsAre(FactValue{Fact::completes, 0}, FactValue{Fact::source, 1}, FactValue{Fact::source_tag, 3},
                          FactValue{Fact::source_bytes, 12}));
  EXPECT_EQ(made.facts.calls[4].second[1], (FactValue{Fact::peer, nobody}));
  EXPECT_THAT(made.facts.calls[5].second, ElementsAre(FactValue{Fact::completes, 2}, FactValue{Fact::completes, 1}));
  EXPECT_TRUE(made.file.damages.empty());
}

TEST(DumpiRank, PersistentRequestsAreStartedAgainAndFreed) {
  const std::string request = "MPI_Request request=[8]";
  const Converted made({
      {"MPI_Recv_init", "int count=4\nMPI_Datatype datatype=2 (x)\nint source=1\nint tag=5" + world + "\n" + request},
      {"MPI_Wait", request + "\nMPI_Status status=<IGNORED>"},
      {"MPI_Start", request},
      {"MPI_Wait", request + "\nMPI_Status status=[{bytes=4, cancelled=0, source=1, tag=5, error=0}]"},
      {"MPI_Startall", "int count=1\nMPI_Request requests[1]=[8]"},
      {"MPI_Cancel", request},
      {"MPI_Wait", request + "\nMPI_Status status=[{bytes=0, cancelled=1, source=1, tag=5, error=0}]"},
      {"MPI_Request_free", request},
      {"MPI_Start", request},
  });
  ASSERT_EQ(made.facts.calls.size(), 9U);
  EXPECT_THAT(made.facts.calls[1].second, IsEmpty()) << "an inactive one is complete at once";
  EXPECT_THAT(made.facts.calls[3].second, ElementsAre(FactValue{Fact::completes, 0}, FactValue{Fact::source_bytes, 4}));
  EXPECT_THAT(made.facts.calls[4].second, ElementsAre(FactValue{Fact::starts, 0}));
  EXPECT_THAT(made.facts.calls[5].second, ElementsAre(FactValue{Fact::cancels, 0}));
  EXPECT_THAT(made.facts.calls[6].second, ElementsAre(FactValue{Fact::completes, 0}, FactValue{Fact::cancelled, 1}));
  EXPECT_THAT(made.facts.calls[7].second, ElementsAre(FactValue{Fact::frees, 0}));
  EXPECT_THAT(made.facts.calls[8].second, ElementsAre(FactValue{Fact::starts, unknown_request}));
}

TEST(DumpiRank, ReceivesFromNobodyUnderMpichAreToldByTheirStatus) {
  const std::string receive = "int count=4\nMPI_Datatype datatype=2 (x)\nint source=-1\nint tag=5" + world;
  const Converted made({
      {"MPI_Recv", receive + "\nMPI_Status status=[{bytes=0, cancelled=0, source=-1, tag=-1, error=0}]"},
      {"MPI_Irecv", receive + "\nMPI_Request request=[8]"},
      {"MPI_Wait", "MPI_Request request=[8]\nMPI_Status status=[{bytes=0, cancelled=0, source=0, tag=0, error=0}]"},
      {"MPI_Iprobe", "int source=-1\nint tag=5" + world +
                         "\nint flag=0\nMPI_Status status=[{bytes=0, cancelled=0, source=-9, tag=0, error=0}]"},
  });
  ASSERT_EQ(made.facts.calls.size(), 4U);
  EXPECT_EQ(made.facts.calls[0].second[1], (FactValue{Fact::peer, nobody}));
  EXPECT_THAT(made.facts.calls[2].second, ElementsAre(FactValue{Fact::completes, 0}, FactValue{Fact::cancelled, 1}));
  EXPECT_EQ(made.facts.calls[3].second[1], (FactValue{Fact::peer, anybody}));
}

TEST(DumpiRank, SaysWhatItCannotTell) {
  const Converted made({
      {"MPI_Send", "int count=4\nMPI_Datatype datatype=40 (x)\nint dest=1\nint tag=5" + world},
      {"MPI_Send", "int count=4\nMPI_Datatype datatype=9 (x)\nint dest=1\nint tag=5\nMPI_Comm comm=7 (x)"},
      {"MPI_Put", "int origincount=4"},
      {"MPI_Comm_rank", "MPI_Comm comm=2 (x)\nint rank=0"},
      {"MPI_Abort", "MPI_Comm comm=2 (x)\nint errorcode=3"},
  });
  EXPECT_EQ(made.unknown_sizes, 1U);
  EXPECT_EQ(made.unknown_communicators, 1U);
  ASSERT_EQ(made.facts.calls.size(), 2U);
  EXPECT_EQ(made.facts.calls[0].second[3], (FactValue{Fact::bytes, 4}));
  EXPECT_THAT(made.facts.counts, testing::UnorderedElementsAre("MPI_Send", "MPI_Put", "MPI_Comm_rank local"));
  EXPECT_EQ(made.file.ending, Ending::aborted);
}

}  // namespace
}  // namespace holdfast::record
