#include "simulate/predict/prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "core/event/json.h"
#include "core/fault/grammar.h"
#include "core/input/text_file.h"
#include "fabric/compare/contender.h"
#include "fabric/formats/drawing.h"
#include "fabric/formats/source.h"
#include "fabric/topology/generate.h"
#include "simulate/job/job_record.h"
#include "simulate/job/job_traffic.h"
#include "simulate/job/link_load.h"
#include "simulate/job/reach.h"
#include "simulate/packet/hosts.h"
#include "simulate/packet/outages.h"
#include "simulate/packet/simulate.h"
#include "simulate/study/prepared.h"
#include "simulate/study/provenance.h"
#include "simulate/transport/endpoints.h"
#include "simulate/transport/simulate_transport.h"

namespace holdfast::simulate::predict {
namespace {

using study::Finished;
using study::Json;

constexpr std::size_t observed_ranks = 32, observed_bins = 160, fullest_links = 5;

/// The label of runs by tables from a file.
constexpr const char* by_tables = "tables";

/// The sender that is not plain.
constexpr const char* over_transport = "transport";

Json given_options(const config::AnySettings& settings) {
  Json given = Json::object();
  for (const config::AnySettings::Shown& shown : settings.show())
    if (shown.origin.source != config::Source::row_default) given[std::string(shown.option->row.name)] = shown.value;
  return given;
}

/// A digest of the files of a folder and their names.
Result<std::string> digest_folder(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  std::filesystem::directory_iterator entries(folder, error);
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error))
    paths.push_back(entries->path().string());
  if (error || paths.empty())
    return Status{Code::io, "reading the trace " + folder, error ? error.message() : "it is gone",
                  "is it still there?"};
  std::sort(paths.begin(), paths.end());
  std::string digests;
  for (const std::string& path : paths) {
    const auto bytes = input::read_file(path, "the recording");
    if (!bytes.ok()) return bytes.status();
    digests += std::filesystem::path(path).filename().string() + " " + study::digest_text(bytes.value()) + "\n";
  }
  return study::digest_text(digests);
}

/// What is broken when the job starts, and what fails while it runs.
struct Failures {
  study::Scenario before;
  std::string label;
  std::vector<fault::Fault> during;
};

Result<Failures> read_failures(const std::string& text) {
  Failures failures;
  failures.label = text;
  auto faults = fault::parse(text, "--fail");
  if (!faults.ok()) return faults.status();
  for (fault::Fault& each : faults.value()) {
    if (each.kind < fault::Kind::fail_link || std::holds_alternative<fault::Mean>(each.when))
      return Status{Code::bad_input, "reading --fail",
                    "'" + fault::format(each) + "' is no failure of a fabric from the start or at a moment",
                    "as in 'fail-link share 1%' or 'fail-link time 2s'"};
    (strikes_during_run(each, 0) ? failures.during : failures.before.faults).push_back(std::move(each));
  }
  if (faults.value().empty())
    return Status{Code::bad_input, "reading --fail", "'" + text + "' has no fault", "as in 'fail-link share 1%'"};
  if (!failures.before.faults.empty()) failures.before.label = text;
  return failures;
}

/// What strikes in the run is a part that is named, or one that the seed chooses.
bool is_random(const Failures& failures) {
  const auto by_share = [](const fault::Fault& each) { return std::holds_alternative<fault::Share>(each.when); };
  const auto by_chance = [](const fault::Fault& each) {
    const bool named = each.place.link || !each.place.switch_name.empty() || !each.place.hca.empty();
    return each.kind == fault::Kind::noisy_link || !named;
  };
  return std::ranges::any_of(failures.before.faults, by_share) || std::ranges::any_of(failures.during, by_chance);
}

/// How the subnet manager of every run goes about it, for people.
std::string manager_in_words(const SubnetManager& manager) {
  return fmt::format(
      "subnet manager: hears of a change after {} us, computes for {} us, writes a switch's tables in {} us",
      manager.trap / ps_per_us, manager.compute.value_or(0) / ps_per_us, manager.write / ps_per_us);
}

