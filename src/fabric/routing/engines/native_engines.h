#pragma once

#include "fabric/routing/engines/engine.h"
#include "fabric/routing/graph/switch_graph.h"

/// One function an engine, called by route() with options that it has checked. See engine.cc for what each is.
namespace holdfast::fabric {

Result<Forwarding> route_minhop(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options);
Result<Forwarding> route_updn(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options);
Result<Forwarding> route_dnup(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options);
Result<Forwarding> route_dor(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options);
Result<Forwarding> route_ftree(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options);
Result<Forwarding> route_dmodc(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options);
Result<Forwarding> route_lash(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options);
Result<Forwarding> route_sssp(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options);
Result<Forwarding> route_dfsssp(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options);
Result<Forwarding> route_torus_2qos(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options);
Result<Forwarding> route_nue(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options);

/// Tables with the routes over their fullest channel: what sssp and dor make of a fabric, and dfsssp builds on.
struct EvenTables {
  Forwarding tables;
  std::uint64_t largest_load = 0;
};
EvenTables lay_shortest_paths(const Fabric& fabric, const SwitchGraph& graph, unsigned threads);
EvenTables lay_in_dimension_order(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options);

}  // namespace holdfast::fabric
