#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace holdfast::fabric {

/// How the switches of a fabric are arranged.
enum class Shape : std::uint8_t {
  unknown,
  mesh,
  torus,
  tree,
  dragonfly,
  kautz,
  random_regular,
  hyperx,
  slim_fly,
  xpander
};

/// What the generator knows of the fabric that it built. An imported fabric has none (Shape::unknown): who needs it
/// must find it in the links.
///
/// Every switch has extent.size() coordinates, coordinate i below extent[i]:
///
///   mesh, torus, hyperx   its place; extent are the sizes
///   tree                  its level (0: leaf), then, in an XGFT (Oehring et al. 1995), the digits 1 to h of its label,
///                         or, in a tree by rails, its pod, its rail and its number among these
///   dragonfly             its group, then its router's number in it; in a Dragonfly+ leaves first, then spines
///   kautz                 the letters of its word
///   xpander               its group, then its number in it
///   slim_fly              which half of the graph, then the two elements of the field
///   random_regular        none
struct Structure {
  Shape shape = Shape::unknown;
  std::vector<std::uint32_t> extent;
  std::vector<std::uint32_t>
      coordinates;  ///< of switch 0, of switch 1, ...: switches are a generated fabric's first nodes

  /// The coordinates of a switch, whose number is its NodeId.
  std::span<const std::uint32_t> at(std::uint32_t switch_number) const {
    return std::span(coordinates).subspan(switch_number * extent.size(), extent.size());
  }
};

}  // namespace holdfast::fabric
