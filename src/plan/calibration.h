#pragma once

#include <string_view>

#include "core/status/status.h"
#include "plan/machine.h"

namespace holdfast::plan {

/// Takes what 'holdfast calibrate' measured (its TOML) for keys of [transport] that the description leaves at their
/// defaults: the greater of mpi.send_overhead and mpi.receive_overhead is the cost of a fragment, as the two sides work
/// at once; mpi.receive_byte is a copy. What the file lacks stays as it is. `name` is the file's in messages and
/// sources. Errors (bad_input): bad syntax, no table [mpi], a value of another kind or out of its key's bounds.
Status take_calibration(std::string_view text, std::string_view name, Machine& machine);

}  // namespace holdfast::plan
