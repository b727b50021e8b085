#pragma once

#include <array>

#include "core/config/table.h"

namespace holdfast::cli {

/// The option rows of every component, in the order of the reference.
std::array<const config::AnyTable*, 7> all_tables();

}  // namespace holdfast::cli
