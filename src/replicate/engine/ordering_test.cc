#include "replicate/engine/ordering.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <random>
#include <set>

namespace holdfast::replicate {
namespace {

using Ticket = ReceiveOrder::Ticket;
using Tickets = std::vector<Ticket>;

TEST(ReceiveOrder, ReceivesWithoutWildcardsArePlacedWhenPosted) {
  ReceiveOrder order;
  for (std::uint64_t n = 0; n < 5; ++n) {
    const Ticket a = order.post(1, 5);
    const Ticket b = order.post(2, 5);
    ASSERT_TRUE(order.placed(a));
    EXPECT_EQ(order.place(a), (MessageId{{0, 1, 5}, n}));
    EXPECT_EQ(order.place(b), (MessageId{{0, 2, 5}, n}));
    order.done(a);
    EXPECT_FALSE(order.placed(a));
  }
}

TEST(ReceiveOrder, AWildcardHoldsBackOnlyWhatItCouldTake) {
  ReceiveOrder order;
  const Ticket wild = order.post(any_source, 5);
  const Ticket same = order.post(1, 5);
  const Ticket other = order.post(1, 6);
  EXPECT_FALSE(order.placed(same));
  EXPECT_TRUE(order.placed(other));
  EXPECT_TRUE(order.blocked(1, 5));
  EXPECT_TRUE(order.blocked(1, any_tag));
  EXPECT_FALSE(order.blocked(any_source, 6));
  Tickets now;
  order.resolve(wild, 1, 5, now);
  EXPECT_EQ(now, (Tickets{wild, same}));
  EXPECT_EQ(order.place(wild).ordinal, 0u);
  EXPECT_EQ(order.place(same).ordinal, 1u);
  EXPECT_FALSE(order.blocked(1, 5));
}

TEST(ReceiveOrder, AReceiveMayWaitForSeveralWildcards) {
  ReceiveOrder order;
  const Ticket first = order.post(any_source, 5);
  const Ticket second = order.post(1, any_tag);
  const Ticket waiting = order.post(1, 5);
  Tickets now;
  order.resolve(first, 2, 5, now);
  EXPECT_EQ(now, Tickets{first});
  now.clear();
  order.resolve(second, 1, 9, now);
  EXPECT_EQ(now, (Tickets{second, waiting}));
  EXPECT_EQ(order.place(waiting).ordinal, 0u);
  EXPECT_EQ(order.unresolved_wildcards(), 0u);
}

TEST(ReceiveOrder, ALaterWildcardThatIsKnownFirstWaitsForAnEarlierOneThatMayShareItsChannel) {
  ReceiveOrder order;
  const Ticket early = order.post(any_source, 5);
  const Ticket late = order.post(any_source, any_tag);
  const Ticket last = order.post(any_source, any_tag);
  Tickets now;
  order.resolve(late, 1, 5, now);
  EXPECT_TRUE(now.empty());
  order.resolve(last, 1, 6, now);
  EXPECT_EQ(now, Tickets{last}) << "the earlier one cannot take tag 6";
  now.clear();
  order.resolve(early, 1, 5, now);
  EXPECT_EQ(now, (Tickets{early, late}));
  EXPECT_EQ(order.place(early).ordinal, 0u);
  EXPECT_EQ(order.place(late).ordinal, 1u);
}

TEST(ReceiveOrder, DoneBeforeThePlaceStillTakesTheOrdinal) {
  ReceiveOrder order;
  const Ticket early = order.post(any_source, 5);
  const Ticket late = order.post(any_source, 5);
  const Ticket plain = order.post(1, 5);
  const Ticket next = order.post(1, 5);
  Tickets now;
  order.resolve(late, 1, 5, now);
  order.done(late);
  order.done(plain);
  order.resolve(early, 1, 5, now);
  EXPECT_EQ(now, (Tickets{early, next}));
  EXPECT_EQ(order.place(next).ordinal, 3u);
}

TEST(ReceiveOrder, CancelledReceivesTakeNothing) {
  ReceiveOrder order;
  const Ticket wild = order.post(any_source, any_tag);
  const Ticket a = order.post(1, 5);
  const Ticket b = order.post(1, 5);
  Tickets now;
  order.cancel(a, now);
  EXPECT_TRUE(now.empty());
  order.cancel(wild, now);
  EXPECT_EQ(now, Tickets{b});
  const Ticket c = order.post(1, 5);
  const Ticket d = order.post(2, 5);
  Tickets moved;
  now.clear();
  order.cancel(b, now, &moved);
  EXPECT_TRUE(now.empty());
  EXPECT_EQ(moved, Tickets{c});
  EXPECT_EQ(order.place(c).ordinal, 0u);
  EXPECT_EQ(order.place(d).ordinal, 0u);
  EXPECT_EQ(order.place(order.post(1, 5)).ordinal, 1u);
}

TEST(ReceiveOrder, UnknownTicketsChangeNothing) {
  ReceiveOrder order;
  const Ticket known = order.post(1, 5);
  const Ticket wild = order.post(any_source, 5);
  Tickets now;
  order.resolve(known, 3, 5, now);
  order.resolve(99, 3, 5, now);
  order.resolve(wild, any_source, 5, now);
  order.cancel(99, now);
  order.done(99);
  EXPECT_TRUE(now.empty());
  EXPECT_EQ(order.unresolved_wildcards(), 1u);
  EXPECT_EQ(order.place(known), (MessageId{{0, 1, 5}, 0}));
}

// ---- against MPI's matching rules, simulated the slow way ----

struct Message {
  int source;
  int tag;
  std::uint64_t number;  ///< the sender's count on the channel
};

/// A receive as the simulated MPI library of the leader sees it.
struct Posted {
  Ticket ticket;
  int source;
  int tag;
  std::optional<Message> match;
  bool known = false;  ///< completed: the library says what it matched
  bool cancelled = false;
  bool over = false;