/// One combination, as it is run.
struct Run {
  study::ThroughputPoint point;  ///< but its traffic
  bool by_tables = false;
  job::PlacementRules placement;
  job::Protection protection;
  bool over_transport = false;
  bool in_network = false;           ///< collectives
  std::vector<fault::Fault> during;  ///< what fails while the job runs
};

std::string text_of(Ending ending) {
  switch (ending) {
    case Ending::complete:
      return "halted";  // the network has nothing more to do, and the job waits
    case Ending::limit:
      return "time limit";
    default:
      return std::string(ending_name(ending));
  }
}

/// A digit for each activity's share of a bin, such that they add up as the shares do.
std::array<char, job::activities> ninths(const job::Timeline& timeline, std::size_t row, std::size_t bin) {
  std::array<char, job::activities> digits{};
  double sum = 0;
  int before = 0;
  for (std::size_t which = 0; which < job::activities; ++which) {
    sum += timeline.share(row, bin, static_cast<job::Activity>(which));
    const int upto = std::clamp(static_cast<int>(sum * 9 + 0.5), before, 9);
    digits[which] = static_cast<char>('0' + upto - before);
    before = upto;
  }
  return digits;
}

Json to_json(const job::JobTraffic& traffic) {
  const job::Timeline& timeline = traffic.timeline();
  std::array<std::vector<std::string>, job::activities> rows;
  for (std::size_t row = 0; row < timeline.rows(); ++row) {
    for (auto& each : rows) each.emplace_back();
    for (std::size_t bin = 0; bin < timeline.bins(); ++bin) {
      const auto digits = ninths(timeline, row, bin);
      for (std::size_t which = 0; which < job::activities; ++which) rows[which].back() += digits[which];
    }
  }
  return {{"bin_ps", timeline.bin_ps()},
          {"ranks", traffic.observed()},
          {"computing", rows[0]},
          {"message", rows[1]},
          {"collective", rows[2]}};
}

class Prediction final : public study::Study {
 public:
  explicit Prediction(Question question) : question_(std::move(question)) {
    kind = "prediction";
    name = std::filesystem::path(question_.trace).lexically_normal().filename().string();
    if (name.empty()) name = question_.trace;
    title = "the recorded " + name + " on " + question_.fabric;
  }

  Status open() {
    auto program = job::read_program(question_.trace);
    if (!program.ok()) return program.status();
    program_ = std::move(program).value();
    auto digest = digest_folder(question_.trace);
    if (!digest.ok()) return digest.status();
    inputs_["trace"] = digest.value();
    if (Status status = open_fabric(); !status.ok()) return status;
    if (Status status = make_runs(); !status.ok()) return status;
    text = event::json_line(about());
    return {};
  }

  Result<Finished> run(std::size_t index) const override {
    const Run& run = runs_[index];
    const double before = study::cpu_seconds();
    auto prepared = run.by_tables ? by_given_tables(run) : preparations_.of(run.point);
    if (!prepared.ok()) return prepared.status();
    Finished finished{prepared.value()->outcome, prepared.value()->result};
    if (finished.outcome.empty()) {
      if (Status status = replay(run, *prepared.value(), finished); !status.ok()) return status;
    }
    finished.cpu_s = study::cpu_seconds() - before;
    return finished;
  }

 private:
  static constexpr std::uint64_t most_kept_bytes = std::uint64_t{128} << 20;

  Status open_fabric() {
    std::error_code none;
    if (std::filesystem::is_regular_file(question_.fabric, none)) {
      auto read = input::read_text_file(question_.fabric, "the fabric");
      if (!read.ok()) return read.status();
      inputs_["fabric"] = study::digest_text(read.value());
      fabric_text_ = std::make_shared<const std::string>(std::move(read).value());
    }
    auto opened = fabric_text_ != nullptr ? fabric::read_fabric(*fabric_text_, question_.fabric)
                                          : fabric::open_fabric(question_.fabric);
    if (!opened.ok()) return opened.status();
    network_ = std::move(opened.value().fabric);
    if (network_.top_lid() == 0) network_.assign_lids();
    for (std::string& note : opened.value().notes) notes_.push_back(std::move(note));
    if (question_.tables.forwarding.empty()) return {};
    auto tables = fabric::open_tables(network_, question_.tables);
    if (!tables.ok()) return tables.status();
    tables_ = std::move(tables.value().forwarding);
    for (std::string& note : tables.value().notes) notes_.push_back(std::move(note));
    std::string digests;
    for (const std::string* path :
         {&question_.tables.forwarding, &question_.tables.lanes, &question_.tables.path_records})
      if (!path->empty()) {
        const auto bytes = input::read_file(*path, "the tables");
        if (!bytes.ok()) return bytes.status();
        digests += study::digest_text(bytes.value());
      }
    inputs_["tables"] = study::digest_text(digests);
    return {};
  }

