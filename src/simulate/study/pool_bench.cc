#include "simulate/study/pool.h"

#include <benchmark/benchmark.h>

#include "core/time/clock.h"

/// What a study's runs cost in CPU time with one worker and with two, and how long workers are without a run: a measure
/// of scaling that other programs on the machine hardly disturb. The product of both is the efficiency.
namespace holdfast::simulate::study {
namespace {

constexpr const char* small_study = R"toml([study]
name = "scaling"
[[group]]
fabric = ["mesh-5x5", "torus-3x3x3", "16-ary-2-tree", "dragonfly-10-5-5-4"]
engine = ["minhop", "updn", "ftree", "dfsssp", "torus-2qos"]
failures = ["none", "fail-link share 1%", "fail-link share 10%"]
traffic = ["exchange size=20480"]
seeds = 1
)toml";

constexpr const char* large_study = R"toml([study]
name = "scaling"
[[group]]
fabric = ["10-ary-3-tree"]
engine = ["dfsssp", "ftree", "updn"]
failures = ["none", "fail-link share 1%", "fail-link share 4%"]
traffic = ["exchange"]
seeds = 1
)toml";

void scaling(benchmark::State& state, const char* text) {
  const auto study = read_any_study(text, "scaling.toml").value();
  std::vector<std::size_t> todo(study->points.size());
  for (std::size_t i = 0; i < todo.size(); ++i) todo[i] = i;
  PoolOptions options;
  options.workers = static_cast<unsigned>(state.range(0));
  double cpu_s = 0;
  std::int64_t waited_ns = 0, wall_ns = 0;
  for (auto _ : state) {
    const std::int64_t begun_ns = time::steady_now_ns();
    const PoolEnd end = run_pool(*study, todo, options,
                                 {.finished =
                                      [&](std::size_t, const Finished& finished) {
                                        cpu_s += finished.cpu_s;
                                        return Status{};
                                      },
                                  .progress = [](const PoolProgress&) {},
                                  .trouble = [](const std::string&) {}});
    if (!end.status.ok()) return state.SkipWithError(end.status.message().c_str());
    waited_ns += end.waited_ns;
    wall_ns += time::steady_now_ns() - begun_ns;
  }
  state.counters["runs"] = static_cast<double>(todo.size());
  state.counters["cpu_s"] = benchmark::Counter(cpu_s, benchmark::Counter::kAvgIterations);
  state.counters["waited_s"] =
      benchmark::Counter(static_cast<double>(waited_ns) * 1e-9, benchmark::Counter::kAvgIterations);
  state.counters["workers_s"] = benchmark::Counter(
      static_cast<double>(wall_ns) * 1e-9 * static_cast<double>(state.range(0)), benchmark::Counter::kAvgIterations);
}
BENCHMARK_CAPTURE(scaling, hosts_256, small_study)->Arg(1)->Arg(2)->Iterations(1)->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(scaling, hosts_1100, large_study)->Arg(1)->Arg(2)->Iterations(1)->Unit(benchmark::kSecond);

}  // namespace
}  // namespace holdfast::simulate::study

BENCHMARK_MAIN();
