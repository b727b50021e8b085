#include "replicate/engine/ordering.h"

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <utility>

// How receives get their places
//
// Within one communicator a receive is a pattern (source, tag), either of which may be a wildcard. MPI gives a message
// to the earliest posted receive that still wants one and whose pattern covers it. So for one channel (s, t) the
// messages 0, 1, 2, ... go, in posting order, to those receives that are on (s, t): the ones posted for it, and the
// wildcard ones that turned out to match it. An ordinal can therefore be given as soon as it is known of every earlier
// receive whether it is on the channel. Only unresolved wildcard receives leave that open, hence the one rule used
// throughout:
//
//   a receive whose channel is known is placed when no unresolved wildcard receive posted earlier covers its channel.
//
// Two receives on one channel are placed in posting order, because whatever blocks the first one also blocks the
// second. The rule also holds a resolved wildcard receive back while an earlier one that covers its channel is
// unresolved (MPI may complete them in any order): the earlier one matched first, perhaps on this very channel.
//
// Receives that are not placed wait in `waiting`, in posting order, with the unresolved wildcards among them. It is
// empty whenever no wildcard is unresolved, so that programs without wildcards never touch it.
//
// A wildcard that is resolved or cancelled can only free receives whose channel its pattern covers. Behind an
// unresolved wildcard that covers the same pattern all those stay blocked, so the walk ends there: where many receives
// of one pattern are pending, each costs a look at one other, however many they are.

namespace holdfast::replicate {
namespace {

struct Pattern {
  std::int32_t source = 0;
  std::int32_t tag = 0;

  bool wild() const { return source == any_source || tag == any_tag; }
  /// True when every message that `other` takes would be taken by this one too.
  bool covers(const Pattern& other) const {
    return (source == any_source || source == other.source) && (tag == any_tag || tag == other.tag);
  }
  /// True when some message would be taken by either.
  bool meets(const Pattern& other) const {
    return (source == any_source || other.source == any_source || source == other.source) &&
           (tag == any_tag || other.tag == any_tag || tag == other.tag);
  }
  friend bool operator==(const Pattern&, const Pattern&) = default;
};

struct PatternHash {
  std::size_t operator()(const Pattern& pattern) const {
    const std::uint64_t both = (static_cast<std::uint64_t>(static_cast<std::uint32_t>(pattern.source)) << 32) |
                               static_cast<std::uint32_t>(pattern.tag);
    const std::uint64_t mixed = both * 0x9e3779b97f4a7c15ULL;
    return mixed ^ (mixed >> 32);
  }
};

/// So many patterns stay although no receive of theirs is pending: the next one allocates nothing.
constexpr std::size_t most_idle_patterns = 16;

struct Receive {
  Pattern pattern;  ///< its channel, once that is known
  std::uint64_t ordinal = 0;
  bool placed = false;
  bool over = false;  ///< done() came before the place
};

/// The wildcard patterns met so far on a walk through the waiting receives. One that another covers adds nothing, so
/// the list stays short however many wildcard receives are pending.
class Obstacles {
 public:
  void add(const Pattern& pattern) {
    if (!cover(pattern)) patterns_.push_back(pattern);
  }
  /// Whether one of them takes every message that `pattern` takes.
  bool cover(const Pattern& pattern) const {
    return std::any_of(patterns_.begin(), patterns_.end(), [&](const Pattern& p) { return p.covers(pattern); });
  }

 private:
  std::vector<Pattern> patterns_;
};

}  // namespace

struct ReceiveOrder::State {
  std::unordered_map<Ticket, Receive> receives;
  // Nodes of receives that are over: posting and finishing receives allocates nothing once as many have been
  // outstanding as ever will be.
  std::vector<std::unordered_map<Ticket, Receive>::node_type> spare;
  std::unordered_map<Pattern, std::uint64_t, PatternHash> next_ordinal;
  std::deque<Ticket> waiting;
  std::unordered_map<Pattern, std::size_t, PatternHash> wildcards;  ///< how many are unresolved, by pattern; maybe none
  std::size_t unresolved = 0;
  Ticket next_ticket = 0;

  Receive& add(Ticket ticket) {
    if (spare.empty()) return receives[ticket];
    auto node = std::move(spare.back());
    spare.pop_back();
    node.key() = ticket;
    node.mapped() = {};
    return receives.insert(std::move(node)).position->second;
  }

  void remove(std::unordered_map<Ticket, Receive>::const_iterator receive) {
    spare.push_back(receives.extract(receive));
  }

  Receive* find(Ticket ticket) {
    const auto found = receives.find(ticket);
    return found == receives.end() ? nullptr : &found->second;
  }

  void give_ordinal(Receive& receive) {
    receive.ordinal = next_ordinal[receive.pattern]++;
    receive.placed = true;
  }

  void wait_for_match(const Pattern& wildcard) {
    ++unresolved;
    ++wildcards[wildcard];
  }

