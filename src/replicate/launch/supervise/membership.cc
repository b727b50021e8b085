#include "replicate/launch/supervise/membership.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace holdfast::launch {

using replicate::MembershipMessage;

namespace {

constexpr double time_to_follow_s = 2;  ///< for the other replicas of a rank to end as one has

}  // namespace

JobMembership::JobMembership(const std::vector<int>& degrees, bool goes_on, double silence_limit_s)
    : ranks_(static_cast<int>(degrees.size())),
      degree_(*std::max_element(degrees.begin(), degrees.end())),
      goes_on_(goes_on),
      members_(degrees.size() * static_cast<std::size_t>(degree_)),
      gone_(static_cast<std::size_t>(degree_)),
      start_(degrees, degree_, goes_on),
      patience_(ranks_, degree_, silence_limit_s) {
  for (int m = 0; m < static_cast<int>(members_.size()); ++m)
    members_[static_cast<std::size_t>(m)].exists = replica_of(m) < degrees[static_cast<std::size_t>(rank_of(m))];
}

int JobMembership::join(int rank, int replica) {
  if (rank < 0 || rank >= ranks_ || replica < 0 || replica >= degree_) return -1;
  const int member = rank * degree_ + replica;
  Member& who = members_[static_cast<std::size_t>(member)];
  if (!who.exists || who.phase > Phase::joined) return -1;
  who.phase = Phase::joined;
  who.there = who.came = true;
  start_.come(member);
  std::erase_if(deaths_, [&](const Death& death) { return death.rank == rank && death.replica == replica; });
  if (gone(replica)) tell(member, MembershipMessage::Kind::gone, replica);
  return member;
}

void JobMembership::hear(int member, const MembershipMessage& message, double seconds) {
  Member& who = members_[static_cast<std::size_t>(member)];
  switch (message.kind) {
    case MembershipMessage::Kind::starting:
      who.phase = std::max(who.phase, Phase::starting);
      entered_ = true;
      return start_.enter(member);
    case MembershipMessage::Kind::ready:
      who.phase = std::max(who.phase, Phase::ready);
      return start_together();
    case MembershipMessage::Kind::finishing:
      who.phase = std::max(who.phase, Phase::finishing);
      return end_together();
    case MembershipMessage::Kind::finished:
      who.phase = Phase::finished;
      who.past_mpi = true;
      return;
    case MembershipMessage::Kind::exit:
      who.status = message.number;
      // After MPI_Finalize a status has been compared, and launchers end the others for one that is not 0.
      if (who.phase < Phase::finished || message.number != 0) ended_by_program_ = ended_by_program_ || deaths_.empty();
      return;
    case MembershipMessage::Kind::failed:
      if (goes_on_ && verdict_.empty())
        verdict_ = "rank " + std::to_string(rank_of(member)) + " replica " + std::to_string(replica_of(member)) +
                   " found what the job cannot go on with";
      return;
    case MembershipMessage::Kind::accuse:
      return accuse(member, message.number, seconds);
    case MembershipMessage::Kind::waits:
      return answer_waiting(member, message, seconds);
    case MembershipMessage::Kind::outside:
      return patience_.outside(member, message.used_ms, message.points, seconds);
    case MembershipMessage::Kind::inside:
      return patience_.inside(member);
    default:
      return;  // what only the membership says
  }
}

void JobMembership::close(int member, double seconds) {
  Member& who = members_[static_cast<std::size_t>(member)];
  who.there = false;
  patience_.leave(member);
  if (who.phase == Phase::finished || gone(replica_of(member)) || !verdict_.empty()) return;
  if (!launched_) start_.leave(member, who.status, seconds);
  const bool may_return = who.phase == Phase::joined;  // a shell that becomes the program, or one that ends without MPI
  if (may_return && !who.status) who.phase = Phase::absent;
  who.early = who.status && !may_return;
  if (goes_on_ && who.early && launched_ && !ending_told_) {
    ended_[member] = seconds;
    return end_by_program();
  }
  if (goes_on_ && !may_return && !launched_ && start_.misses_somebody()) {
    failed_at_start_ = true;
    return;
  }
  if (goes_on_) return may_return ? void() : lose(member, seconds);
  // All of them: the first may be a shell that comes back as the program.
  if (!ended_by_program_) deaths_.push_back({rank_of(member), replica_of(member), seconds, 0});
}

std::vector<Death> JobMembership::deaths() const {
  if (goes_on_ || deaths_.empty()) return deaths_;
  return {deaths_.front()};
}

