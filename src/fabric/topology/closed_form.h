#pragma once

#include <cstdint>
#include <optional>

#include "fabric/topology/notation.h"

namespace holdfast::fabric {

/// What the formulas of the literature say of a network, without building it. Connectivities are those of the graph of
/// switches (Domke et al., SC 2014, Table II); none where there is no formula for these numbers.
struct ClosedForm {
  std::uint64_t switches = 0;
  std::uint64_t hosts = 0;
  std::uint64_t links = 0;  ///< between switches
  std::optional<std::uint32_t> diameter;
  std::optional<std::uint32_t> vertex_connectivity;
  std::optional<std::uint32_t> edge_connectivity;
};

/// Nothing for the rebuilt machines. The topology must be one that generate() accepts.
std::optional<ClosedForm> closed_form(const Topology& topology);

}  // namespace holdfast::fabric
