#include "simulate/job/job_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

namespace holdfast::simulate::job {
namespace {

using replicate::Count;

void add_replication_notes(const ReplicationOutcome& found, const Protection& protection,
                           std::vector<std::string>& notes) {
  if (!protection.inject.empty() && found.counters[Count::injected] == 0)
    notes.push_back("nothing was flipped: no message that --inject names was sent, or it had no bytes");
  if (found.uncompared > 0)
    notes.push_back(fmt::format("not compared: {} messages and accesses of windows and collectives of neighbours",
                                found.uncompared));
  if (found.threads)
    notes.push_back(
        "ranks with several threads: wildcards are taken for what they got, and no answers of MPI are told");
}

std::string to_text(const ReplicationOutcome& found, const Protection& protection) {
  const replicate::Counters& counters = found.counters;
  std::string text =
      fmt::format("  replicas            {} of each rank, {}\n", protection.degree, protocol_name(protection.protocol));
  text += fmt::format("  verified            {} messages ({} bytes), {} results of collectives\n",
                      counters[Count::messages], counters[Count::bytes], counters[Count::collectives]);
  text += fmt::format("  records             {} ({} bytes), {} copies ({} bytes)\n", found.records, found.record_bytes,
                      found.copies, found.copy_bytes);
  if (counters[Count::injected] > 0)
    text +=
        fmt::format("  flipped             {} bits; {} mismatches, {} disputes, {} corrections, {} records repaired\n",
                    counters[Count::injected], counters[Count::mismatches], counters[Count::disputes],
                    counters[Count::corrections], counters[Count::records_repaired]);
  for (const auto& [whose, count] : found.wrong_copies)
    text += fmt::format("  wrong copies        {} of rank {} replica {}\n", count, whose.first, whose.second);
  return text;
}

nlohmann::ordered_json to_json(const ReplicationOutcome& found, const Protection& protection) {
  nlohmann::ordered_json json;
  json["degree"] = protection.degree;
  json["protocol"] = protocol_name(protection.protocol);
  json["records"] = found.records;
  json["record_bytes"] = found.record_bytes;
  json["copies"] = found.copies;
  json["copy_bytes"] = found.copy_bytes;
  json["uncompared"] = found.uncompared;
  for (const Count count :
       {Count::messages, Count::bytes, Count::collectives, Count::mismatches, Count::corrections, Count::uncorrected,
        Count::disputes, Count::statements, Count::injected, Count::decisions, Count::records_repaired})
    json["counters"][std::string(replicate::counter_rows[static_cast<std::size_t>(count)].name)] =
        found.counters[count];
  json["wrong_copies"] = nlohmann::ordered_json::array();
  for (const auto& [whose, count] : found.wrong_copies)
    json["wrong_copies"].push_back({{"rank", whose.first}, {"replica", whose.second}, {"copies", count}});
  if (found.incident)
    json["incident"] = {
        {"rank", found.incident->rank},       {"replica", found.incident->replica},
        {"at_ps", found.incident->at_ps},     {"call", found.incident->call},
        {"message", found.incident->message}, {"exit_code", static_cast<int>(exit_for(found.incident->incident))}};
  return json;
}

}  // namespace

std::string in_words(const JobIncident& incident) {
  return fmt::format("rank {} replica {} at {}, after {:.6f} s: {}", incident.rank, incident.replica, incident.call,
                     static_cast<double>(incident.at_ps) / 1e12, incident.message);
}

Exit exit_for(replicate::Incident incident) {
  return incident == replicate::Incident::diverged ? Exit::diverged : Exit::uncorrected;
}

JobSummary summarise(const Job& job, const JobOutcome& outcome) {
  JobSummary summary;
  summary.trace = job.program.name;
  summary.ranks = static_cast<std::uint32_t>(job.program.ranks.size());
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
  if (job.in_network)
    summary.notes.push_back("collectives of switches have the links to themselves; an adapter takes 100 ns (assumed)");
  if (outcome.replication) add_replication_notes(*outcome.replication, job.protection, summary.notes);
  if (outcome.replication && outcome.replication->incident) {
    summary.ended = false;
    summary.time_ps = outcome.replication->incident->at_ps;
    summary.notes.push_back("the job ends: " + in_words(*outcome.replication->incident));
  } else if (waiting > 0) {
    std::string line = fmt::format("rank {} waits for ever for {}", first % std::max(summary.ranks, 1U),
                                   outcome.ranks[first].waits_for);
    if (job.protection.on()) line.insert(line.find(" waits"), fmt::format(" replica {}", first / summary.ranks));
    if (waiting > 1) line += fmt::format(", and {} more ranks wait", waiting - 1);
    if (!job.program.whole) line += "; the recording is not whole";
    summary.notes.push_back(std::move(line));
  }
  const bool cut_short = outcome.replication && outcome.replication->incident;
  if (outcome.unreceived > 0 && !cut_short) {
    std::string line = outcome.first_unreceived;
    if (outcome.unreceived > 1) line += fmt::format(", and {} more messages were not received", outcome.unreceived - 1);
    summary.notes.push_back(std::move(line));
  }
  return summary;
}

std::string to_text(const JobSummary& summary, const JobOutcome& outcome, const Protocol& protocol,
                    const Protection& protection) {
  std::string text = fmt::format("job                   {}, {} ranks on {} {}\n", summary.trace, summary.ranks,
                                 summary.hosts, summary.hosts == 1 ? "host" : "hosts");
  text +=
      fmt::format("  time                {:.6f} s{}, recorded {:.6f} s\n", static_cast<double>(summary.time_ps) / 1e12,
                  summary.ended                                          ? ""
                  : outcome.replication && outcome.replication->incident ? " when its replicas ended it"
                                                                         : " when it came to a halt",
                  static_cast<double>(summary.recorded_ns) / 1e9);
  text += fmt::format("  computing           {:.1f} % of the ranks' time, waiting {:.1f} %\n",
                      summary.computing_share * 100, summary.waiting_share * 100);
  text += fmt::format("  messages            {} through the network ({} bytes), {} inside hosts; {} by rendezvous\n",
                      outcome.messages, outcome.message_bytes, outcome.shared_messages, outcome.rendezvous);
  if (outcome.replication) text += to_text(*outcome.replication, protection);
  for (const auto& [which, use] : outcome.algorithms)
    text += fmt::format("  {:<19} {} x {} ({})\n", name(which.first), use.calls, name(which.second),
                        which.second == Algorithm::in_network ? "switches" : name(protocol.collectives));
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
  if (outcome.replication) json["replication"] = to_json(*outcome.replication, job.protection);
  json["notes"] = summary.notes;
  json["by_rank"] = nlohmann::ordered_json::array();
  for (std::size_t rank = 0; rank < outcome.ranks.size(); ++rank)
    json["by_rank"].push_back({{"host", job.hosts[rank]},
                               {"end_ps", outcome.ranks[rank].end_ps},
                               {"computing_ps", outcome.ranks[rank].computing_ps}});
  return json;
}

}  // namespace holdfast::simulate::job
