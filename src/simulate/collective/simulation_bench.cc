#include <benchmark/benchmark.h>

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "fabric/topology/generate.h"
#include "simulate/collective/sampling.h"

// How many collectives a second one core simulates, from the paper's 1,728 hosts to 100,000: every host and link
// (whole), every packet made and checked byte by byte (everything), and with what nothing distinguishes standing once
// (reduced), by the number of disturbed wires; how long embedding takes; and what a thousand-collective point of Figure
// 5 costs.
namespace holdfast::simulate::collective {
namespace {

constexpr const char* fabrics[] = {"xgft(3;24,12,6;1,12,6)", "xgft(3;24,12,24;1,12,12)", "xgft(3;32,32,32;1,32,16)",
                                   "xgft(3;48,48,44;1,48,24)"};

const fabric::Fabric& fabric_of(std::size_t index) {
  static std::map<std::size_t, fabric::Fabric> made;
  const auto found = made.find(index);
  return found != made.end() ? found->second
                             : made.emplace(index, fabric::generate(fabrics[index]).value()).first->second;
}

Simulation make(std::size_t fabric, Protection protection) {
  Experiment experiment;
  experiment.scheme = {protection, 2};
  return Simulation::make(fabric_of(fabric), nullptr, {}, experiment).value();
}

/// One at a time: the largest takes gigabytes.
Simulation& simulation(std::size_t fabric, std::int64_t spatial) {
  static std::optional<Simulation> held;
  static std::pair<std::size_t, std::int64_t> of{~std::size_t{0}, 0};
  if (of != std::pair(fabric, spatial)) {
    held.reset();
    held.emplace(make(fabric, spatial != 0 ? Protection::spatial : Protection::temporal));
    of = {fabric, spatial};
  }
  return *held;
}

void label(benchmark::State& state, std::size_t fabric) {
  state.SetLabel(std::string(fabrics[fabric]) + (state.range(1) != 0 ? " spatial" : " temporal"));
  state.counters["collectives_per_s"] =
      benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void embedding(benchmark::State& state) {
  const auto fabric = static_cast<std::size_t>(state.range(0));
  (void)fabric_of(fabric);
  for (auto _ : state) {
    benchmark::DoNotOptimize(make(fabric, state.range(1) != 0 ? Protection::spatial : Protection::temporal));
  }
  state.SetLabel(fabrics[fabric]);
}

void whole(benchmark::State& state) {
  const auto fabric = static_cast<std::size_t>(state.range(0));
  Simulation& ready = simulation(fabric, state.range(1));
  for (auto _ : state) benchmark::DoNotOptimize(ready.run({}));
  label(state, fabric);
}

void everything(benchmark::State& state) {
  const auto fabric = static_cast<std::size_t>(state.range(0));
  Simulation& ready = simulation(fabric, state.range(1));
  for (auto _ : state) benchmark::DoNotOptimize(ready.run({}, Detail::everything));
  label(state, fabric);
}

void reduced(benchmark::State& state) {
  const auto fabric = static_cast<std::size_t>(state.range(0));
  Simulation& ready = simulation(fabric, state.range(1));
  Disturbance disturbance;
  for (std::uint32_t i = 0; i < state.range(2); ++i) disturbance.strikes.push_back({.at = 200'000, .wire = i * 97});
  for (auto _ : state) benchmark::DoNotOptimize(ready.run_reduced(disturbance));
  label(state, fabric);
}

void point(benchmark::State& state) {
  SamplePlan plan;
  plan.experiment.scheme = {Protection::temporal, 2};
  plan.errors.source = ErrorSource::link;
  plan.errors.mean_ps = state.range(0) * ps_per_us;
  plan.collectives = 1000;
  for (auto _ : state) benchmark::DoNotOptimize(sample(fabric_of(0), nullptr, plan).ok());
}

void fabrics_and_schemes(benchmark::internal::Benchmark* benchmark) {
  benchmark->Args({0, 0})->Args({0, 1})->Args({1, 0})->Args({2, 0})->Args({3, 0});
}
void fabrics_and_errors(benchmark::internal::Benchmark* benchmark) {
  for (const std::int64_t errors : {0, 10}) {
    benchmark->Args({0, 0, errors})->Args({0, 1, errors})->Args({1, 0, errors});
    benchmark->Args({2, 0, errors})->Args({3, 0, errors});
  }
}

BENCHMARK(whole)->Apply(fabrics_and_schemes);
BENCHMARK(everything)->Apply(fabrics_and_schemes);
BENCHMARK(reduced)->Apply(fabrics_and_errors);
BENCHMARK(embedding)->Apply(fabrics_and_schemes)->Unit(benchmark::kMillisecond);
BENCHMARK(point)->Arg(1)->Arg(10)->Arg(100)->Arg(1000)->Unit(benchmark::kSecond)->Iterations(1);

}  // namespace
}  // namespace holdfast::simulate::collective
BENCHMARK_MAIN();