  /// A wildcard receive is unresolved no more: places the waiting receives that it alone has blocked, and itself if its
  /// channel is known and nothing blocks it.
  void free_from(const Pattern& wildcard, std::vector<Ticket>& now_placed) {
    --unresolved;
    const auto count = wildcards.find(wildcard);
    if (--count->second == 0 && wildcards.size() > most_idle_patterns) wildcards.erase(count);
    Obstacles obstacles;
    std::size_t kept = 0;
    std::size_t i = 0;
    for (; i < waiting.size() && !obstacles.cover(wildcard); ++i) {
      const Ticket ticket = waiting[i];
      Receive& receive = receives.find(ticket)->second;
      if (receive.pattern.wild()) obstacles.add(receive.pattern);
      if (receive.pattern.wild() || obstacles.cover(receive.pattern)) {
        waiting[kept++] = ticket;
        continue;
      }
      give_ordinal(receive);
      if (receive.over) {
        remove(receives.find(ticket));
      } else {
        now_placed.push_back(ticket);
      }
    }
    waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(kept),
                  waiting.begin() + static_cast<std::ptrdiff_t>(i));
  }

  /// The ordinal of a cancelled receive goes to the next one of its channel, and so on.
  void close_gap(const Receive& gone, std::vector<Ticket>* moved) {
    --next_ordinal[gone.pattern];
    const std::vector<Ticket> later = behind(gone);
    for (const Ticket ticket : later) --find(ticket)->ordinal;
    if (moved != nullptr) moved->insert(moved->end(), later.begin(), later.end());
  }

  std::vector<Ticket> behind(const Receive& one) const {
    std::vector<Ticket> later;
    for (const auto& [ticket, receive] : receives)
      if (receive.placed && receive.ordinal > one.ordinal && receive.pattern == one.pattern) later.push_back(ticket);
    std::sort(later.begin(), later.end());  // posting order is the order of ordinals within a channel
    return later;
  }
};

ReceiveOrder::ReceiveOrder() : state_(std::make_unique<State>()) {}
ReceiveOrder::~ReceiveOrder() = default;
ReceiveOrder::ReceiveOrder(ReceiveOrder&&) noexcept = default;
ReceiveOrder& ReceiveOrder::operator=(ReceiveOrder&&) noexcept = default;

ReceiveOrder::Ticket ReceiveOrder::post(std::int32_t source, std::int32_t tag) {
  State& s = *state_;
  const Ticket ticket = s.next_ticket++;
  Receive& receive = s.add(ticket);
  receive.pattern = {source, tag};
  const bool wild = receive.pattern.wild();
  if (!wild && (s.unresolved == 0 || !blocked(source, tag))) {
    s.give_ordinal(receive);
    return ticket;
  }
  s.waiting.push_back(ticket);
  if (wild) s.wait_for_match(receive.pattern);
  return ticket;
}

void ReceiveOrder::resolve(Ticket ticket, std::int32_t source, std::int32_t tag, std::vector<Ticket>& now_placed) {
  State& s = *state_;
  Receive* receive = s.find(ticket);
  if (receive == nullptr || !receive->pattern.wild() || Pattern{source, tag}.wild()) return;
  const Pattern wildcard = std::exchange(receive->pattern, {source, tag});
  s.free_from(wildcard, now_placed);
}

void ReceiveOrder::cancel(Ticket ticket, std::vector<Ticket>& now_placed, std::vector<Ticket>* moved) {
  State& s = *state_;
  const Receive* receive = s.find(ticket);
  if (receive == nullptr) return;
  const Receive gone = *receive;
  s.remove(s.receives.find(ticket));
  if (gone.placed) {
    s.close_gap(gone, moved);
    return;
  }
  s.waiting.erase(std::lower_bound(s.waiting.begin(), s.waiting.end(), ticket));
  if (gone.pattern.wild()) s.free_from(gone.pattern, now_placed);
}

bool ReceiveOrder::placed(Ticket ticket) const {
  const Receive* receive = state_->find(ticket);
  return receive != nullptr && receive->placed;
}

MessageId ReceiveOrder::place(Ticket ticket) const {
  const Receive& receive = state_->receives.find(ticket)->second;
  return {{0, receive.pattern.source, receive.pattern.tag}, receive.ordinal};
}

void ReceiveOrder::done(Ticket ticket) {
  State& s = *state_;
  const auto found = s.receives.find(ticket);
  if (found == s.receives.end()) return;
  if (found->second.placed) {
    s.remove(found);
  } else {
    found->second.over = true;
  }
}

std::size_t ReceiveOrder::unresolved_wildcards() const {
  return state_->unresolved;
}

bool ReceiveOrder::blocked(std::int32_t source, std::int32_t tag) const {
  const Pattern wanted{source, tag};
  return std::any_of(state_->wildcards.begin(), state_->wildcards.end(),
                     [&](const auto& pending) { return pending.second > 0 && pending.first.meets(wanted); });
}

}  // namespace holdfast::replicate
