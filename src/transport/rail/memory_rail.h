#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "transport/rail/rail.h"

namespace holdfast::transport {

/// A network in memory: rails that were made from it reach each other, in order and without loss. For tests, and as the
/// rail below a FaultyRail. One thread.
class MemoryNetwork {
 public:
  /// `packets`: how many may wait at one end before others are told `busy`.
  explicit MemoryNetwork(std::size_t most_packet_bytes = 65536, std::size_t packets = 1024)
      : most_packet_bytes_(most_packet_bytes), packets_(packets) {}

  /// A new end. The network must outlive it.
  std::unique_ptr<Rail> make_rail();

 private:
  friend class MemoryRail;
  struct End {
    std::deque<std::vector<std::byte>> arrived;
    bool open = true;
  };

  std::size_t most_packet_bytes_;
  std::size_t packets_;
  std::vector<std::unique_ptr<End>> ends_;
};

}  // namespace holdfast::transport
