#include "replicate/engine/dispute_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <variant>

namespace holdfast::replicate {
namespace {

using Ruling = Dispute::Ruling;

Ballot ballot(int value) {
  return {{static_cast<std::uint64_t>(100 + value), 7}, 8, true};
}

MessageId message(std::uint64_t ordinal) {
  return {{1, 2, 3}, ordinal};
}

/// The replicas of one receiver and what is on its way between them, in order between any two. Messages are what their
/// senders' values say; the harness knows nothing of how disputes are settled.
class Team {
 public:
  /// values[m][k]: what sender replica k sent as message m, and announced to the receiver above.
  explicit Team(std::vector<std::vector<int>> values) : values_(std::move(values)) {
    for (int k = 0; k < degree(); ++k) members_.emplace_back(degree(), k, values_.size());
  }

  int degree() const { return static_cast<int>(values_.front().size()); }
  /// A sender that announces another digest than its message's.
  void announce(int sender, int value) { announced_[sender] = value; }
  /// This replica does nothing any more.
  void silence(int replica) { silenced_.insert(replica); }

  struct Step {
    int from;  ///< -1: `to` compares its next message
    int to;
  };
  std::vector<Step> steps() const {
    std::vector<Step> possible;
    for (int k = 0; k < degree(); ++k) {
      const Member& member = members_[static_cast<std::size_t>(k)];
      if (silenced_.contains(k)) continue;
      if (!member.failure && member.compared < values_.size() && member.open.size() < 4) possible.push_back({-1, k});
    }
    for (const auto& [pair, letters] : wires_) {
      if (!letters.empty() && !silenced_.contains(pair.second)) possible.push_back({pair.first, pair.second});
    }
    return possible;
  }

  void take(const Step& step) {
    Member& member = members_[static_cast<std::size_t>(step.to)];
    if (step.from < 0) {
      compare(step.to, member);
    } else {
      auto& wire = wires_[{step.from, step.to}];
      const Parcel parcel = wire.front();
      wire.pop_front();
      receive(step.from, member, parcel);
    }
    settle(step.to, member);
  }

  /// What replica `k` has delivered as message m; empty while it has not.
  std::optional<int> delivered(int k, std::size_t m = 0) const {
    const auto& got = members_[static_cast<std::size_t>(k)].got;
    return got[m];
  }
  std::optional<Ruling> failure(int k) const { return members_[static_cast<std::size_t>(k)].failure; }
  const DisputeTable& disputes(int k) const { return members_[static_cast<std::size_t>(k)].table; }
  std::size_t statements() const { return statements_; }

 private:
  struct Correction {
    MessageId id;
    int value;
  };
  struct Spoken {
    MessageId id;
    Statement statement;
  };
  using Parcel = std::variant<Spoken, Correction>;
  struct Member {
    Member(int degree, int replica, std::size_t messages) : table(degree, replica), got(messages) {}
    DisputeTable table;
    std::vector<std::optional<int>> got;
    std::size_t compared = 0;
    std::set<std::size_t> open;
    std::map<std::size_t, int> corrections;
    std::optional<Ruling> failure;
  };

  int announced_by(std::size_t m, int sender) const {
    const auto other = announced_.find(sender);
    return other == announced_.end() ? values_[m][static_cast<std::size_t>(sender)] : other->second;
  }

  void compare(int k, Member& member) {
    const std::size_t m = member.compared++;
    const int own = values_[m][static_cast<std::size_t>(k)];
    const int below = announced_by(m, (k + degree() - 1) % degree());
    if (own == below) {
      member.got[m] = own;
      member.table.agreed(message(m));
      return;
    }
    member.table.open(message(m), ballot(own), ballot(below));
    member.open.insert(m);
  }

  void receive(int from, Member& member, const Parcel& parcel) {
    if (const auto* correction = std::get_if<Correction>(&parcel)) {
      ASSERT_TRUE(member.corrections.emplace(correction->id.ordinal, correction->value).second) << "sent twice";
      return;
    }
    const auto& spoken = std::get<Spoken>(parcel);
    member.table.hear(from, spoken.id, spoken.statement, spoken.id.ordinal < member.compared);
  }

