#include "plan/job_simulation.h"

#include <bit>
#include <vector>

namespace holdfast::plan {
namespace {

// The replicas of every rank, and what became of them since the last restart.
class Replicas {
 public:
  Replicas(const Redundancy& redundancy, Crash crash) : crash_(crash_of(redundancy, crash)) {
    const auto low = static_cast<std::uint64_t>(redundancy.ranks_low);
    const auto high = static_cast<std::uint64_t>(redundancy.ranks_high);
    ranks_.resize(low + high);
    for (std::uint64_t rank = 0; rank < low + high; ++rank) {
      const int replicas = redundancy.low_replicas + (rank < low ? 0 : 1);
      for (int replica = 0; replica < replicas; ++replica)
        nodes_.push_back({static_cast<std::uint32_t>(rank), replica});
      ranks_[rank].replicas = replicas;
    }
  }

  void renew() {
    for (std::uint32_t rank : touched_) ranks_[rank].dead = ranks_[rank].corrupt = 0;
    touched_.clear();
    dead_ = 0;
    dead_worlds_ = 0;
  }

  std::uint64_t alive() const { return nodes_.size() - dead_; }

  struct Effect {
    bool interrupts = false;
    bool silent = false;  ///< a corruption that nobody compares
  };

  Effect fail_one(random::Stream& stream) {
    const Node node = pick(stream);
    if (crash_ == Crash::job) return {true, false};
    if (crash_ == Crash::world) return end_world(node);
    Rank& rank = ranks_[node.rank];
    rank.dead |= bit(node);
    ++dead_;
    touched_.push_back(node.rank);
    return judge(rank);
  }

  Effect corrupt_one(random::Stream& stream) {
    const Node node = pick(stream);
    Rank& rank = ranks_[node.rank];
    rank.corrupt |= bit(node);
    touched_.push_back(node.rank);
    return judge(rank);
  }

 private:
  struct Node {
    std::uint32_t rank;
    int replica;
  };
  struct Rank {
    std::uint8_t dead = 0;
    std::uint8_t corrupt = 0;
    int replicas = 1;
  };

  static std::uint8_t bit(const Node& node) { return static_cast<std::uint8_t>(1u << node.replica); }

  // A living node, each as likely.
  Node pick(random::Stream& stream) const {
    for (;;) {
      const Node node = nodes_[stream.below(nodes_.size())];
      if (((ranks_[node.rank].dead | dead_worlds_) & bit(node)) == 0) return node;
    }
  }

  /// All nodes of one replica end; who is left judges what was corrupted before.
  Effect end_world(const Node& node) {
    dead_worlds_ |= bit(node);
    dead_ += ranks_.size();
    if (dead_ == nodes_.size()) return {true, false};
    Effect all;
    for (const std::uint32_t rank : touched_) {
      const Effect effect = judge(ranks_[rank]);
      all.interrupts = all.interrupts || effect.interrupts;
      all.silent = all.silent || effect.silent;
    }
    return all;
  }

  Effect judge(const Rank& rank) const {
    const auto dead = static_cast<std::uint8_t>(rank.dead | dead_worlds_);
    const int living = rank.replicas - std::popcount(dead);
    const int corrupt = std::popcount(static_cast<std::uint8_t>(rank.corrupt & ~dead));
    if (living == 0) return {true, false};
    if (corrupt == 0) return {};
    if (living == 1) return {false, true};
    return {2 * (living - corrupt) <= living, false};
  }

  std::vector<Node> nodes_;
  std::vector<Rank> ranks_;
  std::vector<std::uint32_t> touched_;
  Crash crash_;
  std::uint64_t dead_ = 0;
  std::uint8_t dead_worlds_ = 0;
};

struct Run {
  double wall_s = 0;
  double checkpoint_s = 0;
  double recompute_s = 0;
  double restart_s = 0;
  double interrupts = 0;
  bool wrong = false;
};

// One job, as a clock that steps from event to event: the end of the phase it is in, or a node's failure or corruption.
class Simulation {
 public:
  Simulation(const CheckpointedJob& job, std::uint64_t segments, const Redundancy& redundancy, const Hazards& hazards)
      : job_(job), segments_(segments), hazards_(hazards), replicas_(redundancy, hazards.crash) {}

  Run run(random::Stream& stream) {
    Run run;
    replicas_.renew();
    draw(stream);
    std::uint64_t done = 0;
    bool restarting = false;
    while (done < segments_) {
      double spent_s = 0;
      const double phase_s =
          restarting ? job_.restart_s : job_.work_s / static_cast<double>(segments_) + job_.checkpoint_s;
      bool tainted = false;
      const bool completed = pass(phase_s, spent_s, tainted, stream);
      run.wall_s += spent_s;
      if (restarting) run.restart_s += spent_s;
      if (completed && !restarting) {
        ++done;
        run.checkpoint_s += job_.checkpoint_s;
        run.wrong = run.wrong || tainted || carried_;
        carried_ = false;
      } else if (completed) {
        carried_ = tainted;  // the restored state was corrupted while it was loaded; the next segment keeps it
      } else {
        if (!restarting) run.recompute_s += spent_s;
        run.interrupts += 1;
        carried_ = false;
        replicas_.renew();
        draw(stream);
      }
      restarting = !completed;
    }
    carried_ = false;
    return run;
  }

  std::uint64_t events() const { return events_; }

 private:
  double rate() const {
    return static_cast<double>(replicas_.alive()) * (1 / hazards_.node_mtbf_s + hazards_.corruption_rate_per_s);
  }
  void draw(random::Stream& stream) { to_event_s_ = rate() > 0 ? stream.exponential(1 / rate()) : 1e300; }

  // Lets a phase of this length pass; false when an interrupt cut it short.
  bool pass(double phase_s, double& spent_s, bool& tainted, random::Stream& stream) {
    while (spent_s + to_event_s_ <= phase_s) {
      spent_s += to_event_s_;
      ++events_;
      const double failures = 1 / hazards_.node_mtbf_s;
      const bool fails = stream.uniform() * (failures + hazards_.corruption_rate_per_s) < failures;
      const Replicas::Effect effect = fails ? replicas_.fail_one(stream) : replicas_.corrupt_one(stream);
      if (effect.interrupts) return false;
      tainted = tainted || effect.silent;
      draw(stream);
    }
    to_event_s_ -= phase_s - spent_s;
    spent_s = phase_s;
    return true;
  }

  CheckpointedJob job_;
  std::uint64_t segments_;
  Hazards hazards_;
  Replicas replicas_;
  double to_event_s_ = 0;
  bool carried_ = false;
  std::uint64_t events_ = 0;
};

}  // namespace

SimulatedJob simulate_job(const CheckpointedJob& job, std::uint64_t segments, const Redundancy& redundancy,
                          const Hazards& hazards, std::uint64_t runs, std::uint64_t most_events,
                          const random::Stream& stream) {
  SimulatedJob all;
  Simulation simulation(job, segments, redundancy, hazards);
  for (std::uint64_t number = 0; number < runs && (number < 2 || simulation.events() <= most_events); ++number) {
    random::Stream own = stream.child(number);
    const Run run = simulation.run(own);
    all.wall_s.add(run.wall_s);
    all.checkpoint_s.add(run.checkpoint_s);
    all.recompute_s.add(run.recompute_s);
    all.restart_s.add(run.restart_s);
    all.interrupts.add(run.interrupts);
    all.wrong_answers += run.wrong ? 1 : 0;
  }
  all.events = simulation.events();
  return all;
}

}  // namespace holdfast::plan
