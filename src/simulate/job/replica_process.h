#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "replicate/engine/control_message.h"
#include "replicate/engine/injector.h"
#include "replicate/engine/replica.h"
#include "simulate/job/protection.h"
#include "simulate/job/replica_contents.h"
#include "simulate/kernel/time.h"

namespace holdfast::simulate::job {

/// What the replicas of a job share in a replay: the map, counters, what lies between them.
class Replicas {
 public:
  /// Of a protection that check() has passed.
  Replicas(const Protection& protection, std::uint32_t ranks);

  const Protection& protection() const { return protection_; }
  const replicate::ReplicaMap& map() const { return map_; }
  /// A tag of a recording as the engine's, which has 32 bits, and back.
  std::int32_t engine_tag(std::int64_t tag);
  std::int64_t recorded_tag(std::int32_t tag) const;

  replicate::Counters counters;
  std::uint64_t records = 0, record_bytes = 0;  ///< control messages
  std::uint64_t copies = 0, copy_bytes = 0;     ///< whole messages and results that replicas gave each other
  /// By sender, receiver and number.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, std::deque<replicate::Copy>> on_their_way;
  /// By replica, context and number of a collective.
  std::map<std::tuple<int, std::uint32_t, std::int64_t>, FlippedBits> flipped;

 private:
  Protection protection_;
  replicate::ReplicaMap map_;
  std::map<std::int64_t, std::int32_t> tags_;  ///< those that are none of the engine's
  std::vector<std::int64_t> by_engine_tag_;
};

/// An engine ended the job.
struct JobEnds : std::runtime_error {
  JobEnds(replicate::Incident why, const std::string& message) : std::runtime_error(message), incident(why) {}
  replicate::Incident incident;
};

/// What a replica needs of the simulated process and network around it. Times that come back are when the processor is
/// done.
class ReplicaWorld {
 public:
  virtual ~ReplicaWorld() = default;
  virtual Time spend(std::uint32_t process, Time at, Time cost) = 0;
  /// Sends a control message, or a copy of so many bytes.
  virtual Time carry(std::uint32_t process, std::uint32_t to, Time at, std::vector<std::byte> record) = 0;
  virtual Time carry_copy(std::uint32_t process, std::uint32_t to, Time at, std::uint64_t number,
                          std::uint64_t bytes) = 0;
  /// ReplicaProcess::copy_came() with the token when that copy is there.
  virtual void await_copy(std::uint32_t process, Time at, std::uint32_t from, std::uint64_t number,
                          std::uint64_t token) = 0;
  /// MPI has the receive now; ReplicaProcess::came() when it has its message.
  virtual void post(std::uint32_t process, Time at, const Envelope& envelope, std::uint32_t pending) = 0;
  /// A message may be delivered: its receive is over.
  virtual void deliver(std::uint32_t process, Time at, std::uint32_t pending) = 0;
  /// A result was compared; stage `repeated`: all ranks make the reduction again.
  virtual void settle(std::uint32_t process, Time at, const ResultContent& result) = 0;
  /// The leader has said something.
  virtual void told(std::uint32_t process, Time at) = 0;
  /// All replicas of its rank have come to their ends.
  virtual void all_ended(std::uint32_t process, Time at) = 0;
};

/// One process of a replicated job in a replay: the shipped protocol engine (replicate/engine), driven as
/// src/replicate/mpi drives it. What it throws is JobEnds. docs/design/replay.md.
class ReplicaProcess final : private replicate::Host, private Toll {
 public:
  /// Numbers of processes: `number` less its physical rank in the map is that of rank 0 in replica 0. `in_order`: one
  /// thread, so that all its replicas send and ask in one order.
  ReplicaProcess(Replicas& replicas, ReplicaWorld& world, std::uint32_t number, replicate::Process who, bool in_order);
  ~ReplicaProcess() override;

  /// A message leaves: its contents, which the injector may have altered.
  Content make_content(std::uint32_t context, std::uint32_t to_rank, std::int64_t tag, std::uint64_t bytes);
  /// It was given to MPI in this replica's world: the others are told. When the processor is done.
  Time announce(const Content& content, std::uint32_t context, std::uint32_t to_rank, std::int64_t tag, Time at);
  /// Bits that flip in what this rank gives to a collective.
  std::vector<std::uint64_t> flipped_in_collective(std::uint64_t bytes);

  /// A receive that got `exact` when recorded: its number.
  std::uint32_t make_receive(const Envelope& exact, std::uint32_t pending);
  /// It is posted as the program gave it.
  void post(std::uint32_t received, bool any_source, bool any_tag, Time at);
  /// MPI has its message.
  void came(std::uint32_t received, const Envelope& envelope, const Content& content);
  /// The program waits for it.
  void await(std::uint32_t received);
  /// Whether a probe must wait for what the leader says of an earlier wildcard.
  bool probe_must_wait(const Envelope& exact, bool any_source, bool any_tag);

