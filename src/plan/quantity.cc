#include "plan/quantity.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <span>

namespace holdfast::plan {
namespace {

struct Unit {
  std::string_view name;
  double scale;
};

constexpr double year_s = 365.0 * 86400;
constexpr std::array time_units{Unit{"ns", 1e-9}, Unit{"us", 1e-6}, Unit{"ms", 1e-3}, Unit{"s", 1},
                                Unit{"min", 60},  Unit{"h", 3600},  Unit{"d", 86400}, Unit{"y", year_s}};
constexpr std::array byte_units{Unit{"B", 1},        Unit{"kB", 1e3},     Unit{"MB", 1e6},
                                Unit{"GB", 1e9},     Unit{"TB", 1e12},    Unit{"KiB", 1024},
                                Unit{"MiB", 0x1p20}, Unit{"GiB", 0x1p30}, Unit{"TiB", 0x1p40}};
constexpr std::array bit_rate_units{Unit{"bit/s", 1},    Unit{"kbit/s", 1e3},  Unit{"Mbit/s", 1e6},
                                    Unit{"Gbit/s", 1e9}, Unit{"Tbit/s", 1e12}, Unit{"B/s", 8},
                                    Unit{"kB/s", 8e3},   Unit{"MB/s", 8e6},    Unit{"GB/s", 8e9}};
constexpr std::array share_units{Unit{"", 1}, Unit{"%", 0.01}};
constexpr std::array rate_units{Unit{"/s", 1},           Unit{"/min", 1.0 / 60}, Unit{"/h", 1.0 / 3600},
                                Unit{"/d", 1.0 / 86400}, Unit{"/y", 1 / year_s}, Unit{"%/y", 0.01 / year_s},
                                Unit{"FIT", 1e-9 / 3600}};
constexpr std::array no_units{Unit{"", 1}};

std::span<const Unit> units(Dimension dimension) {
  switch (dimension) {
    case Dimension::time:
      return time_units;
    case Dimension::bytes:
      return byte_units;
    case Dimension::bit_rate:
      return bit_rate_units;
    case Dimension::share:
      return share_units;
    case Dimension::rate:
      return rate_units;
    case Dimension::count:
    case Dimension::real:
      break;
  }
  return no_units;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// One line for messages, whatever bytes the text has.
std::string quoted(std::string_view text) {
  std::string shown = "'";
  for (char letter : text.substr(0, 60)) shown += static_cast<unsigned char>(letter) < ' ' ? '?' : letter;
  return shown + (text.size() > 60 ? "...'" : "'");
}

std::string example(Dimension dimension) {
  switch (dimension) {
    case Dimension::count:
      return "write a whole number";
    case Dimension::real:
      return "write a number";
    case Dimension::share:
      return "write 0.8 or \"80 %\"";
    case Dimension::time:
      return "write \"5 min\"; units are " + std::string(units_of(dimension));
    case Dimension::rate:
      return "write \"2 %/y\"; units are " + std::string(units_of(dimension));
    case Dimension::bytes:
      return "write \"16 KiB\"; units are " + std::string(units_of(dimension));
    case Dimension::bit_rate:
      return "write \"8 Gbit/s\"; units are " + std::string(units_of(dimension));
  }
  return {};
}

// A whole number with its digits in threes.
std::string grouped(double value) {
  std::string digits = fmt::format("{:.0f}", value);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string scaled(double value, std::span<const Unit> scale) {
  const Unit* best = &scale.front();
  for (const Unit& unit : scale) {
    if (value >= unit.scale) best = &unit;
  }
  const double number = value / best->scale;
  // Three digits; "{:#.3g}" of 100 is "100.0" in fmt 9 and "100." in fmt 10.
  return fmt::format("{} {}", number >= 99.95 ? fmt::format("{:.0f}", number) : fmt::format("{:#.3g}", number),
                     best->name);
}

}  // namespace

std::string_view units_of(Dimension dimension) {
  switch (dimension) {
    case Dimension::time:
      return "ns, us, ms, s, min, h, d or y";
    case Dimension::rate:
      return "/s, /min, /h, /d, /y, %/y or FIT";
    case Dimension::bytes:
      return "B, kB, MB, GB, TB, KiB, MiB, GiB or TiB";
    case Dimension::bit_rate:
      return "bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s, B/s, kB/s, MB/s or GB/s";
    case Dimension::count:
    case Dimension::real:
    case Dimension::share:
      break;
  }
  return {};
}

Result<double> parse_quantity(std::string_view text, Dimension dimension, std::string_view doing) {
  const auto wrong = [&](const std::string& what) {
    return Status(Code::bad_input, std::string(doing), quoted(text) + " " + what, example(dimension));
  };
  const std::string_view body = trim(text);
  double number = 0;
  const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), number);
  if (error != std::errc() || !std::isfinite(number)) return wrong("does not begin with a number");
  if (number < 0 || (number == 0 && std::signbit(number))) return wrong("is negative");
  const std::string_view name = trim(body.substr(static_cast<std::size_t>(end - body.data())));
  for (const Unit& unit : units(dimension)) {
    if (unit.name != name) continue;
    const double value = number * unit.scale;
    if (!std::isfinite(value)) return wrong("is too large");
    if (dimension == Dimension::share && value > 1) return wrong("is more than all");
    if (dimension == Dimension::count && (value != std::floor(value) || value > 0x1p53)) {
      return wrong("is no whole number");
    }
    return value;
  }
  return wrong(name.empty() ? "has no unit" : "has an unknown unit");
}

std::string format_quantity(double value, Dimension dimension) {
  if (std::isnan(value)) return "unknown";
  if (std::isinf(value)) return "never";
  switch (dimension) {
    case Dimension::time:
      return value == 0 ? "0 s" : scaled(value, time_units);
    case Dimension::bytes: {
      constexpr std::array binary{Unit{"B", 1}, Unit{"KiB", 1024}, Unit{"MiB", 0x1p20}, Unit{"GiB", 0x1p30},
                                  Unit{"TiB", 0x1p40}};
      return value < 1024 ? fmt::format("{:.0f} B", value) : scaled(value, binary);
    }
    case Dimension::bit_rate:
      return scaled(value, std::span(bit_rate_units).first(5));
    case Dimension::rate:
      return value >= 0.1 ? fmt::format("{:.3g} /s", value) : fmt::format("{:.3g} /y", value * year_s);
    case Dimension::share: {
      if (value == 0 || value >= 1e-5) return fmt::format("{:.3g} %", value * 100);
      return fmt::format("{:.2g}", value);
    }
    case Dimension::count:
      return grouped(value);
    case Dimension::real:
      return fmt::format("{:.3g}", value);
  }
  return {};
}

}  // namespace holdfast::plan
