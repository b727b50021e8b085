#pragma once

#include <span>
#include <string>

#include "fabric/topology/fabric.h"

namespace holdfast::fabric {

/// The fabric as an SVG drawing: switches as boxes, links between them as lines whose width grows with the number of
/// parallel links, hosts as a number inside the box. Links that are down are red and dashed, a pair with some of its
/// parallel links down is orange. Trees are drawn in levels, grids of up to three dimensions as grids, Dragonflies as a
/// ring of groups, everything else as a ring. Beyond 400 switches names are left out; the drawing stays readable by
/// zooming.
std::string write_drawing(const Fabric& fabric);

/// The same with the load of the links: `busy` is by LinkId the share of the time that a link is busy, of its two
/// directions the greater; what it lacks is 0. Lines go from grey over yellow to dark red, and their titles name each
/// parallel link that carries something by its ports.
std::string write_loaded_drawing(const Fabric& fabric, std::span<const double> busy);

}  // namespace holdfast::fabric