  Status make_runs() {
    std::vector<Failures> scenarios(1);
    scenarios.front().label = scenarios.front().before.label = "none";
    for (const std::string& each : question_.failures) {
      auto failures = read_failures(each);
      if (!failures.ok()) return failures.status();
      fails_in_runs_ = fails_in_runs_ || !failures.value().during.empty();
      scenarios.push_back(std::move(failures).value());
    }
    if (Status status = read_protection(); !status.ok()) return status;
    if (Status status = check_senders(); !status.ok()) return status;
    if (std::string idle = job::idle_adapters_in_words(network_); !idle.empty() && any_plain())
      notes_.push_back(std::move(idle));
    for (const std::string& each : question_.collectives) {
      auto in_network = job::read_collectives(each);
      if (!in_network.ok()) return in_network.status();
      if (!in_network.value()) continue;
      if (Status status = job::check_in_network(any_over_transport(), fails_in_runs_); !status.ok()) return status;
      notes_.push_back("collectives of switches have the links to themselves, and are not in the load of links");
    }
    std::vector<job::PlacementRules> placements;
    for (const std::string& placement : question_.placements) {
      auto distribution = job::parse_distribution(placement);
      if (!distribution.ok()) return distribution.status();
      placements.push_back({distribution.value(), question_.ranks_per_host, question_.hosts, 1});
      for (const int degree : question_.replicas)
        if (auto placed = hosts_of(placements.back(), degree, network_); !placed.ok()) return placed.status();
    }
    if (Status status = check_size(scenarios, placements); !status.ok()) return status;
    // Seeds outermost: what was cut short has a whole picture with fewer seeds.
    for (std::uint64_t seed = 1; seed <= question_.seeds; ++seed)
      for (const Failures& scenario : scenarios)
        for (std::size_t i = 0; i < placements.size(); ++i)
          for (const int degree : question_.replicas) {
            if (seed > 1 && !by_chance(scenario, placements[i], degree)) continue;
            for (const std::string& sender : question_.senders)
              for (const std::string& collectives : question_.collectives) {
                const Manner manner{degree, sender == over_transport, collectives == "in-network"};
                for (const fabric::Contender& engine : question_.engines)
                  add(scenario, placements[i], question_.placements[i], manner, &engine, seed);
                if (!question_.tables.forwarding.empty())
                  add(scenario, placements[i], question_.placements[i], manner, nullptr, seed);
              }
          }
    return {};
  }

  /// Whether the seed matters.
  bool by_chance(const Failures& scenario, const job::PlacementRules& placement, int degree) const {
    return placement.distribution == job::Distribution::random || is_random(scenario) ||
           (degree > 1 && flips_by_chance_);
  }

  Status check_size(const std::vector<Failures>& scenarios, const std::vector<job::PlacementRules>& placements) const {
    double ways = 0;
    for (const Failures& scenario : scenarios)
      for (const job::PlacementRules& placement : placements)
        for (const int degree : question_.replicas)
          ways += by_chance(scenario, placement, degree) ? static_cast<double>(question_.seeds) : 1;
    for (const std::size_t list : {question_.senders.size(), question_.collectives.size(),
                                   question_.engines.size() + (question_.tables.forwarding.empty() ? 0 : 1)})
      ways *= static_cast<double>(list);
    if (ways <= study::most_points) return {};
    return {Code::bad_input, "laying out the prediction", "it would be more than 1,000,000 runs",
            "give fewer seeds, failures, engines or placements"};
  }

  bool any_plain() const { return std::ranges::find(question_.senders, "plain") != question_.senders.end(); }
  bool any_over_transport() const {
    return std::ranges::find(question_.senders, over_transport) != question_.senders.end();
  }

