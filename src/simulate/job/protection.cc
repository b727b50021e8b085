#include "simulate/job/protection.h"

#include <array>

#include "core/fault/grammar.h"
#include "replicate/engine/injector.h"

namespace holdfast::simulate::job {
namespace {

constexpr std::array<std::string_view, 3> protocol_names{"msg-plus-hash", "msg-plus-vote", "all-to-all"};

Status outside(const fault::Fault& fault, const char* what, std::optional<std::uint32_t> number, std::uint64_t count) {
  if (!number || *number < count) return {};
  return {Code::bad_input, "reading --inject '" + fault::format(fault) + "'",
          "there is no " + std::string(what) + " " + std::to_string(*number),
          "the job has " + std::to_string(count) + ", numbered from 0"};
}

}  // namespace

const config::Table<ReplicationCosts>& replication_costs_table() {
  using config::option;
  using C = ReplicationCosts;
  static const config::Table<ReplicationCosts> table(
      "replay", {
                    option<&C::digest_byte_ps>(
                        {.name = "replay.digest_byte",
                         .initial = "15",
                         .least = "0",
                         .most = "1000000000",
                         .unit = "ps a byte",
                         .doc = "Time of a replica's processor to digest a byte of a message or result.\n"
                                "15: 15 to 16 us for 1 MiB in the cache (docs/results/replication-overhead.md)."}),
                    option<&C::copy_byte_ps>(
                        {.name = "replay.copy_byte",
                         .initial = "20",
                         .least = "0",
                         .most = "1000000000",
                         .unit = "ps a byte",
                         .doc = "Time to copy a byte of a message for another replica, or of a corrected one.\n"
                                "20: 20 to 22 us for 1 MiB in the cache (docs/results/replication-overhead.md)."}),
                });
  return table;
}

Result<replicate::Protocol> parse_protocol(const std::string& text) {
  for (std::size_t i = 0; i < protocol_names.size(); ++i)
    if (text == protocol_names[i]) return static_cast<replicate::Protocol>(i);
  return Status(Code::bad_input, "reading --protocol", "'" + text + "' is no protocol of replicas",
                "take msg-plus-hash, msg-plus-vote or all-to-all");
}

std::string protocol_name(replicate::Protocol protocol) {
  return std::string(protocol_names[static_cast<std::size_t>(protocol)]);
}

Status check(const Protection& protection, std::uint32_t ranks) {
  if (!protection.on())
    return protection.inject.empty()
               ? Status{}
               : Status{Code::bad_input, "reading --inject", "a replay without replicas has nobody who would notice",
                        "give --replicas 2 or more"};
  if (ranks == 0) return {Code::bad_input, "replicating the job", "it has no ranks", "record one that has"};
  const std::uint64_t processes = std::uint64_t{ranks} * static_cast<std::uint64_t>(protection.degree);
  if (processes > most_replicated_processes)
    return {Code::bad_input, "replicating the job",
            std::to_string(ranks) + " ranks in " + std::to_string(protection.degree) + " replicas are " +
                std::to_string(processes) + " processes",
            "at most " + std::to_string(most_replicated_processes) + " are replayed with replicas"};
  if (protection.inject.empty()) return {};
  auto faults = fault::parse(protection.inject, "--inject");
  if (!faults.ok()) return faults.status();
  for (const fault::Fault& fault : faults.value()) {
    if (Status status = outside(fault, "rank", fault.place.rank, ranks); !status.ok()) return status;
    if (Status status = outside(fault, "peer", fault.place.peer, ranks); !status.ok()) return status;
    if (Status status = outside(fault, "replica", fault.place.replica, static_cast<std::uint64_t>(protection.degree));
        !status.ok())
      return status;
  }
  return replicate::Injector::read(protection.inject, protection.seed, {0, 0}).status();
}

}  // namespace holdfast::simulate::job
