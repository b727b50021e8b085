#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "replicate/mpi/pointtopoint/operation.h"

namespace holdfast::replicate {

/// A collective as a list of verified point-to-point messages and local steps, in rounds: what is in one round may go
/// on at the same time, and the next begins when all of it is done (T. Hoefler, A. Lumsdaine, W. Rehm, "Implementation
/// and Performance Analysis of Non-Blocking Collective Operations for MPI", SC 2007, describes collectives in this
/// form). Its messages travel on the communicator's shadow, so that no receive of the application can take one.
///
/// Sixteen tags are used in turn; a schedule begins when the one that had its tag before is complete here, so that
/// their messages cannot mix and the number of channels stays bounded. Those of persistent collectives may be started
/// in another order at each rank (MPI 4.0, section 6.13), so each has a tag of its own.
///
/// First built by the functions of algorithms.h, then advanced until it is complete. Buffers are the application's, or
/// scratch memory that the schedule owns. One thread at a time.
class Schedule {
 public:
  /// How long it lasts. The application may free datatypes and operations while one runs that outlives its call, so
  /// that works on duplicates of derived datatypes and keeps operations (operators.h).
  enum class Life : std::uint8_t { call, request, persistent };
  /// For a collective on `comm`, which must have a shadow.
  Schedule(Comm& comm, Life life);
  ~Schedule();
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;

  Comm& comm() { return *comm_; }
  int rank() const { return comm_->rank; }
  int size() const { return comm_->size; }
  /// Between two groups: its messages go to the other one, which has so many ranks.
  bool across() const { return comm_->inter; }
  int others() const { return comm_->peer_count; }

  void send(const void* buffer, int count, MPI_Datatype type, int to);
  void receive(void* buffer, int count, MPI_Datatype type, int from);
  /// Local, at its place in the round: `to` becomes what is selected of `from`.
  void copy(const void* from, int from_count, MPI_Datatype from_type, void* to, int to_count, MPI_Datatype to_type);
  /// Local: right becomes left op right, element by element.
  void combine(const void* left, void* right, int count, MPI_Datatype type, MPI_Op op);
  void next_round();

  /// Memory for `count` elements, as a buffer address; not initialised, alive as long as the schedule.
  void* scratch(int count, MPI_Datatype type);

  /// Goes as far as it can now, without waiting; true when complete. Callable again after that.
  bool advance();
  /// Of a persistent one that is complete, or has not begun: from the first step again.
  void restart();
  /// MPI_SUCCESS, or the first error of a message (truncation).
  int code() const { return code_; }

 private:
  struct Step {
    enum class Kind { send, receive, copy, combine, next_round };
    Kind kind;
    const void* in = nullptr;
    void* out = nullptr;
    int count = 0;
    int out_count = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Datatype out_type = MPI_DATATYPE_NULL;
    int peer = -1;
    MPI_Op op = MPI_OP_NULL;
  };
  MPI_Datatype keep(MPI_Datatype type);
  void keep_operator(MPI_Op op);
  void begin(const Step& step);
  void begin_send(const Step& step);
  bool round_done();
  void note(int code);

  Comm* comm_;
  Life life_;
  int tag_;
  std::uint64_t turn_ = 0;  ///< how many schedules had this tag before
  bool complete_ = false;
  std::vector<Step> steps_;
  std::size_t next_ = 0;
  std::vector<Operation*> receives_;
  std::vector<MPI_Request> sends_;
  std::vector<MPI_Datatype> kept_;
  std::vector<MPI_Op> operators_;
  std::vector<std::unique_ptr<std::byte[]>> memory_;
  int code_ = MPI_SUCCESS;
};

}  // namespace holdfast::replicate