  /// Over the transport the adapters of a host stand in for each other.
  bool uses_rails() const { return question_.datagrams.options().rails > 1; }

  Status check_senders() const {
    for (const std::string& sender : question_.senders)
      if (sender != "plain" && sender != over_transport)
        return {Code::bad_input, "reading --senders", "'" + sender + "' is no sender",
                "give plain, transport, or both"};
    if (!any_over_transport()) return {};
    const TransportSetting setting = transport_of(1);
    if (Status status = check(setting, question_.parameters.options()); !status.ok()) return status;
    return find_endpoints(network_, setting.datagrams.rails).status();
  }

  TransportSetting transport_of(std::uint64_t seed) const {
    return {question_.engine_options.options(), question_.datagrams.options(), {}, seed};
  }

  job::Protection protection_of(int degree, std::uint64_t seed) const {
    job::Protection protection;
    protection.degree = degree;
    protection.protocol = question_.replica_protocol;
    protection.costs = question_.replication_costs.options();
    if (degree > 1) protection.inject = question_.inject;
    protection.seed = seed;
    return protection;
  }

  Status read_protection() {
    const auto ranks = static_cast<std::uint32_t>(program_.ranks.size());
    const int most = *std::ranges::max_element(question_.replicas);
    if (most == 1 && !question_.inject.empty())
      return {Code::bad_input, "reading --inject", "no run has replicas, which would notice", "give --replicas 1,2,3"};
    for (const int degree : question_.replicas)
      if (Status status = job::check(protection_of(degree, 1), ranks); !status.ok()) return status;
    const auto faults = fault::parse(question_.inject, "--inject");
    flips_by_chance_ = faults.ok() && std::ranges::any_of(faults.value(), [](const fault::Fault& each) {
                         return std::holds_alternative<fault::Rate>(each.when) || !each.bit;
                       });
    if (const auto how = job::parse_replica_placement(question_.place_replicas);
        how.how == job::ReplicaPlacement::How::map) {
      auto map = input::read_text_file(how.file, "the map of replicas");
      if (!map.ok()) return map.status();
      inputs_["replica_map"] = study::digest_text(map.value());
    }
    return {};
  }

  Result<std::vector<std::uint32_t>> hosts_of(const job::PlacementRules& rules, int degree,
                                              const fabric::Fabric& network) const {
    std::vector<bool> taken(Hosts(network).count(), false);
    return job::place_replicas(rules, job::parse_replica_placement(question_.place_replicas),
                               static_cast<std::uint32_t>(program_.ranks.size()), degree, network, taken);
  }

  /// What a job without replicas does not depend on is not in its key.
  void add_protection(int degree, Json& parameters) const {
    if (degree == 1) {
      parameters["inputs"].erase("replica_map");
      return;
    }
    parameters["replicas"] = degree;
    parameters["protocol"] = job::protocol_name(question_.replica_protocol);
    parameters["place_replicas"] = question_.place_replicas;
    if (!question_.inject.empty()) parameters["inject"] = question_.inject;
    if (Json given = given_options(question_.replication_costs); !given.empty()) parameters["costs"] = std::move(given);
  }

  /// Likewise, of one with InfiniBand's own connections.
  void add_sender(Json& parameters) const {
    parameters["sender"] = over_transport;
    if (Json given = given_options(question_.engine_options); !given.empty())
      parameters["transport"] = std::move(given);
    if (Json given = given_options(question_.datagrams); !given.empty()) parameters["datagram"] = std::move(given);
  }

  /// How the job is done.
  struct Manner {
    int degree = 1;
    bool over_transport = false, in_network = false;
  };

