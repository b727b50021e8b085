#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "functions.h"
#include "replicate/engine/verified.h"
#include "replicate/mpi/context/comms.h"
#include "replicate/mpi/pointtopoint/partitions.h"
#include "replicate/mpi/verify/layout.h"

namespace holdfast::replicate {

class Schedule;
struct Operation;

/// Non-blocking collective calls that MPI must not work on at once, and has not finished; oldest first.
using InTurn = std::deque<Operation*>;

/// A communication of the application that has to be followed beyond the MPI library's own request: every receive,
/// every non-blocking collective, persistent sends, and sends into several worlds. What the engine keeps of one that is
/// verified is in Verified, the rest is the adapter's.
struct Operation final : Verified {
  enum class Kind : std::uint8_t {
    receive,
    persistent_send,  ///< kept for MPI_Start; `native` is the persistent request
    send,             ///< a message that goes into several worlds
    collective,       ///< native non-blocking collective whose result is to be verified
  };

  enum class Use : std::uint8_t {
    once,
    inactive,  ///< persistent, and not started
    active,    ///< persistent: started, and not completed
  };
  enum class Holder : std::uint8_t {
    application,
    library,  ///< the application has freed the request, and the library completes it
  };
  /// How far MPI_Cancel of a receive has come. MPI is asked once: MPICH may forget a request once it has said that it
  /// is cancelled.
  enum class Cancellation : std::uint8_t {
    none,
    too_late,    ///< MPI was asked by this library, and had its message
    taken_back,  ///< MPI was asked, and has no message for it
    agreed,      ///< it is cancelled in all replicas
  };
  /// How the library hears that MPI is done with `native`.
  enum class End : std::uint8_t {
    looked_at,    ///< MPI_Request_get_status
    tested,       ///< MPI finishes it in MPI_Test only; the application has a placeholder
    from_leader,  ///< the same at replica 0, which alone makes it and gives the others its outcome
  };

  Kind kind = Kind::receive;
  bool (*advance)(Operation&) = nullptr;  ///< moves it as far as it goes now; true when it is complete
  int (*start)(Operation&) = nullptr;     ///< MPI_Start of what is not a message's
  Function function{};
  Use use = Use::once;
  Holder holder = Holder::application;
  Cancellation cancellation = Cancellation::none;
  End end = End::looked_at;
  std::shared_ptr<InTurn> queue;  ///< a collective that is worked on in turn with those that are in flight beside it
  std::function<void()> begin;    ///< one that MPI has not got yet: gives it to MPI

  MPI_Request native = MPI_REQUEST_NULL;   ///< what MPI works on; null before placement and where nothing is left
  MPI_Request visible = MPI_REQUEST_NULL;  ///< the application's handle; equals `native` wherever possible
  std::vector<MPI_Request> other_worlds;   ///< sends: the same in the other worlds of this process
  MPI_Status status{};
  Comm* comm = nullptr;
  Comm* held_comm = nullptr;  ///< persistent: what the library knows of it stays as long as the request (pending)
  Region region;
  void* buffer = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;  ///< as given; valid until posted
  int posted_source = 0;                  ///< persistent receives: as the application gave them
  int posted_tag = 0;
  std::uint8_t signal = 0;                       ///< whose handler is called at the end of the call, if any
  std::uint64_t what = 0;                        ///< windows and files: what is accessed, see Comparison
  std::optional<std::uint64_t> corrected_bytes;  ///< length of what has taken the place of a wrong message

  std::shared_ptr<Schedule> schedule;      ///< collectives on point-to-point messages
  int schedule_code = MPI_SUCCESS;         ///< its outcome
  std::vector<Region> inputs;              ///< persistent collectives: what this rank gives
  std::vector<Region> outputs;             ///< collectives: where the results are
  std::uint64_t blocks = 1;                ///< collectives: that the one region of a result consists of
  std::shared_ptr<void> keepalive;         ///< argument arrays and temporaries that MPI reads until completion
  std::function<void()> when_done;         ///< collectives: called when the application completes the request
  std::unique_ptr<Partitions> partitions;  ///< a partitioned one, which is persistent
  /// The send of an MPI_Isendrecv, which ends with the receive.
  MPI_Request companion = MPI_REQUEST_NULL;

  bool persistent() const { return use != Use::once; }
  bool idle() const { return use == Use::inactive; }

  bool is_message() const override { return kind == Kind::receive; }
  std::uint64_t capacity() const override;
  Ballot ballot(std::uint64_t bytes) const override;
  bool padded() const override { return region.padded(); }
  Ballot whole_ballot(std::uint64_t bytes) const override { return region.whole_ballot(bytes); }
  Copy copy(std::uint64_t bytes) const override;
  int sender_rank() const override;
  std::uint64_t received() const override;
  bool torn_by(std::uint64_t bytes) const override { return region.torn_by(bytes); }
  const std::byte* memory() const override { return region.contiguous() && !region.padded() ? region.data() : nullptr; }
  Ballot ballot_of_copy(std::span<const std::byte> bytes) const override;
  bool overwrite(std::span<const std::byte> bytes) override;
  Copy give_up(std::int32_t& from, std::int32_t& with_tag) override;
  void take_requeued(std::span<const std::byte> bytes, std::int32_t from, std::int32_t with_tag) override;
  std::vector<std::size_t> block_ends() const override;
  std::string result_name() const override;
  std::vector<int> ranks() const override;
  /// Writes the leader's bytes where the results are.
  void put(std::span<const std::byte> bytes) const;
};

/// One ballot on several blocks, made of each one's digest.
Ballot ballot_of_all(const std::vector<Region>& regions);

/// Source and tag of a receive in the engine's terms, and in MPI's.
inline std::int32_t engine_source(int source) {
  return source == MPI_ANY_SOURCE ? any_source : source;
}
inline std::int32_t engine_tag(int tag) {
  return tag == MPI_ANY_TAG ? any_tag : tag;
}
inline int mpi_source(std::int32_t source) {
  return source == any_source ? MPI_ANY_SOURCE : source;
}
inline int mpi_tag(std::int32_t tag) {
  return tag == any_tag ? MPI_ANY_TAG : tag;
}

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
