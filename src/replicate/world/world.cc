#include "replicate/world/world.h"

#include <algorithm>
#include <memory>

#include "core/random/stream.h"
#include "replicate/world/actor.h"

namespace holdfast::replicate {

namespace {

class World {
 public:
  World(std::uint64_t seed, Planted planted, const std::function<void(const std::string&)>& told)
      : plan_(draw_plan(seed)),
        map_(ReplicaMap::of_degrees(plan_.degrees).value()),
        draw_(random::Stream(seed).child("replicate").child("world").child("events")),
        told_(told),
        shared_{plan_, map_, network_, planted, draw_, report_.counters} {
    report_.seed = seed;
    for (int i = 0; i < map_.physical_ranks(); ++i)
      actors_.push_back(std::make_unique<Actor>(shared_, Process{map_.virtual_rank(i), map_.replica(i)}));
    for (std::size_t n = 0; n < plan_.deaths.size(); ++n)
      death_at_.push_back(draw_.below(100 + plan_.messages.size() * 20));
    std::sort(death_at_.begin(), death_at_.end());
    if (plan_.divergence)
      for (std::uint64_t& at : death_at_) at += 2000;  // what it did is to be met with
  }

  WorldReport run() {
    Ending ending;
    try {
      live();
      ending.stuck = !all_finished();
    } catch (const JobEnds& end) {
      ending.failed = true;
      ending.incident = end.what();
      tell("the job ends: " + ending.incident);
    }
    report_.failed = ending.failed;
    report_.diverges = plan_.divergence.has_value();
    report_.silent = ending.stuck;
    report_.threads = plan_.threads.many();
    report_.ordered = plan_.threads.ordered;
    report_.incident = ending.incident;
    collect(ending);
    report_.complaints = judge(plan_, ending);
    return std::move(report_);
  }

 private:
  void tell(const std::string& what) {
    if (told_) told_(std::to_string(report_.events) + ": " + what);
  }
  Actor& actor(int number) { return *actors_[static_cast<std::size_t>(number)]; }
  std::string name(int number) const {
    return std::to_string(map_.virtual_rank(number)) + "." + std::to_string(map_.replica(number));
  }

  void live() {
    std::size_t idle = 0;
    while (idle < 4 * actors_.size() + 200) {
      ++report_.events;
      while (dead_ < plan_.deaths.size() && report_.events >= death_at_[dead_]) die(plan_.deaths[dead_++]);
      if (shared_.progress != progress_) {
        progress_ = shared_.progress;
        progress_at_ = report_.events;
      }
      if (report_.events > progress_at_ + longest_pause) return;
      idle = event() ? 0 : idle + 1;
      if (idle > 0 && nothing_under_way()) {
        bool moved = false;
        for (const auto& each : actors_) moved = (each->alive && each->step_all()) || moved;
        const bool rests = !moved && nothing_under_way();  // a step that waits may have sent something
        if (rests && !taken_out()) return;
        idle = 0;
      }
    }
  }

  /// One whose program went another way is taken out when the others wait for it, at the latest.
  bool taken_out() {
    if (!plan_.divergence || dead_ == plan_.deaths.size() || all_finished()) return false;
    die(plan_.deaths[dead_++]);
    return true;
  }

  bool event() {
    const std::uint64_t kind = draw_.below(10);
    if (kind < 3) return plan_.eager ? deliver_control() : deliver_message();
    if (kind < 5) return plan_.eager ? deliver_message() : deliver_control();
    if (kind < 6) return deliver_copy();
    if (kind < 7 && dead_ > 0 && tell_of_death()) return true;
    Actor& one = actor(static_cast<int>(draw_.below(actors_.size())));
    return one.alive && one.step();
  }

  template <class Queues>
  auto any_of(Queues& queues) {
    std::size_t full = 0;
    for (const auto& [pair, queue] : queues) full += queue.empty() ? 0 : 1;
    if (full == 0) return queues.end();
    std::size_t which = draw_.below(full);
    auto at = queues.begin();
    while (at->second.empty() || which-- > 0) ++at;
    return at;
  }

  bool deliver_message() {
    const auto at = any_of(network_.messages);
    if (at == network_.messages.end()) return false;
    Network::Message message = std::move(at->second.front());
    at->second.pop_front();
    tell("message " + std::to_string(message.index) + " " + name(at->first.first) + " -> " + name(at->first.second));
    if (actor(at->first.second).alive) actor(at->first.second).take(std::move(message));
    return true;
  }

