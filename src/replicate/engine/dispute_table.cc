#include "replicate/engine/dispute_table.h"

#include <utility>

namespace holdfast::replicate {

void DisputeTable::open(const MessageId& id, const Ballot& own, const Ballot& below, bool own_may_be_cut) {
  const Statement said{Statement::Kind::probe, own, below, own_may_be_cut};
  const auto opened = cases_.try_emplace(id, Case{Dispute(degree_, replica_, said, telling_)}).first;
  Dispute& dispute = opened->second.dispute;
  send(id, dispute);
  const auto questions = waiting_.find(id);
  if (questions == waiting_.end()) return;
  for (const Question& question : questions->second) dispute.hear(question.from, question.statement, telling_);
  waiting_.erase(questions);
  send(id, dispute);
}

void DisputeTable::agreed(const MessageId& id) {
  const auto questions = waiting_.find(id);
  if (questions == waiting_.end()) return;
  for (const Question& question : questions->second) {
    outgoing_.push_back({question.from, id, {.kind = Statement::Kind::agrees}});
  }
  waiting_.erase(questions);
}

void DisputeTable::hear(int from, const MessageId& id, const Statement& said, bool compared) {
  const auto open = cases_.find(id);
  if (open != cases_.end()) {
    open->second.dispute.hear(from, said, telling_);
    send(id, open->second.dispute);
    forget_if_over(open);
    return;
  }
  if (said.kind != Statement::Kind::probe) return;  // answers to a dispute that is over
  if (compared) {
    outgoing_.push_back({from, id, {.kind = Statement::Kind::agrees}});
  } else {
    waiting_[id].push_back({from, said});
  }
}

void DisputeTable::close(const MessageId& id) {
  const auto which = cases_.find(id);
  if (which == cases_.end()) return;
  which->second.delivered = true;
  forget_if_over(which);
}

const Dispute* DisputeTable::find(const MessageId& id) const {
  const auto found = cases_.find(id);
  return found == cases_.end() ? nullptr : &found->second.dispute;
}

void DisputeTable::send(const MessageId& id, const Dispute& dispute) {
  for (const Dispute::Telling& telling : telling_) {
    outgoing_.push_back({telling.to, id, dispute.statement(telling.kind)});
  }
  telling_.clear();
}

void DisputeTable::forget_if_over(Cases::iterator which) {
  if (which->second.delivered && which->second.dispute.heard_out()) cases_.erase(which);
}

}  // namespace holdfast::replicate
