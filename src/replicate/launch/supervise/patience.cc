#include "replicate/launch/supervise/patience.h"

#include <set>
#include <utility>

namespace holdfast::launch {
namespace {

constexpr double most_limits = 10;    ///< of processor time in one stretch of the program's own code
constexpr double least_share = 0.01;  ///< of a core: less is not work
constexpr double limits_between_looks = 0.0625;

}  // namespace

Patience::Patience(int ranks, int degree, double limit_s)
    : degree_(static_cast<std::size_t>(degree)),
      limit_s_(limit_s),
      members_(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(degree)) {}

bool Patience::waits(int member, int rank, int replica, double seconds) {
  const int of_world = member % static_cast<int>(degree_);
  members_[static_cast<std::size_t>(member)].wait = Wait{rank, rank < 0 ? of_world : replica, seconds};
  if (seconds - asked_ < limits_between_looks * limit_s_) return false;
  asked_ = seconds;
  return true;
}

void Patience::outside(int member, std::uint64_t used_ms, std::uint64_t points, double seconds) {
  Member& who = members_[static_cast<std::size_t>(member)];
  who.wait.reset();
  if (!who.stretch || who.stretch->points != points || used_ms < who.stretch->used_ms) {
    who.stretch = Stretch{points, used_ms, used_ms, seconds, false};
    return;
  }
  Stretch& now = *who.stretch;
  const double worked_s = static_cast<double>(used_ms - now.used_ms) / 1e3;
  now.advances = worked_s > least_share * (seconds - now.seen);
  now.used_ms = used_ms;
  now.seen = seconds;
}

void Patience::inside(int member) {
  members_[static_cast<std::size_t>(member)].stretch.reset();
}

void Patience::leave(int member) {
  members_[static_cast<std::size_t>(member)] = Member{};
}

bool Patience::computes(const Member& member, double seconds) const {
  if (!member.stretch || !member.stretch->advances || seconds - member.stretch->seen > limit_s_) return false;
  return static_cast<double>(member.stretch->used_ms - member.stretch->first_used_ms) / 1e3 < most_limits * limit_s_;
}

/// One that is in a call of MPI and has not waited for long yet, or waits inside MPI, may wait for all of its world.
Patience::Awaited Patience::awaited_by(std::size_t member, double seconds) const {
  const std::optional<Wait>& wait = members_[member].wait;
  if (!wait || seconds - wait->said > limit_s_) return {-1, static_cast<int>(member % degree_)};
  return {wait->rank, wait->replica};
}

std::vector<std::size_t> Patience::members_of(Awaited awaited) const {
  const std::size_t first = awaited.rank < 0 ? 0 : static_cast<std::size_t>(awaited.rank) * degree_;
  const std::size_t end = awaited.rank < 0 ? members_.size() : first + degree_;
  std::vector<std::size_t> found;
  for (std::size_t m = first; m < end && m < members_.size(); ++m)
    if (awaited.replica < 0 || m % degree_ == static_cast<std::size_t>(awaited.replica)) found.push_back(m);
  return found;
}

bool Patience::waits_for_work(int member, double seconds) const {
  std::set<std::pair<int, int>> followed;
  std::vector<Awaited> next{awaited_by(static_cast<std::size_t>(member), seconds)};
  while (!next.empty()) {
    const Awaited awaited = next.back();
    next.pop_back();
    if (!followed.insert({awaited.rank, awaited.replica}).second) continue;
    for (const std::size_t other : members_of(awaited)) {
      if (computes(members_[other], seconds)) return true;
      if (!members_[other].stretch) next.push_back(awaited_by(other, seconds));  // else it waits for nobody
    }
  }
  return false;
}

}  // namespace holdfast::launch
