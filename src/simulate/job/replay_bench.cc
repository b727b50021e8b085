#include <benchmark/benchmark.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fabric/routing/engines/engine.h"
#include "fabric/topology/generate.h"
#include "simulate/job/job_traffic.h"
#include "simulate/job/placement.h"
#include "simulate/packet/hosts.h"
#include "simulate/packet/simulate.h"
#include "simulate/traffic/pattern.h"

/// How many packets cross a link in a second of computing on a 14-ary 3-tree: of the exchange; of a recorded program
/// (HOLDFAST_TRACE is the recording), its ranks in order (0) or at random (1); and when the same messages leave the
/// same hosts at the same moments without ranks, MPI and matching, which is what the network alone takes.
namespace holdfast::simulate::job {
namespace {

struct Setting {
  fabric::Fabric fabric = fabric::generate("14-ary-3-tree").value();
  fabric::Forwarding tables = fabric::route(fabric, "ftree").value();
  Parameters parameters;
  std::optional<Program> program;
  std::string problem;

  Setting() {
    parameters_table().apply_defaults(parameters);
    const char* trace = std::getenv("HOLDFAST_TRACE");
    if (trace == nullptr) {
      problem = "set HOLDFAST_TRACE to a recording";
      return;
    }
    auto read = read_program(trace);
    if (read.ok())
      program = std::move(read).value();
    else
      problem = read.status().message();
  }
};

const Setting& setting() {
  static const Setting made;
  return made;
}

JobTraffic replay(bool at_random) {
  Job job;
  job.program = *setting().program;
  protocol_table().apply_defaults(job.protocol);
  PlacementRules rules;
  rules.distribution = at_random ? Distribution::random : Distribution::block;
  const std::uint32_t hosts = Hosts(setting().fabric).count();
  std::vector<bool> taken(hosts, false);
  job.hosts = place(rules, static_cast<std::uint32_t>(job.program.ranks.size()), setting().fabric, taken).value();
  std::vector<Job> jobs;
  jobs.push_back(std::move(job));
  return {std::move(jobs), hosts};
}

/// Writes down what another traffic sends, and when the adapter took it.
class Recorder : public Traffic {
 public:
  Recorder(Traffic& inner, std::uint32_t hosts) : inner_(inner), sent_by_(hosts) {}
  void begin(Player& player) override { inner_.begin(player); }
  Answer next(std::uint32_t host, Time now, Message& message) override {
    const Answer answer = inner_.next(host, now, message);
    if (answer != Answer::send) return answer;
    sent_by_[host].push_back(message);
    sent_by_[host].back().created = now;
    return answer;
  }
  bool finite() const override { return true; }
  void sent(std::uint32_t host, std::uint32_t tag, Time now) override { inner_.sent(host, tag, now); }
  bool watches_deliveries() const override { return true; }
  void delivered(std::uint32_t host, std::uint32_t tag, Time now, std::vector<std::uint32_t>& wake) override {
    inner_.delivered(host, tag, now, wake);
  }
  bool done() const override { return inner_.done(); }
  /// By host, in the order of sending.
  const std::vector<std::vector<Message>>& sent_by() const { return sent_by_; }

 private:
  Traffic& inner_;
  std::vector<std::vector<Message>> sent_by_;
};

/// Sends given messages at given moments.
class Given : public Traffic {
 public:
  explicit Given(const std::vector<std::vector<Message>>& messages) : messages_(messages), next_(messages.size()) {}
  Answer next(std::uint32_t host, Time now, Message& message) override {
    if (next_[host] == messages_[host].size()) return Answer::none;
    message = messages_[host][next_[host]];
    if (message.created > now) return Answer::later;
    ++next_[host];
    return Answer::send;
  }
  bool finite() const override { return true; }

 private:
  const std::vector<std::vector<Message>>& messages_;
  std::vector<std::size_t> next_;
};

/// Plays what `make` makes, whose making does not count.
template <class Make>
void measure(benchmark::State& state, const Make& make) {
  std::uint64_t hops = 0;
  Record record;
  for (auto _ : state) {
    state.PauseTiming();
    auto traffic = make();
    state.ResumeTiming();
    record = simulate(setting().fabric, setting().tables, setting().parameters, traffic).value();
    hops += record.packet_hops;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(hops));
  state.counters["packet_hops"] = static_cast<double>(record.packet_hops);
  state.counters["events_a_hop"] = static_cast<double>(record.events) / static_cast<double>(record.packet_hops);
}

void exchange(benchmark::State& state) {
  std::uint64_t hops = 0;
  for (auto _ : state) {
    const auto traffic =
        make_traffic(parse_traffic("exchange").value(), setting().fabric, setting().parameters, 1).value();
    hops += simulate(setting().fabric, setting().tables, setting().parameters, *traffic).value().packet_hops;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(hops));
}
BENCHMARK(exchange)->Unit(benchmark::kMillisecond);

void ranks(benchmark::State& state) {
  if (!setting().program) return state.SkipWithError(setting().problem.c_str());
  measure(state, [&] { return replay(state.range(0) != 0); });
}
BENCHMARK(ranks)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void messages_alone(benchmark::State& state) {
  if (!setting().program) return state.SkipWithError(setting().problem.c_str());
  JobTraffic ranks = replay(state.range(0) != 0);
  Recorder recorder(ranks, Hosts(setting().fabric).count());
  benchmark::DoNotOptimize(simulate(setting().fabric, setting().tables, setting().parameters, recorder).value());
  measure(state, [&] { return Given(recorder.sent_by()); });
}
BENCHMARK(messages_alone)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace holdfast::simulate::job

BENCHMARK_MAIN();
