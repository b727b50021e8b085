#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/status/status.h"
#include "fabric/topology/link_rate.h"

namespace holdfast::fabric {

/// The kinds of network that can be generated.
enum class Family : std::uint8_t {
  mesh,
  torus,
  tree,
  xgft,
  dragonfly,
  dragonfly_plus,
  kautz,
  random,
  hyperx,
  slimfly,
  xpander,
  rails,
  tsubame2,
  deimos,
  frontera,
  summit,
  sierra,
  abci
};

/// Which switches the hosts go to.
enum class Placement : std::uint8_t {
  spread,  ///< as evenly as the numbers allow, the larger ones in between the smaller ones
  packed,  ///< one switch after the other is filled
  random,  ///< each free port is as likely
};

/// A network to generate, as a text says it: "torus(5,5) links=6 hosts=275".
struct Topology {
  Family family = Family::mesh;
  std::vector<std::vector<std::uint32_t>> arguments;  ///< lists, separated by ';'
  std::uint32_t links = 1;                            ///< parallel links wherever the family has one
  std::optional<std::uint32_t> hosts;                 ///< in all; none: the family's own number
  std::optional<std::uint32_t> hosts_per_switch;      ///< of every switch that takes hosts; not together with `hosts`
  std::uint32_t ports = 0;                            ///< of a switch; 0: 36, or what is needed if that is more
  std::uint64_t seed = 1;                             ///< of random links and random placement
  Placement placement = Placement::spread;
  LinkRate rate;
  std::optional<LinkRate> host_rate;  ///< of the cables of hosts; none: as `rate`
  std::uint32_t planes = 1;           ///< copies of the network, joined by nothing: each host has an adapter on each
  double length_m = 0;                ///< of every cable; 0: not known
  std::uint32_t lmc = 0;              ///< 2^lmc LIDs for each adapter, 0 to 7
  bool operator==(const Topology&) const = default;
};

/// One row a family: how it is written, and what that means.
struct FamilyRow {
  Family family;
  std::string_view name;
  std::string_view arguments;  ///< "(k,n)", empty when there are none
  std::string_view doc;
};
std::span<const FamilyRow> families();
const FamilyRow& row_of(Family family);

/// Reads the notation of docs/spec/fabric-formats.md, or the name of a preset (fabric/topology/presets.h) in place of
/// the family and its arguments; options may follow either. Errors (bad_input) name the column, from 1, and hint at a
/// near word. Whether such a network exists is for generate() to say.
Result<Topology> parse_topology(std::string_view text);

/// The notation that parse_topology() reads back as an equal Topology.
std::string format(const Topology& topology);

/// Whether a text is meant as a topology and not as the name of a file: it has a parenthesis, or begins with the name
/// of a preset or of a family that takes no arguments.
bool looks_like_topology(std::string_view text);

}  // namespace holdfast::fabric
