#include <algorithm>
#include <array>
#include <cmath>

#include "plan/collective_tree.h"
#include "plan/fabric_life.h"
#include "plan/facts.h"
#include "plan/fragment.h"
#include "plan/message_time.h"
#include "plan/recommend.h"

namespace holdfast::plan {
namespace {

using D = Dimension;
constexpr double year_s = 365.0 * 86400;
constexpr double vfrag_fragments = 64;
constexpr double day_s = 86400;
constexpr double most_packet_loss = 0.5;  ///< of a link, that the collective model is good for

// How many fragments the job sends, or one node in a year where there is no job.
struct Traffic {
  double fragments;
  const char* whose;
};

Traffic traffic_of(const Machine& machine, const Path& path, double data_bytes) {
  const double per_s = path.bandwidth_bit_per_s * machine.traffic_share.value / (8 * (data_bytes + path.header_bytes));
  if (!machine.has("job")) return {per_s * year_s, "a node's year"};
  return {per_s * machine.job_time_s.value * machine.job_nodes.value, "the job"};
}

double in_all(double each, double count) {
  return -std::expm1(-each * count);
}

// The shortest check that is good enough, or the best there is.
Check choose_check(const Path& path, double data_bytes, double fragments, double limit) {
  Check best = Check::none;
  for (Check check : checks) {
    if (in_all(undetected_chance(check, path, data_bytes), fragments) <= limit) return check;
    if (undetected_chance(check, path, data_bytes) < undetected_chance(best, path, data_bytes)) best = check;
  }
  return best;
}

Table lengths_table(const Path& path, double chosen) {
  Table table{"Fragment lengths", {"S_max", "goodput", "of bandwidth", "fragments sent again", "window"}, {}};
  for (double bytes = std::max(64.0, chosen / 8); bytes <= chosen * 8; bytes *= 2) {
    const double goodput = goodput_bit_per_s(path, bytes);
    table.rows.push_back({cell(bytes, D::bytes), cell(goodput, D::bit_rate),
                          cell(goodput / path.bandwidth_bit_per_s, D::share),
                          cell(corrupt_chance(path, bytes), D::share), rounded(window_fragments(path, bytes), 0)});
  }
  return table;
}

Table checks_table(const Path& path, double data_bytes, const Traffic& traffic) {
  Table table{fmt::format("Checks of fragments of {}", format_quantity(data_bytes, D::bytes)),
              {"check", "corrupt and passed", std::string("in ") + traffic.whose, "garbage passes"},
              {}};
  for (Check check : checks) {
    const double each = undetected_chance(check, path, data_bytes);
    table.rows.push_back({{std::string(check_name(check))},
                          {fmt::format("{:.1e}", each), each},
                          {fmt::format("{:.1e}", in_all(each, traffic.fragments)), in_all(each, traffic.fragments)},
                          {fmt::format("{:.1e}", garbage_chance(check)), garbage_chance(check)}});
  }
  return table;
}

Table times_table(const MessagePath& path, double most_bytes) {
  Table table{"Time of a message that is copied at both ends", {"length", "unchecked", "checked", "checking adds"}, {}};
  for (double bytes = 64; bytes <= most_bytes; bytes *= 8) {
    table.rows.push_back({cell(bytes, D::bytes), cell(message_time_s(path, bytes, false), D::time),
                          cell(message_time_s(path, bytes, true), D::time),
                          cell(checking_share(path, bytes), D::share)});
  }
  return table;
}

struct Candidate {
  Scheme scheme;
  int copies;
  Completion completion;
};

std::vector<Candidate> candidates(const Reduction& reduction) {
  std::vector<Candidate> all{{Scheme::single, 1, complete(reduction, Scheme::single, 1)}};
  for (Scheme scheme : {Scheme::temporal, Scheme::spatial}) {
    for (int copies : {2, 4, 6}) all.push_back({scheme, copies, complete(reduction, scheme, copies)});
  }
  all.push_back({Scheme::several_ports, 2, complete(reduction, Scheme::several_ports, 2)});
  return all;
}

/// What a second port of each adapter must be worth: the price of the machine with it, and of its jobs, which take less
/// time by what their collectives save.
struct SecondPort {
  double price = 1;  // of the machine, in units of the one without
  double saved = 0;  // of a job's time
  bool pays() const { return price * (1 - saved) < 1; }
};

SecondPort second_port(const Machine& machine, const Candidate& best, const Candidate& ports) {
  SecondPort second;
  second.price = 1 + machine.network_share.value * (machine.dual_port_cost.value - 1);
  const double saved_s = (best.completion.mean_ps - ports.completion.mean_ps) * 1e-12;
  second.saved = std::min(1.0, machine.collective_rate_per_s.value * saved_s);
  return second;
}

std::string second_port_advice(const SecondPort& second, const Candidate& ports) {
  return fmt::format(
      "{}: two ports an adapter would have the result after {} on average and save {} of a job's time, for {} of the "
      "machine's price.",
      second.pays() ? "Buy a second port" : "Do not buy a second port",
      format_quantity(ports.completion.mean_ps * 1e-12, D::time), format_quantity(second.saved, D::share),
      format_quantity(second.price - 1, D::share));
}

// The fewest copies that come within a thousandth of the least mean time: copies burden the links, so they must be
// worth something. Retransmission alone is first.
const Candidate& choose_scheme(const std::vector<Candidate>& all) {
  double least = all.front().completion.mean_ps;
  for (const Candidate& each : all)
    if (each.scheme != Scheme::several_ports) least = std::min(least, each.completion.mean_ps);
  const Candidate* best = nullptr;
  for (const Candidate& each : all) {
    if (each.scheme == Scheme::several_ports) continue;  // no choice of the job's
    if (each.completion.mean_ps > least * 1.001 || (best != nullptr && each.copies >= best->copies)) continue;
    best = &each;
  }
  return *best;
}

Reduction reduction_of(const Machine& machine) {
  Reduction reduction;
  for (double children : machine.levels.value) reduction.children.push_back(static_cast<std::uint64_t>(children));
  const auto ps = [](const Number& number) { return static_cast<std::int64_t>(std::llround(number.value * 1e12)); };
  const double payload = std::min(machine.packet_bytes.value, machine.collective_bytes.value);
  reduction.packets =
      static_cast<std::uint64_t>(std::ceil(machine.collective_bytes.value / machine.packet_bytes.value));
  reduction.packet_ps = std::llround(8 * payload / machine.link_bit_per_s.value * 1e12);
  reduction.hca_delay_ps = ps(machine.hca_delay_s);
  reduction.switch_delay_ps = ps(machine.switch_delay_s);
  reduction.retransmission_ps = retransmission_ps(payload, machine.link_bit_per_s.value, reduction.switch_delay_ps);
  reduction.packet_loss = -std::expm1(8 * payload * std::log1p(-machine.link_bit_error_rate.value));
  return reduction;
}

std::string collective_advice(const Candidate& best, const Candidate& single) {
  if (best.scheme == Scheme::single) {
    return fmt::format(
        "Do not replicate packets: with retransmission alone the root has the result after {} on average, and copies "
        "gain less than 0.1 %.",
        format_quantity(best.completion.mean_ps * 1e-12, D::time));
  }
  return fmt::format(
      "Send {} copies of each packet ({} replication): {} on average, against {} with retransmission alone.",
      best.copies, scheme_name(best.scheme), format_quantity(best.completion.mean_ps * 1e-12, D::time),
      format_quantity(single.completion.mean_ps * 1e-12, D::time));
}

double failures_per_s(const Machine& machine, const std::string& counted) {
  const double links = machine.links.value * machine.link_failures_per_s.value;
  const double switches = machine.switches.value * machine.switch_failures_per_s.value;
  if (counted == "links") return links;
  return counted == "switches" ? switches : links + switches;
}

Table engines_table(const FabricForecast& forecast, const std::string& unit) {
  Table table{
      "Routing engines over the fabric's life, throughput in " + unit,
      {"engine", "intercept", "slope", "R2", "mean", "at the end", "due after", "due on average", "5 % by", "95 % by"},
      {}};
  for (const EngineForecast& each : forecast.engines) {
    table.rows.push_back({{each.line.engine},
                          rounded(each.line.intercept, 1),
                          rounded(each.line.slope, 3),
                          rounded(each.line.r2, 2),
                          rounded(each.mean_throughput, 1),
                          rounded(each.last_throughput, 1),
                          {std::isinf(each.due_failures) ? "never" : fmt::format("{:.0f} failures", each.due_failures),
                           each.due_failures},
                          cell(each.due_mean_s, D::time),
                          cell(each.due_early_s, D::time),
                          cell(each.due_late_s, D::time)});
  }
  return table;
}

void advise_fabric(Section& section, const Machine& machine, const FabricForecast& forecast, double expected) {
  const EngineForecast& best = forecast.engines.front();
  section.advice.push_back(
      fmt::format("Route with {}: the greatest mean throughput over {} and {:.0f} expected failures.", best.line.engine,
                  format_quantity(machine.life_s.value, D::time), expected));
  if (std::isinf(best.due_mean_s)) {
    section.advice.push_back("Repair only what cuts hosts off: failures do not lower this engine's throughput.");
  } else {
    const bool within = best.due_mean_s <= machine.life_s.value;
    section.advice.push_back(fmt::format(
        "Maintenance is due after {:.0f} failures (throughput below {} of the fault-free), on average in year {:.1f}, "
        "{}.",
        best.due_failures, format_quantity(machine.throughput_threshold.value, D::share), best.due_mean_s / year_s,
        within ? "within the fabric's life" : "after the fabric's life: run it fail-in-place to its end"));
  }
  for (const Change& change : forecast.changes) {
    if (change.failures == 0) continue;
    section.advice.push_back(fmt::format("Change to {} after {:.0f} failures, about year {:.1f}.", change.engine,
                                         std::ceil(change.failures), change.time_s / year_s));
  }
}

}  // namespace

Section transport_section(const Machine& machine) {
  Section section{"transport", "Transport", {}, {}, {}, {}, {}};
  const Path path{machine.bandwidth_bit_per_s.value, machine.round_trip_s.value,    machine.bit_error_rate.value,
                  machine.header_bytes.value,        machine.fragment_cost_s.value, machine.garbage_share.value};
  const double bytes = enough_power_of_two(path, machine.message_bytes.value);
  const Traffic traffic = traffic_of(machine, path, bytes);
  const double limit = machine.undetected.value;
  const Check check = choose_check(path, bytes, traffic.fragments, limit);
  const double passed = in_all(undetected_chance(check, path, bytes), traffic.fragments);
  const double window = window_fragments(path, bytes);
  const double one_s = 8 * (bytes + path.header_bytes) / path.bandwidth_bit_per_s + path.fragment_cost_s;
  section.advice.push_back(fmt::format("Send fragments of {} (S_max), at least {:.0f} in flight, checked with {}.",
                                       format_quantity(bytes, D::bytes), window,
                                       check == Check::none ? "nothing: no check is needed" : check_name(check)));
  section.advice.push_back(
      fmt::format("Expect {} of the bandwidth and {:.3g} fragments sent again in {}.",
                  format_quantity(goodput_bit_per_s(path, bytes) / path.bandwidth_bit_per_s, D::share),
                  corrupt_chance(path, bytes) * traffic.fragments, traffic.whose));
  if (passed > limit) {
    section.advice.push_back(
        fmt::format("No check keeps undetected errors to {}; this one is the best.", format_quantity(limit, D::share)));
  }
  section.tables.push_back(lengths_table(path, bytes));
  section.tables.push_back(checks_table(path, bytes, traffic));
  const MessagePath message = {path.round_trip_s / 2, path.bandwidth_bit_per_s, machine.copy_bit_per_s.value,
                               machine.checksum_bit_per_s.value};
  section.tables.push_back(times_table(message, machine.message_bytes.value));
  auto& facts = section.facts;
  facts.push_back(fact("bandwidth", machine.bandwidth_bit_per_s, D::bit_rate));
  facts.push_back(fact("round trip", machine.round_trip_s, D::time));
  facts.push_back(fact("bit error rate", machine.bit_error_rate, D::real));
  facts.push_back(fact("corrupt fragments that are garbage", machine.garbage_share, D::share));
  facts.push_back(fact("header", machine.header_bytes, D::bytes));
  facts.push_back(fact("host's cost of a fragment", machine.fragment_cost_s, D::time));
  facts.push_back(fact("large message", machine.message_bytes, D::bytes));
  facts.push_back(fact("share of time that a node sends", machine.traffic_share, D::share));
  facts.push_back(fact("acceptable chance of an undetected error", machine.undetected, D::share));
  facts.push_back(fact("a core's copying", machine.copy_bit_per_s, D::bit_rate));
  facts.push_back(fact("a core's summing", machine.checksum_bit_per_s, D::bit_rate));
  facts.push_back(fact("checking adds at most", most_checking_share(message), D::share,
                       "NewMadeleine section 5.2: T(L), of messages without an end"));
  facts.push_back(
      fact("best length, not rounded", best_fragment_bytes(path), D::bytes, "closed form, docs/design/plan.md"));
  facts.push_back(fact("acknowledgement of 64 fragments after", path.round_trip_s + vfrag_fragments * one_s, D::time,
                       "Open MPI DR section 3.3: no timeout below this"));
  section.notes.push_back(
      "Bit errors are independent of each other here. Where whole fragments turn to garbage (a bad DMA, a firmware "
      "fault), "
      "the last column of the checks counts instead.");
  return section;
}

Section collective_section(const Machine& machine) {
  Section section{"collective", "Collectives in the fabric", {}, {}, {}, {}, {}};
  const Reduction reduction = reduction_of(machine);
  if (reduction.packet_loss > most_packet_loss) {
    section.advice.push_back(
        fmt::format("Repair the links: {} of the packets arrive corrupt, and no scheme makes up for it.",
                    format_quantity(reduction.packet_loss, D::share)));
    section.facts.push_back(fact("bit error rate of a link", machine.link_bit_error_rate, D::real));
    return section;
  }
  const std::vector<Candidate> all = candidates(reduction);
  const Candidate* best = &choose_scheme(all);
  section.advice.push_back(collective_advice(*best, all.front()));
  if (all.back().completion.mean_ps < best->completion.mean_ps)
    section.advice.push_back(second_port_advice(second_port(machine, *best, all.back()), all.back()));
  const double rate = machine.collective_rate_per_s.value;
  section.advice.push_back(fmt::format("Errors delay {:.3g} collectives a day, {:.3g} of them by a retransmission.",
                                       best->completion.delayed_chance * rate * day_s,
                                       best->completion.retransmitted_chance * rate * day_s));
  Table table{"Time until the root has the result",
              {"scheme", "copies", "undisturbed, ns", "mean, ns", "delayed", "by retransmission"},
              {}};
  for (const Candidate& each : all) {
    table.rows.push_back({{std::string(scheme_name(each.scheme))},
                          rounded(each.copies, 0),
                          rounded(static_cast<double>(each.completion.undisturbed_ps) * 1e-3, 1),
                          rounded(each.completion.mean_ps * 1e-3, 1),
                          cell(each.completion.delayed_chance, D::share),
                          cell(each.completion.retransmitted_chance, D::share)});
  }
  section.tables.push_back(std::move(table));
  double hosts = 1;
  for (double children : machine.levels.value) hosts *= children;
  auto& facts = section.facts;
  facts.push_back(fact("hosts of the tree", hosts, D::count, machine.levels.source));
  facts.push_back(fact("message", machine.collective_bytes, D::bytes));
  facts.push_back(fact("packet", machine.packet_bytes, D::bytes));
  facts.push_back(fact("data rate of a link", machine.link_bit_per_s, D::bit_rate));
  facts.push_back(fact("bit error rate of a link", machine.link_bit_error_rate, D::real));
  facts.push_back(fact("delay of an adapter", machine.hca_delay_s, D::time));
  facts.push_back(fact("delay of a switch", machine.switch_delay_s, D::time));
  facts.push_back(fact("collectives", machine.collective_rate_per_s, D::rate));
  facts.push_back(fact("price of a network for two ports an adapter", machine.dual_port_cost, D::real));
  facts.push_back(fact("the network's share of the price", machine.network_share, D::share));
  facts.push_back(fact("retransmission", static_cast<double>(reduction.retransmission_ps) * 1e-12, D::time,
                       "NAK of 30 bytes, 5 switch delays, the packet: docs/design/plan.md"));
  section.notes.push_back(
      "Closed form of the reduction alone; a broadcast down follows. Copies take their share of the links from "
      "everybody "
      "else, which is not counted.");
  return section;
}

Section fabric_section(const Machine& machine, const std::optional<RegressionFile>& regression) {
  Section section{"fabric", "Fabric", {}, {}, {}, {}, {}};
  const double per_s = failures_per_s(machine, regression ? regression->failures : "links and switches");
  auto& facts = section.facts;
  facts.push_back(fact("links between switches", machine.links, D::count));
  facts.push_back(fact("switches", machine.switches, D::count));
  facts.push_back(fact("failures of a link", machine.link_failures_per_s, D::rate));
  facts.push_back(fact("failures of a switch", machine.switch_failures_per_s, D::rate));
  facts.push_back(fact("maintenance threshold", machine.throughput_threshold, D::share));
  facts.push_back(fact("life", machine.life_s, D::time));
  facts.push_back(fact("failures in all", per_s, D::rate, "links and switches, times their rates"));
  if (!regression) {
    section.advice.push_back(
        fmt::format("Expect {:.1f} failures a year. Give fabric.regression, and this says when "
                    "maintenance is due and which engine to route with.",
                    per_s * year_s));
    return section;
  }
  const FabricForecast life =
      forecast({per_s, machine.life_s.value, machine.throughput_threshold.value}, regression->engines);
  advise_fabric(section, machine, life, per_s * machine.life_s.value);
  section.tables.push_back(engines_table(life, regression->unit));
  facts.push_back(words("engines compared", std::to_string(regression->engines.size()),
                        machine.regression_file.source + "; " + regression->title + ", " + regression->source));
  facts.push_back(words("failures that their lines count", regression->failures, machine.regression_file.value));
  const EngineForecast& best = life.engines.front();
  if (best.extrapolated) section.notes.push_back("The due number of failures is beyond those that were measured.");
  if (best.line.r2 < 0.5) {
    section.notes.push_back(fmt::format(
        "R2 is {:.2f}: failures explain little of this engine's throughput, so it falls less surely than the line says "
        "(Fail-in-Place, section V-C).",
        best.line.r2));
  }
  section.notes.push_back("A constant failure rate, and no repair but of failures that cut hosts off.");
  return section;
}

}  // namespace holdfast::plan
