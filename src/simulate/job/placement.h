#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/status/status.h"
#include "fabric/topology/fabric.h"

namespace holdfast::simulate::job {

/// Which host of a list gets the next rank.
enum class Distribution : std::uint8_t {
  block,        ///< a host's places one after another, then the next host's
  round_robin,  ///< one place of each host in turn, as Slurm's cyclic
  random,       ///< hosts drawn at random, ranks by block
};

/// A host that a user named, and how many ranks it may have.
struct NamedHost {
  std::string name;
  std::uint32_t places = 0;  ///< 0: PlacementRules::ranks_per_host
  bool operator==(const NamedHost&) const = default;
};

struct PlacementRules {
  Distribution distribution = Distribution::block;
  std::uint32_t ranks_per_host = 1;
  std::vector<NamedHost> hosts;  ///< in this order; empty: those of the fabric that no job has yet
  std::uint64_t seed = 1;
};

/// "block", "round-robin", "random". Error (bad_input): another word.
Result<Distribution> parse_distribution(std::string_view text);

inline constexpr std::size_t most_hosts = std::size_t{1} << 20;

/// The hosts of a Slurm node list: 'node[001-004,7],login2' (scontrol show hostnames). Error (bad_input): a bracket
/// that does not close, a range that is none, more than `most` hosts. `name` is where it came from, for messages.
Result<std::vector<NamedHost>> parse_node_list(std::string_view text, std::string_view name,
                                               std::size_t most = most_hosts);

/// A file with a line for each host: its name, and 'slots=N' where it differs; '#' begins a comment. Errors: not_found,
/// io, bad_input (a line that is none, no host).
Result<std::vector<NamedHost>> read_host_file(const std::string& path);

/// How many ranks there is room for. 0 where place() says what is wrong.
std::uint64_t places_of(const PlacementRules& rules, const fabric::Fabric& fabric, const std::vector<bool>& taken);

/// The adapter by which each rank speaks, by number in Hosts (packet/hosts.h). Ranks are placed by computer
/// (computers_of()): all that share one have its first adapter, or the one by whose whole name it was named first.
/// `taken`, of as many entries as there are adapters, is what jobs have already; adapters of this one are added, and a
/// computer of which one is taken is taken. Unless they are named, what reduces packets inside switches
/// (fabric::is_aggregation_node()) gets none. A name is a node's description, its host or its first word.
/// Deterministic. Error (bad_input): more ranks than places, a name that no adapter of the fabric with a LID has.
Result<std::vector<std::uint32_t>> place(const PlacementRules& rules, std::uint32_t ranks, const fabric::Fabric& fabric,
                                         std::vector<bool>& taken);

/// A note for reports of plain connections, where hosts have more adapters than the one that place() takes: those carry
/// nothing, while over the transport they are rails. Empty: each host has one.
std::string idle_adapters_in_words(const fabric::Fabric& fabric);

}  // namespace holdfast::simulate::job
