#pragma once

#include <string>

#include "fabric/topology/fabric.h"

namespace holdfast::fabric {

/// An undirected graph for Graphviz: a node for every switch and adapter, an edge for every link with its ports and
/// rate. Links that are down are dashed.
std::string write_dot(const Fabric& fabric);

/// The same for GraphML readers (http://graphml.graphdrawing.org): NetworkX, Gephi, yEd, igraph.
std::string write_graphml(const Fabric& fabric);

}  // namespace holdfast::fabric