  bool wildcard() const { return source == any_source || tag == any_tag; }
  bool takes(int s, int t) const { return (source == any_source || source == s) && (tag == any_tag || tag == t); }
};

/// What the application did, in program order, for a follower to repeat.
struct Step {
  enum Kind { post, cancel } kind;
  Ticket ticket;
  int source;
  int tag;
};

class World {
 public:
  World(std::uint64_t seed, int channels) : random_(seed), channels_(channels) {}

  void run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFatalFailure(); ++i) step();
    for (int i = 0; i < 100000 && !finished(); ++i) finish_one();
    check_all();
    follow();
  }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }

  void step() {
    switch (pick(10)) {
      case 0:
      case 1:
      case 2:
        post();
        break;
      case 3:
      case 4:
      case 5:
        arrive(pick(channels_), pick(channels_));
        break;
      case 6:
      case 7:
        complete();
        break;
      case 8:
        cancel();
        break;
      default:
        mprobe();
        break;
    }
    check_all();
  }

  void post() {
    const int source = pick(3) == 0 ? any_source : pick(channels_);
    const int tag = pick(4) == 0 ? any_tag : pick(channels_);
    Posted p{order_.post(source, tag), source, tag, {}, false, false, false};
    ASSERT_EQ(p.ticket, posted_.size());
    program_.push_back({Step::post, p.ticket, source, tag});
    for (auto message = unexpected_.begin(); message != unexpected_.end(); ++message)
      if (p.takes(message->source, message->tag)) {
        p.match = *message;
        unexpected_.erase(message);
        break;
      }
    posted_.push_back(p);
  }

  void arrive(int source, int tag) {
    const Message message{source, tag, sent_[{source, tag}]++};
    for (Posted& p : posted_)
      if (!p.match && !p.cancelled && p.takes(source, tag)) {
        p.match = message;
        return;
      }
    unexpected_.push_back(message);
  }

  /// Some matched receive completes, in any order. Half of the time the application is done with it at once.
  void complete() {
    std::vector<Posted*> candidates;
    for (Posted& p : posted_)
      if (p.match && !p.known) candidates.push_back(&p);
    if (candidates.empty()) return;
    Posted& p = *candidates[static_cast<std::size_t>(pick(static_cast<int>(candidates.size())))];
    p.known = true;
    Tickets now;
    if (p.wildcard()) order_.resolve(p.ticket, p.match->source, p.match->tag, now);
    check_listed(now);
    if (pick(2) == 0) {
      if (order_.placed(p.ticket)) check_place(p, order_);
      order_.done(p.ticket);
      p.over = true;
    }
  }

  void cancel() {
    std::vector<Posted*> candidates;
    for (Posted& p : posted_)
      if (!p.match && !p.cancelled) candidates.push_back(&p);
    if (candidates.empty()) return;
    Posted& p = *candidates[static_cast<std::size_t>(pick(static_cast<int>(candidates.size())))];
    std::map<Ticket, std::uint64_t> before;
    for (const Posted& q : posted_)
      if (order_.placed(q.ticket)) before[q.ticket] = order_.place(q.ticket).ordinal;
    p.cancelled = true;
    Tickets now;
    Tickets moved;
    order_.cancel(p.ticket, now, &moved);
    program_.push_back({Step::cancel, p.ticket, 0, 0});
    check_listed(now);
    Tickets changed;
    for (auto [ticket, ordinal] : before)
      if (ticket != p.ticket && order_.place(ticket).ordinal != ordinal) changed.push_back(ticket);
    ASSERT_EQ(moved, changed);
    ASSERT_FALSE(order_.placed(p.ticket));
  }

  /// The message is taken out of the library's queue, and counts as a receive that is over.
  void mprobe() {
    for (auto message = unexpected_.begin(); message != unexpected_.end(); ++message) {
      if (order_.blocked(message->source, message->tag)) continue;
      const Ticket ticket = order_.post(message->source, message->tag);
      ASSERT_EQ(ticket, posted_.size());
      posted_.push_back({ticket, message->source, message->tag, *message, true, false, true});
      check_place(posted_.back(), order_);
      order_.done(ticket);
      program_.push_back({Step::post, ticket, message->source, message->tag});
      unexpected_.erase(message);
      return;
    }
  }

  void check_place(const Posted& p, const ReceiveOrder& order) {
    ASSERT_TRUE(order.placed(p.ticket)) << "ticket " << p.ticket;
    ASSERT_EQ(order.place(p.ticket), (MessageId{{0, p.match->source, p.match->tag}, p.match->number}))
        << "ticket " << p.ticket;
  }

  void check_listed(const Tickets& now) {
    ASSERT_TRUE(std::is_sorted(now.begin(), now.end()));
    for (Ticket ticket : now) {
      ASSERT_TRUE(order_.placed(ticket));
      ASSERT_FALSE(posted_[ticket].over);
      ASSERT_TRUE(listed_.insert(ticket).second) << "ticket " << ticket << " was placed twice";
    }
  }

  /// By definition: placed as soon as the channel is known and no earlier unresolved wildcard covers it.
  bool should_be_placed(const Posted& p) const {
    if (p.wildcard() && !p.known) return false;
    const int source = p.wildcard() ? p.match->source : p.source;
    const int tag = p.wildcard() ? p.match->tag : p.tag;
    return std::none_of(posted_.begin(), posted_.begin() + static_cast<std::ptrdiff_t>(p.ticket), [&](const Posted& q) {
      return q.wildcard() && !q.known && !q.cancelled && q.takes(source, tag);
    });
  }

  void check_all() {
    std::size_t unresolved = 0;
    for (const Posted& p : posted_) {
      if (p.wildcard() && !p.known && !p.cancelled) ++unresolved;
      if (p.over || p.cancelled) continue;
      ASSERT_EQ(order_.placed(p.ticket), should_be_placed(p)) << "ticket " << p.ticket;
      if (p.match && order_.placed(p.ticket)) check_place(p, order_);
    }
    ASSERT_EQ(order_.unresolved_wildcards(), unresolved);
  }

  bool finished() const {
    return std::all_of(posted_.begin(), posted_.end(), [](const Posted& p) { return p.cancelled || p.known; });
  }

  void finish_one() {
    for (const Posted& p : posted_)
      if (!p.match && !p.cancelled) {
        arrive(p.source == any_source ? pick(channels_) : p.source, p.tag == any_tag ? pick(channels_) : p.tag);
        break;
      }
    complete();
  }

  /// A follower repeats the program; the leader's matches reach it in any order, at any time after the post.
  void follow() {
    ReceiveOrder follower;
    std::vector<Ticket> undelivered;
    std::map<std::pair<int, int>, std::vector<Ticket>> handed;  // to the follower's MPI library, by channel
    const auto hand = [&](Ticket ticket) {
      const Posted& p = posted_[ticket];
      const MessageId id = follower.place(ticket);
      handed[{id.channel.source, id.channel.tag}].push_back(ticket);
      ASSERT_TRUE(p.takes(id.channel.source, id.channel.tag));
    };
    const auto deliver = [&] {
      ASSERT_FALSE(undelivered.empty()) << "the follower waits for a match that never comes";
      const auto at = undelivered.begin() + pick(static_cast<int>(undelivered.size()));
      const Posted& p = posted_[*at];
      undelivered.erase(at);
      Tickets now;
      follower.resolve(p.ticket, p.match->source, p.match->tag, now);
      for (Ticket ticket : now) hand(ticket);
    };
    for (const Step& s : program_) {
      while (!undelivered.empty() && pick(3) == 0) deliver();
      if (s.kind == Step::post) {
        ASSERT_EQ(follower.post(s.source, s.tag), s.ticket);
        if (posted_[s.ticket].wildcard() && !posted_[s.ticket].cancelled) undelivered.push_back(s.ticket);
        if (follower.placed(s.ticket)) hand(s.ticket);
      } else {
        Tickets now;
        follower.cancel(s.ticket, now);
        for (auto& [channel, tickets] : handed) std::erase(tickets, s.ticket);
        for (Ticket ticket : now) hand(ticket);
      }
      if (testing::Test::HasFatalFailure()) return;
    }
    while (!undelivered.empty()) deliver();
    for (const Posted& p : posted_)
      if (!p.cancelled) check_place(p, follower);
    // The library matches what it was handed in that order, so that order must be the order of the ordinals.
    for (const auto& [channel, tickets] : handed)
      ASSERT_TRUE(std::is_sorted(tickets.begin(), tickets.end(), [&](Ticket a, Ticket b) {
        return follower.place(a).ordinal < follower.place(b).ordinal;
      }));
  }

  std::mt19937_64 random_;
  int channels_;
  ReceiveOrder order_;
  std::vector<Posted> posted_;
  std::list<Message> unexpected_;
  std::map<std::pair<int, int>, std::uint64_t> sent_;
  std::vector<Step> program_;
  std::set<Ticket> listed_;
};

TEST(ReceiveOrder, AgreesWithMpiMatchingOnRandomPrograms) {
  for (std::uint64_t seed = 1; seed <= 6000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World(seed, 1 + static_cast<int>(seed % 3)).run(40);
    if (HasFatalFailure()) return;
  }
}

TEST(ReceiveOrder, AgreesWithMpiMatchingOnLongRandomPrograms) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World(seed, 3).run(400);
    if (HasFatalFailure()) return;
  }
}

TEST(ReceiveOrder, CanBeMoved) {
  ReceiveOrder a;
  a.post(1, 5);
  ReceiveOrder b = std::move(a);
  EXPECT_EQ(b.place(b.post(1, 5)).ordinal, 1u);
}

}  // namespace
}  // namespace holdfast::replicate