  void add(const Failures& scenario, job::PlacementRules placement, const std::string& placement_name,
           const Manner& manner, const fabric::Contender* engine, std::uint64_t seed) {
    Run run;
    run.over_transport = manner.over_transport;
    run.in_network = manner.in_network;
    run.placement = std::move(placement);
    run.placement.seed = seed;
    run.protection = protection_of(manner.degree, seed);
    run.by_tables = engine == nullptr;
    run.point.fabric = question_.fabric;
    run.point.fabric_text = fabric_text_;
    if (engine != nullptr) run.point.engine = *engine;
    run.point.lanes = question_.lanes;
    run.point.scenario = scenario.before;
    run.during = scenario.during;
    run.point.seed = seed;
    Json parameters = {{"trace", name},
                       {"fabric", question_.fabric},
                       {"engine", engine != nullptr ? engine->label() : by_tables},
                       {"lanes", question_.lanes},
                       {"failures", scenario.label},
                       {"placement", placement_name},
                       {"ranks_per_host", question_.ranks_per_host},
                       {"seed", seed},
                       {"compute_scale", question_.compute_scale}};
    for (const job::NamedHost& host : question_.hosts) parameters["hosts"].push_back({host.name, host.places});
    if (question_.limit_ps != never) parameters["limit_ps"] = question_.limit_ps;
    if (Json given = given_options(question_.protocol); !given.empty()) parameters["mpi"] = std::move(given);
    if (Json given = given_options(question_.parameters); !given.empty()) parameters["options"] = std::move(given);
    parameters["inputs"] = inputs_;
    add_protection(manner.degree, parameters);
    if (run.over_transport) add_sender(parameters);
    if (run.in_network) parameters["collectives"] = "in-network";
    if (engine == nullptr || !engine->in_opensm) parameters["inputs"].erase("opensm");
    if (engine != nullptr) parameters["inputs"].erase("tables");
    if (engine != nullptr && engine->in_opensm) parameters["inputs"]["opensm"] = study::opensm_digest();
    parameters["computed_by"] = study::computed_by(kind);
    std::string key = event::json_line(parameters);
    points.push_back({name, std::move(parameters), std::move(key)});
    runs_.push_back(std::move(run));
  }

  /// What a report tells of all runs.
  Json about() const {
    Json notes = program_.notes;
    for (const std::string& note : notes_) notes.push_back(note);
    auto assumed = question_.protocol.left_at_defaults();
    if (std::ranges::any_of(question_.replicas, [](int degree) { return degree > 1; }))
      for (std::string& cost : question_.replication_costs.left_at_defaults()) assumed.push_back(std::move(cost));
    if (any_over_transport())
      for (std::string& row : question_.datagrams.left_at_defaults()) assumed.push_back(std::move(row));
    if (fails_in_runs_) assumed.push_back(manager_in_words(SubnetManager{}));
    return {{"ranks", program_.ranks.size()},
            {"recorded_ns", program_.recorded_ns},
            {"rules", job::name(question_.protocol.options().collectives)},
            {"fabric", question_.fabric},
            {"assumed", std::move(assumed)},
            {"notes", std::move(notes)}};
  }

  /// The tables that were given, on the fabric with what failed since.
  Result<std::shared_ptr<const study::Prepared>> by_given_tables(const Run& run) const {
    auto made = std::make_shared<study::Prepared>();
    fabric::Fabric network = network_;
    if (!run.point.scenario.healthy()) {
      fabric::FailureRules rules;
      rules.seed = run.point.seed;
      auto failures = fabric::fail(network, run.point.scenario.faults, rules);
      if (!failures.ok()) return failures.status();
      made->result["failed_links"] = failures.value().failed.size();
    }
    made->network = std::make_shared<const fabric::Fabric>(std::move(network));
    made->tables = tables_;
    return std::shared_ptr<const study::Prepared>(std::move(made));
  }

