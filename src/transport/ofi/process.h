#pragma once

#include <cstdint>
#include <string>

namespace holdfast::transport::ofi {

/// This process's rank, as Open MPI or a launcher that speaks PMI says it; 0 without one.
std::uint32_t launched_rank();
/// "?" where the system does not say.
std::string host_name();
/// One line on standard error.
void warn(const std::string& text);

}  // namespace holdfast::transport::ofi
