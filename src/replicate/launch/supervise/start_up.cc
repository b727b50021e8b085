#include "replicate/launch/supervise/start_up.h"

#include <algorithm>
#include <utility>

namespace holdfast::launch {
namespace {

constexpr double time_to_begin_s = 10;   ///< for one of this host that was never seen, after the last that appeared
constexpr double time_to_return_s = 5;   ///< from a shell to the program it becomes, where nobody sees it
constexpr double time_to_follow_s = 1;   ///< for the other replicas of a rank to end as one has
constexpr double time_to_choose_s = 10;  ///< for one of them that is not in MPI_Init yet, on a busy machine
constexpr int looks_to_be_sure = 2;

}  // namespace

StartUp::StartUp(std::vector<int> degrees, int degree) : degree_(degree) {
  for (const int of_rank : degrees)
    for (int k = 0; k < degree; ++k) members_.emplace_back().exists = k < of_rank;
}

void StartUp::come(int member) {
  Member& who = members_[static_cast<std::size_t>(member)];
  who.there = who.seen = true;
  who.left = -1;
  who.status.reset();
}

void StartUp::enter(int member) {
  members_[static_cast<std::size_t>(member)].entered = true;
}

void StartUp::leave(int member, std::optional<int> status, double seconds) {
  Member& who = members_[static_cast<std::size_t>(member)];
  who.there = false;
  who.left = seconds;
  who.status = status;
}

bool StartUp::has_ended(Member& member, double seconds, double limit_s, bool sees, bool lives) const {
  const bool been_there = member.left >= 0;
  if (been_there && member.status) return seconds - member.left > time_to_follow_s;
  if (!sees) return been_there ? seconds - member.left > time_to_return_s : seconds - last_newcomer_ > limit_s;
  if (lives) return been_there && seconds - std::max(member.left, waited_for_since_) > limit_s;
  if (member.looks_without < looks_to_be_sure) return false;
  return member.seen || seconds - last_newcomer_ > time_to_begin_s;
}

/// The launcher starts one process after the other, which takes as long as the machine is busy: as long as new ones
/// appear, the next may still come.
void StartUp::note_newcomers(double seconds) {
  const auto seen = std::count_if(members_.begin(), members_.end(), [](const Member& m) { return m.seen; });
  if (seen > seen_) last_newcomer_ = seconds;
  seen_ = seen;
}

std::optional<StartUp::Missing> StartUp::look(double seconds, const std::optional<std::set<int>>& living,
                                              double limit_s) {
  const bool waited_for =
      std::any_of(members_.begin(), members_.end(), [](const Member& m) { return m.there && m.entered; });
  if (!waited_for) return std::nullopt;
  if (waited_for_since_ < 0) waited_for_since_ = last_newcomer_ = seconds;
  // Where processes that are there are not seen, others would not be either: they run below another parent.
  bool sees = living.has_value();
  for (std::size_t m = 0; m < members_.size(); ++m)
    sees = sees && (!members_[m].there || living->contains(static_cast<int>(m)));
  for (std::size_t m = 0; m < members_.size() && sees; ++m)
    members_[m].seen = members_[m].seen || living->contains(static_cast<int>(m));
  note_newcomers(seconds);
  std::optional<Missing> first;
  std::vector<bool> ended(members_.size());
  for (std::size_t m = 0; m < members_.size(); ++m) {
    Member& who = members_[m];
    if (!who.exists || who.there) continue;
    const bool lives = sees && living->contains(static_cast<int>(m));
    who.looks_without = lives ? 0 : who.looks_without + 1;
    ended[m] = has_ended(who, seconds, limit_s, sees, lives);
    const double since = who.left >= 0 ? who.left : seconds;
    // The earliest: where some end, MPI may end others in MPI_Init.
    if (ended[m] && (!first || since < first->seconds)) first = Missing{static_cast<int>(m), since, false, who.status};
  }
  if (!first) return std::nullopt;
  if (first_missing_ < 0) first_missing_ = seconds;
  const auto from = static_cast<std::size_t>(first->member / degree_ * degree_);
  first->alike = true;
  bool may_follow = false;
  for (std::size_t m = from; m < from + static_cast<std::size_t>(degree_); ++m) {
    const Member& who = members_[m];
    if (!who.exists) continue;
    first->alike = first->alike && ended[m] && who.status == first->status;
    may_follow = may_follow || (!ended[m] && !who.entered);
  }
  if (first->alike && first->status) return first;
  // Without a status they may have been killed by a launcher that is ending all: after one death, in whatever order.
  const double wait_s = may_follow && !first->alike ? std::min(time_to_choose_s, limit_s) : time_to_follow_s;
  return seconds - first_missing_ > wait_s ? first : std::nullopt;
}

}  // namespace holdfast::launch
