#include "core/config/option.h"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "core/status/hint.h"
#include "core/time/duration.h"

namespace holdfast::config {
namespace {

constexpr std::array<std::string_view, 4> words_for_true = {"true", "yes", "on", "1"};
constexpr std::array<std::string_view, 4> words_for_false = {"false", "no", "off", "0"};

bool listed(std::string_view text, std::span<const std::string_view> words) {
  for (const std::string_view word : words) {
    if (word == text) return true;
  }
  return false;
}

template <class Number>
std::optional<Number> whole_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<Value> read_choice(const Option& option, std::string_view text) {
  for (std::size_t i = 0; i < option.row.choices.size(); ++i) {
    if (same_name(option.row.choices[i], text)) return Value(static_cast<std::uint64_t>(i));
  }
  return std::nullopt;
}

template <class T>
std::optional<Value> as_value(const std::optional<T>& number) {
  if (!number) return std::nullopt;
  return Value(*number);
}

// The value without regard to bounds; nothing when the text has not the form of the type.
std::optional<Value> read_form(const Option& option, std::string_view text) {
  switch (option.type) {
    case Type::boolean:
      if (listed(text, words_for_true)) return Value(true);
      if (listed(text, words_for_false)) return Value(false);
      return std::nullopt;
    case Type::integer:
      return as_value(whole_number<std::int64_t>(text));
    case Type::natural:
      return as_value(whole_number<std::uint64_t>(text));
    case Type::real: {
      const std::optional<double> number = whole_number<double>(text);
      return number && std::isfinite(*number) ? as_value(number) : std::nullopt;
    }
    case Type::text:
      return Value(std::string(text));
    case Type::choice:
      return read_choice(option, text);
    case Type::duration: {
      const Result<std::int64_t> nanoseconds = time::parse_duration(text);
      return nanoseconds ? std::optional<Value>(nanoseconds.value()) : std::nullopt;
    }
  }
  return std::nullopt;
}

bool member_can_hold(const Option& option, const Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    return *number >= option.lowest && (*number < 0 || static_cast<std::uint64_t>(*number) <= option.highest);
  }
  if (option.type == Type::natural) return *std::get_if<std::uint64_t>(&value) <= option.highest;
  return true;
}

bool within_bounds(const Option& option, const Value& value) {
  const Row& row = option.row;
  // Values of one type compare by the variant's own order, which is the numbers'.
  if (!row.least.empty()) {
    const std::optional<Value> least = read_form(option, row.least);
    if (!least || value < *least) return false;
  }
  if (!row.most.empty()) {
    const std::optional<Value> most = read_form(option, row.most);
    if (!most || *most < value) return false;
  }
  return member_can_hold(option, value);
}

std::string_view form_in_words(Type type) {
  switch (type) {
    case Type::boolean:
      return "true or false";
    case Type::integer:
      return "a whole number";
    case Type::natural:
      return "a whole number that is not negative";
    case Type::real:
      return "a number";
    case Type::text:
      return "text";
    case Type::choice:
      return "one of the names";
    case Type::duration:
      return "a whole number of nanoseconds written with a unit, as in 10ms";
  }
  return "";
}

std::string joined(std::span<const std::string_view> words, std::string_view separator) {
  std::string text;
  for (const std::string_view word : words) {
    if (!text.empty()) text += separator;
    text += word;
  }
  return text;
}

Status wrong_form(const Option& option, std::string_view text, std::string_view doing) {
  const std::string quoted = "'" + std::string(text) + "'";
  const std::string name(option.row.name);
  if (option.type == Type::choice) {
    const std::string names = "choose one of " + joined(option.row.choices, ", ");
    return {Code::bad_input, std::string(doing), quoted + " is no value of " + name,
            did_you_mean(text, option.row.choices, names)};
  }
  return {Code::bad_input, std::string(doing),
          quoted + " is no value of " + name + ", which takes " + std::string(form_in_words(option.type)),
          "the default is " + (option.row.initial.empty() ? "empty" : std::string(option.row.initial))};
}

}  // namespace

std::string flag_name(std::string_view name) {
  std::string flag = "--" + std::string(name);
  for (char& letter : flag) {
    if (letter == '_') letter = '-';
  }
  return flag;
}

std::string environment_name(std::string_view name) {
  std::string variable = "HOLDFAST_" + std::string(name);
  for (char& letter : variable) {
    if (letter == '.' || letter == '-') letter = '_';
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  }
  return variable;
}

bool same_name(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool dashes = (a[i] == '-' || a[i] == '_') && (b[i] == '-' || b[i] == '_');
    if (a[i] != b[i] && !dashes) return false;
  }
  return true;
}

std::string placeholder(const Option& option) {
  switch (option.type) {
    case Type::boolean:
      return "BOOLEAN";
    case Type::integer:
    case Type::natural:
      return "INTEGER";
    case Type::real:
      return "NUMBER";
    case Type::text:
      return "TEXT";
    case Type::choice:
      return "{" + joined(option.row.choices, ",") + "}";
    case Type::duration:
      return "DURATION";
  }
  return "";
}

std::string bounds_text(const Option& option) {
  const Row& row = option.row;
  std::string text;
  if (!row.least.empty() && !row.most.empty()) {
    text = std::string(row.least) + " to " + std::string(row.most);
  } else if (!row.least.empty()) {
    text = "at least " + std::string(row.least);
  } else if (!row.most.empty()) {
    text = "at most " + std::string(row.most);
  }
  if (!text.empty() && !row.unit.empty()) text += " " + std::string(row.unit);
  return text;
}

Result<Value> read_value(const Option& option, std::string_view text, std::string_view doing) {
  std::optional<Value> value = read_form(option, text);
  if (!value) return wrong_form(option, text, doing);
  if (within_bounds(option, *value)) return *std::move(value);
  std::string allowed = bounds_text(option);
  if (allowed.empty()) allowed = std::to_string(option.lowest) + " to " + std::to_string(option.highest);
  return Status(Code::bad_input, std::string(doing),
                "'" + std::string(text) + "' is out of bounds for " + std::string(option.row.name),
                "give a value of " + allowed);
}

std::string write_value(const Option& option, const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* number = std::get_if<double>(&value)) {
    std::array<char, 32> buffer{};  // the shortest text of a double has at most 24 letters
    return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), *number).ptr};
  }
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    return option.type == Type::duration ? time::format_duration(*number) : std::to_string(*number);
  }
  const std::uint64_t number = *std::get_if<std::uint64_t>(&value);
  if (option.type == Type::choice) {
    return number < option.row.choices.size() ? std::string(option.row.choices[number]) : std::to_string(number);
  }
  return std::to_string(number);
}

}  // namespace holdfast::config
