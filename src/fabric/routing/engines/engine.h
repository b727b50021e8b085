#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/status/status.h"
#include "fabric/routing/graph/grid.h"
#include "fabric/tables/forwarding.h"
#include "fabric/topology/fabric.h"

namespace holdfast::fabric {

struct EngineOptions {
  unsigned lanes = 8;    ///< virtual lanes for data, 1 to 15
  unsigned threads = 0;  ///< 0: all of the machine. Results do not depend on it
  std::vector<NodeId>
      roots;  ///< updn: the switches on top; dnup: those at the bottom; ftree, dmodc: the roots. Empty: found
  std::optional<Grid> grid;  ///< dor, lash, torus-2qos: where the switches lie, a place for each row. None: found
};

/// A routing engine that runs in this process, named as OpenSM names its own.
struct Engine {
  std::string_view name;
  bool minimal;        ///< every route is a shortest path
  bool deadlock_free;  ///< its routes have no credit loops, on every fabric that it accepts
  bool any_fabric;     ///< routes whatever cables connect (lanes permitting)
  std::string_view summary;
  std::string_view source;  ///< the paper
};
std::span<const Engine> engines();

/// The engine of this name; bad_input with a hint otherwise.
Result<Engine> find_engine(std::string_view name);

/// Tables for every LID of the fabric at every switch that working cables join to it, with service levels and lanes.
/// Adapters that have no cable or no LID are left out. Deterministic.
///
/// Errors: bad_input when there is no such engine, when the fabric has no switch or no LIDs, or when the engine cannot
/// route this fabric (not a tree, not a torus, more virtual lanes needed than there are), in which case it says what it
/// met.
Result<Forwarding> route(const Fabric& fabric, std::string_view engine, const EngineOptions& options = {});

}  // namespace holdfast::fabric
