#include "simulate/study/throughput.h"

#include "fabric/check/credit_loops.h"
#include "fabric/check/paths.h"
#include "fabric/formats/source.h"
#include "simulate/packet/simulate.h"

namespace holdfast::simulate::study {
namespace {

/// Counts of what failed, for the x axis and for whoever wonders.
void describe_failures(const fabric::Fabric& network, const fabric::Failures& failures, Json& result) {
  std::uint32_t links = 0, switches = 0, others = 0;
  for (const fabric::Failure& failure : failures.failed) {
    if (failure.component == fabric::Component::link)
      ++links;
    else if (failure.component == fabric::Component::switch_)
      ++switches;
    else
      ++others;
  }
  std::uint32_t total = 0, down = 0;
  for (const fabric::Link& link : network.links()) {
    if (!network.is_switch(network.port(link.a).node) || !network.is_switch(network.port(link.b).node)) continue;
    ++total;
    if (!link.up) ++down;
  }
  result["failed_links"] = links;
  result["failed_switches"] = switches;
  if (others > 0) result["failed_others"] = others;
  result["spared"] = failures.spared.size();
  result["links"] = total;
  result["links_down"] = down;
}

Result<fabric::Failures> damage(const ThroughputPoint& point, fabric::Fabric& network) {
  fabric::FailureRules rules;
  rules.seed = point.seed;
  if (point.scenario.ageing) {
    if (point.scenario.healthy()) return fabric::Failures{};
    return fabric::age(network, *point.scenario.ageing, rules);
  }
  if (point.scenario.healthy()) return fabric::Failures{};
  return fabric::fail(network, point.scenario.faults, rules);
}

void describe_run(const Record& record, Json& result) {
  result["ending"] = ending_name(record.ending);
  result["throughput_bytes_per_s"] = record.throughput_bytes_per_s;
  result["host_mean_bytes_per_s"] = record.host_mean_bytes_per_s;
  result["host_least_bytes_per_s"] = record.host_least_bytes_per_s;
  result["end_ps"] = record.end_ps;
  result["completion_ps"] = record.completion_ps;
  result["steady_share"] = record.steady_share;
  result["message_latency_mean_ps"] = record.message_latency.mean;
  result["packet_hops"] = record.packet_hops;
}

std::string outcome_of(const Record& record, bool finite) {
  switch (record.ending) {
    case Ending::deadlock:
      return "deadlock";
    case Ending::stuck:
      return "stuck";
    case Ending::limit:
      return finite ? "time limit" : "measured";
    default:
      return record.unroutable_messages + record.dropped_unroutable > 0 ? "lost pairs" : "measured";
  }
}

/// What the tables are worth before any packet moves. True: simulate.
bool examine(const fabric::Fabric& network, const fabric::Forwarding& tables, Finished& finished) {
  const fabric::PathReport paths = fabric::check_paths(network, tables, 1);
  const fabric::CreditLoopReport loops = fabric::check_credit_loops(network, tables, 1);
  finished.result["lanes_used"] = tables.lanes_used;
  finished.result["forwarding_index"] = paths.index.max;
  finished.result["mean_hops"] = paths.mean_hops();
  finished.result["credit_loops"] = loops.loops.size();
  finished.result["lost_pairs"] = paths.lost_pairs();
  if (paths.lost_pairs() == 0) return true;
  finished.outcome = "lost pairs";
  return false;
}

Status simulate_point(const fabric::Fabric& network, const fabric::Forwarding& tables, const ThroughputPoint& point,
                      const Parameters& parameters, Finished& finished) {
  auto traffic = make_traffic(point.traffic, network, parameters, point.seed);
  if (!traffic.ok()) return traffic.status();
  Control control;
  control.limit = point.limit_ps;
  auto record = simulate(network, tables, parameters, *traffic.value(), control);
  if (!record.ok()) return record.status();
  describe_run(record.value(), finished.result);
  finished.outcome = outcome_of(record.value(), traffic.value()->finite());
  return {};
}

std::string outcome_of(fabric::opensm::Verdict verdict) {
  switch (verdict) {
    case fabric::opensm::Verdict::timed_out:
      return "timed out";
    case fabric::opensm::Verdict::crashed:
      return "crashed";
    default:
      return "refused";
  }
}

/// The study of a file: reads it, and hands its points to measure().
class ThroughputStudy final : public Study {
 public:
  explicit ThroughputStudy(ThroughputFile file) : file_(std::move(file)) {
    name = file_.name;
    kind = "throughput";
    title = file_.title;
    Json changed = Json::object();  // options that are not at their default belong to what a run depends on
    for (const config::AnySettings::Shown& shown : file_.settings.show())
      if (shown.origin.source != config::Source::row_default)
        changed[std::string(shown.option->row.name)] = shown.value;
    for (const ThroughputFile::Placed& placed : file_.points) {
      Json parameters = parameters_of(placed.point);
      if (!changed.empty()) parameters["options"] = changed;
      std::string key = parameters.dump();
      points.push_back({placed.group, std::move(parameters), std::move(key)});
    }
  }

  Result<Finished> run(std::size_t index) const override {
    return measure(file_.points[index].point, file_.settings.options());
  }

 private:
  static Json parameters_of(const ThroughputPoint& point) {
    Json parameters = {{"fabric", point.fabric},
                       {"engine", point.engine.label()},
                       {"lanes", point.lanes},
                       {"failures", point.scenario.label}};
    if (const auto& ageing = point.scenario.ageing) {
      parameters["years"] = ageing->years;
      parameters["link_rate"] = ageing->link_rate;
      parameters["switch_rate"] = ageing->switch_rate;
      parameters["shape"] = ageing->shape;
      if (ageing->links_per_switch) parameters["links_per_switch"] = *ageing->links_per_switch;
    }
    parameters["seed"] = point.seed;
    parameters["traffic"] = format_traffic(point.traffic);
    if (point.limit_ps != never) parameters["limit_ps"] = point.limit_ps;
    return parameters;
  }

  ThroughputFile file_;
};

}  // namespace

Result<Finished> measure(const ThroughputPoint& point, const Parameters& parameters) {
  const double before = cpu_seconds();
  auto opened = fabric::open_fabric(point.fabric);
  if (!opened.ok()) return opened.status();
  fabric::Fabric& network = opened.value().fabric;
  auto failures = damage(point, network);
  if (!failures.ok()) return failures.status();
  Finished finished;
  describe_failures(network, failures.value(), finished.result);
  fabric::ContestRules rules;
  rules.lanes = static_cast<std::uint8_t>(point.lanes);
  rules.threads = 1;
  auto routing = fabric::run(point.engine, network, rules);
  if (!routing.ok()) return routing.status();
  if (routing.value().verdict != fabric::opensm::Verdict::routed) {
    finished.outcome = outcome_of(routing.value().verdict);
    finished.result["reason"] = routing.value().reason;
  } else if (examine(network, routing.value().forwarding, finished)) {
    if (Status status = simulate_point(network, routing.value().forwarding, point, parameters, finished); !status.ok())
      return status;
  }
  finished.cpu_s = cpu_seconds() - before;
  return finished;
}

Result<std::unique_ptr<Study>> read_throughput_study(std::string_view text, std::string_view name) {
  auto file = read_throughput_file(text, name);
  if (!file.ok()) return file.status();
  auto study = std::make_unique<ThroughputStudy>(std::move(file).value());
  study->text = text;
  return std::unique_ptr<Study>(std::move(study));
}

}  // namespace holdfast::simulate::study
