#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "fabric/tables/forwarding.h"
#include "simulate/job/job_record.h"
#include "simulate/job/job_traffic.h"
#include "simulate/packet/sample_networks_for_tests.h"
#include "simulate/packet/simulate.h"

/// Any bytes are what a recording says of three ranks: names of functions, facts, times. What the program's builder
/// takes is played on a crossbar for a while, with one to four replicas under any protocol, now and then with flips,
/// and summed up; a run that is over has all its ranks told of, and one in which nothing was flipped has found no
/// difference where its ranks have one thread each.
namespace {

using namespace holdfast;
using namespace holdfast::simulate;

constexpr std::string_view names[] = {
    "MPI_Send",       "MPI_Recv",
    "MPI_Isend",      "MPI_Irecv",
    "MPI_Ssend",      "MPI_Wait",
    "MPI_Waitall",    "MPI_Test",
    "MPI_Probe",      "MPI_Iprobe",
    "MPI_Sendrecv",   "MPI_Send_init",
    "MPI_Recv_init",  "MPI_Start",
    "MPI_Cancel",     "MPI_Request_free",
    "MPI_Barrier",    "MPI_Bcast",
    "MPI_Allreduce",  "MPI_Reduce",
    "MPI_Allgather",  "MPI_Alltoall",
    "MPI_Alltoallv",  "MPI_Gatherv",
    "MPI_Scatter",    "MPI_Scan",
    "MPI_Ibarrier",   "MPI_Iallreduce",
    "MPI_Ialltoall",  "MPI_Bcast_init",
    "MPI_Put",        "MPI_Get",
    "MPI_Rput",       "MPI_Win_fence",
    "MPI_Win_flush",  "MPI_Win_create",
    "MPI_File_write", "MPI_Comm_split",
    "MPI_Comm_free",  "MPI_Psend_init",
    "MPI_Pready",     "MPI_Neighbor_alltoall",
    "MPI_Finalize",   "MPI_Reduce_scatter",
    "MPI_Exscan",     "MPI_Reduce_scatter_block",
    "MPI_Waitany",    "MPI_Mrecv",
};

class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}
  bool over() const { return left_ == 0; }
  std::uint8_t next() { return left_ == 0 ? std::uint8_t{0} : (--left_, *data_++); }
  /// Mostly small; now and then anything.
  std::int64_t number() {
    const std::uint8_t first = next();
    if (first < 200) return first % 8 - (first >= 160 ? 4 : 0);
    if (first < 240) return std::int64_t{1} << (next() % 63);
    std::int64_t value = 0;
    for (int i = 0; i < 8; ++i) value = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << 8 | next());
    return value;
  }
  /// Readers of recordings give none below 0.
  std::int64_t duration() { return number() & std::numeric_limits<std::int64_t>::max(); }

 private:
  const std::uint8_t* data_;
  std::size_t left_;
};

void record_calls(Bytes& bytes, job::ProgramBuilder& builder) {
  record::Communicator world;
  world.members = {0, 1, 2};
  for (std::uint64_t rank = 0; rank < 3; ++rank) builder.rank(rank).communicator(0, world);
  while (!bytes.over()) {
    const std::uint8_t what = bytes.next();
    record::Visitor& visitor = builder.rank(what % 3);
    if (what >= 250) {
      record::Communicator made;
      for (int i = what % 5; i > 0; --i) made.members.push_back(bytes.number());
      made.ordinal = bytes.next() % 2;
      visitor.communicator(static_cast<std::uint64_t>(bytes.next() % 4), made);
      continue;
    }
    std::vector<record::FactValue> facts;
    const std::string_view name = names[bytes.next() % std::size(names)];
    for (int i = bytes.next() % 8; i > 0; --i) {
      const auto fact = static_cast<record::Fact>(1 + bytes.next() % record::most_fact);
      facts.push_back({fact, bytes.number()});
    }
    record::Call call{name, static_cast<std::uint32_t>(what / 3 % 2), facts};
    call.before_ns = bytes.duration();
    call.during_ns = bytes.duration();
    call.without_core_ns = bytes.duration();
    visitor.call(call);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  Bytes bytes(data, size);
  const std::uint8_t rules = bytes.next();
  const int shape = rules / 12;
  job::ProgramBuilder builder("fuzz", 3);
  record_calls(bytes, builder);
  auto program = builder.finish();
  if (!program.ok()) return 0;
  job::Protocol protocol;
  job::protocol_table().apply_defaults(protocol);
  protocol.collectives = rules % 2 == 0 ? job::Rules::openmpi : job::Rules::mpich;
  protocol.progress = rules / 2 % 2 == 0 ? job::Progress::calls : job::Progress::always;
  const simulate::sample::Net net = simulate::sample::crossbar(3);
  Parameters parameters;
  parameters_table().apply_defaults(parameters);
  std::vector<job::Job> jobs;
  jobs.push_back({std::move(program).value(), protocol, {}, 1, {}});
  job::Protection& protection = jobs.back().protection;
  protection.degree = 1 + shape % 4;
  protection.protocol = static_cast<replicate::Protocol>(shape / 4 % 3);
  const bool flips = protection.on() && shape >= 12;
  if (flips) protection.inject = shape % 2 == 0 ? "flip rate 1/4" : "flip rate 1/9; corrupt-header rate 1/9";
  if (!job::check(protection, 3).ok()) __builtin_trap();
  for (int process = 0; process < 3 * protection.degree; ++process)
    jobs.back().hosts.push_back(process % 3 == 2 ? rules / 4 % 3U : static_cast<std::uint32_t>(process % 3));
  job::JobTraffic traffic(std::move(jobs), 3);
  traffic.observe(2, 8);
  Control control;
  control.packet_hops = 2'000;
  const auto record = simulate::simulate(net.fabric, net.tables, parameters, traffic, control);
  if (!record.ok()) return 0;
  const job::JobOutcome outcome = traffic.outcomes().front();
  const job::JobSummary summary = job::summarise(traffic.jobs().front(), outcome);
  const bool stopped = outcome.replication && outcome.replication->incident;
  if (outcome.ranks.size() != 3 * static_cast<std::size_t>(traffic.jobs().front().protection.degree)) __builtin_trap();
  if (summary.ended != (traffic.done() && !stopped)) __builtin_trap();
  if (!outcome.replication || outcome.replication->threads || flips) return 0;
  if (stopped || outcome.replication->counters[replicate::Count::mismatches] > 0) __builtin_trap();
  return 0;
}
