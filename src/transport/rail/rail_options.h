#pragma once

#include <cstdint>
#include <string>

#include "core/config/table.h"

namespace holdfast::transport {

/// What a user can set of the rails, besides the protocol's options (engine/options.h).
struct RailOptions {
  std::string use;
  std::string counters;
  std::int64_t counters_every_ns{};
  std::string faults;
  std::uint64_t seed{};
};

const config::Table<RailOptions>& rail_options_table();

}  // namespace holdfast::transport
