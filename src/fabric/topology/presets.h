#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace holdfast::fabric {

/// A configuration with a name.
struct Preset {
  std::string_view name;      ///< "torus-5x5"
  std::string_view notation;  ///< what it stands for
  std::uint32_t switches;
  std::uint32_t hosts;
  std::uint32_t links;  ///< between switches
  std::string_view doc;
  bool in_paper = true;  ///< a configuration or a machine of the paper
};

/// The balanced configurations of J. Domke, T. Hoefler, S. Matsuoka, "Fail-in-Place Network Design: Interaction between
/// Topology, Routing Algorithm and Failures", SC 2014, Table III, its two machines; a larger tree to measure with, and
/// machines of after 2014 (docs/design/fabric.md).
std::span<const Preset> presets();

/// The preset of this name, or null.
const Preset* find_preset(std::string_view name);

}  // namespace holdfast::fabric