  bool deliver_control() {
    const auto at = any_of(network_.controls);
    if (at == network_.controls.end()) return false;
    std::vector<std::byte> bytes = std::move(at->second.front().bytes);
    at->second.pop_front();
    const auto [from, to] = at->first;
    tell(std::string(replicate::name(static_cast<RecordKind>(bytes[4]))) + " " + name(from) + " -> " + name(to));
    if (actor(to).alive) actor(to).read({map_.virtual_rank(from), map_.replica(from)}, std::move(bytes));
    return true;
  }

  bool deliver_copy() {
    std::vector<std::pair<Actor*, std::size_t>> ready;
    for (const auto& each : actors_)
      for (std::size_t i = 0; each->alive && i < each->incoming().size(); ++i)
        if (network_.copies.contains({{each->incoming()[i].from, each->number()}, each->incoming()[i].tag}))
          ready.emplace_back(each.get(), i);
    if (ready.empty()) return false;
    const auto& [to, which] = ready[draw_.below(ready.size())];
    tell("copy " + name(to->incoming()[which].from) + " -> " + name(to->number()));
    to->finish_copy(which);
    return true;
  }

  /// A process of that replica has died, so its whole world ends; what it had sent is still on its way.
  void die(int replica) {
    tell("replica " + std::to_string(replica) + " dies");
    for (const auto& each : actors_) each->alive = each->alive && each->who().replica != replica;
    // A process that is dying may have got out some of what it was sending and not the rest.
    for (auto& [pair, queue] : network_.controls)
      while (map_.replica(pair.first) == replica && !queue.empty() && draw_.chance(1, 3)) queue.pop_back();
    std::erase_if(network_.copies, [&](const auto& entry) {
      return map_.replica(entry.first.first.first) == replica && draw_.chance(1, 2);
    });
  }

  bool tell_of_death() {
    std::vector<Actor*> unaware;
    for (const auto& each : actors_)
      if (each->alive && each->deaths_heard < dead_) unaware.push_back(each.get());
    if (unaware.empty()) return false;
    Actor& one = *unaware[draw_.below(unaware.size())];
    const int replica = plan_.deaths[one.deaths_heard];
    tell(name(one.number()) + " hears that replica " + std::to_string(replica) + " is gone");
    one.hear_of_death(replica);
    return true;
  }

  bool nothing_under_way() {
    const auto empty = [](const auto& entry) { return entry.second.empty(); };
    if (!std::all_of(network_.messages.begin(), network_.messages.end(), empty)) return false;
    if (!std::all_of(network_.controls.begin(), network_.controls.end(), empty)) return false;
    for (const auto& each : actors_) {
      if (!each->alive) continue;
      if (each->deaths_heard < dead_) return false;
      for (const Actor::Incoming& one : each->incoming())
        if (network_.copies.contains({{one.from, each->number()}, one.tag})) return false;
    }
    return true;
  }

  bool all_finished() const {
    return std::all_of(actors_.begin(), actors_.end(),
                       [](const auto& each) { return !each->alive || each->finished(); });
  }

  void collect_reductions(Ending& ending) {
    ending.reductions.resize(plan_.reductions.size());
    for (std::size_t n = 0; n < plan_.reductions.size(); ++n) {
      ending.reductions[n].resize(plan_.degrees.size());
      for (const auto& each : actors_) {
        const auto found = each->reductions().find(n);
        ending.reductions[n][static_cast<std::size_t>(each->who().rank)].push_back(
            found == each->reductions().end() ? ResultTaken{} : found->second);
      }
    }
  }

  void collect_epochs(Ending& ending) {
    ending.windows.resize(plan_.epochs.size());
    for (std::size_t n = 0; n < plan_.epochs.size(); ++n) {
      ending.windows[n].resize(plan_.degrees.size());
      for (const auto& each : actors_) {
        const auto found = each->windows().find(n);
        ending.windows[n][static_cast<std::size_t>(each->who().rank)].push_back(
            found == each->windows().end() ? ResultTaken{} : found->second);
      }
    }
  }

