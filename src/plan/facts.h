#pragma once

#include <fmt/format.h>

#include <string>

#include "plan/machine.h"
#include "plan/plan_record.h"

namespace holdfast::plan {

/// The unit that a value in SI units of this dimension has in a record.
inline std::string unit_of(Dimension dimension) {
  switch (dimension) {
    case Dimension::time:
      return "s";
    case Dimension::rate:
      return "1/s";
    case Dimension::bytes:
      return "bytes";
    case Dimension::bit_rate:
      return "bit/s";
    case Dimension::share:
      return "share";
    case Dimension::count:
    case Dimension::real:
      break;
  }
  return "";
}

inline Cell cell(double value, Dimension dimension) {
  return {format_quantity(value, dimension), value};
}
inline Cell rounded(double value, int digits) {
  return {std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : "-", value};
}
/// A line whose value is words.
inline Fact words(std::string name, std::string text, std::string source) {
  Fact fact;
  fact.name = std::move(name);
  fact.cell.text = std::move(text);
  fact.source = std::move(source);
  return fact;
}
inline Fact fact(std::string name, double value, Dimension dimension, std::string source) {
  return {std::move(name), cell(value, dimension), unit_of(dimension), std::move(source)};
}
inline Fact fact(std::string name, const Number& number, Dimension dimension) {
  return fact(std::move(name), number.value, dimension, number.source);
}

}  // namespace holdfast::plan
