#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fabric/topology/fabric.h"
#include "fabric/topology/hosts.h"

namespace holdfast::fabric {

/// What a person wants to know of a fabric first.
struct Summary {
  std::uint32_t switches = 0;
  std::uint32_t adapters = 0;
  HostCount hosts;
  std::uint32_t switch_links = 0;   ///< working ones, between switches
  std::uint32_t host_links = 0;     ///< working ones, with an adapter at one end
  std::uint32_t down_links = 0;     ///< cables that carry nothing
  std::uint32_t free_ports = 0;     ///< of switches: without a cable
  std::uint32_t lone_adapters = 0;  ///< without a working link
  std::uint32_t lone_switches = 0;
  std::uint32_t parts = 0;  ///< groups of switches that reach each other; 1 in a healthy fabric
  std::uint32_t host_switches = 0;
  std::uint32_t least_hosts = 0;  ///< of a switch with hosts
  std::uint32_t most_hosts = 0;
  std::uint32_t least_parallel = 0;  ///< the redundancy r of the paper: the fewest links between two neighbours
  std::uint32_t most_parallel = 0;
  Lid top_lid = 0;
  std::map<std::string, std::uint32_t> rates;         ///< working links by rate
  std::map<std::string, std::uint32_t> switch_types;  ///< "36 ports, vendor 0x2c9, device 0xbd36"
  std::vector<LinkId> slow_links;                     ///< below what both their ports can do
  std::optional<std::vector<std::uint32_t>> levels;   ///< of a tree: how many switches are in each
  std::optional<std::uint32_t> diameter;              ///< between switches; none when there are too many to measure
  std::optional<std::uint32_t> edge_connectivity;     ///< likewise
};

/// Time: linear, but for diameter and edge connectivity, which are left out beyond 2,500 and 600 switches.
Summary summarize(const Fabric& fabric);

/// One paragraph of lines, for a terminal.
std::string summary_text(const Fabric& fabric, const Summary& summary);

/// Members of a record.
void add_summary(nlohmann::ordered_json& record, const Fabric& fabric, const Summary& summary);

}  // namespace holdfast::fabric
