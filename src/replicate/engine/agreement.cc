#include "replicate/engine/agreement.h"

#include <algorithm>
#include <utility>

namespace holdfast::replicate {

namespace {
constexpr std::uint64_t longest_wait = 1024;  // answers that a follower may lag behind in a polling loop
}

void Publisher::close_run() {
  if (unsent_noes_ > 0) queued_.push_back({Decision::Kind::no, noes_asker_, {unsent_noes_, 0, 0}});
  unsent_noes_ = 0;
}

void Publisher::yes_or_no(bool answer, std::uint32_t asker) {
  if (!answer) {
    if (asker != noes_asker_) {
      close_run();
      run_ = 0;
      next_due_ = 1;
    }
    noes_asker_ = asker;
    ++unsent_noes_;
    if (++run_ < next_due_) return;
    next_due_ = run_ + std::min(run_, longest_wait);
    close_run();
    return;
  }
  close_run();
  run_ = 0;
  next_due_ = 1;
  queued_.push_back({Decision::Kind::yes, asker, {}});
}

void Publisher::number(std::int64_t value, std::uint32_t asker) {
  close_run();
  queued_.push_back({Decision::Kind::number, asker, {static_cast<std::uint64_t>(value), 0, 0}});
}

void Publisher::match(std::uint64_t wildcard, int source, int tag, std::uint32_t asker) {
  queued_.push_back({Decision::Kind::match,
                     asker,
                     {wildcard, static_cast<std::uint64_t>(static_cast<std::int64_t>(source)),
                      static_cast<std::uint64_t>(static_cast<std::int64_t>(tag))}});
}

void Publisher::turn(std::uint64_t thread) {
  queued_.push_back({Decision::Kind::turn, 0, {thread, 0, 0}});
}

std::vector<Decision> Publisher::due(bool all) {
  if (all) close_run();
  return std::exchange(queued_, {});
}

void Follower::receive(std::span<const Decision> decisions) {
  for (const Decision& decision : decisions) {
    if (decision.kind == Decision::Kind::match) {
      matches_.push_back(decision);
    } else {
      answers_.push_back(decision);
    }
  }
}

Follower::Reply Follower::yes_or_no(bool& answer, std::uint32_t asker) {
  if (answers_.empty()) return Reply::waiting;
  Decision& front = answers_.front();
  if (front.detail != asker) return Reply::diverged;
  if (front.kind == Decision::Kind::yes) {
    answer = true;
    use();
    return Reply::ready;
  }
  if (front.kind != Decision::Kind::no) return Reply::diverged;
  answer = false;
  if (--front.words[0] == 0) use();
  return Reply::ready;
}

Follower::Reply Follower::number(std::int64_t& value, std::uint32_t asker) {
  if (answers_.empty()) return Reply::waiting;
  if (answers_.front().kind != Decision::Kind::number || answers_.front().detail != asker) return Reply::diverged;
  value = static_cast<std::int64_t>(answers_.front().words[0]);
  use();
  return Reply::ready;
}

void Follower::use() {
  answers_.pop_front();
  if (inherited_ > 0) --inherited_;
}

bool Follower::disinherit() {
  answers_.erase(answers_.begin(), answers_.begin() + static_cast<std::ptrdiff_t>(inherited_));
  return std::exchange(inherited_, 0) > 0;
}

std::uint64_t Follower::next_turn() const {
  return answers_.empty() ? 0 : answers_.front().words[0];
}

void Follower::take_turn() {
  use();
}

std::vector<Decision> Follower::take_matches() {
  return std::exchange(matches_, {});
}

const char* Follower::leader_did() const {
  if (answers_.empty()) return "nothing yet";
  switch (answers_.front().kind) {
    case Decision::Kind::no:
    case Decision::Kind::yes:
      return "tested for completion or probed";
    case Decision::Kind::number:
      return "completed one of several requests";
    case Decision::Kind::match:
      return "matched a wildcard receive";
    case Decision::Kind::turn:
      return "let a thread go on";
    case Decision::Kind::point:
    case Decision::Kind::answer:
    case Decision::Kind::more:
      break;
  }
  return "something else";
}

}  // namespace holdfast::replicate
