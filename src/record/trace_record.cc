#include "record/trace_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/arithmetic/totals.h"
#include "core/event/record.h"
#include "core/status/printable.h"

namespace holdfast::record {
namespace {

double seconds(std::int64_t ns) {
  return static_cast<double>(ns) / 1e9;
}

Flow total_of(const std::map<std::int64_t, Flow>& flows) {
  Flow sum;
  for (const auto& [peer, flow] : flows) {
    sum.messages = arithmetic::add_or_most(sum.messages, flow.messages);
    sum.bytes = arithmetic::add_or_most(sum.bytes, flow.bytes);
  }
  return sum;
}

std::map<std::string, CallTotals> by_function(const std::vector<RankTotals>& ranks) {
  std::map<std::string, CallTotals> sums;
  for (const RankTotals& rank : ranks)
    for (const auto& [name, totals] : rank.calls) {
      CallTotals& sum = sums[name];
      sum.calls = arithmetic::add_or_most(sum.calls, totals.calls);
      sum.in_vain = arithmetic::add_or_most(sum.in_vain, totals.in_vain);
      sum.bytes = arithmetic::add_or_most(sum.bytes, totals.bytes);
      sum.during_ns = arithmetic::add_or_most(sum.during_ns, totals.during_ns);
    }
  return sums;
}

std::map<std::string, std::uint64_t> counted(const std::vector<RankTotals>& ranks, bool local) {
  std::map<std::string, std::uint64_t> sums;
  for (const RankTotals& rank : ranks)
    for (const auto& [name, calls] : local ? rank.local : rank.unrecorded)
      sums[name] = arithmetic::add_or_most(sums[name], calls);
  return sums;
}

double bytes_a_call(const Trace& trace) {
  return trace.calls == 0 ? 0 : static_cast<double>(trace.bytes) / static_cast<double>(trace.calls);
}

nlohmann::ordered_json flows_json(const std::map<std::int64_t, Flow>& flows) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& [peer, flow] : flows)
    list.push_back({{"rank", peer}, {"messages", flow.messages}, {"bytes", flow.bytes}});
  return list;
}

}  // namespace

std::string totals_text(const Trace& trace, const std::vector<RankTotals>& ranks) {
  std::string text =
      fmt::format("{} ranks, {}, {:.3f} s, {} calls in {} bytes ({:.2f} bytes a call)\n\n", trace.ranks,
                  printable(trace.mpi), seconds(trace.elapsed_ns), trace.calls, trace.bytes, bytes_a_call(trace));
  text += fmt::format("{:>6} {:>12} {:>12} {:>16} {:>12} {:>16} {:>11} {:>11} {:>11}\n", "rank", "calls", "sent",
                      "bytes", "received", "bytes", "computing", "in MPI", "no core");
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const RankTotals& own = ranks[rank];
    const Flow sent = total_of(own.sent);
    const Flow received = total_of(own.received);
    text += fmt::format("{:>6} {:>12} {:>12} {:>16} {:>12} {:>16} {:>9.3f} s {:>9.3f} s {:>9.3f} s\n", rank,
                        trace.files[rank].calls, sent.messages, sent.bytes, received.messages, received.bytes,
                        seconds(own.computing_ns), seconds(own.in_mpi_ns), seconds(own.without_core_ns));
  }
  text += fmt::format("\n{:<32} {:>12} {:>12} {:>18} {:>13}\n", "function", "calls", "in vain", "bytes", "time");
  for (const auto& [name, totals] : by_function(ranks))
    text += fmt::format("{:<32} {:>12} {:>12} {:>18} {:>11.3f} s\n", name, totals.calls, totals.in_vain, totals.bytes,
                        seconds(totals.during_ns));
  for (const bool local : {false, true}) {
    const auto sums = counted(ranks, local);
    if (sums.empty()) continue;
    text += local ? "\ncounted only, as they need no other rank:" : "\nNOT RECORDED, though they communicate:";
    for (const auto& [name, calls] : sums) text += fmt::format(" {} {}", name, calls);
    text += "\n";
  }
  return text;
}

nlohmann::ordered_json totals_json(const Trace& trace, const std::vector<RankTotals>& ranks) {
  auto record = event::make_record("holdfast.trace", 1);
  record["ranks"] = trace.ranks;
  record["mpi"] = trace.mpi;
  record["seconds"] = seconds(trace.elapsed_ns);
  record["calls"] = trace.calls;
  record["bytes"] = trace.bytes;
  record["bytes_a_call"] = bytes_a_call(trace);
  record["wrong"] = trace.wrong;
  auto functions = nlohmann::ordered_json::object();
  for (const auto& [name, totals] : by_function(ranks))
    functions[name] = {{"calls", totals.calls},
                       {"in_vain", totals.in_vain},
                       {"bytes", totals.bytes},
                       {"seconds", seconds(totals.during_ns)}};
  record["functions"] = functions;
  record["not_recorded"] = counted(ranks, false);
  record["local"] = counted(ranks, true);
  auto list = nlohmann::ordered_json::array();
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const RankTotals& own = ranks[rank];
    auto calls = nlohmann::ordered_json::object();
    for (const auto& [name, totals] : own.calls)
      calls[name] = {{"calls", totals.calls}, {"in_vain", totals.in_vain}, {"bytes", totals.bytes}};
    list.push_back({{"rank", rank},
                    {"host", trace.files[rank].head.host},
                    {"computing_seconds", seconds(own.computing_ns)},
                    {"in_mpi_seconds", seconds(own.in_mpi_ns)},
                    {"without_core_seconds", seconds(own.without_core_ns)},
                    {"functions", calls},
                    {"sent", flows_json(own.sent)},
                    {"received", flows_json(own.received)},
                    {"put", flows_json(own.put)},
                    {"got", flows_json(own.got)}});
  }
  record["by_rank"] = list;
  return record;
}

}  // namespace holdfast::record
