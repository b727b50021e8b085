#include <benchmark/benchmark.h>

#include <cstdlib>
#include <iostream>
#include <vector>

#include "fabric/routing/engines/engine.h"
#include "fabric/topology/generate.h"
#include "simulate/job/job_traffic.h"
#include "simulate/job/placement.h"
#include "simulate/packet/hosts.h"
#include "simulate/packet/simulate.h"

/// How many packets cross a link in a second of computing when a recorded program is replayed, and when the same
/// messages leave the same hosts at the same moments without ranks, MPI and matching: what the network alone takes.
/// HOLDFAST_TRACE is the recording; ranks stand on a 14-ary 3-tree in order (0) or at random (1).
namespace holdfast::simulate::job {
namespace {

struct Setting {
  fabric::Fabric fabric;
  fabric::Forwarding tables;
  Parameters parameters;
  Program program;
};

const Setting& setting() {
  static const Setting made = [] {
    const char* trace = std::getenv("HOLDFAST_TRACE");
    auto program = read_program(trace == nullptr ? "" : trace);
    if (!program.ok()) {
      std::cerr << program.status().message() << "\nset HOLDFAST_TRACE to a recording\n";
      std::exit(2);
    }
    Setting setting;
    setting.fabric = fabric::generate("14-ary-3-tree").value();
    setting.tables = fabric::route(setting.fabric, "ftree").value();
    parameters_table().apply_defaults(setting.parameters);
    setting.program = std::move(program).value();
    return setting;
  }();
  return made;
}

JobTraffic replay(bool at_random) {
  Job job;
  job.program = setting().program;
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
  Recorder(Traffic& inner, std::uint32_t hosts) : inner_(inner), sent_by(hosts) {}
  void begin(Player& player) override { inner_.begin(player); }
  Answer next(std::uint32_t host, Time now, Message& message) override {
    const Answer answer = inner_.next(host, now, message);
    if (answer == Answer::send) sent_by[host].push_back(message);
    if (answer == Answer::send) sent_by[host].back().created = now;
    return answer;
  }
  bool finite() const override { return true; }
  void sent(std::uint32_t host, std::uint32_t tag, Time now) override { inner_.sent(host, tag, now); }
  bool watches_deliveries() const override { return true; }
  void delivered(std::uint32_t host, std::uint32_t tag, Time now, std::vector<std::uint32_t>& wake) override {
    inner_.delivered(host, tag, now, wake);
  }
  bool done() const override { return inner_.done(); }

 private:
  Traffic& inner_;

 public:
  std::vector<std::vector<Message>> sent_by;  ///< in the order of sending
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

void measure(benchmark::State& state, const std::vector<std::vector<Traffic::Message>>* messages) {
  std::uint64_t hops = 0;
  Record record;
  for (auto _ : state) {
    state.PauseTiming();
    JobTraffic ranks = replay(state.range(0) != 0);
    state.ResumeTiming();
    if (messages == nullptr) {
      record = simulate(setting().fabric, setting().tables, setting().parameters, ranks).value();
    } else {
      Given given(*messages);
      record = simulate(setting().fabric, setting().tables, setting().parameters, given).value();
    }
    hops += record.packet_hops;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(hops));
  state.counters["packet_hops"] = static_cast<double>(record.packet_hops);
  state.counters["events_a_hop"] = static_cast<double>(record.events) / static_cast<double>(record.packet_hops);
}

void ranks(benchmark::State& state) {
  measure(state, nullptr);
}
BENCHMARK(ranks)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void messages_alone(benchmark::State& state) {
  JobTraffic ranks = replay(state.range(0) != 0);
  Recorder recorder(ranks, Hosts(setting().fabric).count());
  benchmark::DoNotOptimize(simulate(setting().fabric, setting().tables, setting().parameters, recorder).value());
  measure(state, &recorder.sent_by);
}
BENCHMARK(messages_alone)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace holdfast::simulate::job

BENCHMARK_MAIN();
