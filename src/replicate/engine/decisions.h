#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "replicate/engine/agreement.h"
#include "replicate/engine/control_message.h"
#include "replicate/engine/counters.h"
#include "replicate/engine/host.h"
#include "replicate/engine/membership.h"

namespace holdfast::replicate {

/// Who is told what the leader decides, beside those who ask for it in program order. Called from inside Decisions.
class DecisionListener {
 public:
  virtual ~DecisionListener() = default;
  /// A wildcard receive of the leader matched.
  virtual void on_match(std::uint64_t number, std::int32_t source, std::int32_t tag, std::uint32_t poster) = 0;
  /// A part of the book of that name (answer_book.h).
  virtual void on_answers(std::uint64_t book, std::span<const Decision> decisions) = 0;
  /// The thread whose turn is next; 0 where nobody knows.
  virtual void on_turn(std::uint64_t thread) = 0;
  /// This replica leads from here on: it has heard all that anybody had heard of the leader before.
  virtual void on_lead() = 0;
};

/// The decisions of a rank's leader, as each of its replicas has them: what the leader says where MPI may answer
/// differently in each replica (RedMPI, section 3.3), the followers' repeating of it, and who decides after a leader
/// that was taken out (docs/design/dead-replicas.md).
///
/// Answers are repeated within an order: the whole program's (0), or, where threads communicate at once, one that only
/// one thread at a time asks in. The leader's messages are numbered, over all orders. When it is gone, those that are
/// left tell each other how many have come, whoever has most, the lowest of those, gives them to the others, and then
/// the next one leads. No I/O, no clock; one thread at a time.
class Decisions {
 public:
  static constexpr std::size_t per_message = most_tail_bytes / sizeof(Decision);
  static constexpr std::size_t most_kept =
      8192;  ///< messages of the leader, for those who have heard less at its death

  enum class Reply : std::uint8_t {
    waiting,   ///< the leader has not said
    told,      ///< it has
    own,       ///< this replica leads, and nothing is left of what one that led before it said
    diverged,  ///< the leader was asked something else
  };
  enum class NextTurn : std::uint8_t {
    here,      ///< this replica says whose it is
    own,       ///< that thread's
    of_other,  ///< another thread's, which has not come for it
    unsaid,    ///< the leader has not said whose
  };

  /// `survives`: the job goes on without a replica that is gone. All but that must stay.
  Decisions(const Membership& team, bool survives, Counters& counters, Host& host, DecisionListener& listener)
      : team_(team), survives_(survives), counters_(counters), host_(host), listener_(listener) {}

  // --- the leader's

  /// Whether this replica decides in that order now.
  bool leads(std::uint64_t order) { return leads_in(order_of(order)); }
  /// `asker`: of several threads, a number that tells who asks, alike in all replicas.
  void tell_flag(std::uint64_t order, bool flag, std::uint32_t asker);
  void tell_number(std::uint64_t order, std::int64_t number, std::uint32_t asker);
  void tell_match(std::uint64_t number, std::int32_t source, std::int32_t tag, std::uint32_t poster);
  void tell_turn(std::uint64_t thread);
  void tell_answers(std::uint64_t book, const std::vector<Decision>& told) { send(book, told); }
  /// Sends what waits for company: before this process does anything that may wait. Cheap when there is nothing.
  void flush();

  // --- a follower's

  Reply follow_flag(std::uint64_t order, bool& flag, std::uint32_t asker);
  Reply follow_number(std::uint64_t order, std::int64_t& number, std::uint32_t asker);
  /// Whether the leader has said more in that order than this replica has asked.
  bool is_behind(std::uint64_t order) { return !order_of(order).follower.caught_up(); }
  /// What the leader did where this replica asked for something else.
  const char* leader_did(std::uint64_t order) { return order_of(order).follower.leader_did(); }
  NextTurn next_turn(std::uint64_t thread);
  /// That thread goes on, as the leader has said. How often that was, of all threads.
  void take_turn();
  std::uint64_t turns_taken() const { return turns_taken_; }

  // --- from others

  void on_decisions(const ControlMessage& message);
  void on_succession(const ControlMessage& message);
  /// `Membership` says that a replica is gone, and who leads since.
  void peer_gone();
  /// Nobody decides yet, after the leader was taken out.
  bool succession_is_open() const { return open_; }

 private:
  struct Order {
    Publisher publisher;
    Follower follower;
  };
  /// A message of the leader.
  struct Batch {
    std::uint64_t order;
    std::vector<Decision> decisions;
  };

  Order& order_of(std::uint64_t name) { return name == 0 ? whole_ : orders_[name]; }
  bool leads_in(const Order& order) const { return team_.leader() && !open_ && order.follower.caught_up(); }
  template <class Ask>
  Reply follow(Order& order, Ask ask);
  void send(std::uint64_t name, const std::vector<Decision>& due);
  void send_batch(int replica, std::uint64_t number, std::uint64_t name, std::span<const Decision> batch);
  void apply(Batch batch);
  void take_early();
  std::uint64_t most_heard() const;
  void begin_succession();
  void settle_succession();
  void send_what_one_lacks(int replica, std::uint64_t heard);
  void supply_again();

  const Membership& team_;
  bool survives_;
  Counters& counters_;
  Host& host_;
  DecisionListener& listener_;

  Order whole_;
  std::unordered_map<std::uint64_t, Order> orders_;
  Order turns_;
  std::uint64_t turns_taken_ = 0;

  std::uint64_t next_ = 0;                ///< number of the message that is to be sent, or to come
  std::map<std::uint64_t, Batch> early_;  ///< those of the next leader may come before the last of the one before
  std::deque<Batch> kept_;                ///< the last ones that came, where others may lack them

  int led_by_ = 0;          ///< as far as this part has noticed
  std::uint32_t term_ = 0;  ///< how many leaders are gone
  bool open_ = false;
  std::uint64_t kept_end_ = 0;    ///< number behind the last one kept
  std::uint64_t legacy_end_ = 0;  ///< and behind the last one of the leaders that are gone
  std::map<std::pair<std::uint32_t, int>, std::uint64_t> heard_;  ///< by term and replica: how many messages came there
};

}  // namespace holdfast::replicate
