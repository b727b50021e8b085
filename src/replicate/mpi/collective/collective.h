#pragma once

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "replicate/mpi/agree/progress.h"
#include "replicate/mpi/collective/algorithms.h"
#include "replicate/mpi/collective/schedule.h"
#include "replicate/mpi/pointtopoint/operation.h"
#include "replicate/mpi/pointtopoint/send.h"
#include "replicate/process/threads.h"

namespace holdfast::replicate {

/// Before a call that makes a communicator, by itself or for a window or a file: waits until no copy is being made here
/// in turn. Open MPI numbers the communicators of a process one after the other (ompi_comm_nextcid), so that such a
/// call waits inside MPI for the copies begun before it, which other members begin only as this library makes progress.
/// A program may call it elsewhere before the copy (MPI 3.1, 5.12): after 5 s it begins all the same.
void let_copies_end();

/// One collective of the application, in one of two ways (replicate.collectives). native: run by MPI in each replica's
/// own world; the results that this rank gets are compared with those of its other replicas, and a wrong one is
/// replaced by the majority's. p2p: a schedule of messages, each verified as the application's own are; on
/// intercommunicators native where all ranks have as many replicas.
class Collective {
 public:
  enum class Kind : std::uint8_t { once, persistent };
  static constexpr std::uint64_t no_count =
      std::numeric_limits<std::uint64_t>::max();  ///< times any count is none either
  Collective(Function function, MPI_Comm comm, Kind kind = Kind::once);

  Comm& comm() { return *comm_; }
  int size() const { return comm_->peer_count; }
  bool inter() const { return comm_->inter; }
  bool is_root(int root) {
    const bool names_itself = comm_->inter && (root == MPI_ROOT || root == MPI_PROC_NULL);
    sound_ = sound_ && (names_itself || (root >= 0 && root < comm_->peer_count));
    return comm_->inter ? root == MPI_ROOT : root == comm_->rank;
  }
  bool idle_root(int root) const { return comm_->inter && root == MPI_PROC_NULL; }

  /// Whether MPI passes so much on as a whole, in all ranks or in none. Open MPI's Ibcast cuts what has 64 KiB and more
  /// by the number of elements, which another rank may have otherwise (a vector there, bytes here); a root that has as
  /// much to give waits for the others natively, too.
  bool passed_on_whole(std::uint64_t count, MPI_Datatype type);
  /// Memory that this rank contributes (the injector's target). A count that was negative is no_count.
  void input(const void* buffer, std::uint64_t count, MPI_Datatype type);
  /// Memory that receives results. `blocks` of equal length, where each comes from one rank, or is an element of a
  /// reduction: copies without a majority are voted on by block (engine/replica_contest.cc).
  void output(void* buffer, std::uint64_t count, MPI_Datatype type, std::uint64_t blocks = 1);
  /// Result blocks of the v-variants: block i at buffer + displacements[i] * extent.
  void outputs(void* buffer, const int* counts, const int* displacements, MPI_Datatype type, int blocks);

  /// What this rank gives to a blocking reduction: input(), which may be compared by itself.
  void operand(const void* send_buffer, void* receive_buffer, std::uint64_t count, MPI_Datatype type);

  /// The operation of a reduction.
  void operation(MPI_Op op) { sound_ = sound_ && op != MPI_OP_NULL; }
  /// One that intercommunicators do not have.
  void within_one_group() { sound_ = sound_ && !comm_->inter; }

  /// Between topology neighbours: whether the communicator has a topology.
  void topology(bool there) { sound_ = sound_ && there; }

  /// Runs a blocking collective and verifies it; returns MPI's error code. `build` makes the schedule of messages.
  template <class Call, class Build>
  int run(Call call, Build build) {
    if (by_messages()) {
      Schedule schedule(*comm_, Schedule::Life::call);
      build(schedule);
      return perform(schedule);
    }
    if (sound_) enter();
    const int code = call_in_others_turn(call);
    if (code == MPI_SUCCESS) verify_now();
    return code;
  }
  /// The same for one that computes nothing, and where not all ranks have to wait for all others. Where a collective is
  /// entered by polling, `start` gives MPI the non-blocking one, which is polled instead. There is no meeting before
  /// it: with MPI a root that has no more to give goes on before the others come. A program may rely on that without
  /// knowing (MPI 3.1, 5.13), and would wait for ever where all meet first.
  template <class Start, class Call, class Build>
  int run_polled(Start start, Call call, Build build) {
    if (by_messages() || !sound_ || !polled_without_meeting()) return run(call, build);
    let_copies_of_comm_end();
    MPI_Request native = MPI_REQUEST_NULL;
    int code = start(&native);
    if (code == MPI_SUCCESS) code = poll(&native);
    if (code == MPI_SUCCESS) verify_now();
    return code;
  }
  /// A blocking reduction: of what all ranks give, so that what two of them gave wrong in two replicas leaves no
  /// majority of any result. The same replicas are outvoted where each rank's operand is compared by itself.
  /// `same_everywhere`: all ranks get the same result, and so all know when it has no majority, and repeat the call,
  /// with operands that were compared. Otherwise those are compared before: a rank that gets no result would have left.
  template <class Call, class Build>
  int reduce(Call call, Build build, bool same_everywhere) {
    if (by_messages() || !correctable()) return run(call, build);
    if (!same_everywhere || comm_->inter) {
      compare_operand();
      return run(call, build);
    }
    keep_operand();
    if (sound_) enter();
    const int code = call_that_waits(call);
    if (code != MPI_SUCCESS || verify_now()) return code;
    put_operand_back();
    compare_operand();
    return run(call, build);
  }
  /// Runs a call that makes or disconnects a communicator.
  template <class Call>
  int create(Call call) {
    let_copies_end();
    enter();
    return call_in_others_turn(call);
  }
  /// Starts a non-blocking one; it is verified when the application completes the request.
  template <class Call, class Build>
  int start(MPI_Request* request, Call call, Build build) {
    if (by_messages()) {
      auto schedule = std::make_shared<Schedule>(*comm_, Schedule::Life::request);
      build(*schedule);
      begin(std::move(schedule), request);
      return MPI_SUCCESS;
    }
    return start(request, call);
  }
  /// The same for what has no schedule.
  template <class Call>
  int start(MPI_Request* request, Call call) {
    const int code = call(request);
    if (code == MPI_SUCCESS) follow(request);
    return code;
  }

