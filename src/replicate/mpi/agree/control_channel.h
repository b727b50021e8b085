#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "replicate/engine/control_message.h"
#include "replicate/engine/injector.h"
#include "replicate/mpi/agree/host_records.h"

namespace holdfast::replicate {

/// Every MPI has at least this many tags (MPI 4.0, 9.1.2).
inline constexpr std::uint32_t tag_range = 32768;

/// Carries what replicas say to each other: small records, through memory that the processes of a host share
/// (host_records.h), between hosts, and where there is no room in that memory, on a communicator that the application
/// never sees, into a ring of receives posted ahead of time; and payloads (whole messages) that a record has announced,
/// on another communicator.
///
/// Nothing here blocks: sends that MPI has not finished are kept and looked at again by tidy(). One thread at a time.
class MpiControlChannel {
 public:
  static constexpr std::size_t tail_capacity = most_tail_bytes;

  /// Takes over the two communicators, which span the real world, and posts the ring of receives. `map` says who is
  /// who there, and `injector` what is flipped on the way; both must stay. `shared`: records go through memory that
  /// processes share where they can. Collective.
  void open(MPI_Comm records, MPI_Comm payloads, const ReplicaMap& map, Process self, Injector& injector, bool shared);
  /// Cancels the ring and waits for all sends. Collective in effect: everybody must have received what was sent to it.
  void close();
  /// Leaves everything to the end of the process: where some who were sent to are dead, MPI has no end for it.
  void abandon();

  /// Sends a record, and up to tail_capacity bytes behind it.
  void send(int physical, const Record& record, std::span<const std::byte> tail = {});
  /// Takes the next message that has come, in the order of sending per sender, and what is wrong with it; nothing when
  /// there is none now. What is wrong with the last one in words: reader().
  std::optional<Flaw> take(ControlMessage& message);
  const ControlReader& reader() const { return *reader_; }

  /// Starts sending bytes that the channel owns from here on; returns the tag that the announcing record must carry.
  int send_payload(int physical, std::shared_ptr<const std::vector<std::byte>> bytes);
  /// Starts receiving an announced payload into `into`, which must stay until the request completes.
  MPI_Request receive_payload(int physical, int tag, std::span<std::byte> into);

  /// The same for bytes that the channel keeps a hold on until they have come: `token` names them then.
  void receive_copy(int physical, int tag, std::shared_ptr<std::vector<std::byte>> into, std::uint64_t token);
  /// Calls `came` with the tokens of copies that have come; it may ask for others.
  template <class Came>
  void look_for_copies(Came came) {
    for (std::size_t i = 0; i < incoming_.size();) {
      if (const std::optional<std::uint64_t> token = take_copy(i)) {
        came(*token);
      } else {
        ++i;
      }
    }
  }
  /// What a replica that was taken out was sending will never come.
  void forget_copies_from(int replica);

  /// How many messages MPI has not finished with, as far as tidy() has looked.
  std::size_t unsent() const { return outgoing_.size(); }
  /// Frees what MPI has finished with.
  void tidy();

  /// Nothing is sent to that process any more; what MPI has not finished sending to it, it never will.
  void forget(int physical);

 private:
  static constexpr std::size_t ring_size = 64;
  struct alignas(64) Slot {
    Record record;
    std::array<std::byte, tail_capacity> tail;
  };
  struct Outgoing {
    int physical;
    MPI_Request request;
    std::unique_ptr<Slot> slot;
    std::shared_ptr<const std::vector<std::byte>> payload;
  };
  struct Incoming {
    std::uint64_t token;
    int from_replica;
    MPI_Request request;
    std::shared_ptr<std::vector<std::byte>> bytes;
  };
  void repost(std::size_t index);
  bool came_by_mpi();
  Process process_of(int physical) const { return {map_->virtual_rank(physical), map_->replica(physical)}; }
  /// Forgets that copy and gives its token, when it has come.
  std::optional<std::uint64_t> take_copy(std::size_t index);
  void inject(std::span<std::byte> message, int physical);
  bool forgotten(int physical) const {
    return static_cast<std::size_t>(physical) < forgotten_.size() &&
           forgotten_[static_cast<std::size_t>(physical)] != 0;
  }

  MPI_Comm records_ = MPI_COMM_NULL;
  MPI_Comm payloads_ = MPI_COMM_NULL;
  const ReplicaMap* map_ = nullptr;
  Injector* injector_ = nullptr;
  std::optional<ControlReader> reader_;
  std::vector<ControlSeal> seals_;  ///< by physical rank
  std::vector<Slot> ring_;
  std::vector<MPI_Request> posted_;
  std::size_t head_ = 0;
  bool head_taken_ = false;
  bool head_came_ = false;  ///< and is not taken yet
  MPI_Status head_status_{};
  std::unique_ptr<HostRecords> host_;  ///< nullptr: MPI carries all records
  std::deque<Outgoing> outgoing_;
  std::unique_ptr<Slot> spare_;
  std::uint32_t next_tag_ = 0;
  std::vector<char> forgotten_;       ///< by physical rank; empty: none
  std::vector<Outgoing> never_sent_;  ///< MPI may still read their memory
  std::vector<Incoming> incoming_;
  std::vector<Incoming> never_to_come_;  ///< MPI may still write into their memory
};

}  // namespace holdfast::replicate
