#include <algorithm>
#include <cmath>

#include "core/random/stream.h"
#include "core/stats/confidence.h"
#include "plan/facts.h"
#include "plan/job_options.h"
#include "plan/job_simulation.h"
#include "plan/recommend.h"

namespace holdfast::plan {
namespace {

using D = Dimension;
constexpr std::uint64_t simulated_runs = 300;
constexpr std::uint64_t simulated_events = 3'000'000;
constexpr double most_simulated_nodes = 4e6;  ///< memory and time of the simulation grow with them

const char* const renewal_source = "renewal model, docs/design/plan.md";

std::string replicas_in_words(double degree) {
  if (degree == 1) return "one copy of every rank, no replicas,";
  if (degree == 2) return "two replicas of every rank";
  if (degree == 3) return "three replicas of every rank";
  return fmt::format("{} replicas of every other rank and {} of the rest", std::ceil(degree), std::floor(degree));
}

double interval_s(const JobOption& option) {
  return option.job.work_s / option.outcome.segments;
}

Table options_table(const std::vector<JobOption>& options, bool corruption) {
  Table table{
      "The job at each degree of redundancy",
      {"degree", "ranks", "nodes", "checkpoint every", "interrupts", "time to answer", "node-hours", "efficiency"},
      {}};
  if (corruption) table.columns.push_back("wrong answer");
  for (const JobOption& option : options) {
    std::vector<Cell> row{rounded(option.degree, 1),
                          cell(option.redundancy.ranks(), D::count),
                          cell(option.redundancy.nodes(), D::count),
                          cell(interval_s(option), D::time),
                          rounded(option.outcome.interrupts, 1),
                          cell(option.outcome.wall_s, D::time),
                          cell(std::round(option.node_s() / 3600), D::count),
                          cell(option.efficiency(), D::share)};
    if (corruption) row.push_back(cell(option.errors.wrong_answer(), D::share));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Bars cost_bars(const std::vector<JobOption>& options) {
  Bars bars{"Node-hours, by what they go to",
            {"the job's work", "replicas and comparing", "checkpoints", "work done again", "restarts"},
            {}};
  for (const JobOption& option : options) {
    if (!std::isfinite(option.outcome.wall_s)) continue;
    const double nodes = option.redundancy.nodes() / 3600;
    const Outcome& outcome = option.outcome;
    bars.bars.push_back(
        {fmt::format("degree {}", option.degree),
         {option.useful_node_s / 3600, std::max(0.0, outcome.work_s * nodes - option.useful_node_s / 3600),
          outcome.checkpoint_s * nodes, outcome.recompute_s * nodes, outcome.restart_s * nodes}});
  }
  return bars;
}

// The model's answer beside that of simulated jobs.
std::optional<Fact> simulated_fact(const JobOption& option, std::uint64_t seed) {
  if (!std::isfinite(option.outcome.wall_s) || option.redundancy.nodes() > most_simulated_nodes) return std::nullopt;
  // a single run that would be too long is not begun
  const double events = option.outcome.wall_s * option.redundancy.nodes() *
                        (1 / option.hazards.node_mtbf_s + option.hazards.corruption_rate_per_s);
  if (events > static_cast<double>(simulated_events) / 2 || option.outcome.segments > 1e6) return std::nullopt;
  const SimulatedJob job =
      simulate_job(option.job, static_cast<std::uint64_t>(option.outcome.segments), option.redundancy, option.hazards,
                   simulated_runs, simulated_events, random::Stream(seed).child("plan").child("job"));
  const auto interval = stats::mean_interval(job.wall_s, 0.95);
  if (!interval.ok()) return std::nullopt;
  return Fact{"time to answer, simulated",
              {fmt::format("{} ± {}", format_quantity(job.wall_s.mean(), D::time),
                           format_quantity((interval.value().high - interval.value().low) / 2, D::time)),
               job.wall_s.mean()},
              "s",
              fmt::format("{} simulated jobs, 95 %, seed {}", job.wall_s.count(), seed)};
}

std::vector<std::string> advice(const Inputs& inputs, const std::vector<JobOption>& options, const Choice& choice) {
  const Machine& machine = inputs.machine;
  const JobOption& best = options[choice.index];
  if (!choice.ends) {
    return {
        "Do not run this job as it is: at no degree up to 3 can it be expected to end. Cut checkpoint and restart "
        "times, or use fewer nodes."};
  }
  std::vector<std::string> lines;
  lines.push_back(fmt::format("Run with {} on {} nodes; write a checkpoint every {}.", replicas_in_words(best.degree),
                              format_quantity(best.redundancy.nodes(), D::count),
                              format_quantity(interval_s(best), D::time)));
  lines.push_back(fmt::format("Expect the answer after {} ({} of the node-hours are the job's work).",
                              format_quantity(best.outcome.wall_s, D::time),
                              format_quantity(best.efficiency(), D::share)));
  if (choice.index != 0 && std::isfinite(options[0].outcome.wall_s)) {
    lines.push_back(fmt::format("Without replicas it would take {} and {:.2f} times the node-hours.",
                                format_quantity(options[0].outcome.wall_s, D::time),
                                options[0].node_s() / best.node_s()));
  }
  if (!choice.acceptable) {
    lines.push_back(
        fmt::format("No degree up to 3 keeps the chance of a wrong answer to {}; this is the least there is.",
                    format_quantity(machine.job_wrong_answer.value, D::share)));
  }
  return lines;
}

std::string crash_words(std::string_view crash) {
  if (crash == "world") return "a whole replica";
  return crash == "job" ? "the job" : "one replica of a rank";
}

/// A file without [replication] says nothing of it.
Text crash_said(const Machine& machine) {
  return machine.crash.value.empty() ? Text{"rank", true, "default"} : machine.crash;
}

void add_facts(Section& section, const Inputs& inputs, const JobOption& best) {
  const Machine& machine = inputs.machine;
  auto& facts = section.facts;
  facts.push_back(fact("machine's nodes", machine.nodes, D::count));
  facts.push_back(fact("job's nodes without replicas", machine.job_nodes, D::count));
  facts.push_back(fact("job's work", machine.job_time_s, D::time));
  facts.push_back(fact("MTBF of a node", machine.node_mtbf_s, D::time));
  facts.push_back(fact("to write a checkpoint", machine.checkpoint_s, D::time));
  facts.push_back(fact("to restart", machine.restart_s, D::time));
  facts.push_back(fact("time in two replicas over one", inputs.overheads.dual, D::real, inputs.overheads.source));
  facts.push_back(fact("time in three replicas over one", inputs.overheads.triple, D::real, inputs.overheads.source));
  facts.push_back(words("a crash ends", crash_words(crash_said(machine).value), crash_said(machine).source));
  facts.push_back(fact("acceptable chance of a wrong answer", machine.job_wrong_answer, D::share));
  facts.push_back(
      words("what to make least", machine.job_aim.value == "time" ? "time" : "node-hours", machine.job_aim.source));
  facts.push_back(fact("mean time to interrupt", mean_time_to_interrupt_s(best.redundancy, best.hazards), D::time,
                       "survival model, docs/design/plan.md"));
  facts.push_back(fact("time to answer", best.outcome.wall_s, D::time,
                       best.degree == 1 ? "Daly 2006, equations 20 and 37" : renewal_source));
  if (auto simulated = simulated_fact(best, inputs.seed)) facts.push_back(*simulated);
}

/// What the model takes a crash to end, and what that means for who runs the job.
std::string crash_note(const Text& crash) {
  if (crash.value == "world")
    return "A crash ends the whole replica that it belongs to, and the job goes on with the others, as with `holdfast "
           "run "
           "--on-failure continue`; with different numbers of replicas it ends the job.";
  if (crash.value == "job") return "A crash ends the job, as with `holdfast run --on-failure abort`.";
  return "Replicas count as outliving each other's crashes rank by rank until the next restart, as in rMPI, which is "
         "more "
         "than `holdfast run` does: replication.crash = \"world\" or \"job\" plans for that.";
}

void add_notes(Section& section, const Machine& machine, const std::vector<JobOption>& options) {
  const double full = options.front().redundancy.ranks();
  if (std::any_of(options.begin(), options.end(), [&](const auto& each) { return each.redundancy.ranks() < full; })) {
    section.notes.push_back(
        "Where the machine lacks nodes for all replicas the job gets fewer ranks and takes longer in proportion. "
        "That is perfect scaling, which flatters the higher degrees.");
  }
  section.notes.push_back(crash_note(crash_said(machine)));
}

}  // namespace

Section job_section(const Inputs& inputs) {
  Section section{"job", "Redundancy and checkpoints", {}, {}, {}, {}, {}};
  const std::vector<JobOption> options = job_options(inputs);
  const Choice choice = choose(inputs.machine, options);
  section.advice = advice(inputs, options, choice);
  section.tables.push_back(options_table(options, inputs.machine.has("corruption")));
  section.charts.push_back(cost_bars(options));
  add_facts(section, inputs, options[choice.index]);
  add_notes(section, inputs.machine, options);
  return section;
}

Section corruption_section(const Inputs& inputs) {
  const Machine& machine = inputs.machine;
  Section section{"corruption", "Silent corruption", {}, {}, {}, {}, {}};
  const std::vector<JobOption> options = job_options(inputs);
  Table table{"Expected wrong answers that nobody notices, by cause",
              {"degree", "chance", "no living partner", "two alike", "equal digests", "never compared", "node-hours"},
              {}};
  for (const JobOption& option : options) {
    const SilentErrors& e = option.errors;
    const auto small = [](double value) { return Cell{fmt::format("{:.2g}", value), value}; };
    table.rows.push_back({rounded(option.degree, 1), cell(e.wrong_answer(), D::share), small(e.unprotected),
                          small(e.identical), small(e.collisions), small(e.escaped),
                          cell(std::round(option.node_s() / 3600), D::count)});
  }
  section.tables.push_back(std::move(table));
  const double alone = options.front().errors.wrong_answer();
  const double limit = machine.job_wrong_answer.value;
  section.advice.push_back(
      fmt::format("Unprotected, the answer is wrong with a chance of {}, and nobody would notice: {}.",
                  format_quantity(alone, D::share), alone <= limit ? "acceptable here" : "more than is acceptable"));
  for (const JobOption& option : options) {
    if (option.errors.wrong_answer() > limit || !std::isfinite(option.outcome.wall_s)) continue;
    section.advice.push_back(fmt::format(
        "The least degree that keeps it to {} is {}, for {:.2f} times the node-hours of the job's work alone.",
        format_quantity(limit, D::share), option.degree, option.node_s() / option.useful_node_s));
    break;
  }
  section.facts.push_back(fact("harmful corruptions of a node", machine.corruption_rate_per_s, D::rate));
  section.facts.push_back(fact("share that no comparison sees", machine.escape_share, D::share));
  section.facts.push_back(fact("share of doubles that look alike", machine.identical_share, D::share));
  section.facts.push_back(fact("bits of a digest", machine.digest_bits, D::count));
  section.facts.push_back(
      fact("time in two replicas over one", inputs.overheads.dual, D::real, inputs.overheads.source));
  section.facts.push_back(
      fact("time in three replicas over one", inputs.overheads.triple, D::real, inputs.overheads.source));
  section.notes.push_back(
      "With two replicas a corruption is detected and the job falls back to its last checkpoint; with three it is "
      "outvoted "
      "and the job goes on (RedMPI, section 3.2).");
  return section;
}

}  // namespace holdfast::plan