  /// Gives a call to MPI: sets its request, and one of a call that belongs to it; MPI's error code.
  using Begin = std::function<int(MPI_Request* native, MPI_Request* companion)>;
  /// Starts one that MPI must not work on beside others: in its turn in `queue`, or at once. `when_done`: called when
  /// the application completes the request.
  int start_in_turn(MPI_Request* request, std::shared_ptr<InTurn> queue, bool at_once, Begin begin,
                    std::function<void()> when_done);

  /// Makes a persistent one, which start_persistent() starts.
  template <class Call, class Build>
  int make_persistent(MPI_Request* request, Call call, Build build) {
    if (by_messages()) {
      auto schedule = std::make_shared<Schedule>(*comm_, Schedule::Life::persistent);
      build(*schedule);
      stand_in(request);
      file_persistent(request, std::move(schedule));
      return MPI_SUCCESS;
    }
    const int code = call(request);
    if (code == MPI_SUCCESS) file_persistent(request, nullptr);
    return code;
  }

 private:
  /// What has wrong arguments goes to MPI, which says so.
  bool by_messages() const { return comm_->shadow != nullptr && sound_; }
  bool selects_memory(std::uint64_t count, MPI_Datatype type);
  int perform(Schedule& schedule);
  void begin(std::shared_ptr<Schedule> schedule, MPI_Request* request);
  void enter();
  void let_copies_of_comm_end();
  /// Whether MPI's own waiting is to be replaced by polling.
  bool polled() const;
  /// The same for one whose members need not meet: in all ranks of a communicator, or in none.
  bool polled_without_meeting() const;
  /// Waits for what MPI was given; its error code.
  int poll(MPI_Request* native);
  /// False when the result has no majority, and the call is to be repeated.
  bool verify_now();
  /// Whether a wrong operand can be told from right ones.
  bool correctable() const;
  void keep_operand();
  void put_operand_back();
  void compare_operand();
  void follow(MPI_Request* request);
  /// A request of MPI's that is never started, for what the application does with an inactive one.
  void stand_in(MPI_Request* request);
  void file_persistent(MPI_Request* request, std::shared_ptr<Schedule> schedule);

  Function function_;
  Kind kind_;
  bool sound_ = true;  ///< root, counts, datatypes and operation are possible ones
  Comm* comm_;
  std::vector<Region> inputs_;  ///< of a persistent one, for the injector
  std::vector<Region> outputs_;
  std::uint64_t blocks_ = 1;     ///< of the one region of outputs_
  Region operand_;               ///< of a blocking reduction
  bool in_place_ = false;        ///< the operand lies where the result will
  bool repeatable_ = false;      ///< see Operation
  std::vector<std::byte> kept_;  ///< what lay there
};

/// MPI_Start of a persistent collective.
int start_persistent(Operation& op);

/// Names a comparison alike in every replica. `what` tells what is accessed, where several threads communicate: where
/// replicas differ in it, their threads came in different orders, and the job ends with that diagnosis.
struct Comparison {
  std::uint64_t id;
  std::uint64_t number;
  std::uint64_t what = 0;
};

/// Compares memory of this rank with what its other replicas have there, and corrects it: no collective of MPI, but
/// settled like the result of one. Waits for all replicas.
void compare_in_team(Function function, const Comparison& name, std::vector<Region> regions);
/// Whether the memory is the same in all replicas; reports and changes nothing. Waits for all replicas.
bool same_in_team(const Comparison& name, const std::vector<Region>& regions);
/// Gives the followers what replica 0 has in that memory.
void copy_from_leader(Function function, const Comparison& name, std::vector<Region> regions);
/// Follows a request of MPI-IO; `outputs` are compared when it completes.
///
/// `queue` (null for what is not collective): ROMIO goes on with a collective access where MPI asks about it, by
/// further collectives on the communicator of the file. Those of two accesses, and what the application calls
/// meanwhile, must come in the same order in all ranks. So MPI is asked only while the application asks, as it is
/// without replication, and only about the oldest access.
void follow_file(Function function, const Comparison& name, MPI_Request* request, std::vector<Region> outputs,
                 std::shared_ptr<InTurn> queue);
/// The same for what replica 0 alone does; the others get its outcome, and the bytes it has in `outputs`.
void follow_leader(Function function, const Comparison& name, MPI_Request* request, std::vector<Region> outputs,
                   std::shared_ptr<InTurn> queue);

/// Argument arrays that MPI reads until the operation completes must be the application's; MPI 3.1, 5.12 says it may
/// not change them, so they are used as they are.
bool advance_collective(Operation& op);

}  // namespace holdfast::replicate