  void collect_writes(Ending& ending) {
    for (std::size_t n = 0; n < plan_.writes.size(); ++n) {
      ending.files.push_back(network_.files[n]);
      auto& outcomes = ending.outcomes.emplace_back();
      for (int k = 0; k < plan_.degrees[static_cast<std::size_t>(plan_.writes[n].rank)]; ++k) {
        const auto& told = actor(map_.physical_rank(plan_.writes[n].rank, k)).outcomes();
        const auto found = told.find(n);
        outcomes.push_back(found == told.end() ? ResultTaken{} : found->second);
      }
    }
  }

  void collect(Ending& ending) {
    ending.deliveries.resize(plan_.degrees.size());
    ending.decided.resize(plan_.degrees.size());
    ending.results.resize(plan_.results.size());
    collect_reductions(ending);
    collect_writes(ending);
    collect_epochs(ending);
    for (std::size_t n = 0; n < plan_.results.size(); ++n) {
      const int rank = plan_.results[n].rank;
      for (int k = 0; k < plan_.degrees[static_cast<std::size_t>(rank)]; ++k) {
        const auto& taken = actor(map_.physical_rank(rank, k)).results_taken();
        const auto found = taken.find(n);
        ending.results[n].push_back(found == taken.end() ? ResultTaken{} : found->second);
      }
    }
    for (std::size_t rank = 0; rank < plan_.degrees.size(); ++rank) {
      for (int k = 0; k < plan_.degrees[rank]; ++k) {
        const Actor& one = actor(map_.physical_rank(static_cast<int>(rank), k));
        ending.deliveries[rank].push_back(one.deliveries());
        ending.decided[rank].push_back(one.decided());
        for (const Delivery& delivery : one.deliveries()) report_.deliveries += delivery.done ? 1 : 0;
        if (one.alive && ending.stuck && !one.finished()) tell("stuck: " + one.state());
        if (one.alive && plan_.deaths.empty())
          if (std::string left = one.left(); !left.empty()) ending.left.push_back(std::move(left));
      }
    }
  }

  Plan plan_;
  ReplicaMap map_;
  random::Stream draw_;
  const std::function<void(const std::string&)>& told_;
  Network network_;
  std::vector<std::unique_ptr<Actor>> actors_;
  WorldReport report_;
  Actor::Shared shared_;
  /// So many events without a step of any program are no delay.
  static constexpr std::uint64_t longest_pause = 30000;
  std::vector<std::uint64_t> death_at_;
  std::size_t dead_ = 0;  ///< replicas, of the plan's deaths
  std::uint64_t progress_ = 0;
  std::uint64_t progress_at_ = 0;  ///< event
};

}  // namespace

const std::vector<PlantedName>& planted_names() {
  static const std::vector<PlantedName> names = {
      {Planted::blind_digests, "blind-digests"},
      {Planted::lost_statements, "lost-statements"},
      {Planted::lost_corrections, "lost-corrections"},
      {Planted::altered_corrections, "altered-corrections"},
      {Planted::idle_overwrite, "idle-overwrite"},
      {Planted::lost_decisions, "lost-decisions"},
      {Planted::false_matches, "false-matches"},
      {Planted::doubled_digests, "doubled-digests"},
      {Planted::lost_ballots, "lost-ballots"},
      {Planted::lost_contests, "lost-contests"},
      {Planted::unread_checks, "unread-checks"},
      {Planted::false_numbers, "false-numbers"},
      {Planted::false_flags, "false-flags"},
      {Planted::lost_successions, "lost-successions"},
      {Planted::lost_legacies, "lost-legacies"},
      {Planted::lost_repetitions, "lost-repetitions"},
      {Planted::false_majorities, "false-majorities"},
      {Planted::unheard_deaths, "unheard-deaths"},
      {Planted::cut_requeues, "cut-requeues"},
      {Planted::hasty_probes, "hasty-probes", 2000},
      {Planted::idle_copies, "idle-copies"},
      {Planted::false_turns, "false-turns"},
      {Planted::lawless_threads, "lawless-threads"},
      {Planted::lost_wakes, "lost-wakes"},
      {Planted::one_order, "one-order", 2000},
      {Planted::false_posters, "false-posters"},
      {Planted::forgotten_memory, "forgotten-memory", 2000},
  };
  return names;
}

WorldReport run_world(std::uint64_t seed, Planted planted, const std::function<void(const std::string&)>& told) {
  return World(seed, planted, told).run();
}

}  // namespace holdfast::replicate
