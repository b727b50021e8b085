#include "replicate/engine/dispute.h"

#include <algorithm>

namespace holdfast::replicate {

Dispute::Dispute(int degree, int replica, const Statement& said, std::vector<Telling>& out)
    : degree_(degree),
      replica_(replica),
      said_(said),
      senders_(static_cast<std::size_t>(degree), Ballot{{}, 0, false}),
      may_be_cut_(static_cast<std::size_t>(degree)),
      agrees_(static_cast<std::size_t>(degree)),
      disputes_(static_cast<std::size_t>(degree)),
      told_(static_cast<std::size_t>(degree)),
      heard_(static_cast<std::size_t>(degree)) {
  disputes_[static_cast<std::size_t>(replica)] = true;
  learn(replica, said.own, said.own_may_be_cut);
  learn(below(replica), said.below, false);
  const int audience = degree == 3 ? 1 : degree - 1;
  for (int step = 1; step <= audience; ++step) tell((replica + degree - step) % degree, Statement::Kind::probe, out);
}

void Dispute::tell(int to, Statement::Kind kind, std::vector<Telling>& out) {
  if (told_[static_cast<std::size_t>(to)]) return;
  told_[static_cast<std::size_t>(to)] = true;
  out.push_back({to, kind});
}

void Dispute::hear(int from, const Statement& said, std::vector<Telling>& out) {
  heard_[static_cast<std::size_t>(from)] = true;
  if (said.kind == Statement::Kind::agrees) {
    agrees_[static_cast<std::size_t>(from)] = true;
    // With three replicas: this one must be the loser, so the one above is in the dispute too. If it is not, it says
    // so.
    if (from == below(replica_)) tell((replica_ + 1) % degree_, Statement::Kind::probe, out);
  } else {
    disputes_[static_cast<std::size_t>(from)] = true;
    learn(from, said.own, said.own_may_be_cut);
    learn(below(from), said.below, false);
    if (said.kind == Statement::Kind::probe) tell(from, Statement::Kind::acknowledge, out);
  }
  conclude();
}

/// True when something new was learned.
bool Dispute::learn(int sender, const Ballot& ballot, bool may_be_cut) {
  const auto at = static_cast<std::size_t>(sender);
  if (!ballot.known) return false;
  Ballot& here = senders_[at];
  if (here == ballot) {
    may_be_cut_[at] = may_be_cut_[at] && may_be_cut;
    return false;
  }
  if (!here.known || (may_be_cut_[at] && ballot.bytes > here.bytes)) {
    here = ballot;
    may_be_cut_[at] = may_be_cut;
    return true;
  }
  if (!may_be_cut || here.bytes <= ballot.bytes) contradicted_ = true;
  return false;
}

Statement Dispute::statement(Statement::Kind kind) const {
  Statement statement = said_;
  statement.kind = kind;
  return statement;
}

/// What every sender sent is known, and each receiver that must have noticed a difference has said so. Without the
/// second condition a sender that announced another digest than its message's could pass for one that several agree
/// with.
bool Dispute::all_clear() const {
  for (int k = 0; k < degree_; ++k) {
    const Ballot& sent = senders_[static_cast<std::size_t>(k)];
    if (!sent.known) return false;
    if (!(sent == senders_[static_cast<std::size_t>(below(k))]) && !disputes_[static_cast<std::size_t>(k)])
      return false;
  }
  return true;
}

bool Dispute::all_others_agree() const {
  for (int k = 0; k < degree_; ++k)
    if (k != replica_ && !agrees_[static_cast<std::size_t>(k)]) return false;
  return true;
}

/// Where each other receiver's message and the digest of the sender below it agree, all of them have the same, which
/// this one's sender announced, too. So either this one's message is not what was announced of it, or the digest that
/// it was given is not that of the message below.
Dispute::Ruling Dispute::on_contradiction() const {
  if (all_others_agree()) return Ruling::altered;
  const bool alone = std::count(disputes_.begin(), disputes_.end(), true) == 1;
  return alone && !heard_out() ? Ruling::open : Ruling::contradiction;
}

void Dispute::conclude() {
  for (bool more = true; more;) {
    more = false;
    for (int k = 0; k < degree_; ++k) {
      if (!agrees_[static_cast<std::size_t>(k)]) continue;
      const auto here = static_cast<std::size_t>(k);
      const auto under = static_cast<std::size_t>(below(k));
      more = learn(below(k), senders_[here], may_be_cut_[here]) || more;
      more = learn(k, senders_[under], may_be_cut_[under]) || more;
    }
  }
  if (contradicted_) {
    ruling_ = on_contradiction();
    return;
  }
  if (!all_clear()) return;
  verdict_ = vote(senders_);
  if (verdict_.winner < 0) {
    ruling_ = Ruling::no_majority;
    return;
  }
  ruling_ = senders_[static_cast<std::size_t>(replica_)] == good() ? Ruling::keep : Ruling::replace;
  for (int k = 0; k < degree_; ++k) {
    const Ballot& sent = senders_[static_cast<std::size_t>(k)];
    if (!(sent == good()) && sent == senders_[static_cast<std::size_t>(below(k))]) ruling_ = Ruling::taken;
  }
}

std::vector<int> Dispute::supplied() const {
  std::vector<int> losers;
  if (ruling_ != Ruling::keep) return losers;
  for (int k = below(replica_); !(senders_[static_cast<std::size_t>(k)] == good()); k = below(k)) losers.push_back(k);
  return losers;
}

int Dispute::silent() const {
  for (int k = 0; k < degree_; ++k) {
    if (told_[static_cast<std::size_t>(k)] && !heard_[static_cast<std::size_t>(k)]) return k;
  }
  return -1;
}

}  // namespace holdfast::replicate