void JobMembership::look(double seconds, const std::optional<std::set<int>>& living, double limit_s) {
  if (!starting()) return;
  if (const auto missing = start_.look(seconds, living, limit_s)) miss(*missing);
}

void JobMembership::conclude(bool launcher_lost) {
  if (!failing()) return;
  if (const auto missing = start_.conclude(launcher_lost)) miss(*missing);
}

void JobMembership::miss(const StartUp::Missing& missing) {
  const int rank = rank_of(missing.member);
  programs_doing_ = missing.alike;
  if (missing.alike) {
    verdict_ = fmt::format("rank {} ended {:.1f} s after the start, before MPI_Init, in all its replicas{}", rank,
                           missing.seconds, missing.status ? ", with status " + std::to_string(*missing.status) : "");
    return;
  }
  verdict_ = fmt::format(
      "rank {} replica {} {} {:.1f} s after the start, before MPI_Init was over: the job cannot go on without it", rank,
      replica_of(missing.member),
      missing.status ? "ended with status " + std::to_string(*missing.status) : "died or did not come",
      missing.seconds);
  deaths_.push_back({rank, replica_of(missing.member), missing.seconds, 0});
}

void JobMembership::follow(double seconds) {
  while (undecided()) {
    const auto late = std::find_if(ended_.begin(), ended_.end(),
                                   [&](const auto& each) { return seconds - each.second > time_to_follow_s; });
    if (late == ended_.end()) return;
    const auto [member, ended] = *late;
    ended_.erase(late);
    if (!gone(replica_of(member))) lose(member, ended);
  }
}

std::string JobMembership::early_end_of(int rank) const {
  std::map<int, int> ended;
  int all = 0;
  for (int k = 0; k < degree_; ++k) {
    const Member& who = members_[static_cast<std::size_t>(rank * degree_ + k)];
    all += who.exists;
    if (who.early) ++ended[*who.status];
    if (!who.early && who.exists && !gone(k)) return {};
  }
  for (const auto& [status, replicas] : ended)
    if (2 * replicas > all)
      return fmt::format("rank {} ended with status {} without MPI_Finalize, in {} of its {} replicas", rank, status,
                         replicas, all);
  return {};
}

std::string JobMembership::early_end() const {
  for (int rank = 0; rank < ranks_; ++rank)
    if (std::string found = early_end_of(rank); !found.empty()) return found;
  const auto first = std::find_if(members_.begin(), members_.end(), [](const Member& who) { return who.early; });
  if (goes_on_ || !deserted() || first == members_.end()) return {};
  const int member = static_cast<int>(first - members_.begin());
  return fmt::format("rank {} replica {} ended with status {} without MPI_Finalize, and the launcher ended others",
                     rank_of(member), replica_of(member), *first->status);
}

void JobMembership::end_by_program() {
  verdict_ = early_end();
  programs_doing_ = !verdict_.empty();
}

void JobMembership::lose(int member, double seconds) {
  take_out({rank_of(member), replica_of(member), seconds, degree_left() - 1});
}

/// One that most replicas of its rank accuse goes: those that are left agree, and are at least two.
void JobMembership::accuse(int member, int replica, double seconds) {
  const bool known = replica >= 0 && replica < degree_ && replica != replica_of(member);
  if (!goes_on_ || !known || gone(replica) || gone(replica_of(member)) || !verdict_.empty()) return;
  if (!launched_ || ending_told_ || degree_left() < 3) return;
  std::set<int>& accusers = accusers_[rank_of(member) * degree_ + replica];
  accusers.insert(member);
  const auto left = std::count_if(accusers.begin(), accusers.end(), [&](int m) { return !gone(replica_of(m)); });
  if (2 * left > degree_left()) take_out({rank_of(member), replica, seconds, degree_left() - 1, true});
}

void JobMembership::take_out(const Death& death) {
  const int replica = death.replica;
  gone_[static_cast<std::size_t>(replica)] = true;
  deaths_.push_back(death);
  const std::string who =
      fmt::format("rank {} replica {} died {:.1f} s after the start", death.rank, replica, death.seconds);
  if (launched_ && !ending_told_) end_by_program();
  if (!verdict_.empty()) return;
  if (!launched_) {
    verdict_ = who + ", before MPI_Init was over: the job cannot go on without it";
  } else if (ending_told_) {
    verdict_ = who + ", in MPI_Finalize, which does not end without it";
  } else if (leader() < 0) {
    verdict_ = who + ": no replica is left";
  }
  if (!verdict_.empty()) return;
  for (int m = 0; m < static_cast<int>(members_.size()); ++m)
    if (members_[static_cast<std::size_t>(m)].there) tell(m, MembershipMessage::Kind::gone, replica);
  end_together();
}

