#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/random/stream.h"
#include "replicate/engine/replica.h"
#include "replicate/world/buffer.h"
#include "replicate/world/oracle.h"
#include "replicate/world/world.h"

namespace holdfast::replicate {

/// An engine ended the job.
struct JobEnds : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What lies between processes: messages of the application, in order from each sender to each receiver, control
/// messages likewise, and copies, which have no order.
struct Network {
  struct Message {
    std::size_t index;
    std::vector<std::byte> bytes;
  };
  struct Control {
    std::vector<std::byte> bytes;
  };
  using Pair = std::pair<int, int>;  ///< sender and receiver, as numbered by the world
  std::map<Pair, std::deque<Message>> messages;
  std::map<Pair, std::deque<Control>> controls;
  std::map<std::pair<Pair, std::uint64_t>, Copy> copies;  ///< by tag
  std::uint64_t next_tag = 0;
};

/// One process of a simulated job: the engine, the program that it runs, and MPI as this process sees it.
class Actor final : public Host {
 public:
  struct Shared {
    const Plan& plan;
    const ReplicaMap& map;
    Network& network;
    Planted planted;
    random::Stream& draw;
    Counters& counters;
    std::vector<std::unique_ptr<Actor>>& all;
    bool broken = false;  ///< the control message that is to be broken, was
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
  void hear_of_death(int replica);
  bool heard_of_death = false;
  bool finished() const;
  bool program_done() const { return next_ == plan().programs[static_cast<std::size_t>(who_.rank)].size(); }
  const std::vector<Delivery>& deliveries() const { return deliveries_; }
  const std::map<std::size_t, ResultTaken>& results_taken() const { return results_taken_; }
  std::string left() const;
  /// Where its program is and what the engine keeps, for a person.
  std::string state() const;

  void send(Process to, const Record& record, std::span<const std::byte> tail) override;
  std::uint64_t send_copy(Process to, Copy bytes) override;
  void receive_copy(Process from, std::uint64_t tag, std::shared_ptr<std::vector<std::byte>> into,
                    std::uint64_t token) override;
  void give_to_mpi(Verified& receive) override;
  void tell_match(std::uint64_t number, std::int32_t source, std::int32_t tag, std::uint32_t poster) override;
  Ballot digest(std::span<const std::byte> bytes) const override;
  bool tolerates(const Verified&) override { return false; }
  void await(Awaited) override {}
  void watch(Verified& verified) override { watched_.insert(&verified); }
  void forget(Verified& verified) override { watched_.erase(&verified); }
  void note_wrong_copy(int, int) override {}
  void say(std::string_view) override {}
  [[noreturn]] void fail(Incident, std::string_view message) override { throw JobEnds(std::string(message)); }
  std::string other_causes() const override { return {}; }
  std::string divergence_causes() const override { return {}; }

 private:
  struct Match {
    std::uint64_t number;
    std::int32_t source;
    std::int32_t tag;
  };
  const Plan& plan() const { return shared_.plan; }
  void hear_match(std::size_t place);
  void hear_early_matches();
  bool advance(Buffer& receive);
  bool advance(ResultBytes& result);
  void offer(std::size_t index);
  bool take_result(std::size_t index);
  bool run(const Step& step);
  void send_message(std::size_t index);
  void post(const Step& step);
  static bool takes(const Buffer& receive, const PlannedMessage& message);
  void give(Buffer& receive, Network::Message message);
  bool match();

  Shared& shared_;
  Process who_;
  int number_;
  Membership team_;
  ControlReader reader_;
  std::vector<ControlSeal> seals_;
  std::unique_ptr<Replica> engine_;
  std::map<int, ReceiveOrder> orders_;  ///< by round
  std::vector<std::unique_ptr<Buffer>> receives_;
  std::vector<Delivery> deliveries_;
  std::map<std::size_t, std::unique_ptr<ResultBytes>> results_;  ///< offered, by index
  std::map<std::size_t, ResultTaken> results_taken_;
  std::vector<std::uint64_t> sent_;  ///< by destination: numbers of messages
  std::size_t next_ = 0;             ///< step of the program

  std::vector<Buffer*> posted_;              ///< MPI: in order
  std::deque<Network::Message> unexpected_;  ///< MPI: in order of arrival
  std::set<Verified*> watched_;
  std::vector<Incoming> incoming_;
  std::map<std::uint64_t, Match> early_;  ///< matches that were told before this process had heard of others
  std::vector<Match> told_;               ///< matches of this rank, as far as this process has heard or told of them
  bool said_finished_ = false;
  std::set<int> finished_;
};

}  // namespace holdfast::replicate
