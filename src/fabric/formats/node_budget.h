#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/memory/available.h"
#include "core/status/status.h"
#include "fabric/topology/fabric.h"

namespace holdfast::fabric {

/// The memory that the nodes of a file take. A line of 30 bytes may describe a node of 12 kB: files that are not what
/// they should be must not fill the memory.
class NodeBudget {
 public:
  /// Error (bad_input), with the file's name, when one more node with so many ports does not fit.
  Status afford(std::string_view file, std::uint64_t ports) {
    constexpr std::uint64_t name_bytes = 256;  // of its id and name, with what finds them
    described_bytes_ += 2 * ((ports + 1) * sizeof(Port) + sizeof(Node)) + name_bytes;  // lists may be copied once more
    return memory::check_estimate("reading " + std::string(file), described_bytes_, "is it the right file?",
                                  available_bytes_);
  }

 private:
  const std::uint64_t available_bytes_ = memory::available_bytes();
  std::uint64_t described_bytes_ = 0;
};

}  // namespace holdfast::fabric
