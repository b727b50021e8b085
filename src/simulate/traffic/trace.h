#pragma once

#include <string_view>

#include "core/status/status.h"
#include "simulate/traffic/schedule.h"

namespace holdfast::simulate {

/// Reads a communication trace (docs/spec/trace.md). `name` is where it came from, for messages. Error (bad_input): the
/// line and what is wrong with it.
Result<Schedule> parse_trace(std::string_view text, std::string_view name);

/// Reads a GOAL schedule in its text form (T. Hoefler, C. Siebert, A. Lumsdaine, "Group Operation Assembly Language - A
/// Flexible Way to Express Collective Communication", ICPP 2009): num_ranks, rank N { label: send 8b to 1 tag 5 cpu 0;
/// recv 8b from 1 tag 5; calc 100; a requires b; a irequires b }. A calc counts nanoseconds; nic is read and ignored.
/// Error (bad_input): as above.
Result<Schedule> parse_goal(std::string_view text, std::string_view name);

/// Reads a file: GOAL when its name ends in .goal, a trace otherwise. Errors: not_found, io, bad_input.
Result<Schedule> read_schedule_file(const std::string& path);

}  // namespace holdfast::simulate
