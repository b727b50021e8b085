#pragma once

#include <coroutine>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "core/random/stream.h"
#include "replicate/engine/replica.h"
#include "replicate/world/buffer.h"
#include "replicate/world/local_mpi.h"
#include "replicate/world/network.h"
#include "replicate/world/oracle.h"
#include "replicate/world/task.h"
#include "replicate/world/world.h"

namespace holdfast::replicate {

/// An engine ended the job.
struct JobEnds : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One process of a simulated job: the engine, the program that it runs (program.cc), and MPI as this process sees it.
class Actor final : public Host {
 public:
  struct Shared {
    const Plan& plan;
    const ReplicaMap& map;
    Network& network;
    Planted planted;
    random::Stream& draw;
    Counters& counters;
    bool broken = false;         ///< the control message that is to be broken, was
    std::uint64_t progress = 0;  ///< steps of programs, messages matched
  };
  Actor(Shared& shared, Process who);

  Process who() const { return who_; }
  int number() const { return number_; }
  bool alive = true;

  /// A message of the application is here.
  void take(Network::Message message);
  /// A control message is here.
  void read(Process from, std::vector<std::byte> bytes);
  struct Incoming {
    int from;
    std::uint64_t tag;
    std::uint64_t token;
    std::shared_ptr<std::vector<std::byte>> into;
  };
  /// Copies that it waits for.
  std::vector<Incoming>& incoming() { return incoming_; }
  void finish_copy(std::size_t which);
  /// The program and the engine go on as far as they can; true when anything moved.
  bool step();
  /// The same, of all threads rather than of one.
  bool step_all();
  void hear_of_death(int replica);
  std::size_t deaths_heard = 0;
  bool finished() const;
  bool program_done() const;
  const std::vector<Delivery>& deliveries() const { return deliveries_; }
  const std::map<std::size_t, ResultTaken>& results_taken() const { return results_taken_; }
  const std::map<std::size_t, ResultTaken>& reductions() const { return reductions_; }
  const std::map<std::size_t, ResultTaken>& outcomes() const { return outcomes_; }
  const std::map<std::size_t, ResultTaken>& windows() const { return windows_; }
  /// By thread.
  std::vector<std::vector<std::int64_t>> decided() const;
  std::string left() const;
  /// Where its program is and what the engine keeps, for a person.
  std::string state() const;

  void send(Process to, const Record& record, std::span<const std::byte> tail) override;
  std::uint64_t send_copy(Process to, Copy bytes) override;
  void receive_copy(Process from, std::uint64_t tag, std::shared_ptr<std::vector<std::byte>> into,
                    std::uint64_t token) override;
  void give_to_mpi(Verified& receive) override { mpi_.post(static_cast<Buffer&>(receive)); }
  void take_answers(std::uint64_t, std::span<const Decision>) override {}
  void wake_for_turn(std::uint64_t thread) override;
  Verified* find_posted(const ReceiveOrder& order, ReceiveOrder::Ticket ticket) override;
  bool take_back(Verified& receive) override;
  Ballot digest(std::span<const std::byte> bytes) const override;
  Copy read_if_there(const std::byte* memory, std::uint64_t bytes) override;
  bool tolerates(const Verified&) override { return false; }
  void await(Awaited) override {}
  void watch(Verified& verified) override { watched_.insert(&verified); }
  void forget(Verified& verified) override { watched_.erase(&verified); }
  void note_wrong_copy(int, int) override {}
  void say(std::string_view) override {}
  [[noreturn]] void fail(Incident, std::string_view message) override { throw JobEnds(std::string(message)); }
  [[noreturn]] void withdraw(std::string_view why) override { throw JobEnds(std::string(why)); }
  std::string other_causes() const override { return {}; }
  std::string divergence_causes() const override { return {}; }

 private:
  /// Where the program waits, until it is looked again whether it can go on.
  struct Pause {
    Actor& actor;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> here) noexcept { actor.here_->resume_at = here; }
    void await_resume() const noexcept {}
  };
  template <class Ready>
  Task<Done> until(Ready ready) {
    while (!ready()) co_await Pause{*this};
    co_return Done{};
  }
  struct Pattern {
    std::uint64_t communicator;
    std::int32_t source;
    std::int32_t tag;
    bool wild() const { return source == any_source || tag == any_tag; }
  };
  /// What a probe of this process has found.
  struct Found {
    bool is = false;
    bool matched = false;  ///< by a matched probe, which takes it
    std::int32_t source = 0;
    std::int32_t tag = 0;
    std::optional<Network::Message> message;
  };

  const Plan& plan() const { return shared_.plan; }
  Decisions& decisions() { return engine_->decisions(); }

