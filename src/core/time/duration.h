#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/status/status.h"

namespace holdfast::time {

/// Reads a duration such as "10ms", "4.096us", "3 s" or "2h" as an exact number of nanoseconds. A decimal number, then
/// a unit of ns, us, ms, s, min, h or d, with blanks allowed between. Errors (bad_input): no unit (zero needs one too),
/// an unknown unit, a sign, a value that is no whole number of nanoseconds, or more than 2^63-1 of them (292 years).
/// Nothing is ever rounded. Any thread.
Result<std::int64_t> parse_duration(std::string_view text);

/// The shortest exact text in ns, us, ms or s that parse_duration() reads back as the same number: "10ms", "1.5s",
/// "0s". Negative durations get a leading '-' (they are only ever printed).
std::string format_duration(std::int64_t nanoseconds);

}  // namespace holdfast::time
