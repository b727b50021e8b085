#include "plan/redmpi_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/random/stream.h"
#include "core/stats/confidence.h"
#include "plan/availability.h"
#include "plan/checkpoint.h"
#include "plan/job_simulation.h"
#include "plan/redundancy.h"

namespace holdfast::plan {
namespace {

constexpr double hour_s = 3600;
constexpr double year_s = 8760 * hour_s;
constexpr double checkpoint_s = 300;  // RedMPI section 7, after [12]
constexpr double restart_s = 600;
constexpr double confidence = 0.95;
constexpr std::uint64_t most_events = 20'000'000;  ///< of simulated failures for one line
constexpr std::uint64_t runs = 1000;

struct Printed {  ///< in percent, as the paper has it
  double work, checkpoint, recompute, restart;
};

struct Line {
  double nodes;
  double job_h;
  double mtbf_y;
  Printed printed;
};

// RedMPI, Tables 2 and 3.
constexpr std::array table_2{Line{100, 168, 5, {96, 1, 3, 0}}, Line{1000, 168, 5, {92, 7, 1, 0}},
                             Line{10000, 168, 5, {75, 15, 6, 4}}, Line{100000, 168, 5, {35, 20, 10, 35}}};
constexpr std::array table_3{Line{100000, 168, 5, {35, 20, 10, 35}}, Line{100000, 700, 5, {38, 18, 9, 43}},
                             Line{100000, 5000, 1, {5, 5, 5, 85}}};

Cell percent(double share) {
  return {fmt::format("{:.1f}", 100 * share), share};
}
Cell printed(double value) {
  return {fmt::format("{:.0f}", value), value / 100};
}

struct Estimate {
  Outcome model;
  SimulatedJob simulated;
};

Estimate estimate(double ranks, double degree, double job_h, double mtbf_s, const random::Stream& stream) {
  const CheckpointedJob job{job_h * hour_s, checkpoint_s, restart_s};
  const Redundancy redundancy = split_ranks(ranks, degree);
  const Hazards hazards{mtbf_s, 0};
  const auto survives = [&](double t) { return survival(redundancy, hazards, t); };
  const double mean_s = mean_time_to_interrupt_s(redundancy, hazards);
  Estimate result;
  if (degree == 1) {
    const double segments = std::max(1.0, std::round(job.work_s / daly_interval_s(checkpoint_s, mean_s)));
    result.model = memoryless_outcome(job, mean_s, job.work_s / segments);
  } else {
    result.model = best_outcome(job, survives, mean_s);
  }
  result.simulated = simulate_job(job, static_cast<std::uint64_t>(result.model.segments), redundancy, hazards, runs,
                                  most_events, stream);
  return result;
}

std::vector<Cell> ours(const Line& line, const random::Stream& stream) {
  const Estimate estimated = estimate(line.nodes, 1, line.job_h, line.mtbf_y * year_s, stream);
  const Outcome& model = estimated.model;
  const SimulatedJob& simulated = estimated.simulated;
  // the share of work in the mean wall time, with the interval of that mean turned over
  const stats::Interval wall = stats::mean_interval(simulated.wall_s, confidence).value();
  const double half = 0.5 * (model.work_s / wall.low - model.work_s / wall.high);
  const double simulated_share = model.work_s / simulated.wall_s.mean();
  return {percent(model.efficiency()),
          percent(model.checkpoint_s / model.wall_s),
          percent(model.recompute_s / model.wall_s),
          percent(model.restart_s / model.wall_s),
          {fmt::format("{:.2f} ± {:.2f}", 100 * simulated_share, 100 * half), simulated_share}};
}

template <std::size_t count>
Table table_of(std::string title, const std::array<Line, count>& lines, const random::Stream& stream) {
  Table table{std::move(title),
              {"nodes", "job", "MTBF", "work", "chkpt", "recomp", "restart", "simulated work", "paper: work", "chkpt",
               "recomp", "restart", "sum"},
              {}};
  for (const Line& line : lines) {
    std::vector<Cell> row{{fmt::format("{:.0f}", line.nodes), line.nodes},
                          {fmt::format("{:.0f} h", line.job_h), line.job_h * hour_s},
                          {fmt::format("{:.0f} y", line.mtbf_y), line.mtbf_y * year_s}};
    const std::uint64_t number = table.rows.size();
    for (Cell& cell : ours(line, stream.child(table.title).child(number))) row.push_back(std::move(cell));
    const Printed& p = line.printed;
    for (double value : {p.work, p.checkpoint, p.recompute, p.restart}) row.push_back(printed(value));
    row.push_back(printed(p.work + p.checkpoint + p.recompute + p.restart));
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// What a node must be rated so that a million of them, alone or in replicas, are available as a million of 7 nines.
Table ratings() {
  constexpr double ranks = 1e6;
  const double system = system_availability(ranks, 1, 1 - 1e-7);
  Table table{fmt::format("Nines of a node, for a system of a million ranks that is available {:.1f} %", 100 * system),
              {"nodes", "nines needed", "whole", "MTTF of a node may be shorter by", "paper"},
              {}};
  for (const int degree : {1, 2, 3}) {
    const double node = needed_node_availability(ranks, degree, system);
    const double shorter = (1 - node) / 1e-7;
    constexpr std::array<double, 3> paper{7, 3, 2};
    const double said = paper[static_cast<std::size_t>(degree - 1)];
    table.rows.push_back({{fmt::format("{} million", degree), ranks * degree},
                          {fmt::format("{:.2f}", nines(node)), nines(node)},
                          {fmt::format("{:.0f}", std::floor(nines(node) + 1e-6)), std::floor(nines(node) + 1e-6)},
                          {fmt::format("{:.0f}", shorter), shorter},
                          {fmt::format("{:.0f}", said), said}});
  }
  return table;
}

Section section_7(const random::Stream& stream) {
  constexpr double ranks = 200000, job_h = 168;
  const Estimate alone = estimate(ranks, 1, job_h, 5 * year_s, stream.child("alone"));
  const Estimate pairs = estimate(ranks, 2, job_h, 5 * year_s, stream.child("pairs"));
  const auto stretch = [&](const Outcome& outcome) { return outcome.wall_s / (job_h * hour_s); };
  const auto simulated = [&](const SimulatedJob& job) {
    const stats::Interval wall = stats::mean_interval(job.wall_s, confidence).value();
    const double work_s = job_h * hour_s;
    return Cell{fmt::format("{:.3f} ± {:.3f}", job.wall_s.mean() / work_s, (wall.high - wall.low) / 2 / work_s),
                job.wall_s.mean() / work_s};
  };
  const auto plain = [](double value, int digits) { return Cell{fmt::format("{:.{}f}", value, digits), value}; };
  const double shorter = stretch(alone.model) / stretch(pairs.model);
  Section section{"section-7", "Section 7: 200,000 nodes alone against 400,000 in pairs", {}, {}, {}, {}, {}};
  section.tables.push_back({"168 h of work, 5 years MTBF of a node",
                            {"quantity", "closed form", "simulated", "paper"},
                            {{{"wall time over work, 200,000 nodes alone"},
                              plain(stretch(alone.model), 2),
                              simulated(alone.simulated),
                              {"8", 8}},
                             {{"wall time over work, 400,000 nodes in pairs"},
                              plain(stretch(pairs.model), 3),
                              simulated(pairs.simulated),
                              {"1 (8 x 1/8)", 1}},
                             {{"pairs shorter by"},
                              plain(shorter, 2),
                              plain(alone.simulated.wall_s.mean() / pairs.simulated.wall_s.mean(), 2),
                              {"8", 8}},
                             {{"throughput of pairs over alone, for twice the nodes"},
                              plain(shorter / 2, 2),
                              plain(alone.simulated.wall_s.mean() / pairs.simulated.wall_s.mean() / 2, 2),
                              {"4", 4}},
                             {{"mean time to interrupt, alone, h"}, plain(5 * 8760 / ranks, 3), {"-"}, {"-"}},
                             {{"mean time to interrupt, pairs, h"},
                              plain(mean_time_to_crash_s(ranks, 2, 5 * year_s) / hour_s, 1),
                              {"-"},
                              {"-"}}}});
  section.tables.push_back(ratings());
  return section;
}

}  // namespace

Plan redmpi_tables(std::uint64_t seed) {
  const random::Stream stream = random::Stream(seed).child("plan").child("redmpi");
  Plan plan{
      "RedMPI's job efficiency, computed again",
      fmt::format("Shares of the wall time in percent. A checkpoint takes 5 min, a restart 10 min (RedMPI, section "
                  "7); the interval is Daly's higher-order optimum, cut to whole segments. Simulated: mean of up "
                  "to {} runs with its 95 % interval, seed {}.",
                  runs, seed),
      {}};
  Section tables{"tables", "Section 1: Tables 2 and 3", {}, {}, {}, {}, {}};
  tables.tables.push_back(table_of("Table 2: a job of 168 h, 5 years MTBF of a node", table_2, stream));
  tables.tables.push_back(table_of("Table 3: 100,000 nodes", table_3, stream));
  tables.notes.push_back(
      "The paper's line for 700 h adds up to 108 %, so at least one of its figures is misprinted. docs/results says "
      "where "
      "else the figures part, and why.");
  plan.sections.push_back(std::move(tables));
  plan.sections.push_back(section_7(stream));
  return plan;
}

}  // namespace holdfast::plan