  std::unique_ptr<ResultContent> make_result() const {
    return std::make_unique<ResultContent>(static_cast<const Toll&>(*this));
  }
  /// Compares a result, or an operand, of that name with those of the other replicas. `reduction`: its number, where
  /// all ranks may make it again.
  void compare(std::unique_ptr<ResultContent> result, std::uint32_t context, std::uint64_t number,
               std::optional<std::uint64_t> reduction, Time at);

  /// What only the leader's MPI may answer: tells it, until when, or whether it is known here.
  Time tell(std::int64_t number, Time at);
  bool follow(Time at);

  /// A control message is here.
  void read(std::uint32_t from, std::vector<std::byte> bytes, Time at);
  void copy_came(std::uint64_t token);
  /// The program is over.
  void end(Time at);

  /// Goes on with all that can go on, from `at` on. After came() and copy_came(), when they are called from outside.
  void look(Time at);
  bool inside() const { return inside_; }
  /// How many messages each replica of each rank had wrong, as this process saw it.
  const std::map<std::pair<int, int>, std::uint64_t>& wrong_copies() const { return engine_->wrong_copies(); }

 private:
  class Inside;
  struct Coming {
    std::uint32_t from;
    std::uint64_t number;
    std::shared_ptr<std::vector<std::byte>> into;
  };

  std::uint32_t number_of(replicate::Process process) const;
  std::uint64_t next_ordinal(std::uint32_t context, std::uint32_t to_rank, std::int64_t tag);
  bool look_once();
  bool advance(ReceivedContent& receive);
  bool advance(ResultContent& result);
  void finish(ReceivedContent& receive);
  void say_end();

  void send(replicate::Process to, const replicate::Record& record, std::span<const std::byte> tail) override;
  std::uint64_t send_copy(replicate::Process to, replicate::Copy bytes) override;
  void receive_copy(replicate::Process from, std::uint64_t tag, std::shared_ptr<std::vector<std::byte>> into,
                    std::uint64_t token) override;
  void give_to_mpi(replicate::Verified& receive) override;
  void take_answers(std::uint64_t, std::span<const replicate::Decision>) override {}
  void wake_for_turn(std::uint64_t) override {}
  replicate::Verified* find_posted(const replicate::ReceiveOrder&, replicate::ReceiveOrder::Ticket) override {
    return nullptr;  // cancelled receives are none in a replay
  }
  bool take_back(replicate::Verified&) override { return false; }
  replicate::Ballot digest(std::span<const std::byte> bytes) const override;
  replicate::Copy read_if_there(const std::byte*, std::uint64_t) override { return nullptr; }
  bool tolerates(const replicate::Verified&) override { return false; }
  void await(replicate::Awaited) override {}
  void watch(replicate::Verified& verified) override;
  void forget(replicate::Verified& verified) override;
  void note_wrong_copy(int, int) override {}
  void say(std::string_view) override {}
  [[noreturn]] void fail(replicate::Incident incident, std::string_view message) override;
  [[noreturn]] void withdraw(std::string_view why) override { fail(replicate::Incident::uncorrected, why); }
  std::string other_causes() const override { return {}; }
  std::string divergence_causes() const override { return {}; }

  void digest(std::uint64_t bytes) const override;
  void copy(std::uint64_t bytes) const override;
  void charge(std::uint64_t bytes, std::int64_t byte_ps) const;

  Replicas& replicas_;
  ReplicaWorld& world_;
  std::uint32_t number_;
  replicate::Process who_;
  bool in_order_;
  mutable Time at_ = 0;  ///< how far its processor has come in what the engine does now
  bool inside_ = false;  ///< the engine is running

  replicate::Membership team_;
  replicate::ControlReader reader_;
  std::unordered_map<std::uint32_t, replicate::ControlSeal> seals_;
  std::unique_ptr<replicate::Replica> engine_;
  replicate::Injector injector_;
  std::map<std::uint64_t, replicate::ReceiveOrder> orders_;  ///< by communicator
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::int64_t>, std::uint64_t> sent_;

  std::vector<std::unique_ptr<ReceivedContent>> received_;  ///< by number
  std::vector<std::uint32_t> free_received_;
  std::deque<std::uint32_t> arrived_;                    ///< that the engine does not know of yet
  std::vector<std::uint32_t> open_;                      ///< with the engine, and not over
  std::vector<std::unique_ptr<ResultContent>> results_;  ///< that are not settled
  std::unordered_map<std::uint64_t, Coming> coming_;     ///< copies, by token
  std::deque<std::uint64_t> copies_here_;                ///< tokens
  std::uint64_t next_copy_ = 0;
  int ends_heard_ = 0;
  bool over_ = false, said_over_ = false;
};

}  // namespace holdfast::simulate::job