  /// One thread of the program, with its steps in order.
  struct Thread {
    std::uint64_t name = 0;   ///< alike in all replicas; where it is told apart by what it calls, 0
    std::uint64_t order = 0;  ///< in which it asks for what the leader decides; 0 where it is alone
    std::uint32_t calls = 0;
    std::vector<Step> steps;
    std::size_t next = 0;               ///< step
    std::size_t joined = 0;             ///< how often it was at a join
    bool rests = false;                 ///< until its turn is next
    std::vector<std::int64_t> decided;  ///< what the program was told that only the leader's MPI said
    std::optional<Task<Done>> program;
    std::coroutine_handle<> resume_at;
  };
  bool resume(Thread& thread);
  bool say_finished();
  std::vector<Thread*> that_can_go_on();

  // The program (program.cc), as the hooks of src/replicate/mpi do it.
  Task<Done> run(Thread& thread);
  Task<Done> perform(const Step& step);
  bool leader_is_taken_out() const;
  template <class Answer, class Ask>
  Task<std::optional<Answer>> told(Ask ask);  ///< what the leader decided; nothing where this one leads
  Task<std::optional<bool>> told_flag();
  Task<std::optional<std::int64_t>> told_number();
  void tell(bool flag);
  void tell(std::int64_t number);
  std::uint32_t who_asks() const;
  void ask_about(std::uint64_t communicator, std::int32_t peer, std::int32_t tag);
  void note_call(std::uint64_t communicator, std::int32_t peer, std::int32_t tag);
  template <class Ready>
  Task<Done> in_turn(Ready ready);  ///< waits for it, and then for the thread's turn
  Task<Done> join();
  void send_message(std::size_t index);
  Buffer& make(const Step& step, std::size_t which);
  void post(const Step& step, std::size_t which);
  Task<Done> test(std::size_t which);
  Task<Done> wait_any(const Step& step);
  Task<Done> settle_cancellation(Buffer& receive);
  Task<Done> complete(std::size_t which);
  void finish(Buffer& receive);
  void leave_memory(Buffer& receive);
  Task<bool> probe(Pattern& pattern, bool once, Found& found);
  bool look(const Pattern& pattern, Found& found);
  bool find(const Pattern& pattern, Found& found);
  Task<Done> receive_matched(const Step& step, const Pattern& pattern, Found& found);
  Task<Done> drain(const Step& step);
  void offer(ResultBytes& result);
  void offer_planned(std::size_t index);
  Task<Done> take_result(std::size_t index);
  Task<std::vector<std::byte>> native_reduce(std::size_t index, int repetition, const std::vector<std::byte>& own);
  Task<std::vector<std::byte>> compare(std::vector<std::byte> bytes, std::size_t blocks);
  Task<Done> reduce(std::size_t index);
  Task<Done> write(std::size_t index);
  Task<Done> epoch(std::size_t index);

  bool native_done(Buffer& receive);
  bool advance(Buffer& receive);
  bool advance(ResultBytes& result);
  bool done_now(Buffer& receive);
  bool look_around();

  Shared& shared_;
  Process who_;
  int number_;
  Membership team_;
  ControlReader reader_;
  std::vector<ControlSeal> seals_;
  std::unique_ptr<Replica> engine_;
  LocalMpi mpi_;
  std::map<std::uint64_t, ReceiveOrder> orders_;  ///< by communicator
  std::map<std::size_t, Buffer*> receives_;       ///< that are not over, by number
  std::vector<std::unique_ptr<Buffer>> buffers_;  ///< all
  std::vector<std::vector<std::byte>> past_;      ///< what lay in the buffers of receives that are over
  std::set<const std::byte*> gone_;               ///< those of them that the program has given back
  std::vector<Buffer*> idle_;                     ///< of persistent requests that are not active
  Requeued requeued_;
  std::map<std::uint64_t, std::size_t> taken_;  ///< by communicator: messages
  std::vector<Delivery> deliveries_;
  std::map<std::size_t, std::unique_ptr<ResultBytes>> results_;  ///< offered, by index
  std::map<std::size_t, ResultTaken> results_taken_;
  std::map<std::size_t, ResultTaken> reductions_;
  std::map<std::size_t, ResultTaken> outcomes_;  ///< of writes
  std::map<std::size_t, ResultTaken> windows_;   ///< after epochs
  std::uint64_t collectives_ = 0;
  /// Numbers of messages, by destination; where there are threads, by communicator and tag, too.
  std::map<std::tuple<int, std::uint64_t, std::int32_t>, std::uint64_t> sent_;

  std::set<Verified*> watched_;
  std::vector<Incoming> incoming_;
  bool said_finished_ = false;
  std::set<int> finished_;
  std::vector<std::unique_ptr<Thread>> threads_;
  Thread* here_ = nullptr;  ///< the one that goes on now
};

}  // namespace holdfast::replicate
