#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "fabric/routing/engines/engine.h"
#include "fabric/routing/graph/switch_graph.h"

namespace holdfast::fabric {

/// What engines for fat trees need to know of a fabric: levels counted up from the leaves, such that every cable joins
/// neighbouring ones. By row; `none` for switches that cables join to no leaf. From options.roots downwards, where
/// given.
///
/// Errors: bad_input, in the name of `engine`, when a link joins switches on the same level.
Result<std::vector<std::uint32_t>> fat_tree_levels(const Fabric& fabric, const SwitchGraph& graph,
                                                   std::string_view engine, const EngineOptions& options);

/// The error for a fabric in which no way up and then down leads from this switch to some leaf that cables join it to.
Status no_way_up_and_down(const Fabric& fabric, const SwitchGraph& graph, std::string_view engine, std::uint32_t row);

}  // namespace holdfast::fabric
