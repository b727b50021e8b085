#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/config/settings.h"
#include "core/config/toml.h"
#include "core/status/hint.h"
#include "core/status/status.h"
#include "core/time/duration.h"

/// Reading the tables of files that declare something; for the sources that do, not for others' headers.
namespace holdfast::config {

/// The options of one component as a table of a file that has others besides. Errors (bad_input), each with its line:
/// an unknown option, with a hint; a bad value.
Status read_component(const toml::table& options, std::string_view file, AnySettings& component);

/// Reads the keys of one table; the first thing wrong is kept, and what follows is not looked at.
class TomlKeys {
 public:
  /// `spec` is where the keys are described, for messages. All three must outlive the reader.
  TomlKeys(const toml::table& table, std::string_view file, std::string_view spec)
      : table_(table), file_(file), spec_(spec) {}

  const Status& status() const { return status_; }

  void fail(const toml::node& at, std::string wrong, std::string remedy) {
    if (!status_.ok()) return;
    status_ = {Code::bad_input, "reading " + std::string(file_) + " line " + std::to_string(at.source().begin.line),
               std::move(wrong), std::move(remedy)};
  }

  const toml::node* take(std::string_view key) {
    known_.push_back(key);
    return table_.get(key);
  }

  /// The elements of a list, or the one value that stands in its place.
  std::vector<const toml::node*> list(std::string_view key) {
    std::vector<const toml::node*> found;
    const toml::node* node = take(key);
    if (node == nullptr) return found;
    if (const toml::array* array = node->as_array()) {
      for (const toml::node& each : *array) found.push_back(&each);
      if (found.empty()) fail(*node, "'" + std::string(key) + "' is an empty list", "give at least one value");
      return found;
    }
    found.push_back(node);
    return found;
  }

  template <class Number>
  void number(const toml::node& node, std::string_view key, Number least, Number most, Number& value) {
    const auto given = node.value<double>();
    if (!given || *given < static_cast<double>(least) || *given > static_cast<double>(most) ||
        (std::is_integral_v<Number> && !node.is_integer())) {
      fail(node, "'" + std::string(key) + "' is no number in range",
           "give " + std::to_string(least) + " to " + std::to_string(most));
      return;
    }
    if constexpr (std::is_integral_v<Number>) {
      value = static_cast<Number>(*node.value<std::int64_t>());
    } else {
      value = static_cast<Number>(*given);
    }
  }
  template <class Number>
  void number(std::string_view key, Number least, Number most, Number& value) {
    if (const toml::node* node = take(key)) number(*node, key, least, most, value);
  }

  void boolean(std::string_view key, bool& value) {
    const toml::node* node = take(key);
    if (node == nullptr) return;
    if (const auto given = node->value<bool>()) {
      value = *given;
    } else {
      fail(*node, "'" + std::string(key) + "' is neither true nor false", "write true or false");
    }
  }

  void text(std::string_view key, std::string& value) {
    const toml::node* node = take(key);
    if (node == nullptr) return;
    if (const auto given = node->value<std::string>()) {
      value = *given;
    } else {
      fail(*node, "'" + std::string(key) + "' is no text", "write it in quotes");
    }
  }

  /// Durations in picoseconds, as simulated time is counted.
  void duration_ps(const toml::node& node, std::string_view key, std::int64_t& value) {
    const auto given = node.value<std::string>();
    auto read =
        given ? time::parse_duration(*given)
              : Result<std::int64_t>(Status{Code::bad_input, "", "no duration in quotes", "write as in \"10us\""});
    if (!read.ok()) return fail(node, "'" + std::string(key) + "': " + read.status().wrong(), read.status().remedy());
    if (read.value() > std::numeric_limits<std::int64_t>::max() / ps_per_ns)
      return fail(node, "'" + std::string(key) + "' is too long", "give less");
    value = read.value() * ps_per_ns;
  }
  void duration_ps(std::string_view key, std::int64_t& value) {
    if (const toml::node* node = take(key)) duration_ps(*node, key, value);
  }

  template <class Enumeration, std::size_t size>
  void choice(const toml::node& node, const std::array<std::string_view, size>& names, Enumeration& value) {
    const std::string given = node.value<std::string>().value_or("");
    for (std::size_t i = 0; i < size; ++i) {
      if (names[i] == given) {
        value = static_cast<Enumeration>(i);
        return;
      }
    }
    std::string all;
    for (const std::string_view name : names) all += (all.empty() ? "" : ", ") + std::string(name);
    fail(node, "unknown name '" + given + "'", did_you_mean(given, names, "one of " + all));
  }
  template <class Enumeration, std::size_t size>
  void choice(std::string_view key, const std::array<std::string_view, size>& names, Enumeration& value) {
    if (const toml::node* node = take(key)) choice(*node, names, value);
  }

  /// Every value of a list as an enumeration; `values` stays as it is without the key.
  template <class Enumeration, std::size_t size>
  void choices(std::string_view key, const std::array<std::string_view, size>& names,
               std::vector<Enumeration>& values) {
    const auto nodes = list(key);
    if (!nodes.empty()) values.clear();
    for (const toml::node* node : nodes) {
      Enumeration value{};
      choice(*node, names, value);
      values.push_back(value);
    }
  }

  /// After all keys were taken: a key that nobody asked for is a mistake.
  void finish() {
    for (const auto& [key, node] : table_) {
      if (std::find(known_.begin(), known_.end(), key.str()) != known_.end()) continue;
      fail(node, "unknown key '" + std::string(key.str()) + "'",
           did_you_mean(key.str(), known_, "see " + std::string(spec_)));
    }
  }

  /// The tables [[key]], one at least, of a file of which no other key is left to be taken. `without`: what is said of
  /// a file that has none.
  Result<const toml::array*> closing_tables(std::string_view key, std::string_view without) {
    const toml::node* tables = take(key);
    finish();
    if (!status_.ok()) return status_;
    if (tables != nullptr && tables->is_array_of_tables()) return tables->as_array();
    return Status{Code::bad_input, "reading " + std::string(file_), std::string(without),
                  "write [[" + std::string(key) + "]]"};
  }

 private:
  static constexpr std::int64_t ps_per_ns = 1'000;

  const toml::table& table_;
  std::string_view file_;
  std::string_view spec_;
  std::vector<std::string_view> known_;
  Status status_;
};

}  // namespace holdfast::config
