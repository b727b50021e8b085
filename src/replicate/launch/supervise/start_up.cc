#include "replicate/launch/supervise/start_up.h"

#include <algorithm>
#include <utility>

namespace holdfast::launch {
namespace {

constexpr double time_to_begin_s = 10;     ///< for one of this host that was never seen, after the last that appeared
constexpr double time_to_return_s = 5;     ///< from a shell to the program it becomes, where nobody sees it
constexpr double time_to_follow_s = 1;     ///< for the other replicas of a rank to end as one has
constexpr double time_to_choose_s = 10;    ///< for one of them that is not in MPI_Init yet, on a busy machine
constexpr double time_to_be_sure_s = 0.2;  ///< between two looks: a process that is just becoming another is not seen

}  // namespace

StartUp::StartUp(std::vector<int> degrees, int degree, bool goes_on) : degree_(degree), goes_on_(goes_on) {
  for (const int of_rank : degrees)
    for (int k = 0; k < degree; ++k) members_.emplace_back().exists = k < of_rank;
}

void StartUp::come(int member) {
  Member& who = members_[static_cast<std::size_t>(member)];
  who.there = who.seen = true;
  who.left = who.unseen_since = -1;
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

bool StartUp::has_ended(const Member& member, double seconds, double limit_s, bool sees, bool lives) const {
  const bool been_there = member.left >= 0;
  if (been_there && member.status) return seconds - member.left > time_to_follow_s;
  if (!sees) return been_there ? seconds - member.left > time_to_return_s : seconds - last_newcomer_ > limit_s;
  if (lives) return been_there && seconds - std::max(member.left, waited_for_since_) > limit_s;
  if (seconds - member.unseen_since < time_to_be_sure_s) return false;
  return member.seen || seconds - last_newcomer_ > time_to_begin_s;
}

/// The launcher starts one process after the other, which takes as long as the machine is busy: as long as new ones
/// appear, the next may still come.
void StartUp::note_newcomers(double seconds) {
  const auto seen = std::count_if(members_.begin(), members_.end(), [](const Member& m) { return m.seen; });
  if (seen > seen_) last_newcomer_ = seconds;
  seen_ = seen;
}

/// Who left first of those that have ended: where some end, MPI may end others in MPI_Init.
std::optional<StartUp::Missing> StartUp::earliest(const std::vector<bool>& ended, double seconds) const {
  std::optional<Missing> first;
  for (std::size_t m = 0; m < members_.size(); ++m) {
    const double since = members_[m].left >= 0 ? members_[m].left : seconds;
    if (ended[m] && (!first || since < first->seconds))
      first = Missing{static_cast<int>(m), since, false, members_[m].status};
  }
  if (!first) return first;
  first->alike = true;
  const auto from = static_cast<std::size_t>(first->member / degree_ * degree_);
  for (std::size_t m = from; m < from + static_cast<std::size_t>(degree_); ++m)
    if (members_[m].exists) first->alike = first->alike && ended[m] && members_[m].status == first->status;
  return first;
}

/// Another replica of its rank may still end as it has.
bool StartUp::may_be_followed(int member, const std::vector<bool>& ended) const {
  const auto from = static_cast<std::size_t>(member / degree_ * degree_);
  bool may = false;
  for (std::size_t m = from; m < from + static_cast<std::size_t>(degree_); ++m)
    may = may || (members_[m].exists && !ended[m] && !members_[m].entered);
  return may;
}

std::optional<StartUp::Missing> StartUp::look(double seconds, const std::optional<std::set<int>>& living,
                                              double limit_s) {
  // Of a launcher that goes on, those whose MPI_Init has failed may be followed by what they failed for.
  const bool waited_for = std::any_of(members_.begin(), members_.end(),
                                      [this](const Member& m) { return m.entered && (m.there || goes_on_); });
  if (!waited_for) return std::nullopt;
  if (waited_for_since_ < 0) waited_for_since_ = last_newcomer_ = seconds;
  // Where processes that are there are not seen, others would not be either: they run below another parent.
  bool sees = living.has_value();
  for (std::size_t m = 0; m < members_.size(); ++m)
    sees = sees && (!members_[m].there || living->contains(static_cast<int>(m)));
  for (std::size_t m = 0; m < members_.size() && sees; ++m)
    members_[m].seen = members_[m].seen || living->contains(static_cast<int>(m));
  note_newcomers(seconds);
  std::vector<bool> ended(members_.size());
  for (std::size_t m = 0; m < members_.size(); ++m) {
    Member& who = members_[m];
    if (!who.exists || who.there) continue;
    const bool lives = sees && living->contains(static_cast<int>(m));
    if (lives || who.unseen_since < 0) who.unseen_since = lives ? -1 : seconds;
    ended[m] = has_ended(who, seconds, limit_s, sees, lives);
  }
  const auto first = earliest(ended, seconds);
  if (!first || first_missing_ < 0) first_missing_ = first ? seconds : -1;
  if (!first) return std::nullopt;
  // Without a status they may have been killed by a launcher that is ending all: after one death, in whatever order.
  if (first->alike && (first->status || goes_on_)) return first;
  const bool may_follow = !first->alike && may_be_followed(first->member, ended);
  const double wait_s = may_follow ? std::min(time_to_choose_s, limit_s) : time_to_follow_s;
  return seconds - first_missing_ > wait_s ? first : std::nullopt;
}

bool StartUp::misses_somebody() const {
  return std::any_of(members_.begin(), members_.end(),
                     [](const Member& m) { return m.left >= 0 && !m.there && !m.entered; });
}

std::optional<StartUp::Missing> StartUp::conclude(bool launcher_lost) const {
  std::vector<bool> ended;
  for (const Member& who : members_) ended.push_back(who.left >= 0 && !who.there);
  auto first = earliest(ended, 0);
  if (first && launcher_lost) first->alike = false;
  return first;
}

}  // namespace holdfast::launch
