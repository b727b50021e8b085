#include "cli/numbers.h"

#include <charconv>
#include <cmath>

#include "core/status/printable.h"
#include "core/time/duration.h"

namespace holdfast::cli {

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  const bool limited = least != 0 || most != std::numeric_limits<std::uint64_t>::max();
  const std::string range = std::to_string(least) + " to " + std::to_string(most);
  auto check = [least, most, range](std::string& text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool good = error == std::errc() && end == text.data() + text.size() && number >= least && number <= most;
    return good ? std::string() : "'" + printable(text) + "' is no whole number from " + range;
  };
  return CLI::Validator(check, limited ? range : "");
}

CLI::Validator real_number(double least, double most) {
  auto check = [least, most](std::string& text) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool good = error == std::errc() && end == text.data() + text.size() && number >= least && number <= most;
    return good ? std::string()
                : "'" + printable(text) + "' is no number from " + CLI::detail::to_string(least) + " to " +
                      CLI::detail::to_string(most);
  };
  return CLI::Validator(check, "");
}

Result<std::int64_t> read_duration(std::string_view flag, std::string_view text, std::int64_t least_ns,
                                   std::int64_t most_ns) {
  auto read = time::parse_duration(text);
  const std::string doing = "reading " + std::string(flag);
  if (!read.ok())
    return Status(Code::bad_input, doing, "'" + std::string(text) + "': " + read.status().wrong(),
                  read.status().remedy());
  if (read.value() >= least_ns && read.value() <= most_ns) return read;
  return Status(Code::bad_input, doing, "'" + std::string(text) + "' is out of bounds",
                "give " + time::format_duration(least_ns) + " to " + std::to_string(most_ns / one_day_ns) + "d");
}

}  // namespace holdfast::cli
