#include "core/time/duration.h"

#include <array>
#include <cstddef>
#include <limits>

namespace holdfast::time {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t nanoseconds;
};

constexpr std::array<Unit, 7> units = {{{"ns", 1},
                                        {"us", 1'000},
                                        {"ms", 1'000'000},
                                        {"s", 1'000'000'000},
                                        {"min", 60'000'000'000},
                                        {"h", 3'600'000'000'000},
                                        {"d", 86'400'000'000'000}}};

// 63 bits of number times the largest unit fit into 128 bits.
__extension__ typedef unsigned __int128 Wide;

constexpr auto largest = static_cast<Wide>(std::numeric_limits<std::int64_t>::max());

bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}
bool is_blank(char letter) {
  return letter == ' ' || letter == '\t';
}

Status refuse(std::string_view text, std::string wrong) {
  return {Code::bad_input, "reading the duration '" + std::string(text) + "'", std::move(wrong),
          "write a number and a unit of ns, us, ms, s, min, h or d, as in 10ms"};
}

const Unit* find_unit(std::string_view name) {
  for (const Unit& unit : units) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

/// The digits of a decimal number without its point, and how many of them stood behind the point.
struct Decimal {
  Wide digits = 0;
  std::size_t behind_point = 0;
  bool any = false;
  bool too_long = false;
};

// Consumes the number at the front of `text`. Zeros at the end of the fraction are dropped, so that 1.50 is 15 and 1.
Decimal take_decimal(std::string_view& text) {
  Decimal decimal;
  std::size_t end = 0;
  std::size_t point = std::string_view::npos;
  while (end < text.size() && (is_digit(text[end]) || (text[end] == '.' && point == std::string_view::npos))) {
    if (text[end] == '.') point = end;
    ++end;
  }
  std::string_view number = text.substr(0, end);
  text.remove_prefix(end);
  if (point != std::string_view::npos) {
    while (number.size() > point + 1 && number.back() == '0') number.remove_suffix(1);
    decimal.behind_point = number.size() - point - 1;
  }
  for (std::size_t i = 0; i < end; ++i) decimal.any = decimal.any || i != point;
  for (const char letter : number) {
    if (letter == '.') continue;
    decimal.digits = decimal.digits * 10 + static_cast<unsigned>(letter - '0');
    // Times the largest unit this still fits 128 bits; more digits could only be too large or too fine.
    if (decimal.digits > largest) decimal.too_long = true;
    if (decimal.too_long) break;
  }
  return decimal;
}

}  // namespace

Result<std::int64_t> parse_duration(std::string_view text) {
  std::string_view rest = text;
  while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
  while (!rest.empty() && is_blank(rest.back())) rest.remove_suffix(1);
  const Decimal decimal = take_decimal(rest);
  if (!decimal.any) return refuse(text, "it does not start with a number");
  while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
  if (rest.empty()) return refuse(text, "it has no unit");
  const Unit* unit = find_unit(rest);
  if (unit == nullptr) return refuse(text, "'" + std::string(rest) + "' is no unit of time");
  if (decimal.too_long) return refuse(text, "it has too many digits");
  Wide nanoseconds = decimal.digits * unit->nanoseconds;
  for (std::size_t i = 0; i < decimal.behind_point && nanoseconds != 0; ++i) {
    if (nanoseconds % 10 != 0) return refuse(text, "it is not a whole number of nanoseconds");
    nanoseconds /= 10;
  }
  if (nanoseconds > largest) return refuse(text, "it is longer than 292 years");
  return static_cast<std::int64_t>(nanoseconds);
}

std::string format_duration(std::int64_t nanoseconds) {
  if (nanoseconds == 0) return "0s";
  const bool negative = nanoseconds < 0;
  const std::uint64_t amount =
      negative ? 0 - static_cast<std::uint64_t>(nanoseconds) : static_cast<std::uint64_t>(nanoseconds);
  std::size_t chosen = 3;
  while (amount < units[chosen].nanoseconds) --chosen;
  const std::uint64_t scale = units[chosen].nanoseconds;
  std::string text = (negative ? "-" : "") + std::to_string(amount / scale);
  if (const std::uint64_t rest = amount % scale; rest != 0) {
    std::string fraction = std::to_string(scale + rest).substr(1);  // the leading 1 keeps the zeros in front
    while (fraction.back() == '0') fraction.pop_back();
    text += "." + fraction;
  }
  return text + std::string(units[chosen].name);
}

}  // namespace holdfast::time
