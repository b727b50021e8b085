#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "replicate/engine/mix.h"
#include "replicate/engine/ordering.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/mpi/intercept/handle.h"

namespace holdfast::replicate {

struct Operation;
struct Topology;
struct WindowMembers;

/// What the library knows of one communicator of the application. The handle is the MPI library's own; this stands
/// beside.
struct Comm {
  MPI_Comm handle = MPI_COMM_NULL;
  std::uint64_t id = 0;  ///< the same number in every member and every replica
  int rank = 0;          ///< own rank in the (local) group
  int size = 0;          ///< size of the local group
  bool inter = false;
  int peer_count = 0;  ///< how many ranks can be a peer: the remote group's size for an intercommunicator
  /// Virtual rank of each rank that can be a peer (the remote group's for an intercommunicator); empty when identical.
  std::vector<int> peers;
  std::vector<InWorld> other_worlds;  ///< ascending; empty where all ranks have as many replicas
  ReceiveOrder order;                 ///< application receives on this communicator
  std::uint64_t created = 0;          ///< communicators made from this one so far
  std::uint64_t collectives = 0;      ///< verified collectives so far
  std::uint64_t reductions = 0;       ///< of those, reductions whose result all ranks get, which they may make again
  std::vector<std::uint64_t> sent;    ///< messages sent so far, by destination; grown when first needed
  std::unordered_map<std::uint64_t, std::uint64_t> sent_by_tag;  ///< the same by destination and tag, see below
  std::unordered_map<std::uint64_t, std::uint64_t> groups;       ///< MPI_Comm_create_group calls alike so far
  int pending = 0;                                               ///< operations that refer to this
  /// Copies that are being made in turn (hooks_comm.cc), oldest first; null where none were.
  std::shared_ptr<std::deque<Operation*>> copies;
  /// Nobody has set an error handler here, nor had on what it was made from. Of MPICH such a one has the world's.
  bool default_errors = false;
  /// Messages with one tag leave in the same order in every replica, those with different tags do not: collectives made
  /// of messages, which go on as theirs arrive, have a tag each. So are those of the application's threads.
  bool ordered_by_tag = false;
  bool held = false;  ///< freed by the application, and not by MPI: receives on it are still to be given to MPI
  /// Where collectives on point-to-point messages travel: a communicator of the same group that the
  /// application cannot see. Null unless replicate.collectives asks for it, and for intercommunicators where all ranks
  /// have as many replicas.
  std::unique_ptr<Comm> shadow;
  std::uint64_t schedules = 0;                     ///< schedules made so far
  std::array<std::uint64_t, 16> schedules_done{};  ///< by tag: schedules completed so far
  std::uint64_t persistent_schedules = 0;          ///< made so far
  std::shared_ptr<const Topology> topology;        ///< as neighbours.h has it, where it was asked for
  std::weak_ptr<WindowMembers> windows;            ///< those that live have this in common (window.h)

  bool being_copied() const { return copies && !copies->empty(); }
  int virtual_rank(int peer) const { return peers.empty() ? peer : peers[static_cast<std::size_t>(peer)]; }
};

/// All live communicators by handle. One thread at a time.
class Comms {
 public:
  /// Registers the application's world (already this replica's own communicator) and MPI_COMM_SELF. `shadows`: every
  /// intracommunicator gets a shadow, and where ranks have different numbers of replicas every other one, too.
  void open(MPI_Comm world, const std::vector<InWorld>& other_worlds, int rank, bool shadows);
  void close();

  Comm& find(MPI_Comm handle);
  /// Whether a copy of any of them is being made in turn.
  bool any_being_copied() const;
  bool has(MPI_Comm handle) const { return (last_ && last_handle_ == handle) || comms_.contains(handle_key(handle)); }
  /// Registers a communicator that a call on `parent` made, with an id that every member derives alike: from the
  /// parent, how many were made from it before, and a distinguishing value (the colour of a split).
  void add(MPI_Comm handle, const std::vector<InWorld>& other_worlds, Comm& parent, std::uint64_t distinguishing);
  /// The same for communicators made by calls that only some of the parent's members make: the id comes from what those
  /// members share, agreed by communication on the new communicator where nothing else is shared.
  /// `shadow`: where it has been made already.
  void add_with_id(MPI_Comm handle, const std::vector<InWorld>& other_worlds, const Comm& parent, std::uint64_t id,
                   MPI_Comm shadow = MPI_COMM_NULL);
  /// The id of the next communicator made from `parent`, as add() gives it.
  static std::uint64_t next_id(Comm& parent, std::uint64_t distinguishing);
  /// The application has freed it. Operations on it that are pending go on (MPI 3.1, 6.4.3): what they travel on in its
  /// place, a shadow and the communicators of other worlds, is freed when they are over. So is the communicator
  /// itself where MPI has not freed it (`held`).
  void remove(MPI_Comm handle, bool held = false);
  /// A communicator of the same groups that the application cannot see, for its members to make together, in the worlds
  /// of `other_worlds` too. Its owner frees it with free_hidden().
  std::unique_ptr<Comm> make_hidden(MPI_Comm of, const std::vector<InWorld>& other_worlds, std::uint64_t id) const;
  /// Frees its handles; MPI finishes what is pending there.
  static void free_hidden(Comm& hidden);

  /// Calls it with each communicator that the application has.
  template <class Call>
  void each(Call call) {
    for (auto& [handle, comm] : comms_) call(*comm);
  }

  /// Number of communicators that the application has not freed, or that operations are pending on.
  std::size_t live();

 private:
  void free_idle();
  std::unordered_map<std::uint64_t, std::unique_ptr<Comm>> comms_;
  std::unique_ptr<Comm> describe(MPI_Comm handle, std::uint64_t id) const;
  Comm& file(MPI_Comm handle, const std::vector<InWorld>& other_worlds, std::uint64_t id,
             MPI_Comm shadow = MPI_COMM_NULL);

  std::vector<std::unique_ptr<Comm>> freed_;  ///< freed by the application while operations are pending
  MPI_Group world_group_ = MPI_GROUP_NULL;
  bool shadows_ = false;
  MPI_Comm last_handle_ = MPI_COMM_NULL;
  Comm* last_ = nullptr;
};

}  // namespace holdfast::replicate
