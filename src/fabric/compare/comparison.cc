#include "fabric/compare/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

#include "core/event/record.h"
#include "fabric/check/credit_loops.h"
#include "fabric/check/paths.h"

namespace holdfast::fabric {
namespace {

/// Smaller is better, apart from what the numbers say.
int class_of(const Judged& judged) {
  if (!judged.routed()) return 3;
  if (judged.lost_pairs != 0) return 2;
  return judged.credit_loops != 0 ? 1 : 0;
}

bool better(const Judged& a, const Judged& b) {
  return std::tuple(class_of(a), a.forwarding_index, a.mean_path, a.routing.routing_cpu_ns) <
         std::tuple(class_of(b), b.forwarding_index, b.mean_path, b.routing.routing_cpu_ns);
}

std::string lost_pair_text(const Fabric& fabric, const LostPair& lost) {
  return "from " + fabric.node(fabric.port(lost.source).node).name + " to LID " + std::to_string(lost.destination) +
         ": " + name_of(lost.loss) + " at " + fabric.node(lost.at).name;
}

std::string time_text(std::int64_t nanoseconds) {
  const double seconds = static_cast<double>(nanoseconds) / 1e9;
  return seconds < 1 ? fmt::format("{:.1f} ms", seconds * 1e3) : fmt::format("{:.1f} s", seconds);
}

/// "8 (3)": in use, and how many would do without spreading routes for throughput.
std::string lanes_text(const Judged& judged) {
  const std::uint32_t needed = judged.routing.lanes_needed;
  return needed == 0 || needed == judged.lanes ? std::to_string(judged.lanes)
                                               : fmt::format("{} ({})", judged.lanes, needed);
}

std::string verdict_text(const Judged& judged) {
  if (!judged.routed()) return std::string(opensm::name(judged.routing.verdict));
  if (judged.lost_pairs != 0) return "loses pairs";
  return judged.credit_loops != 0 ? "can deadlock" : "valid";
}

}  // namespace

Judged judge(const Contender& contender, const Fabric& fabric, Routing routing, unsigned threads) {
  Judged judged;
  judged.contender = contender;
  if (routing.verdict == opensm::Verdict::routed) {
    const PathReport paths = check_paths(fabric, routing.forwarding, threads);
    const CreditLoopReport loops = check_credit_loops(fabric, routing.forwarding, threads);
    judged.lost_pairs = paths.lost_pairs();
    judged.disconnected_pairs = paths.disconnected;
    judged.credit_loops = loops.loops.size();
    if (!loops.loops.empty()) judged.example = describe(fabric, loops.loops.front());
    if (!paths.examples.empty()) judged.example = lost_pair_text(fabric, paths.examples.front());
    judged.lanes = std::max(loops.lanes, 1U);
    for (std::uint32_t hops = 0; hops < paths.hops.size(); ++hops)
      if (paths.hops[hops] != 0) judged.longest_path = hops;
    judged.mean_path = paths.mean_hops();
    judged.forwarding_index = paths.index.max;
    judged.forwarding_index_deviation = paths.index.deviation;
  }
  routing.forwarding = Forwarding();
  judged.routing = std::move(routing);
  return judged;
}

Result<std::vector<Judged>> compare(const Fabric& fabric, std::span<const Contender> contenders,
                                    const ContestRules& rules, unsigned jobs, const Progress& progress) {
  std::vector<Judged> ranking;
  Status failure;
  std::mutex lock;
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < contenders.size(); i = next++) {
      auto routing = run(contenders[i], fabric, rules);
      if (!routing.ok()) next = contenders.size();
      Judged judged;
      if (routing.ok()) judged = judge(contenders[i], fabric, std::move(routing.value()), rules.threads);
      const std::lock_guard hold(lock);
      if (!routing.ok()) {
        if (failure.ok()) failure = routing.status();
        continue;
      }
      ranking.push_back(std::move(judged));
      if (progress) progress(ranking.back(), ranking.size(), contenders.size());
    }
  };
  if (jobs == 0) jobs = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::jthread> others;
  try {
    for (std::size_t i = 1; i < std::min<std::size_t>(jobs, contenders.size()); ++i) others.emplace_back(work);
  } catch (const std::system_error&) {
    // The system gives no more threads: those that there are do the work.
  }
  work();
  others.clear();
  if (!failure.ok()) return failure;
  std::stable_sort(ranking.begin(), ranking.end(), better);
  return ranking;
}

