#include "cli/simulate_jobs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/settings_flags.h"
#include "simulate/job/job_record.h"
#include "simulate/job/placement.h"
#include "simulate/job/replica_placement.h"
#include "simulate/packet/hosts.h"

namespace holdfast::cli {
namespace {

/// The entry of a job in a list of one for all or one for each.
template <class Entry>
Entry entry_of(const std::vector<Entry>& entries, std::size_t job, Entry otherwise) {
  if (entries.empty()) return otherwise;
  return entries[entries.size() == 1 ? 0 : job];
}

template <class Entry>
Status check_count(const std::vector<Entry>& entries, std::size_t jobs, std::string_view flag) {
  if (entries.size() <= 1 || entries.size() == jobs) return {};
  return {Code::bad_input, "reading " + std::string(flag),
          "it is given " + std::to_string(entries.size()) + " times for " + std::to_string(jobs) + " traces",
          "give it once for all, or once for each --trace"};
}

Result<simulate::job::PlacementRules> rules_of(const JobFlags& flags, std::size_t job) {
  namespace jobs = simulate::job;
  jobs::PlacementRules rules;
  rules.seed = flags.seed + job;
  rules.ranks_per_host = entry_of(flags.ranks_per_host, job, 1U);
  auto distribution = jobs::parse_distribution(entry_of<std::string>(flags.place, job, "block"));
  if (!distribution.ok()) return distribution.status();
  rules.distribution = distribution.value();
  const auto list = entry_of<std::string>(flags.hosts, job, "");
  const auto file = entry_of<std::string>(flags.host_files, job, "");
  if (list.empty() && file.empty()) return rules;
  auto hosts = file.empty() ? jobs::parse_node_list(list, "--hosts") : jobs::read_host_file(file);
  if (!hosts.ok()) return hosts.status();
  rules.hosts = std::move(hosts).value();
  return rules;
}

Result<simulate::job::Protection> protection_of(const JobFlags& flags, std::size_t job, std::uint32_t ranks) {
  simulate::job::Protection protection;
  protection.degree = entry_of(flags.replicas, job, 1);
  auto protocol = simulate::job::parse_protocol(entry_of<std::string>(flags.replica_protocols, job, "msg-plus-hash"));
  if (!protocol.ok()) return protocol.status();
  protection.protocol = protocol.value();
  protection.costs = flags.costs.options();
  protection.inject = entry_of<std::string>(flags.inject, job, "");
  protection.seed = flags.seed + job;
  if (Status status = simulate::job::check(protection, ranks); !status.ok()) return status;
  return protection;
}

}  // namespace

bool JobFlags::are_recordings() const {
  std::error_code ignored;
  return std::any_of(traces.begin(), traces.end(),
                     [&](const std::string& trace) { return std::filesystem::is_directory(trace, ignored); });
}

CLI::Option* add_job_flags(CLI::App& command, JobFlags& flags) {
  const char* group = "Recorded programs";
  const auto several = [&](const char* name, auto& member, const char* doc, const char* type) {
    return command.add_option(name, member, doc)
        ->type_name(type)
        ->group(group)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  };
  CLI::Option* trace = several("--trace", flags.traces,
                               "Replay this recording, trace or GOAL schedule; recordings may be several", "FILE");
  several("--place", flags.place, "Ranks on hosts: block, round-robin or random (--seed). Default: block", "HOW");
  several("--ranks-per-host", flags.ranks_per_host, "Places of a host. Default: 1", "N")->check(whole_number(1, 4096));
  CLI::Option* hosts = several("--hosts", flags.hosts, "The hosts, as a Slurm node list: node[01-16]", "LIST");
  several("--host-file", flags.host_files, "The hosts, one a line: NAME [slots=N]", "FILE")->excludes(hosts);
  several("--collectives", flags.collectives,
          "mpi: as messages, by the rules of mpi.collectives; in-network: switches do what they can. Default: mpi",
          "HOW");
  several("--compute-scale", flags.compute_scale, "Multiply the time between calls by this. Default: 1", "FACTOR")
      ->check(real_number(0, 1e6));
  add_settings_flags(command, flags.protocol, flags.status,
                     "MPI's protocol (also HOLDFAST_MPI_*, or [mpi] of --config)");
  group = "Recorded programs with replicas";
  several("--replicas", flags.replicas, "Processes of each rank, as of 'holdfast run'. Default: 1", "R")
      ->check(whole_number(1, 16));
  several("--protocol", flags.replica_protocols,
          "How they compare copies: msg-plus-hash, msg-plus-vote or all-to-all. Default: msg-plus-hash", "NAME");
  several("--place-replicas", flags.place_replicas,
          "apart, together, or a map file of 'holdfast run': who gets the places. Default: apart", "HOW");
  several("--inject", flags.inject, "Flip bits in the hosts, as 'flip rank 1 replica 0 message 300 bit 62'", "FAULT");
  add_settings_flags(command, flags.costs, flags.status,
                     "What replicas cost (also HOLDFAST_REPLAY_*, or [replay] of --config)");
  return trace;
}

Result<std::vector<simulate::job::Job>> open_jobs(const JobFlags& flags, const fabric::Fabric& fabric) {
  const std::size_t count = flags.traces.size();
  for (Status status :
       {check_count(flags.place, count, "--place"), check_count(flags.hosts, count, "--hosts"),
        check_count(flags.host_files, count, "--host-file"),
        check_count(flags.ranks_per_host, count, "--ranks-per-host"),
        check_count(flags.collectives, count, "--collectives"),
        check_count(flags.compute_scale, count, "--compute-scale"), check_count(flags.replicas, count, "--replicas"),
        check_count(flags.replica_protocols, count, "--protocol"),
        check_count(flags.place_replicas, count, "--place-replicas"), check_count(flags.inject, count, "--inject")})
    if (!status.ok()) return status;
  std::vector<simulate::job::Job> jobs;
  std::vector<bool> taken(simulate::Hosts(fabric).count(), false);
  for (std::size_t i = 0; i < count; ++i) {
    auto program = simulate::job::read_program(flags.traces[i]);
    if (!program.ok()) return program.status();
    auto rules = rules_of(flags, i);
    if (!rules.ok()) return rules.status();
    const auto ranks = static_cast<std::uint32_t>(program.value().ranks.size());
    auto protection = protection_of(flags, i, ranks);
    if (!protection.ok()) return protection.status();
    const auto how = simulate::job::parse_replica_placement(entry_of<std::string>(flags.place_replicas, i, "apart"));
    auto hosts = simulate::job::place_replicas(rules.value(), how, ranks, protection.value().degree, fabric, taken);
    if (!hosts.ok()) return hosts.status();
    auto in_network = simulate::job::read_collectives(entry_of<std::string>(flags.collectives, i, "mpi"));
    if (!in_network.ok()) return in_network.status();
    jobs.push_back({std::move(program).value(), flags.protocol.options(), std::move(hosts).value(),
                    entry_of(flags.compute_scale, i, 1.0), std::move(protection).value(), in_network.value()});
  }
  return jobs;
}

int incident_exit(const simulate::job::JobTraffic& traffic) {
  int code = 0;
  for (const simulate::job::JobOutcome& outcome : traffic.outcomes())
    if (outcome.replication && outcome.replication->incident)
      code = std::max(code, static_cast<int>(simulate::job::exit_for(outcome.replication->incident->incident)));
  return code;
}

void show_jobs(const JobFlags& flags, const simulate::job::JobTraffic& traffic, bool words,
               nlohmann::ordered_json* json) {
  const std::vector<simulate::job::Job>& jobs = traffic.jobs();
  const std::vector<simulate::job::JobOutcome> outcomes = traffic.outcomes();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const simulate::job::JobSummary summary = simulate::job::summarise(jobs[i], outcomes[i]);
    if (words) std::cout << simulate::job::to_text(summary, outcomes[i], jobs[i].protocol, jobs[i].protection);
    if (json != nullptr) (*json)["jobs"].push_back(simulate::job::to_json(summary, jobs[i], outcomes[i]));
  }
  std::vector<std::string> assumed = flags.protocol.left_at_defaults();
  if (std::ranges::any_of(jobs, [](const simulate::job::Job& job) { return job.protection.on(); }))
    for (std::string& cost : flags.costs.left_at_defaults()) assumed.push_back(std::move(cost));
  if (json != nullptr) (*json)["assumed"] = assumed;
  if (words && !assumed.empty()) std::cout << fmt::format("assumed, not measured {}\n", fmt::join(assumed, ", "));
}

}  // namespace holdfast::cli