  Status replay(const Run& run, const study::Prepared& prepared, Finished& finished) const {
    const fabric::Fabric& network = *prepared.network;
    auto hosts = hosts_of(run.placement, run.protection.degree, network);
    if (!hosts.ok()) return hosts.status();
    if (Status cut = job::check_reach(network, hosts.value(), run.over_transport && uses_rails()); !cut.ok()) {
      finished.outcome = "cut off";
      finished.result["reason"] = cut.wrong();
      return {};
    }
    std::vector<job::Job> jobs;
    jobs.push_back({program_, question_.protocol.options(), std::move(hosts).value(), question_.compute_scale,
                    run.protection, run.in_network});
    job::JobTraffic traffic(std::move(jobs), Hosts(network).count());
    if (run.in_network) traffic.use(std::make_unique<job::InNetwork>(network, question_.parameters.options()));
    traffic.observe(observed_ranks, observed_bins);
    Control control;
    control.limit = question_.limit_ps;
    Outages outages;
    if (!run.during.empty()) {
      auto planned = plan(run, prepared);
      if (!planned.ok()) return planned.status();
      outages = std::move(planned).value();
      outages.timeline.reliable = true;
      control.timeline = &outages.timeline;
    }
    if (run.over_transport) {
      auto over = simulate_over_transport(network, prepared.tables, question_.parameters.options(), traffic,
                                          transport_of(run.point.seed), control);
      if (!over.ok()) return over.status();
      std::vector<job::Flow> flows;
      for (const TransportRecord::Flow& flow : over.value().transport.flows)
        flows.push_back({flow.from, flow.to, flow.bytes});
      tell(run, over.value().record, traffic, flows, prepared, outages, finished);
      tell_transport(over.value().transport, finished.result);
      return {};
    }
    auto record = simulate(network, prepared.tables, question_.parameters.options(), traffic, control);
    if (!record.ok()) return record.status();
    tell(run, record.value(), traffic, traffic.flows(), prepared, outages, finished);
    return {};
  }

  /// What was lost is known to the network; what went again, to the engines.
  static void tell_transport(const TransportRecord& record, Json& result) {
    using transport::Count;
    if (const auto faults = result.find("faults"); faults != result.end()) {
      (*faults)["sent_again"] = record.engines[Count::fragments_retransmitted];
      faults->erase("longest_stall_ps");
    }
    result["transport"] = {{"fragments", record.engines[Count::fragments_sent]},
                           {"timeouts", record.engines[Count::timeouts]},
                           {"rails_lost", record.engines[Count::rails_lost]}};
    if (record.loss)
      result["reason"] = record.loss->host + " gave up " + record.loss->peer + ": " + record.loss->outcome;
  }

  /// New tables are those of the run's engine; to tables that were given, nobody writes.
  Result<Outages> plan(const Run& run, const study::Prepared& prepared) const {
    OutageRules rules;
    rules.seed = run.point.seed;
    rules.horizon = question_.limit_ps;
    Route route;
    if (!run.by_tables)
      route = [&run](const fabric::Fabric& fabric) -> Result<fabric::Forwarding> {
        fabric::ContestRules contest;
        contest.lanes = static_cast<std::uint8_t>(run.point.lanes);
        contest.threads = 1;
        auto routing = fabric::run(run.point.engine, fabric, contest);
        if (!routing.ok()) return routing.status();
        if (routing.value().verdict != fabric::opensm::Verdict::routed)
          return Status{Code::unavailable, "routing with " + run.point.engine.label(), routing.value().reason,
                        "name other engines, or give --tables"};
        return std::move(routing.value().forwarding);
      };
    return plan_outages(*prepared.network, prepared.tables, run.during, rules, {}, route);
  }

  void tell_load(const std::vector<job::Flow>& flows, const study::Prepared& prepared, const Outages& outages,
                 Time time_ps, Json& result) const {
    const fabric::Fabric& network = *prepared.network;
    std::map<fabric::LinkId, double> busy;
    for (const job::LinkLoad& load : job::link_loads(network, prepared.tables, flows)) {
      const fabric::LinkId link = network.port(load.port).link;
      const double share = job::time_on_link_ps(network, question_.parameters.options(), load.port, load.bytes) /
                           static_cast<double>(std::max<Time>(time_ps, 1));
      busy[link] = std::max(busy[link], share);
    }
    result["busy"] = Json::array();
    for (const auto& [link, share] : busy) result["busy"].push_back({link, std::round(share * 1e6) / 1e6});
    std::set<fabric::LinkId> down;
    for (fabric::LinkId link = 0; link < network.links().size(); ++link)
      if (!network.link(link).up) down.insert(link);
    for (const Timeline::Outage& outage : outages.timeline.outages) down.insert(outage.link);
    result["down"] = down;
  }

  static void tell_replication(const job::ReplicationOutcome& found, Json& result) {
    using replicate::Count;
    result["replication"] = {{"verified", found.counters[Count::messages]},
                             {"records", found.records},
                             {"copies", found.copies},
                             {"copy_bytes", found.copy_bytes},
                             {"mismatches", found.counters[Count::mismatches]},
                             {"corrections", found.counters[Count::corrections]}};
  }