std::string comparison_text(std::span<const Judged> ranking) {
  std::size_t width = 6;
  for (const Judged& judged : ranking) width = std::max(width, judged.contender.label().size());
  std::string text =
      fmt::format("{:<{}}  {:<12}  {:>10}  {:>5}  {:>6}  {:>7}  {:>9}  {:>7}  {:>8}  {:>10}\n", "engine", width,
                  "verdict", "lost pairs", "loops", "lanes", "longest", "mean path", "index", "spread", "CPU");
  std::string notes;
  for (const Judged& judged : ranking) {
    const std::string label = judged.contender.label();
    if (judged.routed())
      text += fmt::format("{:<{}}  {:<12}  {:>10}  {:>5}  {:>6}  {:>7}  {:>9.3f}  {:>7}  {:>8.1f}  {:>10}\n", label,
                          width, verdict_text(judged), judged.lost_pairs, judged.credit_loops, lanes_text(judged),
                          judged.longest_path, judged.mean_path, judged.forwarding_index,
                          judged.forwarding_index_deviation, time_text(judged.routing.routing_cpu_ns));
    else
      text += fmt::format("{:<{}}  {:<12}\n", label, width, verdict_text(judged));
    if (!judged.routing.reason.empty()) notes += label + ": " + judged.routing.reason + "\n";
    if (!judged.example.empty()) notes += label + ": " + judged.example + "\n";
  }
  return text + (notes.empty() ? "" : "\n" + notes);
}

nlohmann::ordered_json judged_json(std::span<const Judged> ranking) {
  auto engines = nlohmann::ordered_json::array();
  for (const Judged& judged : ranking) {
    nlohmann::ordered_json entry;
    entry["engine"] = judged.contender.label();
    entry["verdict"] = opensm::name(judged.routing.verdict);
    entry["valid"] = judged.valid();
    if (!judged.routing.reason.empty()) entry["reason"] = judged.routing.reason;
    if (judged.routed()) {
      entry["lost_pairs"] = judged.lost_pairs;
      entry["disconnected_pairs"] = judged.disconnected_pairs;
      entry["credit_loops"] = judged.credit_loops;
      if (!judged.example.empty()) entry["example"] = judged.example;
      entry["lanes"] = judged.lanes;
      if (judged.routing.lanes_needed != 0) entry["lanes_needed"] = judged.routing.lanes_needed;
      entry["longest_path"] = judged.longest_path;
      entry["mean_path"] = judged.mean_path;
      entry["edge_forwarding_index"] = judged.forwarding_index;
      entry["edge_forwarding_index_deviation"] = judged.forwarding_index_deviation;
      entry["routing_cpu_ns"] = judged.routing.routing_cpu_ns;
      entry["routing_wall_ns"] = judged.routing.routing_wall_ns;
      if (judged.routing.memory_bytes != 0) entry["memory_bytes"] = judged.routing.memory_bytes;
    }
    engines.push_back(std::move(entry));
  }
  return engines;
}

nlohmann::ordered_json comparison_record(const Fabric& fabric, std::span<const Judged> ranking) {
  nlohmann::ordered_json record = event::make_record("holdfast.fabric.compare", 1);
  record["switches"] = fabric.switch_count();
  record["adapters"] = fabric.adapter_count();
  record["engines"] = judged_json(ranking);
  return record;
}

}  // namespace holdfast::fabric
