#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/subcommands.h"
#include "core/config/environment.h"
#include "core/config/reference.h"
#include "core/config/toml_file.h"
#include "core/event/record.h"
#include "core/time/duration.h"
#include "fabric/routing/engine.h"
#include "fabric/topology/generate.h"
#include "simulate/packet/simulate.h"
#include "simulate/traffic/pattern.h"
#include "simulate/traffic/sweep.h"
#include "simulate/traffic/trace.h"

extern char** environ;

namespace holdfast::cli {
namespace {

constexpr const char* footer =
    "Examples:\n"
    "  holdfast simulate --fabric 'tree(16,2)' --engine dfsssp --traffic exchange\n"
    "  holdfast simulate --fabric 'torus(5,5) links=6 hosts=275' --engine torus-2QoS --traffic uniform --json -\n"
    "  holdfast simulate --fabric 'tree(4,2)' --engine ftree --traffic 'uniform size=4096' --sweep\n"
    "  holdfast simulate --fabric 'tree(4,2)' --engine updn --trace job.goal\n"
    "  holdfast simulate --fabric 'torus(5,5)' --engine dor --traffic tornado     finds the deadlock and prints it\n\n"
    "TRAFFIC is a pattern and its numbers: uniform, exchange, linear-exchange, all-to-all, neighbours, permutation,\n"
    "tornado, bisection or hotspot; size=BYTES (default: one MTU), messages=N of each host, load=0.7 with\n"
    "arrivals=poisson or even, order=distance or lid, reach=N (neighbours), share=0.2 target=HOST (hotspot).\n"
    "Patterns that do not end by themselves run until 99 % of the hosts see a steady bandwidth.\n"
    "A trace is plain text (docs/spec/trace.md), or a GOAL schedule when its name ends in .goal.\n"
    "Equal arguments give equal results. Exit code 1: the run ended in a deadlock, or stuck.\n";

struct SimulateFlags {
  std::string fabric;
  std::string engine = "dfsssp";
  std::string traffic = "uniform";
  std::string trace;
  std::string json;
  std::uint64_t seed = 1;
  unsigned lanes = 8;
  std::optional<std::string> limit;
  bool sweep = false;
  bool speed = false;
  std::optional<std::string> config_file;
  config::Settings<simulate::Parameters> settings{simulate::parameters_table()};
  Status status;  ///< the first error of a simulate.* flag
};

/// A line on the terminal that is written over ten times a second; nothing where there is no terminal.
class ProgressLine {
 public:
  explicit ProgressLine(bool shown) : shown_(shown && ::isatty(STDERR_FILENO) != 0) {}
  ~ProgressLine() {
    if (drawn_) std::fprintf(stderr, "\r\033[K");
  }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const simulate::Progress& progress) {
    if (!shown_) return;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::milliseconds(100);
    const double seconds = std::chrono::duration<double>(now - begun_).count();
    std::fprintf(stderr, "\r\033[K");
    if (progress.messages > 0) {
      const double share = static_cast<double>(progress.messages_delivered) / static_cast<double>(progress.messages);
      const int filled = static_cast<int>(share * 30);
      std::fprintf(stderr, "[%.*s%*s] %3.0f %%  %.0f s left  ", filled, "##############################", 30 - filled,
                   "", share * 100, share > 0 ? seconds / share - seconds : 0);
    }
    std::fprintf(stderr, "%.1f us simulated, %.2f million packet-hops a second",
                 static_cast<double>(progress.now) / 1e6, static_cast<double>(progress.packet_hops) / seconds / 1e6);
    std::fflush(stderr);
    drawn_ = true;
  }

