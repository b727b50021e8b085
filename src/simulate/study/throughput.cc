#include "simulate/study/throughput.h"

#include <map>

#include "core/event/json.h"
#include "simulate/packet/simulate.h"
#include "simulate/study/prepared.h"
#include "simulate/study/provenance.h"

namespace holdfast::simulate::study {
namespace {

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

Status simulate_point(const Prepared& prepared, const ThroughputPoint& point, const Parameters& parameters,
                      Finished& finished) {
  auto traffic = make_traffic(point.traffic, *prepared.network, parameters, point.seed);
  if (!traffic.ok()) return traffic.status();
  Control control;
  control.limit = point.limit_ps;
  auto record = simulate(*prepared.network, prepared.tables, parameters, *traffic.value(), control);
  if (!record.ok()) return record.status();
  describe_run(record.value(), finished.result);
  finished.outcome = outcome_of(record.value(), traffic.value()->finite());
  return {};
}

/// The study of a file: reads it, and hands its points to measure().
class ThroughputStudy final : public Study {
 public:
  explicit ThroughputStudy(ThroughputFile file) : file_(std::move(file)) {
    name = file_.name;
    kind = "throughput";
    title = file_.title;
    std::vector<Json> changed;
    for (const ThroughputFile::OptionSet& set : file_.options) changed.push_back(changes(set.settings));
    for (const ThroughputFile::Placed& placed : file_.points) {
      Json parameters = parameters_of(placed.point);
      if (!changed[placed.options].empty()) parameters["options"] = changed[placed.options];
      add_provenance(placed.point, parameters);
      std::string key = event::json_line(parameters);
      points.push_back({placed.group, std::move(parameters), std::move(key)});
    }
  }

  Result<Finished> run(std::size_t index) const override {
    const ThroughputFile::Placed& placed = file_.points[index];
    return measure(placed.point, file_.options[placed.options].settings.options(), preparations_);
  }

 private:
  /// Of each worker: the tables of some 1,500 runs at 256 hosts, or of some 30 at 2,200.
  static constexpr std::uint64_t most_kept_bytes = std::uint64_t{128} << 20;

  /// The options that are given: a run depends on them, whatever their set is called.
  static Json changes(const config::AnySettings& settings) {
    Json changed = Json::object();
    for (const config::AnySettings::Shown& shown : settings.show())
      if (shown.origin.source != config::Source::row_default)
        changed[std::string(shown.option->row.name)] = shown.value;
    return changed;
  }

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

  /// What its result comes from besides (provenance.h).
  void add_provenance(const ThroughputPoint& point, Json& parameters) {
    if (point.fabric_text != nullptr) {
      std::string& digest = digests_[point.fabric_text.get()];
      if (digest.empty()) digest = digest_text(*point.fabric_text);
      parameters["inputs"]["fabric"] = digest;
    }
    if (point.engine.in_opensm) parameters["inputs"]["opensm"] = opensm_digest();
    parameters["computed_by"] = computed_by(kind);
  }

  ThroughputFile file_;
  std::map<const std::string*, std::string> digests_;  // of the texts of files
  mutable Preparations preparations_{most_kept_bytes};
};

}  // namespace

Result<Finished> measure(const ThroughputPoint& point, const Parameters& parameters) {
  Preparations own(0);
  return measure(point, parameters, own);
}

Result<Finished> measure(const ThroughputPoint& point, const Parameters& parameters, Preparations& preparations) {
  const double before = cpu_seconds();
  auto prepared = preparations.of(point);
  if (!prepared.ok()) return prepared.status();
  Finished finished{prepared.value()->outcome, prepared.value()->result};
  if (finished.outcome.empty()) {
    if (Status status = simulate_point(*prepared.value(), point, parameters, finished); !status.ok()) return status;
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
