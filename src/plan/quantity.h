#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/status/status.h"

/// `holdfast plan`: from a machine's description to what its jobs should do. Everything here is a model, so numbers are
/// double precision in SI units, named by their last word (_s seconds, _per_s, _bytes, _bit_per_s).
namespace holdfast::plan {

/// What kind of number a key of a machine description takes, and so which units.
enum class Dimension : std::uint8_t {
  count,    ///< a whole number without unit
  real,     ///< a number without unit
  share,    ///< 0 to 1: "0.8" or "80 %"
  time,     ///< ns us ms s min h d y; a year is 365 days, as the 8,760 hours of reliability engineering
  rate,     ///< "3 /d", "2 %/y" or FIT, which is events in 10^9 hours
  bytes,    ///< B kB MB GB TB, KiB MiB GiB TiB
  bit_rate  ///< bit/s kbit/s Mbit/s Gbit/s Tbit/s, B/s kB/s MB/s GB/s
};

/// The units in words, for messages: "ns, us, ms, s, min, h, d or y"; empty where there is none.
std::string_view units_of(Dimension dimension);

/// Reads "5 y" or "4.5us": a decimal number, at least 0, then a unit of the dimension; blanks may stand between. The
/// result is in s, 1/s, bytes or bit/s. `doing` opens the error's message. Errors (bad_input): no number, a sign, a
/// unit that is missing or another dimension's, a share above 1, a count that is not whole. Any thread.
Result<double> parse_quantity(std::string_view text, Dimension dimension, std::string_view doing);

/// A number for people, rounded to about three digits, with a fitting unit: "26.3 min", "5.00 y", "16.0 KiB",
/// "1.2e-09".
std::string format_quantity(double value, Dimension dimension);

}  // namespace holdfast::plan
