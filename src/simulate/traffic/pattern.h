#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/status/status.h"
#include "fabric/topology/fabric.h"
#include "simulate/packet/parameters.h"
#include "simulate/packet/traffic.h"

namespace holdfast::simulate {

enum class Pattern : std::uint8_t {
  uniform,          ///< every message to a host drawn at random
  exchange,         ///< shifts +1, -1, +2, -2, ... along the order (paper, section IV-C2)
  linear_exchange,  ///< shifts +1, +2, +3, ...
  all_to_all,       ///< to every other host, each host in a random order of its own
  neighbours,       ///< to the hosts at most `reach` places away, in turn
  permutation,      ///< each host to one other, drawn at random without fixed points
  tornado,          ///< each host to the one (n + 1) / 2 - 1 places on
  bisection,        ///< each host to its partner in the other half of the order
  hotspot,          ///< a `share` of the messages to host `target`, the others at random
};

/// A pattern with its numbers, as read from 'exchange size=20480 order=lid'.
struct TrafficSpec {
  Pattern pattern = Pattern::uniform;
  std::uint64_t size = 0;      ///< payload bytes of a message; 0: one MTU
  std::uint64_t messages = 0;  ///< of each host; 0: patterns that know their end send that, others go on for ever
  double load = 1;             ///< offered, relative to the data rate of the host's cable; 1: back to back
  bool even = false;           ///< equal distances of time below load 1, instead of exponential ones
  bool by_lid = false;         ///< the order of hosts: by LID, instead of by distance
  std::uint32_t reach = 1;
  double share = 0.1;
  std::uint32_t target = 0;
};

/// The names of the patterns, in the order of the enumeration.
std::vector<std::string_view> pattern_names();

/// Reads 'PATTERN key=value ...': size=BYTES, messages=N, load=0.7, arrivals=even|poisson, order=lid|distance,
/// reach=N, share=0.2, target=HOST. Error (bad_input): an unknown name or key, with a hint; a value that makes no
/// sense.
Result<TrafficSpec> parse_traffic(std::string_view text);

/// The text that parse_traffic() reads back.
std::string format_traffic(const TrafficSpec& spec);

/// The traffic of this pattern. Random choices are `seed`'s: a stream a host, so that equal hosts of two fabrics draw
/// the same. Error (bad_input): fewer than 2 hosts, a target that is none.
Result<std::unique_ptr<Traffic>> make_traffic(const TrafficSpec& spec, const fabric::Fabric& fabric,
                                              const Parameters& parameters, std::uint64_t seed);

}  // namespace holdfast::simulate
