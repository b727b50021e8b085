#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/status/status.h"
#include "fabric/topology/fabric.h"
#include "simulate/collective/scheme.h"
#include "simulate/job/collective.h"
#include "simulate/kernel/time.h"
#include "simulate/packet/hosts.h"
#include "simulate/packet/parameters.h"

namespace holdfast::simulate::job {

/// Collectives that the switches of a fabric carry out, with an arithmetic unit in each (src/simulate/collective): one
/// copy of each packet, no errors, along a tree of shortest paths. They have the links to themselves: what else is
/// under way neither slows them down nor is slowed down by them.
///
/// Packets have the MTU, 26 bytes of headers, and the pace of the fabric's slowest link; switches and cables take what
/// the parameters say, an adapter 100 ns (an assumption, as in docs/design/fabric-collectives.md). Operands are words
/// of 8 bytes, the last one filled up.
class InNetwork {
 public:
  /// The fabric must outlive it.
  InNetwork(const fabric::Fabric& fabric, const Parameters& parameters);

  /// Reductions to one or all, broadcasts, barriers.
  static bool does(Operation operation);

  /// For each of these hosts (numbers of Hosts, each once, two at least), from when all have given what they have to
  /// when it has the result; of a reduction to one for `root` alone, an index into `hosts`. Empty: no switch reaches
  /// them all. Valid as long as this object.
  std::span<const Time> times(Operation operation, const std::vector<std::uint32_t>& hosts, std::uint64_t bytes,
                              std::uint32_t root);

 private:
  using Key = std::tuple<Operation, std::uint32_t, std::uint64_t, std::vector<std::uint32_t>>;

  const fabric::Fabric& fabric_;
  Hosts hosts_;
  collective::Assumptions assumptions_;
  std::map<Key, std::vector<Time>> known_;
};

/// Who does collectives: "mpi" or "in-network", for which it is true. Error: bad_input.
Result<bool> read_collectives(std::string_view who);

/// Error (bad_input): what switches cannot do with their collectives. `fails`: something fails meanwhile.
Status check_in_network(bool over_transport, bool fails);

}  // namespace holdfast::simulate::job
