#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/fabric_subcommands.h"
#include "cli/numbers.h"
#include "cli/progress_line.h"
#include "cli/simulate_jobs.h"
#include "cli/simulate_transport.h"
#include "cli/waiting_line.h"
#include "core/config/environment.h"
#include "core/config/reference.h"
#include "core/config/toml_file.h"
#include "core/event/record.h"
#include "core/fault/grammar.h"
#include "core/output/output_file.h"
#include "fabric/compare/contender.h"
#include "fabric/faults/failures.h"
#include "fabric/formats/forwarding_tables.h"
#include "report/plot.h"
#include "simulate/job/placement.h"
#include "simulate/job/reach.h"
#include "simulate/packet/hosts.h"
#include "simulate/packet/outages.h"
#include "simulate/packet/simulate.h"
#include "simulate/traffic/pattern.h"
#include "simulate/traffic/sweep.h"
#include "simulate/traffic/trace.h"

extern char** environ;

namespace holdfast::cli {
namespace {

constexpr const char* simulate_footer =
    "Examples:\n"
    "  holdfast simulate --fabric 'tree(16,2)' --engine dfsssp --traffic exchange\n"
    "  holdfast simulate --fabric 16-ary-2-tree --fault 'fail-link share 1%' --engine opensm:ftree\n"
    "  holdfast simulate --fabric cluster.ibnetdiscover --tables opensm-lfts.dump --traffic 'uniform load=0.5'\n"
    "  holdfast simulate --fabric 'torus(5,5) links=6 hosts=275' --engine torus-2qos --json -\n"
    "  holdfast simulate --fabric 'tree(4,2)' --engine ftree --traffic 'uniform size=4096' --sweep\n"
    "  holdfast simulate --fabric 'tree(4,2)' --engine updn --trace job.goal\n"
    "  holdfast simulate --fabric 'tree(4,2)' --fault 'fail-link link s-0-0/5 time 1ms for 2ms' --limit 5ms\n"
    "  holdfast simulate --fabric cluster.ibnetdiscover --trace job.trace --hosts 'node[01-16]' --ranks-per-host 4\n"
    "  holdfast simulate --fabric 'tree(4,3)' --trace one.trace --trace other.trace --place random\n"
    "  holdfast simulate --fabric 'rails(2,4,2,2)' --traffic 'exchange size=65536' --transport --fault 'flip rate "
    "1/1000'\n"
    "  holdfast simulate --fabric 'torus(5,5) hosts=100' --engine dor     finds the deadlock and prints it\n\n"
    "FABRIC is a file (the output of ibnetdiscover, an ibsim net, opensm-subnet.lst) or a topology, as for\n"
    "holdfast fabric. Its tables come from an engine (holdfast fabric route --help), from the real OpenSM\n"
    "(opensm:ENGINE), or from a file (--tables).\n\n"
    "FAULTS are fail-link, fail-switch, fail-port and fail-hca, as for holdfast fabric fail, noisy-link and\n"
    "slow-link. Failures without a moment are there from the start: the engine routes around them; with --tables or\n"
    "--not-rerouted what the old tables send to a broken link is dropped and counted. Those with time, mean or for\n"
    "strike during the traffic: packets are lost, reliable connections send again, and the subnet manager (--sm-*)\n"
    "writes new tables.\n\n"
    "TRAFFIC is a pattern and its numbers: uniform, exchange, linear-exchange, all-to-all, neighbours, permutation,\n"
    "tornado, bisection or hotspot; size=BYTES (default: one MTU), messages=N of each host, load=0.7 with\n"
    "arrivals=poisson or even, order=distance or lid, reach=N (neighbours), share=0.2 target=HOST (hotspot).\n"
    "Patterns that do not end by themselves run until 99 % of the hosts see a steady bandwidth.\n"
    "A trace is a recording (a folder, of holdfast run --record), plain text (docs/spec/trace.md), or a GOAL schedule\n"
    "when its name ends in .goal. A recording is replayed by the protocol of its MPI (mpi.* options): ranks compute "
    "as\n"
    "long as they did, messages are matched and sent as MPI does, and collectives become messages by the rules of\n"
    "Open MPI 4.1 or MPICH 4.0. Several recordings run side by side. docs/design/replay.md says what is assumed.\n"
    "With --replicas each rank is several processes, checked by the protocol engine of 'holdfast run'.\n"
    "With --transport the messages of any traffic are sent by the engine of Holdfast's transport, with its checksums,\n"
    "acknowledgements, timers and rails, which are the adapters of a host. FAULTS may then be those of packets, too:\n"
    "flip, corrupt-header, drop, duplicate, reorder, delay, kill-rail and narrow-rail in the host that sends, before\n"
    "InfiniBand's CRC; rank is the host's number. What noise damages is dropped by the CRC.\n"
    "Equal arguments give equal results. Exit code 1: a run ended in a deadlock, stuck, or broken: a connection, or\n"
    "the transport, gave up a peer; 3 or 4: replicas ended a job, as they would have ended 'holdfast run'.\n";

struct SimulateFlags {
  std::string fabric;
  std::vector<std::string> faults;
  std::string at;
  std::uint64_t fault_seed = 1;
  bool critical = false;
  bool not_rerouted = false;
  std::string trap = "100us", sweep_every, compute = "1ms", write = "50us";
  bool unreliable = false;
  std::string plot;
  std::string engine = "dfsssp";
  fabric::TableFiles tables;
  std::string traffic = "uniform";
  JobFlags job;
  TransportFlags transport;
  std::string json;
  std::uint64_t seed = 1;
  unsigned lanes = 8;
  std::optional<std::string> limit;
  bool sweep = false;
  unsigned steps = 10;
  bool speed = false;
  std::optional<std::string> config_file;
  config::Settings<simulate::Parameters> settings{simulate::parameters_table()};
  Status status;  ///< the first error of a simulate.* flag
};

/// What is simulated.
struct Network {
  std::vector<fault::Fault> later;  ///< faults that strike during the run
  std::vector<fault::Fault> of_packets;
  simulate::Time begin = 0;  ///< what the faults' clock shows at the run's begin
  fabric::Fabric fabric;
  fabric::Forwarding tables;
  std::vector<std::string> failed;  ///< the components, in words
};

Status break_parts(const SimulateFlags& flags, Network& network) {
  if (flags.faults.empty()) return {};
  std::string text;
  for (const std::string& fault : flags.faults) text += fault + "\n";
  auto faults = fault::parse(text, "--fault");
  if (!faults.ok()) return faults.status();
  auto of_packets = take_faults_of_packets(flags.transport, faults.value());
  if (!of_packets.ok()) return of_packets.status();
  network.of_packets = std::move(of_packets).value();
  fabric::FailureRules rules;
  rules.seed = flags.fault_seed;
  rules.critical_too = flags.critical;
  if (!flags.at.empty()) {
    auto at = read_duration("--at", flags.at, 0, std::numeric_limits<std::int64_t>::max());
    if (!at.ok()) return at.status();
    rules.until_ns = at.value();
    network.begin = std::min(at.value(), simulate::never / simulate::ps_per_ns / 8) * simulate::ps_per_ns;
  }
  std::vector<fault::Fault> first;
  for (const fault::Fault& fault : faults.value())
    (simulate::strikes_during_run(fault, network.begin) ? network.later : first).push_back(fault);
  auto failures = fabric::fail(network.fabric, first, rules);
  if (!failures.ok()) return failures.status();
  for (const fabric::Failure& failure : failures.value().failed)
    network.failed.push_back(fabric::describe(network.fabric, failure));
  return {};
}

/// The tables of the engine.
Result<fabric::Forwarding> route(const SimulateFlags& flags, const fabric::Fabric& fabric) {
  auto contenders = fabric::parse_contenders(flags.engine);
  if (!contenders.ok()) return contenders.status();
  if (contenders.value().size() != 1)
    return Status{Code::bad_input, "reading --engine", "'" + flags.engine + "' is more than one engine",
                  "compare several with holdfast fabric compare, or holdfast study"};
  fabric::ContestRules rules;
  rules.lanes = static_cast<std::uint8_t>(flags.lanes);
  rules.threads = 0;
  Result<fabric::Routing> routing = Status();
  {
    const WaitingLine line("routing with " + flags.engine);
    routing = fabric::run(contenders.value().front(), fabric, rules);
  }
  if (!routing.ok()) return routing.status();
  if (routing.value().verdict != fabric::opensm::Verdict::routed)
    return Status{Code::bad_input, "routing with " + flags.engine,
                  std::string(fabric::opensm::name(routing.value().verdict)) + ", " + routing.value().reason,
                  "take another engine; holdfast fabric compare shows which can"};
  return std::move(routing.value().forwarding);
}

Status find_routes(const SimulateFlags& flags, Network& network) {
  if (!flags.tables.forwarding.empty()) {
    auto read = fabric::open_tables(network.fabric, flags.tables);
    if (!read.ok()) return read.status();
    for (const std::string& note : read.value().notes) std::cerr << "holdfast: note: " << note << "\n";
    network.tables = std::move(read.value().forwarding);
    return {};
  }
  auto tables = route(flags, network.fabric);
  if (!tables.ok()) return tables.status();
  network.tables = std::move(tables).value();
  return {};
}

Result<Network> open_network(const SimulateFlags& flags) {
  if (Status status = check_table_flags(flags.tables); !status.ok()) return status;
  auto opened = open_fabric_with_notes(flags.fabric);
  if (!opened.ok()) return opened.status();
  Network network;
  network.fabric = std::move(opened.value().fabric);
  if (network.fabric.top_lid() == 0) network.fabric.assign_lids();
  const bool routes_first = flags.not_rerouted || !flags.tables.forwarding.empty();
  Status status = routes_first ? find_routes(flags, network) : break_parts(flags, network);
  if (status.ok()) status = routes_first ? break_parts(flags, network) : find_routes(flags, network);
  if (!status.ok()) return status;
  return network;
}

/// What both kinds of record say of what was simulated.
void describe(const SimulateFlags& flags, const Network& network, nlohmann::ordered_json& json) {
  json["fabric"] = flags.fabric;
  if (!flags.faults.empty()) {
    json["faults"] = flags.faults;
    json["fault_seed"] = flags.fault_seed;
    json["failed"] = network.failed;
    json["rerouted"] = flags.tables.forwarding.empty() && !flags.not_rerouted;
  }
  if (flags.tables.forwarding.empty())
    json["engine"] = flags.engine;
  else
    json["tables"] = flags.tables.forwarding;
  json["lanes"] = network.tables.lanes_used;
  const simulate::Parameters model = simulate::settle(flags.settings.options(), network.fabric);
  json["model"] = {{"input_buffer_flits", model.input_buffer},
                   {"output_buffer_flits", model.output_buffer},
                   {"pcie_generation", model.pcie_generation},
                   {"pcie_lanes", model.pcie_lanes}};
  json["traffic"] = flags.job.traces.empty() ? flags.traffic : "trace " + flags.job.traces.front();
  json["seed"] = flags.seed;
}

void show(const simulate::Progress& progress, ProgressLine& line) {
  if (!line.due()) return;
  const double seconds = line.seconds();
  std::string words;
  if (progress.messages > 0) {
    // Messages of a terabyte are not delivered one by one: packets say more.
    const double share =
        progress.packets > 0
            ? static_cast<double>(progress.packets_sent) / static_cast<double>(progress.packets)
            : static_cast<double>(progress.messages_delivered) / static_cast<double>(progress.messages);
    words = fmt::format("{} {:3.0f} %  {:.0f} s left  ", ProgressLine::bar(share), share * 100,
                        share > 0 ? seconds / share - seconds : 0);
  }
  line.draw(words + fmt::format("{:.1f} us simulated, {:.2f} million packet-hops a second",
                                static_cast<double>(progress.now) / 1e6,
                                static_cast<double>(progress.packet_hops) / seconds / 1e6));
}

Status take_limit(const SimulateFlags& flags, simulate::Control& control) {
  if (!flags.limit) return {};
  auto limit = read_duration("--limit", *flags.limit, 1, simulate::never / simulate::ps_per_ns);
  if (!limit.ok()) return limit.status();
  control.limit = limit.value() * simulate::ps_per_ns;
  return {};
}

/// What strikes during the run, and what the subnet manager does about it.
Result<simulate::Outages> plan_later(const SimulateFlags& flags, const Network& network,
                                     const simulate::Control& control) {
  simulate::SubnetManager manager;
  const auto read = [](const char* flag, const std::string& text, simulate::Time& value) -> Status {
    auto duration = read_duration(flag, text, 0, simulate::never / simulate::ps_per_ns / 64);
    if (duration.ok()) value = duration.value() * simulate::ps_per_ns;
    return duration.status();
  };
  simulate::Time compute = 0;
  const bool measured = flags.compute == "measured";
  Status status = read("--sm-trap", flags.trap, manager.trap);
  if (status.ok() && !flags.sweep_every.empty()) status = read("--sm-sweep", flags.sweep_every, manager.sweep);
  if (status.ok() && !measured) status = read("--sm-compute", flags.compute, compute);
  if (status.ok()) status = read("--sm-write", flags.write, manager.write);
  if (!status.ok()) return status;
  manager.compute = measured ? std::nullopt : std::optional(compute);
  simulate::OutageRules rules;
  rules.seed = flags.fault_seed;
  rules.horizon = control.limit;
  rules.begin = network.begin;
  rules.critical = flags.critical;
  rules.later_too = !flags.at.empty();
  simulate::Route route_again;
  if (!flags.not_rerouted && flags.tables.forwarding.empty())
    route_again = [&flags](const fabric::Fabric& fabric) { return route(flags, fabric); };
  auto planned = simulate::plan_outages(network.fabric, network.tables, network.later, rules, manager, route_again);
  if (planned.ok()) planned.value().timeline.reliable = !flags.unreliable;
  return planned;
}

void describe(const simulate::Outages& outages, nlohmann::ordered_json& json) {
  auto& steps = json["steps"] = nlohmann::ordered_json::array();
  for (const simulate::OutageStep& step : outages.steps) steps.push_back({{"at_ps", step.at}, {"what", step.what}});
  json["subnet_manager"] = {{"rounds", outages.rounds},
                            {"switches_written", outages.switches_written},
                            {"time_without_route_ps", outages.unrouted}};
}

/// Payload that arrives, over time: at most 500 marks.
std::string goodput_plot(const simulate::FaultRecord& faults, const simulate::Outages& outages) {
  report::ScatterPlot plot;
  plot.title = "goodput of all hosts";
  plot.x_name = "time, ms";
  plot.y_name = "GB/s";
  plot.series.push_back({"goodput", {}, true, {}});
  const std::size_t together = std::max<std::size_t>(1, faults.goodput.size() / 500);
  const double span = static_cast<double>(faults.sample_ps) * static_cast<double>(together);
  double most = 0;
  for (std::size_t first = 0; first + together <= faults.goodput.size(); first += together) {
    std::uint64_t bytes = 0;
    for (std::size_t i = first; i < first + together; ++i) bytes += faults.goodput[i];
    const double rate = static_cast<double>(bytes) / span * 1e3;
    most = std::max(most, rate);
    plot.series.front().marks.push_back(
        {(static_cast<double>(first) * static_cast<double>(faults.sample_ps) + span / 2) / 1e9, rate, {}, {}});
  }
  report::PlotSeries steps{"changes", {}, false, {}};
  for (const simulate::OutageStep& step : outages.steps)
    steps.marks.push_back({static_cast<double>(step.at) / 1e9, 0, {}, {}});
  plot.series.push_back(std::move(steps));
  return report::svg(plot);
}

int hand_over(const nlohmann::ordered_json& record, const std::string& path) {
  if (path == "-") {
    std::cout << event::record_text(record);
    return 0;
  }
  const Status status = event::write_record_file(path, record);
  return status.ok() ? 0 : complain(status);
}

bool ended_badly(const simulate::Record& record) {
  return record.ending == simulate::Ending::deadlock || record.ending == simulate::Ending::stuck ||
         record.ending == simulate::Ending::broken;
}

/// A line a point; how it ended when that was not a steady state.
void show_point(const simulate::SweepPoint& point) {
  const simulate::Record& record = point.record;
  std::string end;
  if (record.ending != simulate::Ending::steady) end = "  " + std::string(simulate::ending_name(record.ending));
  std::cout << fmt::format("{:6.3f} {:14.3f} {:14.3f} {:17.3f} {:9.3f}{}\n", point.load,
                           point.offered_bytes_per_s / 1e9, record.host_mean_bytes_per_s / 1e9,
                           record.message_latency.mean / 1e6, static_cast<double>(record.message_latency.p99) / 1e6,
                           end)
            << std::flush;
}

int run_sweep(const SimulateFlags& flags, const Network& network, const simulate::Parameters& parameters,
              simulate::Control& control) {
  auto spec = simulate::parse_traffic(flags.traffic);
  if (!spec.ok()) return complain(spec.status());
  if (!flags.job.traces.empty())
    return complain({Code::bad_input, "reading --sweep", "a trace has its own rate", "give a pattern with --traffic"});
  const bool words = flags.json != "-";
  if (words) std::cout << ("  load   offered GB/s   arrived GB/s   mean latency us   99 % us\n");
  Result<simulate::Sweep> swept = Status{};
  {
    ProgressLine line(true);
    control.progress = [&line](const simulate::Progress& progress) {
      show(progress, line);
      return true;
    };
    auto show = [&](const simulate::SweepPoint& point) {
      line.clear();
      if (words) show_point(point);
    };
    swept = simulate::sweep(network.fabric, network.tables, parameters, spec.value(), flags.seed, control, flags.steps,
                            3, show);
  }
  if (!swept.ok()) return complain(swept.status());
  const simulate::Sweep& found = swept.value();
  const auto bad = std::find_if(found.points.begin(), found.points.end(),
                                [](const simulate::SweepPoint& point) { return ended_badly(point.record); });
  const int answer = bad == found.points.end() ? 0 : answer_is_no;
  if (words)
    std::cout << fmt::format("the network keeps up to load {:.3f}; at most {:.3f} GB/s a host arrive\n",
                             found.saturation_load, found.saturation_bytes_per_s / 1e9);
  if (words && answer != 0) std::cout << simulate::to_text(bad->record);
  if (flags.json.empty()) return answer;
  auto json = event::make_record("holdfast.simulation-sweep", 1);
  describe(flags, network, json);
  json["saturation_load"] = found.saturation_load;
  json["saturation_bytes_per_s"] = found.saturation_bytes_per_s;
  json["points"] = nlohmann::ordered_json::array();
  for (const simulate::SweepPoint& point : found.points)
    json["points"].push_back({{"load", point.load},
                              {"offered_bytes_per_s", point.offered_bytes_per_s},
                              {"kept_up", point.kept_up()},
                              {"run", simulate::to_json(point.record, flags.speed)}});
  const int code = hand_over(json, flags.json);
  return code != 0 ? code : answer;
}

Result<std::unique_ptr<simulate::Traffic>> traffic_of(const SimulateFlags& flags, const fabric::Fabric& fabric,
                                                      const simulate::Parameters& parameters) {
  if (flags.job.traces.empty()) {
    auto spec = simulate::parse_traffic(flags.traffic);
    if (!spec.ok()) return spec.status();
    return simulate::make_traffic(spec.value(), fabric, parameters, flags.seed);
  }
  const std::string& trace = flags.job.traces.front();
  if (flags.job.traces.size() > 1)
    return Status{Code::bad_input, "reading --trace", "'" + trace + "' is no recording, and there are several",
                  "give several recordings, or one trace"};
  auto schedule = simulate::read_schedule_file(trace);
  if (!schedule.ok()) return schedule.status();
  if (schedule.value().hosts > fabric.adapter_count())
    return Status{Code::bad_input, "reading " + trace,
                  "it has " + std::to_string(schedule.value().hosts) + " hosts, the fabric " +
                      std::to_string(fabric.adapter_count()),
                  "take a larger fabric"};
  return std::unique_ptr<simulate::Traffic>(std::make_unique<simulate::ScheduleTraffic>(std::move(schedule).value()));
}

int run_once(const SimulateFlags& flags, const Network& network, const simulate::Parameters& parameters,
             simulate::Control& control) {
  const simulate::job::JobTraffic* of_jobs = nullptr;
  Result<std::unique_ptr<simulate::Traffic>> traffic = Status{};
  if (flags.job.are_recordings()) {
    auto opened = open_jobs(flags.job, network.fabric);
    if (!opened.ok()) return complain(opened.status());
    for (const simulate::job::Job& job : opened.value())
      if (Status cut = simulate::job::check_reach(network.fabric, job.hosts, flags.transport.used);
          !cut.ok() && !flags.critical)
        return complain(cut);
    if (const std::string idle = simulate::job::idle_adapters_in_words(network.fabric);
        !idle.empty() && !flags.transport.used)
      for (simulate::job::Job& job : opened.value()) job.program.notes.push_back(idle);
    auto made =
        std::make_unique<simulate::job::JobTraffic>(std::move(opened).value(), simulate::Hosts(network.fabric).count());
    of_jobs = made.get();
    if (std::ranges::any_of(made->jobs(), &simulate::job::Job::in_network)) {
      if (Status status = simulate::job::check_in_network(flags.transport.used, !network.later.empty()); !status.ok())
        return complain(status);
      made->use(std::make_unique<simulate::job::InNetwork>(network.fabric, parameters));
    }
    traffic = std::unique_ptr<simulate::Traffic>(std::move(made));
  } else {
    traffic = traffic_of(flags, network.fabric, parameters);
  }
  if (!traffic.ok()) return complain(traffic.status());
  simulate::Outages outages;
  if (!network.later.empty()) {
    auto planned = plan_later(flags, network, control);
    if (!planned.ok()) return complain(planned.status());
    outages = std::move(planned).value();
    control.timeline = &outages.timeline;
    if (!traffic.value()->finite() && control.limit == simulate::never)
      return complain({Code::bad_input, "simulating faults during the traffic", "the traffic does not end by itself",
                       "say until when with --limit, or give messages=N"});
  }
  Result<simulate::Record> record = Status{};
  Result<simulate::TransportRun> transported = Status{};
  {
    ProgressLine line(true);
    control.progress = [&line](const simulate::Progress& progress) {
      show(progress, line);
      return true;
    };
    if (!flags.transport.used)
      record = simulate::simulate(network.fabric, network.tables, parameters, *traffic.value(), control);
    else
      transported = run_transport(flags.transport, network.fabric, network.tables, parameters, *traffic.value(),
                                  network.of_packets, flags.seed, control);
  }
  if (flags.transport.used && !transported.ok()) return complain(transported.status());
  if (!flags.transport.used && !record.ok()) return complain(record.status());
  const simulate::Record& result = flags.transport.used ? transported.value().record : record.value();
  if (flags.json != "-") {
    for (const std::string& part : network.failed) std::cout << "failed                " << part << "\n";
    std::cout << simulate::to_text(result);
    if (flags.transport.used) std::cout << simulate::to_text(transported.value().transport);
    for (const simulate::OutageStep& step : outages.steps)
      std::cout << fmt::format("{:<18.6g} ms {}\n", static_cast<double>(step.at) / 1e9, step.what);
    if (of_jobs != nullptr) show_jobs(flags.job, *of_jobs, true, nullptr);
    const simulate::Parameters model = simulate::settle(parameters, network.fabric);
    std::cout << fmt::format("parts                 buffers of {} flits in and {} out, PCI Express {} x{}\n",
                             model.input_buffer, model.output_buffer, model.pcie_generation, model.pcie_lanes);
    if (flags.speed)
      std::cout << fmt::format("speed                 {:.2f} million packet-hops a second, {} bytes a host\n",
                               static_cast<double>(result.packet_hops) / result.wall_seconds / 1e6,
                               result.memory_bytes / result.hosts);
  }
  if (!flags.json.empty()) {
    auto json = simulate::to_json(result, flags.speed);
    describe(flags, network, json);
    if (flags.transport.used) json["transport"] = simulate::to_json(transported.value().transport);
    if (control.timeline != nullptr) describe(outages, json["faults_during_run"]);
    if (of_jobs != nullptr) show_jobs(flags.job, *of_jobs, false, &json);
    if (const int code = hand_over(json, flags.json); code != 0) return code;
  }
  if (!flags.plot.empty()) {
    const Status status = output::write_file(flags.plot, goodput_plot(result.faults, outages));
    if (!status.ok()) return complain(status);
  }
  if (const int code = of_jobs != nullptr ? incident_exit(*of_jobs) : 0; code != 0) return code;
  return ended_badly(result) ? answer_is_no : 0;
}

int simulate_action(SimulateFlags& flags) {
  config::AnySettings* tables[] = {&flags.settings, &flags.job.protocol, &flags.job.costs, &flags.transport.engine,
                                   &flags.transport.datagrams};
  flags.job.seed = flags.seed;
  Status status = flags.status.ok() ? flags.job.status : flags.status;
  if (status.ok()) status = flags.transport.status;
  for (config::AnySettings* settings : tables)
    if (status.ok()) status = config::read_environment(*settings, environ);
  if (status.ok() && flags.config_file) status = config::read_toml_file(*flags.config_file, tables);
  simulate::Control control;
  if (status.ok()) status = take_limit(flags, control);
  if (status.ok() && !flags.json.empty() && flags.json != "-") status = output::check_file(flags.json);
  if (status.ok() && !flags.plot.empty()) status = output::check_file(flags.plot);
  if (status.ok()) status = simulate::check(flags.settings.options());
  if (!status.ok()) return complain(status);
  auto network = open_network(flags);
  if (!network.ok()) return complain(network.status());
  const simulate::Parameters& parameters = flags.settings.options();
  if (flags.sweep && !network.value().later.empty())
    return complain({Code::bad_input, "reading --sweep", "a fault strikes during the traffic",
                     "give --at, so that it has struck before"});
  if (flags.sweep && flags.transport.used)
    return complain({Code::bad_input, "reading --sweep", "a sweep is of the network alone", "leave out --transport"});
  return flags.sweep ? run_sweep(flags, network.value(), parameters, control)
                     : run_once(flags, network.value(), parameters, control);
}

}  // namespace

void add_simulate(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("simulate", "Simulate an InfiniBand network under traffic: throughput, latency, deadlocks");
  auto flags = std::make_shared<SimulateFlags>();
  command->footer(simulate_footer);
  command->add_option("--fabric", flags->fabric, "A file, or a topology such as 'tree(16,2)'")
      ->required()
      ->type_name("FABRIC");
  command->add_option("--fault", flags->faults, "What has failed, as 'fail-link share 1%'; may be given again")
      ->type_name("FAULTS")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--at", flags->at, "The moment of the faults' clock at which the traffic begins")
      ->type_name("DURATION");
  command->add_option("--fault-seed", flags->fault_seed, "Which random failures. Default: 1")
      ->type_name("N")
      ->check(whole_number());
  command->add_flag("--critical", flags->critical, "Let random failures disconnect hosts, and all that strike later");
  command->add_flag("--not-rerouted", flags->not_rerouted, "Keep the tables of the fabric before the faults");
  const char* during = "Faults during the traffic";
  command->add_option("--sm-trap", flags->trap, "From a change to the subnet manager's trap. Default: 100us")
      ->type_name("DURATION")
      ->group(during);
  command->add_option("--sm-sweep", flags->sweep_every, "It looks for changes at every multiple of this, without traps")
      ->type_name("DURATION")
      ->group(during);
  command->add_option("--sm-compute", flags->compute, "How long it computes, or: measured. Default: 1ms")
      ->type_name("DURATION")
      ->group(during);
  command->add_option("--sm-write", flags->write, "How long it writes the tables of a switch. Default: 50us")
      ->type_name("DURATION")
      ->group(during);
  command->add_flag("--unreliable", flags->unreliable, "Connections do not send again what is lost")->group(during);
  command->add_option("--plot", flags->plot, "Draw the goodput over time (SVG)")->type_name("FILE")->group(during);
  auto* engine = command->add_option("--engine", flags->engine, "Routing engine, or opensm:ENGINE. Default: dfsssp");
  engine->type_name("NAME");
  add_table_flags(*command, flags->tables);
  command->get_option("--tables")->excludes(engine);
  command->add_option("--lanes", flags->lanes, "Virtual lanes that the engine may use. Default: 8")
      ->type_name("N")
      ->check(whole_number(1, 15));
  auto* traffic =
      command->add_option("--traffic", flags->traffic, "What hosts send. Default: uniform")->type_name("TRAFFIC");
  add_job_flags(*command, flags->job)->excludes(traffic);
  add_transport_flags(*command, flags->transport);
  command->add_option("--seed", flags->seed, "Seed of random traffic. Default: 1")
      ->type_name("N")
      ->check(whole_number());
  command->add_option("--limit", flags->limit, "End after this simulated time, as 2ms")->type_name("DURATION");
  command->add_flag("--sweep", flags->sweep, "Run at rising injection rates and find the saturation point");
  command->add_option("--steps", flags->steps, "Rates of a sweep before it is refined. Default: 10")
      ->type_name("N")
      ->check(whole_number(1, 1000));
  command->add_option("--json", flags->json, "Write the record to this file; - for the standard output")
      ->type_name("FILE");
  command->add_flag("--speed", flags->speed, "Also say how fast the simulator was, and its memory");
  command->add_option("--config", flags->config_file, "Read options from this TOML file")->type_name("FILE");
  for (const config::Option& option : simulate::parameters_table().rows()) {
    const std::string flag = config::flag_name(option.row.name);
    const std::string row(option.row.name);
    command
        ->add_option_function<std::string>(
            flag,
            [flags, row, flag](const std::string& text) {
              Status status = flags->settings.set(row, text, {config::Source::flag, flag});
              if (!status.ok() && flags->status.ok()) flags->status = status;
            },
            config::doc_line(option.row))
        ->type_name(config::placeholder(option))
        ->group("The model (also HOLDFAST_SIMULATE_*, or [simulate] of --config)");
  }
  command->callback([flags, &action] { action = [flags] { return simulate_action(*flags); }; });
}

}  // namespace holdfast::cli