void JobMembership::answer_waiting(int member, const MembershipMessage& message, double seconds) {
  const bool look = patience_.waits(member, message.rank, message.number, seconds);
  tell(member,
       patience_.waits_for_work(member, seconds) ? MembershipMessage::Kind::working : MembershipMessage::Kind::idle);
  for (int m = 0; look && m < static_cast<int>(members_.size()); ++m)
    if (members_[static_cast<std::size_t>(m)].there) tell(m, MembershipMessage::Kind::look);
}

/// When the last process is past MPI_Init all hear that, and leave it: who dies after that has died after all were.
void JobMembership::start_together() {
  if (launched_ || !all_past(Phase::ready)) return;
  launched_ = true;
  for (int m = 0; goes_on_ && m < static_cast<int>(members_.size()); ++m)
    if (members_[static_cast<std::size_t>(m)].there) tell(m, MembershipMessage::Kind::started);
}

/// When the last process that is left has reached the end, all hear how to go on.
void JobMembership::end_together() {
  if (!goes_on_ || ending_told_ || !all_past(Phase::finishing)) return;
  ending_told_ = deaths_.empty();
  for (int m = 0; m < static_cast<int>(members_.size()); ++m) {
    if (gone(replica_of(m))) continue;
    tell(m, deaths_.empty() ? MembershipMessage::Kind::finalize : MembershipMessage::Kind::leave);
    if (!deaths_.empty()) members_[static_cast<std::size_t>(m)].phase = Phase::finished;
  }
}

bool JobMembership::all_past(Phase phase) const {
  for (int m = 0; m < static_cast<int>(members_.size()); ++m)
    if (members_[static_cast<std::size_t>(m)].exists && !gone(replica_of(m)) &&
        members_[static_cast<std::size_t>(m)].phase < phase)
      return false;
  return true;
}

void JobMembership::tell(int member, MembershipMessage::Kind kind, int number) {
  MembershipMessage message;
  message.kind = kind;
  message.number = number;
  outgoing_.push_back({member, message});
}

bool JobMembership::deserted() const {
  const bool came = std::any_of(members_.begin(), members_.end(), [](const Member& m) { return m.came; });
  return came && std::none_of(members_.begin(), members_.end(), [](const Member& m) { return m.there; });
}

std::optional<int> JobMembership::status_of(const Member& member) {
  return !member.status && member.past_mpi ? 0 : member.status;
}

bool JobMembership::over() const {
  if (!goes_on_ || deaths_.empty() || !verdict_.empty()) return false;
  for (int m = 0; m < static_cast<int>(members_.size()); ++m) {
    const Member& who = members_[static_cast<std::size_t>(m)];
    if (who.there || (!gone(replica_of(m)) && !status_of(who))) return false;
  }
  return true;
}

int JobMembership::degree_left() const {
  return static_cast<int>(std::count(gone_.begin(), gone_.end(), false));
}

int JobMembership::leader() const {
  const auto found = std::find(gone_.begin(), gone_.end(), false);
  return found == gone_.end() ? -1 : static_cast<int>(found - gone_.begin());
}

std::optional<int> JobMembership::status() const {
  std::optional<int> whole = 0;
  for (int rank = 0; rank < ranks_; ++rank) {
    std::map<int, int> said;
    for (int k = 0; k < degree_; ++k) {
      const auto status = status_of(members_[static_cast<std::size_t>(rank * degree_ + k)]);
      if (status && !gone(k)) ++said[*status];
    }
    const auto most =
        std::max_element(said.begin(), said.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most == said.end()) return std::nullopt;
    if (whole == 0) whole = most->first;
  }
  return whole;
}

std::string death_line(const Death& death) {
  std::string line = fmt::format("rank {} replica {} {} {:.1f} s after the start", death.rank, death.replica,
                                 death.diverged ? "went another way than most replicas" : "died", death.seconds);
  if (death.degree_left == 0) return line;
  line += fmt::format(": replica {} is taken out, ", death.replica);
  if (death.degree_left == 1) return line + "1 replica goes on, unverified from here on";
  return line + fmt::format("{} replicas go on", death.degree_left) +
         (death.degree_left == 2 ? ", corruption is detected and no longer corrected" : "");
}

nlohmann::ordered_json death_record(const std::vector<Death>& deaths) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Death& death : deaths)
    list.push_back({{"rank", death.rank},
                    {"replica", death.replica},
                    {"seconds", death.seconds},
                    {"degree_left", death.degree_left},
                    {"diverged", death.diverged}});
  return list;
}

}  // namespace holdfast::launch
