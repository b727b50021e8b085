#pragma once

#include <string>

#include "core/config/table.h"

namespace holdfast::transport::ofi {

/// What a user can set of the provider, besides the protocol's options (engine/options.h).
struct ProviderOptions {
  std::string use;
  std::string counters;
};

const config::Table<ProviderOptions>& provider_options_table();

}  // namespace holdfast::transport::ofi
