#include "simulate/job/job_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

namespace holdfast::simulate::job {

JobSummary summarise(const Job& job, const JobOutcome& outcome) {
  JobSummary summary;
  summary.trace = job.program.name;
  summary.ranks = static_cast<std::uint32_t>(outcome.ranks.size());
  summary.hosts = static_cast<std::uint32_t>(std::set<std::uint32_t>(job.hosts.begin(), job.hosts.end()).size());
  summary.recorded_ns = job.program.recorded_ns;
  summary.notes = job.program.notes;
  double all = 0, computing = 0, waiting_ps = 0;
  std::size_t waiting = 0;
  std::size_t first = 0;
  for (std::size_t rank = 0; rank < outcome.ranks.size(); ++rank) {
    const RankOutcome& one = outcome.ranks[rank];
    summary.time_ps = std::max(summary.time_ps, one.end_ps);
    all += static_cast<double>(one.end_ps);
    const Time computed = std::min(one.computing_ps, one.end_ps);
    computing += static_cast<double>(computed);
    waiting_ps += static_cast<double>(std::max<Time>(0, one.end_ps - computed - one.overhead_ps));
    if (!one.ended && waiting++ == 0) first = rank;
  }
  summary.computing_share = all > 0 ? computing / all : 0;
  summary.waiting_share = all > 0 ? waiting_ps / all : 0;
  summary.ended = waiting == 0;
  if (waiting > 0) {
    std::string line = fmt::format("rank {} waits for ever for {}", first, outcome.ranks[first].waits_for);
    if (waiting > 1) line += fmt::format(", and {} more ranks wait", waiting - 1);
    if (!job.program.whole) line += "; the recording is not whole";
    summary.notes.push_back(std::move(line));
  }
  if (outcome.unreceived > 0) {
    std::string line = outcome.first_unreceived;
    if (outcome.unreceived > 1) line += fmt::format(", and {} more messages were not received", outcome.unreceived - 1);
    summary.notes.push_back(std::move(line));
  }
  return summary;
}

std::string to_text(const JobSummary& summary, const JobOutcome& outcome, const Protocol& protocol) {
  std::string text = fmt::format("job                   {}, {} ranks on {} {}\n", summary.trace, summary.ranks,
                                 summary.hosts, summary.hosts == 1 ? "host" : "hosts");
  text +=
      fmt::format("  time                {:.6f} s{}, recorded {:.6f} s\n", static_cast<double>(summary.time_ps) / 1e12,
                  summary.ended ? "" : " when it came to a halt", static_cast<double>(summary.recorded_ns) / 1e9);
  text += fmt::format("  computing           {:.1f} % of the ranks' time, waiting {:.1f} %\n",
                      summary.computing_share * 100, summary.waiting_share * 100);
  text += fmt::format("  messages            {} through the network ({} bytes), {} inside hosts; {} by rendezvous\n",
                      outcome.messages, outcome.message_bytes, outcome.shared_messages, outcome.rendezvous);
  for (const auto& [which, use] : outcome.algorithms)
    text += fmt::format("  {:<19} {} x {} ({})\n", name(which.first), use.calls, name(which.second),
                        name(protocol.collectives));
  for (const std::string& note : summary.notes) text += "  note                " + note + "\n";
  return text;
}

nlohmann::ordered_json to_json(const JobSummary& summary, const Job& job, const JobOutcome& outcome) {
  nlohmann::ordered_json json;
  json["trace"] = summary.trace;
  json["ranks"] = summary.ranks;
  json["hosts"] = summary.hosts;
  json["ended"] = summary.ended;
  json["time_ps"] = summary.time_ps;
  json["recorded_ns"] = summary.recorded_ns;
  json["computing_share"] = summary.computing_share;
  json["waiting_share"] = summary.waiting_share;
  json["messages"] = outcome.messages;
  json["message_bytes"] = outcome.message_bytes;
  json["shared_messages"] = outcome.shared_messages;
  json["rendezvous"] = outcome.rendezvous;
  json["unreceived"] = outcome.unreceived;
  json["rules"] = name(job.protocol.collectives);
  json["algorithms"] = nlohmann::ordered_json::array();
  for (const auto& [which, use] : outcome.algorithms)
    json["algorithms"].push_back({{"operation", name(which.first)},
                                  {"algorithm", name(which.second)},
                                  {"calls", use.calls},
                                  {"bytes", use.bytes}});
  json["notes"] = summary.notes;
  json["by_rank"] = nlohmann::ordered_json::array();
  for (std::size_t rank = 0; rank < outcome.ranks.size(); ++rank)
    json["by_rank"].push_back({{"host", job.hosts[rank]},
                               {"end_ps", outcome.ranks[rank].end_ps},
                               {"computing_ps", outcome.ranks[rank].computing_ps}});
  return json;
}

}  // namespace holdfast::simulate::job
