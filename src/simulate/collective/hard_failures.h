#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "fabric/topology/fabric.h"
#include "simulate/collective/rebuild.h"
#include "simulate/collective/tree.h"

namespace holdfast::simulate::collective {

/// What goes down for good while a collective runs.
enum class FailureKind : std::uint8_t {
  none,
  link,     ///< between two switches
  switch_,  ///< without hosts
  cable,    ///< one cable of an adapter, of several where Scheme::dual_port has them
};
inline constexpr std::array<std::string_view, 4> failure_kind_names = {"none", "link", "switch", "cable"};

/// The parts of this kind that the tree uses, each as a failure at its start. In the order of the tree's wires and
/// nodes.
std::vector<HardFailure> failing_parts(const Tree& tree, const fabric::Fabric& fabric, FailureKind kind);

}  // namespace holdfast::simulate::collective
