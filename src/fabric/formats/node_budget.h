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
    return afford_bytes(file, in_a_list * ((ports + 1) * sizeof(Port) + sizeof(Node)) + name_bytes);
  }

  /// The same of one more line for an end of a cable, which the reader keeps in so many bytes.
  Status afford_end(std::string_view file, std::uint64_t bytes) {
    constexpr std::uint64_t finder_bytes = 64;
    return afford_bytes(file, in_a_list * (bytes + sizeof(Link)) + finder_bytes);
  }

 private:
  /// A list that grows is there twice, once with room for twice as much.
  static constexpr std::uint64_t in_a_list = 3;

  Status afford_bytes(std::string_view file, std::uint64_t bytes) {
    described_bytes_ += bytes;
    return memory::check_estimate("reading " + std::string(file), described_bytes_, "is it the right file?",
                                  available_bytes_);
  }

  const std::uint64_t available_bytes_ = memory::available_bytes();
  std::uint64_t described_bytes_ = 0;
};

}  // namespace holdfast::fabric
