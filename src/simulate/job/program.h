#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/status/status.h"
#include "record/rank_reader.h"
#include "simulate/job/collective.h"

/// What a recorded program asks of MPI, as steps that can be replayed.
namespace holdfast::simulate::job {

inline constexpr std::uint32_t no_operation = 0xffffffff;

/// One step of a thread, after `before_ns` of computing.
struct Step {
  enum class Kind : std::uint8_t {
    nothing,           ///< but computing
    poll,              ///< a look into MPI
    send,              ///< begins operation `operation`
    synchronous_send,  ///< likewise; it is over when its receiver has asked for it
    receive,           ///< likewise
    wait,              ///< until `operation` is over
    probe,             ///< until such a message is there
    collective,        ///< begins `operation`
    put,               ///< into another rank's window; begins `operation`, if it is one
    get,
    complete_accesses,  ///< until all puts and gets of this rank are over
  };
  Kind kind = Kind::nothing;
  Operation collective = Operation::barrier;
  bool nonblocking : 1 = false;
  bool any_source : 1 = false;  ///< receives and probes, as the program gave them; `peer` is what it got, where known
  bool any_tag : 1 = false;
  bool inner : 1 = false;     ///< a collective that MPI makes by itself: of a communicator or window
  std::uint8_t told = 0;      ///< answers of MPI that its replicas must share: so many numbers and flags
  std::uint32_t context = 0;  ///< what messages match by: 2 x communicator, + 1 for collectives
  std::uint32_t peer = 0;     ///< rank in the world, or Envelope::any_source; collectives: the root's number
  std::uint32_t operation = no_operation;
  std::int64_t tag = 0;  ///< collectives: how many of the communicator were before
  std::uint64_t bytes = 0;
  std::int64_t before_ns = 0;
  std::uint32_t lists = 0;       ///< collectives: in RankProgram::lists, of what goes `to` each
  std::uint32_t lists_from = 0;  ///< and what comes `from` each
};

struct RankProgram {
  std::vector<std::vector<Step>> threads;
  std::vector<std::vector<std::uint64_t>> lists{{}};  ///< the first is empty: all alike
  std::map<std::uint32_t, std::uint32_t> numbers;     ///< by communicator: this rank's number in it
  std::uint64_t computing_ns = 0;
};

struct Program {
  std::string name;  ///< the trace
  std::vector<RankProgram> ranks;
  std::vector<std::vector<std::uint32_t>> communicators;  ///< members: ranks in the world
  std::vector<std::string> notes;  ///< one line each: what of the recording the replay leaves out or takes otherwise
  bool whole = true;               ///< no part of the recording is missing
  std::int64_t recorded_ns = 0;    ///< how long the recorded run took
};

/// Puts a program together from what each rank called, rank after rank.
class ProgramBuilder {
 public:
  ProgramBuilder(std::string name, std::uint32_t ranks);
  ~ProgramBuilder();
  /// Takes the calls of a rank, in order. rank < ranks. Lives as long as the builder.
  record::Visitor& rank(std::uint64_t rank);
  /// Once. Error (bad_input): a rank, a size or a time that no program has.
  Result<Program> finish();

 private:
  class Rank;
  struct Shared;
  std::unique_ptr<Shared> shared_;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

/// Reads a recording (docs/spec/recorded-trace.md). Errors: those of record::read_trace(), and those of finish().
Result<Program> read_program(const std::string& folder);

}  // namespace holdfast::simulate::job
