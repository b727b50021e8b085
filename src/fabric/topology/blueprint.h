#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/status/status.h"
#include "fabric/topology/notation.h"
#include "fabric/topology/structure.h"

namespace holdfast::fabric {

/// A family's switches and cables before hosts and port numbers are settled.
struct Blueprint {
  /// Switch-to-switch cable. Ports count from 1 within the ports that a switch has for its cables.
  struct Cable {
    std::uint32_t a;
    std::uint32_t b;
    std::uint32_t port_a;
    std::uint32_t port_b;
  };

  std::uint32_t switches = 0;
  Structure structure;
  std::vector<Cable> cables;
  std::vector<std::uint32_t> host_switches;  ///< those that take hosts, in the order in which hosts are numbered
  std::vector<std::uint32_t> hosts;          ///< the family's own number for each of host_switches
  bool hosts_first = false;                  ///< hosts take ports 1 on, and the cables' ports count from behind them
  std::uint32_t first_host_port = 1;         ///< otherwise: hosts take the free ports from this one on
  std::uint32_t rails = 1;                  ///< so many of host_switches in a row serve the same hosts, each an adapter
  std::uint32_t ports = 0;                  ///< of the family's switches when it prescribes them
  std::optional<LinkRate> rate, host_rate;  ///< of a machine's cables, as built; none: as the topology says

  void add_switch(std::initializer_list<std::uint32_t> coordinates) {
    ++switches;
    structure.coordinates.insert(structure.coordinates.end(), coordinates);
  }
  /// r cables; the k-th, from 0, takes ports port_a + k and port_b + k.
  void add_cables(std::uint32_t a, std::uint32_t port_a, std::uint32_t b, std::uint32_t port_b, std::uint32_t r) {
    for (std::uint32_t k = 0; k < r; ++k) cables.push_back({a, b, port_a + k, port_b + k});
  }
  /// Every switch takes hosts, this many by default.
  void hosts_everywhere(std::uint32_t each) {
    for (std::uint32_t s = 0; s < switches; ++s) host_switches.push_back(s);
    hosts.assign(switches, each);
  }
};

/// What a family may be asked for: beyond it, memory would end before the build does.
inline constexpr std::uint64_t most_switches = 1'000'000;
inline constexpr std::uint64_t most_hosts = 4'000'000;
inline constexpr std::uint64_t most_cables = 20'000'000;

/// "generating torus(5,1): <wrong>: <remedy>"
Status cannot_generate(const Topology& topology, std::string wrong, std::string remedy);

/// Error when the network would be too large; the numbers may have been cut off at 2^64 - 1.
Status check_size(const Topology& topology, std::uint64_t switches, std::uint64_t cables);

/// a * b, cut off at 2^64 - 1.
std::uint64_t product(std::uint64_t a, std::uint64_t b);

/// One a family; `topology` has that family and as many arguments as its row says.
Result<Blueprint> draw_grid(const Topology& topology);
Result<Blueprint> draw_tree(const Topology& topology);
Result<Blueprint> draw_dragonfly(const Topology& topology);
Result<Blueprint> draw_dragonfly_plus(const Topology& topology);
Result<Blueprint> draw_kautz(const Topology& topology);
Result<Blueprint> draw_random_regular(const Topology& topology);
Result<Blueprint> draw_slim_fly(const Topology& topology);
Result<Blueprint> draw_xpander(const Topology& topology);
Result<Blueprint> draw_rails(const Topology& topology);
Result<Blueprint> draw_tsubame2(const Topology& topology);
Result<Blueprint> draw_deimos(const Topology& topology);
Result<Blueprint> draw_frontera(const Topology& topology);
Result<Blueprint> draw_summit(const Topology& topology);
Result<Blueprint> draw_sierra(const Topology& topology);
Result<Blueprint> draw_abci(const Topology& topology);

}  // namespace holdfast::fabric
