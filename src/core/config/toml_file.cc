#include "core/config/toml_file.h"

#include <charconv>
#include <iterator>
#include <optional>
#include <vector>

#include "core/config/toml.h"
#include "core/config/toml_keys.h"
#include "core/config/toml_text.h"
#include "core/input/text_file.h"
#include "core/status/hint.h"

namespace holdfast::config {
namespace {

std::string place(std::string_view file, const toml::source_region& source) {
  return std::string(file) + " line " + std::to_string(source.begin.line);
}

// What the user would write on the command line for this value; nothing for arrays and dates.
std::optional<std::string> scalar_text(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  if (const auto* number = node.as_floating_point()) {
    char buffer[32];  // the shortest text of a double has at most 24 letters
    return std::string(buffer, std::to_chars(buffer, std::end(buffer), number->get()).ptr);
  }
  return std::nullopt;
}

class Reader {
 public:
  Reader(std::string_view file, std::span<AnySettings* const> settings) : file_(file), settings_(settings) {}

  Status read_root(const toml::table& root) const {
    for (const auto& [key, node] : root) {
      AnySettings* component = find_component(key.str());
      if (component == nullptr) return unknown_component(key);
      const toml::table* options = node.as_table();
      if (options == nullptr) {
        return {Code::bad_input, "reading " + place(file_, key.source()),
                "'" + std::string(key.str()) + "' is a component, not an option",
                "write its options below [" + std::string(key.str()) + "]"};
      }
      if (Status status = read_options(*options, std::string(component->table().component()), *component); !status) {
        return status;
      }
    }
    return {};
  }

  // A table inside a component stands for a name with another dot. No option's name has `deepest` of them.
  Status read_options(const toml::table& options, const std::string& prefix, AnySettings& component,
                      int depth = 0) const {
    for (const auto& [key, node] : options) {
      const std::string name = prefix + "." + std::string(key.str());
      const toml::table* inner = node.as_table();
      const bool option_itself = component.table().find(name) != nullptr;
      const bool goes_on = inner != nullptr && !option_itself && depth < deepest;
      Status status =
          goes_on ? read_options(*inner, name, component, depth + 1) : read_option(name, key, node, component);
      if (!status) return status;
    }
    return {};
  }

 private:
  AnySettings* find_component(std::string_view name) const {
    for (AnySettings* each : settings_) {
      if (each->table().component() == name) return each;
    }
    return nullptr;
  }

  Status unknown_component(const toml::key& key) const {
    std::vector<std::string_view> names;
    for (const AnySettings* each : settings_) names.push_back(each->table().component());
    return {Code::bad_input, "reading " + place(file_, key.source()),
            "unknown component '" + std::string(key.str()) + "'",
            did_you_mean(key.str(), names, "'holdfast config list' shows all options")};
  }

  Status read_option(const std::string& name, const toml::key& key, const toml::node& node,
                     AnySettings& component) const {
    Origin origin{Source::file, place(file_, key.source())};
    const std::optional<std::string> text = scalar_text(node);
    if (!text && component.table().find(name) != nullptr) {
      return {Code::bad_input, "reading " + origin.place, "the value of '" + name + "' is no string, number or boolean",
              "write it in quotes"};
    }
    return component.set(name, text.value_or(""), std::move(origin));
  }

  static constexpr int deepest = 8;

  std::string_view file_;
  std::span<AnySettings* const> settings_;
};

}  // namespace

Status read_toml(std::string_view text, std::string_view name, std::span<AnySettings* const> settings) {
  const auto parsed = parse_toml(text, std::string(name) + " line ");
  return parsed.ok() ? Reader(name, settings).read_root(parsed.value()) : parsed.status();
}

Status read_component(const toml::table& options, std::string_view file, AnySettings& component) {
  return Reader(file, {}).read_options(options, std::string(component.table().component()), component);
}

Status read_toml_file(const std::string& path, std::span<AnySettings* const> settings) {
  const Result<std::string> text = input::read_text_file(path, "the configuration file");
  return text.ok() ? read_toml(text.value(), path, settings) : text.status();
}

}  // namespace holdfast::config
