#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "functions.h"
#include "replicate/engine/inbox.h"
#include "replicate/engine/ordering.h"
#include "replicate/mpi/comms.h"
#include "replicate/mpi/layout.h"
#include "replicate/mpi/partitioned.h"

namespace holdfast::replicate {

class Schedule;
struct Operation;

/// Non-blocking collective calls that MPI must not work on at once, and has not finished; oldest first.
using InTurn = std::deque<Operation*>;

/// A communication of the application that has to be followed beyond the MPI library's own request: every receive,
/// every non-blocking collective, persistent sends, and sends into several worlds.
struct Operation {
  enum class Kind : std::uint8_t {
    receive,
    persistent_send,  ///< kept for MPI_Start; `native` is the persistent request
    send,             ///< a message that goes into several worlds
    collective,       ///< native non-blocking collective whose result is to be verified
  };
  /// A receive passes through these in order; the other kinds use native, comparing and complete.
  enum class Stage : std::uint8_t {
    unplaced,   ///< follower only: must not be given to MPI before an earlier wildcard is resolved
    native,     ///< with the MPI library
    placing,    ///< arrived; its ordinal on the channel is not known yet
    comparing,  ///< waiting for what the other replicas say about it
    contested,  ///< of a collective's result no whole copy has a majority (contest.h)
    disputed,   ///< they disagree; for the dispute's end, or for the correction
    complete,   ///< may be delivered
  };

  Kind kind = Kind::receive;
  Stage stage = Stage::native;
  Function function{};
  bool persistent = false;
  bool holds_comm = false;  ///< persistent: what the library knows of `comm` stays as long as the request (pending)
  bool active = true;       ///< persistent only: started and not completed
  bool wildcard = false;
  bool has_ticket = false;
  bool cancelled = false;
  bool cancel_asked = false;
  bool cancel_sent = false;       ///< MPI was asked, too: at the leader
  bool orphan = false;            ///< the application freed the request; completed by us
  bool failed = false;            ///< MPI reported an error (truncation); delivered unverified with the error
  bool from_leader = false;       ///< collective: made by replica 0 alone, which gives the others its outcome
  bool by_test = false;           ///< MPI finishes `native` in MPI_Test only; the application has a placeholder
  std::shared_ptr<InTurn> queue;  ///< a collective that is worked on in turn with those that are in flight beside it
  std::function<void()> begin;    ///< one that MPI has not got yet: gives it to MPI
  bool pushed_back = false;       ///< taken from the messages that a cancelled receive had matched

  MPI_Request native = MPI_REQUEST_NULL;   ///< what MPI works on; null before placement and where nothing is left
  MPI_Request visible = MPI_REQUEST_NULL;  ///< the application's handle; equals `native` wherever possible
  std::vector<MPI_Request> carried;        ///< sends: the same in the worlds that this process carries
  MPI_Status status{};
  Comm* comm = nullptr;
  Region region;
  void* buffer = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;  ///< as given; valid until posted
  int posted_source = 0;                  ///< persistent receives: as the application gave them
  int posted_tag = 0;
  std::int32_t source = 0;  ///< as given, or as decided; a persistent send's destination
  std::int32_t tag = 0;

  ReceiveOrder::Ticket ticket = 0;
  MessageId place;     ///< channel and local ordinal
  MessageId identity;  ///< channel and the sender's sequence number: the name all replicas use
  std::vector<Lane>* lanes = nullptr;
  Ballot own;
  std::uint64_t what = 0;  ///< windows and files: what is accessed, see Comparison
  std::uint64_t corrected_bytes = 0;
  bool was_corrected = false;
  bool whole = false;        ///< a receive: compared with its padding, since one side calls the elements bytes
  std::uint32_t poster = 0;  ///< a wildcard receive: who posted it, of several threads
  int supplier = -1;         ///< disputed: the replica that sends the good copy, where each replica counts for itself

  std::shared_ptr<Schedule> schedule;      ///< collectives on point-to-point messages
  std::vector<Region> inputs;              ///< persistent collectives: what this rank gives
  std::vector<Region> outputs;             ///< collectives: where the results are
  std::uint64_t blocks = 1;                ///< collectives: that the one region of a result consists of
  bool repeatable = false;                 ///< a collective that all ranks repeat where none has a majority
  bool without_majority = false;           ///< it is to be
  std::shared_ptr<void> keepalive;         ///< argument arrays and temporaries that MPI reads until completion
  std::function<void()> when_done;         ///< collectives: called when the application completes the request
  std::unique_ptr<Partitions> partitions;  ///< a partitioned one, which is persistent
  /// The send of an MPI_Isendrecv, which ends with the receive.
  MPI_Request companion = MPI_REQUEST_NULL;
};

/// The operations behind the application's request handles. One thread at a time; owns them.
class Requests {
 public:
  Operation& make();
  /// Files `op` under its visible handle. When the MPI library gave out a handle that is already filed (shared handles
  /// of communications that were over at once), the operation gets a generalised request as its visible handle.
  void file(Operation& op);
  /// The operation behind a handle, null for handles that the MPI library alone knows.
  Operation* find(MPI_Request handle);
  /// Gives `op` a visible handle of its own, for one that MPI has not got yet.
  void give_placeholder(Operation& op);
  bool has_placeholder(const Operation& op) const { return op.visible != op.native; }
  /// A persistent operation may be started after its communicator was freed.
  void hold_comm(Operation& op);
  /// The handle is no longer valid; forgets and destroys the operation.
  void drop(Operation& op);
  /// Takes the operation from the application (it freed the handle); orphans() has it until drop().
  void orphan(Operation& op);
  std::vector<Operation*>& orphans() { return orphans_; }
  std::size_t live() const { return live_; }
  /// Calls `visit(Operation&)` for every operation behind a handle; it must neither file nor drop any.
  template <class Visit>
  void for_each(Visit visit) {
    for (const auto& [handle, op] : by_handle_) visit(*op);
  }

 private:
  std::unordered_map<std::uint64_t, Operation*> by_handle_;
  std::vector<std::unique_ptr<Operation>> free_;
  std::vector<Operation*> orphans_;
  std::size_t live_ = 0;
};

}  // namespace holdfast::replicate
