#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "replicate/engine/verified.h"

namespace holdfast::replicate {

/// What lies between processes: messages of the application, in order from each sender to each receiver, control
/// messages likewise, and copies, which have no order; what ranks have given to reductions, and files.
struct Network {
  struct Message {
    std::size_t index;  ///< in the plan
    std::vector<std::byte> bytes;
  };
  struct Control {
    std::vector<std::byte> bytes;
  };
  using Pair = std::pair<int, int>;  ///< sender and receiver, as numbered by the world
  std::map<Pair, std::deque<Message>> messages;
  std::map<Pair, std::deque<Control>> controls;
  std::map<std::pair<Pair, std::uint64_t>, Copy> copies;  ///< by tag
  std::uint64_t next_tag = 0;
  /// By replica, reduction and how often it was made before: what each rank has given.
  std::map<std::tuple<int, std::size_t, int>, std::map<int, std::vector<std::byte>>> reductions;
  /// By replica and epoch: what each rank has put into the windows of all, a block for each.
  std::map<std::pair<int, std::size_t>, std::map<int, std::vector<std::byte>>> epochs;
  std::map<std::size_t, std::vector<std::vector<std::byte>>> files;  ///< by write of the plan: what was written
};

}  // namespace holdfast::replicate
