#pragma once

#include <string>
#include <vector>

#include "fabric/topology/fabric.h"

namespace holdfast::fabric {

/// A fabric from a file, and what in that file was odd without stopping the reader: lines of other programs, hosts that
/// are mentioned and not described, ends of a cable that disagree. Each note is one line of text with its place.
struct Imported {
  Fabric fabric;
  std::vector<std::string> notes;
};

}  // namespace holdfast::fabric
