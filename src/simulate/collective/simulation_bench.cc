#include <benchmark/benchmark.h>

#include "fabric/topology/generate.h"
#include "simulate/collective/sampling.h"

// How many collectives a second one core simulates on the paper's 1,728 hosts: every host and link (run), and with what
// nothing distinguishes standing once (run_reduced); and what a thousand-collective point costs.
namespace holdfast::simulate::collective {
namespace {

Simulation paper(Protection protection, std::uint8_t copies) {
  static const fabric::Fabric fabric = fabric::generate("xgft(3;24,12,6;1,12,6)").value();
  Experiment experiment;
  experiment.scheme = {protection, copies};
  return Simulation::make(fabric, nullptr, {}, experiment).value();
}

void whole(benchmark::State& state) {
  Simulation simulation = paper(state.range(0) == 0 ? Protection::temporal : Protection::spatial, 2);
  for (auto _ : state) benchmark::DoNotOptimize(simulation.run({}));
}
BENCHMARK(whole)->Arg(0)->Arg(1);

void everything(benchmark::State& state) {
  Simulation simulation = paper(state.range(0) == 0 ? Protection::temporal : Protection::spatial, 2);
  for (auto _ : state) benchmark::DoNotOptimize(simulation.run({}, Detail::everything));
}
BENCHMARK(everything)->Arg(0)->Arg(1);

void reduced(benchmark::State& state) {
  Simulation simulation = paper(state.range(0) == 0 ? Protection::temporal : Protection::spatial, 2);
  Disturbance disturbance;
  for (std::uint32_t i = 0; i < state.range(1); ++i) disturbance.strikes.push_back({.at = 200'000, .wire = i * 97});
  for (auto _ : state) benchmark::DoNotOptimize(simulation.run_reduced(disturbance));
}
BENCHMARK(reduced)->Args({0, 0})->Args({0, 1})->Args({0, 10})->Args({1, 0})->Args({1, 1})->Args({1, 10});

}  // namespace
}  // namespace holdfast::simulate::collective
BENCHMARK_MAIN();