  /// `flows`: of adapters, as the network carried them.
  void tell(const Run& run, const Record& record, const job::JobTraffic& traffic, const std::vector<job::Flow>& flows,
            const study::Prepared& prepared, const Outages& outages, Finished& finished) const {
    const job::JobOutcome outcome = traffic.outcomes().front();
    const job::JobSummary summary = job::summarise(traffic.jobs().front(), outcome);
    const std::uint64_t lost = record.unroutable_messages + record.dropped_unroutable;
    finished.outcome = summary.ended ? "measured" : lost > 0 ? "lost messages" : text_of(record.ending);
    Json& result = finished.result;
    if (outcome.replication) {
      tell_replication(*outcome.replication, result);
      if (outcome.replication->incident)
        finished.outcome =
            outcome.replication->incident->incident == replicate::Incident::diverged ? "diverged" : "uncorrected";
    }
    result["time_ps"] = summary.time_ps;
    result["computing_share"] = summary.computing_share;
    result["waiting_share"] = summary.waiting_share;
    result["messages"] = outcome.messages;
    result["message_bytes"] = outcome.message_bytes;
    result["packets_dropped"] = record.dropped_lifetime + record.dropped_stalled + record.dropped_unroutable;
    result["packet_hops"] = record.packet_hops;
    if (const FaultRecord& faults = record.faults; faults.any)
      result["faults"] = {
          {"lost", faults.lost_cut + faults.lost_down + faults.lost_noise + faults.lost_looping + faults.lost_no_route},
          {"sent_again", faults.retransmitted},
          {"broken", faults.connections_broken},
          {"longest_stall_ps", faults.longest_stall_ps}};
    if (!summary.ended && !summary.notes.empty()) result["reason"] = summary.notes.back();
    result["links"] = Json::array();
    for (const job::LinkLoad& load : job::link_loads(*prepared.network, prepared.tables, flows)) {
      if (result["links"].size() == fullest_links) break;
      const double busy =
          job::time_on_link_ps(*prepared.network, question_.parameters.options(), load.port, load.bytes);
      const double share = summary.time_ps > 0 ? busy / static_cast<double>(summary.time_ps) : 0;
      result["links"].push_back(
          {{"name", job::describe(*prepared.network, load.port)}, {"bytes", load.bytes}, {"share", share}});
    }
    result["timeline"] = to_json(traffic);
    // The pictures of a scenario are of its first run.
    if (run.point.seed <= 1) tell_load(flows, prepared, outages, summary.time_ps, result);
  }

  Question question_;
  job::Program program_;
  fabric::Fabric network_;  // as given
  fabric::Forwarding tables_;
  std::shared_ptr<const std::string> fabric_text_;
  std::vector<std::string> notes_;
  Json inputs_ = Json::object();
  std::vector<Run> runs_;
  bool fails_in_runs_ = false;
  bool flips_by_chance_ = false;
  mutable study::Preparations preparations_{most_kept_bytes};
};

}  // namespace

Result<std::unique_ptr<study::Study>> make_prediction(const Question& question) {
  auto made = std::make_unique<Prediction>(question);
  if (Status status = made->open(); !status.ok()) return status;
  return std::unique_ptr<study::Study>(std::move(made));
}

Status draw_fabrics(const Question& question, PredictionRecord& record) {
  auto opened = fabric::open_fabric(question.fabric);
  if (!opened.ok()) return opened.status();
  const fabric::Fabric& given = opened.value().fabric;
  for (const std::size_t shown : record.shown) {
    Outlook& outlook = record.outlooks[shown];
    if (!outlook.load) continue;
    fabric::Fabric network = given;
    std::vector<double> busy(network.links().size(), 0);
    for (const auto& [link, share] : outlook.load->busy)
      if (link < busy.size()) busy[link] = share;
    for (const std::uint32_t link : outlook.load->down)
      if (link < busy.size()) network.set_link_up(link, false);
    outlook.drawing = fabric::write_loaded_drawing(network, busy);
  }
  return {};
}

}  // namespace holdfast::simulate::predict