  void settle(int k, Member& member) {
    for (auto m = member.open.begin(); m != member.open.end();) {
      const Dispute* dispute = member.table.find(message(*m));
      ASSERT_NE(dispute, nullptr);
      const Ruling ruling = dispute->ruling();
      if (ruling == Ruling::keep) {
        member.got[*m] = values_[*m][static_cast<std::size_t>(k)];
        for (const int loser : dispute->supplied())
          wires_[{k, loser}].push_back(Correction{message(*m), *member.got[*m]});
      } else if (ruling == Ruling::replace) {
        const auto correction = member.corrections.find(*m);
        if (correction == member.corrections.end() || !(ballot(correction->second) == dispute->good())) {
          ++m;
          continue;
        }
        member.got[*m] = correction->second;
        member.corrections.erase(correction);
      } else {
        if (ruling != Ruling::open) member.failure = ruling;
        ++m;
        continue;
      }
      member.table.close(message(*m));
      m = member.open.erase(m);
    }
    for (const DisputeTable::Message& message : member.table.outgoing()) {
      ASSERT_NE(message.to, k);
      wires_[{k, message.to}].push_back(Spoken{message.id, message.statement});
      ++statements_;
    }
    member.table.outgoing().clear();
  }

  std::vector<std::vector<int>> values_;
  std::map<int, int> announced_;
  std::set<int> silenced_;
  std::vector<Member> members_;
  std::map<std::pair<int, int>, std::deque<Parcel>> wires_;
  std::size_t statements_ = 0;
};

/// Judges the end of one message by counting, independently of vote.h: the oracle.
void judge(const Team& team, const std::vector<int>& values, std::size_t m = 0) {
  const int degree = static_cast<int>(values.size());
  std::map<int, int> counts;
  for (const int value : values) ++counts[value];
  std::optional<int> majority;
  for (const auto& [value, count] : counts) {
    if (2 * count > degree) majority = value;
  }
  bool wrong_pair = false;
  for (int k = 0; k < degree; ++k) {
    const int value = values[static_cast<std::size_t>(k)];
    wrong_pair = wrong_pair || (value == values[static_cast<std::size_t>((k + degree - 1) % degree)] && majority &&
                                value != *majority);
  }
  for (int k = 0; k < degree; ++k) {
    SCOPED_TRACE("replica " + std::to_string(k));
    const int own = values[static_cast<std::size_t>(k)];
    const bool disputes = own != values[static_cast<std::size_t>((k + degree - 1) % degree)];
    if (!majority || wrong_pair) {
      if (!disputes) {
        EXPECT_EQ(team.delivered(k, m), own);
        continue;
      }
      EXPECT_EQ(team.delivered(k, m), std::nullopt);
      ASSERT_TRUE(team.failure(k).has_value());
      EXPECT_EQ(*team.failure(k), majority ? Ruling::taken : Ruling::no_majority);
    } else {
      EXPECT_EQ(team.delivered(k, m), *majority);
      EXPECT_EQ(team.failure(k), std::nullopt);
      EXPECT_TRUE(team.disputes(k).empty());
    }
  }
}

std::string text(const std::vector<int>& values) {
  std::string all;
  for (const int value : values) all += std::to_string(value);
  return all;
}

void run(Team& team, std::mt19937_64& draw) {
  for (auto steps = team.steps(); !steps.empty(); steps = team.steps()) team.take(steps[draw() % steps.size()]);
}

void for_all_values(int degree, int kinds, const std::function<void(const std::vector<int>&)>& check) {
  std::vector<int> values(static_cast<std::size_t>(degree));
  for (std::size_t digit = 0; digit < values.size();) {
    check(values);
    for (digit = 0; digit < values.size() && ++values[digit] == kinds;) values[digit++] = 0;
  }
}

std::size_t every_order(const Team& team, const std::vector<int>& values) {
  const auto steps = team.steps();
  if (steps.empty()) {
    judge(team, values);
    return 1;
  }
  std::size_t orders = 0;
  for (const Team::Step& step : steps) {
    Team next = team;
    next.take(step);
    orders += every_order(next, values);
    if (testing::Test::HasFailure()) break;
  }
  return orders;
}

TEST(DisputeTable, ThreeReplicasInEveryOrderOfEvents) {
  for_all_values(3, 3, [](const std::vector<int>& values) {
    SCOPED_TRACE(text(values));
    EXPECT_GT(every_order(Team({values}), values), 0U);
  });
}

class TableOfDegree : public testing::TestWithParam<int> {};

TEST_P(TableOfDegree, EndsRightOrDiagnosedInThousandsOfOrders) {
  std::mt19937_64 draw(7);
  const int orders = GetParam() >= 6 ? 20 : 200;
  for_all_values(GetParam(), 3, [&](const std::vector<int>& values) {
    SCOPED_TRACE(text(values));
    for (int order = 0; order < orders && !testing::Test::HasFailure(); ++order) {
      Team team({values});
      run(team, draw);
      judge(team, values);
    }
  });
}

TEST_P(TableOfDegree, SettlesThousandsOfCorruptMessagesInARow) {
  const int degree = GetParam();
  std::mt19937_64 draw(11);
  std::vector<std::vector<int>> messages;
  for (int m = 0; m < 3000; ++m) {
    std::vector<int> values(static_cast<std::size_t>(degree));
    values[1] = 1 + m % 2;  // stays corrupt
    if (degree >= 5 && m % 3 == 0) values[3] = 9;
    messages.push_back(values);
  }
  Team team(messages);
  run(team, draw);
  for (std::size_t m = 0; m < messages.size(); ++m) judge(team, messages[m], m);
}

INSTANTIATE_TEST_SUITE_P(Degrees, TableOfDegree, testing::Values(3, 4, 5, 6));

TEST(DisputeTable, NeighboursOfThreeSettleItWithoutTheThird) {
  std::mt19937_64 draw(3);
  for (int bad = 0; bad < 3; ++bad) {
    std::vector<int> values(3);
    values[static_cast<std::size_t>(bad)] = 1;
    Team team({values});
    team.silence((bad + 2) % 3);
    run(team, draw);
    EXPECT_EQ(team.delivered(bad), 0);
    EXPECT_EQ(team.delivered((bad + 1) % 3), 0);
  }
}

TEST(DisputeTable, ThreeReplicasSpeakFourTimesAboutOneBadMessage) {
  Team team({{0, 1, 0}});
  for (int k = 0; k < 3; ++k) team.take({-1, k});
  std::mt19937_64 draw(1);
  run(team, draw);
  judge(team, {0, 1, 0});
  EXPECT_EQ(team.statements(), 4U);  // two probes down, one acknowledgement up, one "agrees"
}

TEST(DisputeTable, NothingIsSaidWhereNothingDiffers) {
  Team team({{0, 0, 0, 0}});
  std::mt19937_64 draw(1);
  run(team, draw);
  judge(team, {0, 0, 0, 0});
  EXPECT_EQ(team.statements(), 0U);
}

/// Bits that flip between a message and its digest: no replica may deliver what differs from the others'.
TEST(DisputeTable, ASenderThatContradictsItselfIsFoundOut) {
  std::mt19937_64 draw(5);
  for (int degree = 3; degree <= 6; ++degree) {
    for (int liar = 0; liar < degree; ++liar) {
      for (const int message_value : {0, 1}) {
        std::vector<int> values(static_cast<std::size_t>(degree));
        values[static_cast<std::size_t>(liar)] = message_value;
        for (int order = 0; order < 200; ++order) {
          Team team({values});
          team.announce(liar, 1 - message_value);
          run(team, draw);
          bool found = false;
          for (int k = 0; k < degree; ++k) {
            EXPECT_NE(team.delivered(k), 1);
            found = found || team.failure(k) == Ruling::altered;
          }
          EXPECT_TRUE(found) << "degree " << degree << ", liar " << liar;
        }
      }
    }
  }
}

/// The same where another sender's message is wrong, so that not all others have one and the same.
TEST(DisputeTable, ASenderThatContradictsItselfBesideACorruptOneIsFoundOut) {
  std::mt19937_64 draw(6);
  bool contradiction = false;
  for (int degree = 4; degree <= 6; ++degree) {
    for (int liar = 0; liar < degree; ++liar) {
      for (int corrupt = 0; corrupt < degree; ++corrupt) {
        if (corrupt == liar) continue;
        std::vector<int> values(static_cast<std::size_t>(degree));
        values[static_cast<std::size_t>(liar)] = 1;
        values[static_cast<std::size_t>(corrupt)] = 2;
        for (int order = 0; order < 50; ++order) {
          Team team({values});
          team.announce(liar, 0);
          run(team, draw);
          bool found = false;
          for (int k = 0; k < degree; ++k) {
            EXPECT_NE(team.delivered(k), 1);
            found = found || team.failure(k).has_value();
            contradiction = contradiction || team.failure(k) == Ruling::contradiction;
            EXPECT_NE(team.failure(k), Ruling::altered);
          }
          EXPECT_TRUE(found) << "degree " << degree << ", liar " << liar << ", corrupt " << corrupt;
        }
      }
    }
  }
  EXPECT_TRUE(contradiction);
}

TEST(DisputeTable, AQuestionAboutAMessageThatHasNotComeWaits) {
  DisputeTable disputes(4, 2);
  disputes.hear(3, message(5), {Statement::Kind::probe, ballot(1), ballot(0), false}, false);
  EXPECT_TRUE(disputes.awaited());
  EXPECT_TRUE(disputes.outgoing().empty());
  disputes.agreed(message(4));
  EXPECT_TRUE(disputes.awaited());
  disputes.agreed(message(5));
  EXPECT_FALSE(disputes.awaited());
  ASSERT_EQ(disputes.outgoing().size(), 1U);
  EXPECT_EQ(disputes.outgoing()[0].to, 3);
  EXPECT_EQ(disputes.outgoing()[0].statement.kind, Statement::Kind::agrees);
  EXPECT_TRUE(disputes.empty());
}

TEST(DisputeTable, AMessageThatCouldNotBeReadIsJudgedByWhatTheNextOneWasTold) {
  DisputeTable disputes(3, 1);  // its own message was truncated, so its digest is unknown here
  disputes.open(message(0), Ballot{{}, 0, false}, ballot(0));
  disputes.hear(2, message(0), {Statement::Kind::probe, ballot(0), ballot(1), false}, true);
  const Dispute* dispute = disputes.find(message(0));
  ASSERT_NE(dispute, nullptr);
  EXPECT_EQ(dispute->ruling(), Ruling::replace);
  EXPECT_EQ(dispute->good(), ballot(0));
}

TEST(DisputeTable, AMessageThatFilledItsBufferMayHaveBeenLonger) {
  const Ballot good = ballot(0);
  const Ballot start{{500, 7}, 8, true};   // as many bytes of the long one as fit
  const Ballot whole{{501, 7}, 16, true};  // what its sender announced
  DisputeTable loser(3, 1);
  loser.open(message(0), start, good, true);
  loser.hear(2, message(0), {Statement::Kind::probe, good, whole, true}, true);
  EXPECT_EQ(loser.find(message(0))->ruling(), Ruling::replace);
  EXPECT_EQ(loser.find(message(0))->senders()[1], whole);
  DisputeTable winner(3, 2);
  winner.open(message(0), good, whole, true);
  winner.hear(1, message(0), {Statement::Kind::acknowledge, start, good, true}, true);
  EXPECT_EQ(winner.find(message(0))->ruling(), Ruling::keep);
  EXPECT_EQ(winner.find(message(0))->supplied(), std::vector<int>{1});
}

TEST(DisputeTable, AMessageTooLongEverywhereIsKept) {
  const Ballot start{{500, 7}, 8, true};
  const Ballot whole{{501, 7}, 16, true};
  DisputeTable disputes(3, 0);
  disputes.open(message(0), start, whole, true);
  disputes.hear(1, message(0), {Statement::Kind::probe, start, whole, true}, true);
  disputes.hear(2, message(0), {Statement::Kind::acknowledge, start, whole, true}, true);
  EXPECT_EQ(disputes.find(message(0))->ruling(), Ruling::keep);
  EXPECT_TRUE(disputes.find(message(0))->supplied().empty());
  EXPECT_EQ(disputes.find(message(0))->good(), whole);
}

TEST(DisputeTable, AnswersToADisputeThatIsOverAreDropped) {
  DisputeTable disputes(3, 0);
  disputes.hear(1, message(0), {.kind = Statement::Kind::agrees}, true);
  disputes.hear(1, message(0), {Statement::Kind::acknowledge, ballot(0), ballot(1), false}, true);
  EXPECT_TRUE(disputes.empty());
  EXPECT_TRUE(disputes.outgoing().empty());
}

}  // namespace
}  // namespace holdfast::replicate
