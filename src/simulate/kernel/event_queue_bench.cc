#include "simulate/kernel/event_queue.h"

#include <benchmark/benchmark.h>

#include <queue>

#include "core/random/stream.h"

/// Which structure should hold the pending events? The hold model (each event taken pushes one again) with as many
/// pending events as a network of that many busy ports has, due 0 to 1 us ahead.
namespace holdfast::simulate {
namespace {

std::vector<Time> delays() {
  random::Stream draw = random::Stream(1).child("delays");
  std::vector<Time> all(1 << 16);
  for (Time& delay : all) delay = 1 + static_cast<Time>(draw.below(1'000'000));
  return all;
}

void wheel(benchmark::State& state) {
  const auto delay = delays();
  EventQueue queue(state.range(1), static_cast<std::uint32_t>(4'194'304 / state.range(1)));
  std::size_t drawn = 0;
  for (std::int64_t i = 0; i < state.range(0); ++i) queue.push(delay[++drawn & 0xffff], static_cast<Event>(i));
  std::int64_t taken = 0;
  for (auto _ : state) {
    queue.next_instant();
    for (const Event event : queue.events()) {
      queue.push(queue.now() + delay[++drawn & 0xffff], event);
      ++taken;
    }
  }
  state.SetItemsProcessed(taken);
}
BENCHMARK(wheel)->ArgsProduct({{1'000, 10'000, 100'000}, {64, 256, 1024, 4096, 16384}});

void heap(benchmark::State& state) {
  using Entry = std::pair<Time, Event>;
  const auto delay = delays();
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  std::size_t drawn = 0;
  for (std::int64_t i = 0; i < state.range(0); ++i) queue.emplace(delay[++drawn & 0xffff], static_cast<Event>(i));
  for (auto _ : state) {
    const Entry top = queue.top();
    queue.pop();
    queue.emplace(top.first + delay[++drawn & 0xffff], top.second);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(heap)->Arg(1'000)->Arg(10'000)->Arg(100'000);

}  // namespace
}  // namespace holdfast::simulate

BENCHMARK_MAIN();
