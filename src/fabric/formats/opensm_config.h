#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/status/status.h"
#include "fabric/topology/fabric.h"

/// Files that tell OpenSM's routing engines about a fabric.
namespace holdfast::fabric {

/// A list of switch GUIDs, one a line (OpenSM -a, --root_guid_file): the roots for updn, ftree and others.
Result<std::vector<NodeId>> read_root_guids(std::string_view text, std::string_view name, const Fabric& fabric);
std::string write_root_guids(const Fabric& fabric, const std::vector<NodeId>& roots);

/// What torus-2QoS.conf(5) says. Dimensions beyond the fabric's own have size 1.
struct TorusConfig {
  std::array<std::uint32_t, 3> size = {1, 1, 1};
  std::array<bool, 3> looped = {true, true, true};  ///< a torus's dimension; false: a mesh's
  /// A place where coordinates start: a switch and its neighbours in the directions +x, +y, +z, and -x, -y, -z; none
  /// where that dimension has size 1, or that link is not given. OpenSM wants -x where the x dimension has size 4.
  struct Seed {
    NodeId at = none;
    std::array<NodeId, 3> next = {none, none, none};
    std::array<NodeId, 3> previous = {none, none, none};
    std::array<std::int32_t, 3> dateline = {0, 0, 0};  ///< where the origin is, seen from this switch
  };
  std::vector<Seed> seeds;
  std::uint32_t max_ports_in_group = 16;  ///< portgroup_max_ports: parallel links and hosts a switch
};

/// Keywords that do not place switches (port_order, max_changes) are accepted and left out. Errors
/// (bad_input) have line and column.
Result<TorusConfig> read_torus_config(std::string_view text, std::string_view name, const Fabric& fabric);
std::string write_torus_config(const Fabric& fabric, const TorusConfig& config);

/// The configuration of a mesh or torus (generated, or found in the cables) of at most 3 dimensions, its seed at the
/// first switch that has working links to all its neighbours; coordinates start where the structure has its origin.
/// Error (bad_input): the fabric is none, or no switch has them.
Result<TorusConfig> torus_config_of(const Fabric& fabric);

}  // namespace holdfast::fabric
