#include <benchmark/benchmark.h>

#include <string>

#include "fabric/check/credit_loops.h"
#include "fabric/check/paths.h"
#include "fabric/routing/engines/engine.h"
#include "fabric/routing/engines/reroute.h"
#include "fabric/topology/generate.h"

namespace holdfast::fabric {
namespace {

constexpr const char* configurations[] = {"10-ary-3-tree", "14-ary-3-tree", "torus-7x7x7",  "dragonfly-14-7-7-23",
                                          "kautz-7-3",     "18-ary-3-tree", "tsubame2-rail"};

void route_by(benchmark::State& state, const std::string& text, const std::string& engine, unsigned lanes) {
  const Fabric fabric = generate(text).value();
  EngineOptions options;
  options.lanes = lanes;
  for (auto _ : state) {
    auto tables = route(fabric, engine, options);
    if (!tables.ok()) {
      state.SkipWithError(tables.status().wrong().c_str());
      break;
    }
    state.counters["lanes"] = tables.value().lanes_used;
    benchmark::DoNotOptimize(tables.value().table(0));
  }
}

void check_tables(benchmark::State& state, const std::string& text) {
  const Fabric fabric = generate(text).value();
  const Forwarding tables = route(fabric, "sssp").value();
  for (auto _ : state) {
    benchmark::DoNotOptimize(check_paths(fabric, tables).routed);
    benchmark::DoNotOptimize(check_credit_loops(fabric, tables).dependencies);
  }
}

/// One failed link between switches, a different one each time.
void reroute_by(benchmark::State& state, const std::string& text, const std::string& engine) {
  const Fabric fabric = generate(text).value();
  const auto tables = route(fabric, engine);
  if (!tables.ok()) {
    state.SkipWithError(tables.status().wrong().c_str());
    return;
  }
  Fabric degraded = fabric;
  LinkId link = 0;
  double anew = 0;
  for (auto _ : state) {
    state.PauseTiming();
    degraded.set_link_up(link, true);
    link = (link + 17) % static_cast<LinkId>(fabric.links().size() - fabric.adapter_count());
    degraded.set_link_up(link, false);
    state.ResumeTiming();
    anew += reroute(degraded, tables.value(), engine).value().anew ? 1 : 0;
  }
  state.counters["routed anew"] = anew / static_cast<double>(state.iterations());
}

/// Trees of growing size for the fitted exponent: time against switches x LIDs.
void grow(benchmark::State& state, const std::string& engine) {
  const auto k = state.range(0);
  const std::string digits = std::to_string(k);
  const Fabric fabric = generate("tree(" + digits + ",3) ports=" + std::to_string(2 * k)).value();
  for (auto _ : state) benchmark::DoNotOptimize(route(fabric, engine).value().table(0));
  state.SetComplexityN(static_cast<std::int64_t>(fabric.switch_count()) * fabric.top_lid());
}

void add_all() {
  for (const char* text : configurations) {
    const std::string name = text;
    for (const Engine& engine : engines()) {
      const std::string by(engine.name);
      benchmark::RegisterBenchmark(("route/" + name + "/" + by).c_str(),
                                   [=](benchmark::State& state) { route_by(state, name, by, 8); })
          ->Unit(benchmark::kMillisecond)
          ->MeasureProcessCPUTime();
      benchmark::RegisterBenchmark(("reroute/" + name + "/" + by).c_str(),
                                   [=](benchmark::State& state) { reroute_by(state, name, by); })
          ->Unit(benchmark::kMillisecond)
          ->MeasureProcessCPUTime();
    }
    benchmark::RegisterBenchmark(("check/" + name).c_str(), [=](benchmark::State& state) { check_tables(state, name); })
        ->Unit(benchmark::kMillisecond)
        ->MeasureProcessCPUTime();
  }
  for (const char* engine : {"updn", "ftree", "dfsssp"}) {
    const std::string by = engine;
    benchmark::RegisterBenchmark(("grow/" + by).c_str(), [=](benchmark::State& state) { grow(state, by); })
        ->DenseRange(8, 24, 4)
        ->Unit(benchmark::kMillisecond)
        ->MeasureProcessCPUTime()
        ->Complexity();
    benchmark::RegisterBenchmark(
        ("50176 hosts/" + by).c_str(),
        [=](benchmark::State& state) { route_by(state, "xgft(3;32,32,49;1,32,32) ports=64", by, 8); })
        ->Iterations(1)
        ->Unit(benchmark::kSecond)
        ->MeasureProcessCPUTime();
  }
}

}  // namespace
}  // namespace holdfast::fabric

int main(int argc, char** argv) {
  holdfast::fabric::add_all();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