 private:
  bool shown_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point next_ = begun_;
};

Status take_limit(const SimulateFlags& flags, simulate::Control& control) {
  if (!flags.limit) return {};
  auto limit = time::parse_duration(*flags.limit);
  if (!limit.ok()) return limit.status();
  if (limit.value() <= 0 || limit.value() > simulate::never / simulate::ps_per_ns)
    return {Code::bad_input, "reading --limit", "it is not above 0 or longer than 106 days",
            "give a time such as 10ms"};
  control.limit = limit.value() * simulate::ps_per_ns;
  return {};
}

int hand_over(const nlohmann::ordered_json& record, const std::string& path) {
  if (path == "-") {
    std::cout << event::record_text(record);
    return 0;
  }
  const Status status = event::write_record_file(path, record);
  return status.ok() ? 0 : complain(status);
}

int run_sweep(const SimulateFlags& flags, const fabric::Fabric& fabric, const fabric::Forwarding& tables,
              const simulate::Parameters& parameters, const simulate::Control& control) {
  auto spec = simulate::parse_traffic(flags.traffic);
  if (!spec.ok()) return complain(spec.status());
  const bool words = flags.json != "-";
  if (words) std::printf("  load   offered GB/s   arrived GB/s   mean latency us   99 %% us\n");
  auto show = [&](const simulate::SweepPoint& point) {
    if (!words) return;
    const simulate::Record& record = point.record;
    std::printf("%6.3f %14.3f %14.3f %17.3f %9.3f%s\n", point.load, point.offered_bytes_per_s / 1e9,
                record.host_mean_bytes_per_s / 1e9, record.message_latency.mean / 1e6,
                static_cast<double>(record.message_latency.p99) / 1e6,
                record.ending == simulate::Ending::deadlock ? "  DEADLOCK" : "");
    std::fflush(stdout);
  };
  auto swept = simulate::sweep(fabric, tables, parameters, spec.value(), flags.seed, control, 10, 3, show);
  if (!swept.ok()) return complain(swept.status());
  if (words)
    std::printf("the network keeps up to load %.3f; at most %.3f GB/s a host arrive\n", swept.value().saturation_load,
                swept.value().saturation_bytes_per_s / 1e9);
  if (flags.json.empty()) return 0;
  auto json = event::make_record("holdfast.simulation-sweep", 1);
  json["saturation_load"] = swept.value().saturation_load;
  json["saturation_bytes_per_s"] = swept.value().saturation_bytes_per_s;
  json["points"] = nlohmann::ordered_json::array();
  for (const simulate::SweepPoint& point : swept.value().points)
    json["points"].push_back({{"load", point.load},
                              {"offered_bytes_per_s", point.offered_bytes_per_s},
                              {"run", simulate::to_json(point.record, flags.speed)}});
  return hand_over(json, flags.json);
}

Result<std::unique_ptr<simulate::Traffic>> traffic_of(const SimulateFlags& flags, const fabric::Fabric& fabric,
                                                      const simulate::Parameters& parameters) {
  if (flags.trace.empty()) {
    auto spec = simulate::parse_traffic(flags.traffic);
    if (!spec.ok()) return spec.status();
    return simulate::make_traffic(spec.value(), fabric, parameters, flags.seed);
  }
  auto schedule = simulate::read_schedule_file(flags.trace);
  if (!schedule.ok()) return schedule.status();
  if (schedule.value().hosts > fabric.adapter_count())
    return Status{Code::bad_input, "reading " + flags.trace,
                  "it has " + std::to_string(schedule.value().hosts) + " hosts, the fabric " +
                      std::to_string(fabric.adapter_count()),
                  "take a larger fabric"};
  return std::unique_ptr<simulate::Traffic>(std::make_unique<simulate::ScheduleTraffic>(std::move(schedule).value()));
}

int simulate_action(SimulateFlags& flags) {
  config::AnySettings* tables[] = {&flags.settings};
  Status status = flags.status;
  if (status.ok()) status = config::read_environment(flags.settings, environ);
  if (status.ok() && flags.config_file) status = config::read_toml_file(*flags.config_file, tables);
  simulate::Control control;
  if (status.ok()) status = take_limit(flags, control);
  if (!status.ok()) return complain(status);
  const simulate::Parameters& parameters = flags.settings.options();
  auto fabric = fabric::generate(flags.fabric);
  if (!fabric.ok()) return complain(fabric.status());
  fabric::EngineOptions options;
  options.lanes = flags.lanes;
  auto routes = fabric::route(fabric.value(), flags.engine, options);
  if (!routes.ok()) return complain(routes.status());
  if (flags.sweep) return run_sweep(flags, fabric.value(), routes.value(), parameters, control);
  auto traffic = traffic_of(flags, fabric.value(), parameters);
  if (!traffic.ok()) return complain(traffic.status());
  Result<simulate::Record> record = Status{};
  {
    ProgressLine line(true);
    control.progress = [&line](const simulate::Progress& progress) {
      line.show(progress);
      return true;
    };
    record = simulate::simulate(fabric.value(), routes.value(), parameters, *traffic.value(), control);
  }
  if (!record.ok()) return complain(record.status());
  const simulate::Record& result = record.value();
  if (flags.json != "-") std::cout << simulate::to_text(result);
  if (flags.json != "-" && flags.speed)
    std::printf("speed                 %.2f million packet-hops a second, %llu bytes a host\n",
                static_cast<double>(result.packet_hops) / result.wall_seconds / 1e6,
                static_cast<unsigned long long>(result.memory_bytes / result.hosts));
  if (!flags.json.empty()) {
    auto json = simulate::to_json(result, flags.speed);
    json["fabric"] = flags.fabric;
    json["engine"] = flags.engine;
    json["traffic"] = flags.trace.empty() ? flags.traffic : "trace " + flags.trace;
    json["seed"] = flags.seed;
    if (const int code = hand_over(json, flags.json); code != 0) return code;
  }
  return result.ending == simulate::Ending::deadlock || result.ending == simulate::Ending::stuck ? 1 : 0;
}

}  // namespace

void add_simulate(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("simulate", "Simulate an InfiniBand network under traffic: throughput, latency, deadlocks");
  auto flags = std::make_shared<SimulateFlags>();
  command->footer(footer);
  command->add_option("--fabric", flags->fabric, "The network, as 'tree(16,2)'")->required()->type_name("TOPOLOGY");
  command->add_option("--engine", flags->engine, "Routing engine. Default: dfsssp")->type_name("NAME");
  command->add_option("--lanes", flags->lanes, "Virtual lanes that the engine may use. Default: 8")->type_name("N");
  auto* traffic =
      command->add_option("--traffic", flags->traffic, "What hosts send. Default: uniform")->type_name("TRAFFIC");
  command->add_option("--trace", flags->trace, "Replay this trace or GOAL schedule")
      ->type_name("FILE")
      ->excludes(traffic);
  command->add_option("--seed", flags->seed, "Seed of random traffic. Default: 1")->type_name("N");
  command->add_option("--limit", flags->limit, "End after this simulated time, as 2ms")->type_name("DURATION");
  command->add_flag("--sweep", flags->sweep, "Run at rising injection rates and find the saturation point");
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
            std::string(option.row.doc.substr(0, option.row.doc.find('\n'))))
        ->type_name(config::placeholder(option))
        ->group("The model (also HOLDFAST_SIMULATE_*, or [simulate] of --config)");
  }
  command->callback([flags, &action] { action = [flags] { return simulate_action(*flags); }; });
}

}  // namespace holdfast::cli
