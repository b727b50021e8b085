#include "plan/machine.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>

#include "core/config/toml_text.h"
#include "core/input/text_file.h"
#include "core/status/hint.h"

namespace holdfast::plan {
namespace {

constexpr std::size_t most_text = 500;  ///< letters of a name or a source

std::string_view table_of(std::string_view key) {
  return key.substr(0, key.find('.'));
}

// One line for messages, whatever a quoted key holds.
std::string shown(std::string_view name) {
  std::string text;
  for (char letter : name.substr(0, 60)) text += static_cast<unsigned char>(letter) < ' ' ? '?' : letter;
  return "'" + text + (name.size() > 60 ? "...'" : "'");
}

bool one_line(std::string_view text) {
  return text.size() <= most_text && std::none_of(text.begin(), text.end(), [](char c) {
           return static_cast<unsigned char>(c) < ' ' || c == 0x7F;
         });
}

class Reader {
 public:
  explicit Reader(std::string_view file) : file_(file) {}

  Status read(const toml::table& root) {
    if (Status status = read_sources(root); !status) return status;
    for (const auto& [key, node] : root) {
      if (key.str() == "sources") continue;
      if (Status status = read_table(key, node); !status) return status;
    }
    if (Status status = add_defaults(); !status) return status;
    return check();
  }

  Machine machine;

 private:
  Status wrong(const toml::source_region& at, const std::string& what, const std::string& remedy) const {
    return {Code::bad_input, doing(at), what, remedy};
  }
  std::string place(const toml::source_region& at) const {
    return std::string(file_) + ":" + std::to_string(at.begin.line);
  }
  std::string doing(const toml::source_region& at) const { return "reading " + place(at); }

  // [sources] says for a key, or for a whole table, where its value was found.
  Status read_sources(const toml::table& root) {
    const toml::node* node = root.get("sources");
    if (node == nullptr) return {};
    const toml::table* sources = node->as_table();
    if (sources == nullptr) return wrong(node->source(), "'sources' is no table", "write [sources]");
    std::vector<std::string_view> names;
    for (const Row& row : rows()) {
      names.push_back(row.key);
      names.push_back(table_of(row.key));
    }
    for (const auto& [key, value] : *sources) {
      if (std::find(names.begin(), names.end(), key.str()) == names.end()) {
        return wrong(key.source(), "there is no key " + shown(key.str()) + " whose source this could be",
                     did_you_mean(key.str(), names, "write \"failures.node_mtbf\" = \"...\", the key in quotes"));
      }
      const auto* text = value.as_string();
      if (text == nullptr || !one_line(text->get())) {
        return wrong(value.source(), "the source of " + shown(key.str()) + " is no line of text", "write it in quotes");
      }
      sources_[std::string(key.str())] = text->get();
    }
    return {};
  }

  Status read_table(const toml::key& key, const toml::node& node) {
    std::vector<std::string_view> names{"sources"};
    for (const Row& row : rows()) names.push_back(table_of(row.key));
    if (std::find(names.begin(), names.end(), key.str()) == names.end()) {
      return wrong(key.source(), "there is no table " + shown(key.str()),
                   did_you_mean(key.str(), names, "'holdfast plan --keys' lists them"));
    }
    const toml::table* table = node.as_table();
    const std::string name(key.str());
    if (table == nullptr) return wrong(key.source(), "'" + name + "' is a table", "write [" + name + "]");
    machine.tables.push_back(name);
    for (const auto& [inner, value] : *table) {
      if (Status status = read_key(name, inner, value); !status) return status;
    }
    for (const Row& row : rows()) {
      if (!row.required || table_of(row.key) != name || table->get(row.key.substr(name.size() + 1)) != nullptr)
        continue;
      return wrong(key.source(), "[" + name + "] lacks '" + std::string(row.key.substr(name.size() + 1)) + "'",
                   "add it: " + std::string(row.doc));
    }
    return {};
  }

  Status read_key(const std::string& table, const toml::key& key, const toml::node& value) {
    const std::string name = table + "." + std::string(key.str());
    std::vector<std::string_view> names;
    for (const Row& row : rows()) {
      if (row.key == name) return read_value(row, value);
      if (table_of(row.key) == table) names.push_back(row.key.substr(table.size() + 1));
    }
    return wrong(key.source(), "[" + table + "] has no key " + shown(key.str()),
                 did_you_mean(key.str(), names, "'holdfast plan --keys' lists them"));
  }

  Status read_value(const Row& row, const toml::node& value) {
    const std::string source = source_of(row.key, place(value.source()));
    if (const auto* number = std::get_if<Number Machine::*>(&row.member)) {
      const auto read = number_of(row, value);
      if (!read) return read.status();
      machine.*(*number) = {read.value(), true, source};
      return {};
    }
    if (const auto* text = std::get_if<Text Machine::*>(&row.member)) {
      const auto* words = value.as_string();
      if (words == nullptr || !one_line(words->get()) || words->get().empty()) {
        return wrong(value.source(), "'" + std::string(row.key) + "' is no line of text", "write it in quotes");
      }
      if (!row.choices.empty() &&
          std::find(row.choices.begin(), row.choices.end(), words->get()) == row.choices.end()) {
        return wrong(value.source(), "'" + std::string(row.key) + "' cannot be " + shown(words->get()), choices(row));
      }
      machine.*(*text) = {words->get(), true, source};
      return {};
    }
    return read_levels(row, value, source);
  }

  static std::string choices(const Row& row) {
    std::string all = "choose from";
    for (std::string_view choice : row.choices) all += " " + std::string(choice);
    return all;
  }

  Status read_levels(const Row& row, const toml::node& value, const std::string& source) {
    const toml::array* array = value.as_array();
    if (array == nullptr || array->empty() || array->size() > 8) {
      return wrong(value.source(), "'" + std::string(row.key) + "' is no list of 1 to 8 numbers", "write [24, 12, 6]");
    }
    Levels levels{{}, true, source};
    double hosts = 1;
    for (const toml::node& each : *array) {
      const auto number = number_of(row, each);
      if (!number) return number.status();
      levels.value.push_back(number.value());
      hosts *= number.value();
    }
    if (hosts > 1e9)
      return wrong(value.source(), "the tree has more than 10^9 hosts", "describe one collective's tree");
    machine.*std::get<Levels Machine::*>(row.member) = std::move(levels);
    return {};
  }

  // Numbers with a unit are quoted; those without may be.
  Result<double> number_of(const Row& row, const toml::node& value) const {
    std::string text;
    if (const auto* words = value.as_string()) {
      text = words->get();
    } else if (const auto* whole = value.as_integer()) {
      text = std::to_string(whole->get());
    } else if (const auto* real = value.as_floating_point()) {
      char buffer[32];
      text.assign(buffer, std::to_chars(buffer, std::end(buffer), real->get()).ptr);
    } else {
      return wrong(
          value.source(), "'" + std::string(row.key) + "' is no number",
          std::string(units_of(row.dimension)).empty() ? "write a number" : "write a number and a unit in quotes");
    }
    auto number = parse_quantity(text, row.dimension, doing(value.source()) + ": '" + std::string(row.key) + "'");
    if (!number) return number;
    if (number.value() < row.least || number.value() > row.most) {
      return wrong(value.source(),
                   "'" + std::string(row.key) + "' is " + format_quantity(number.value(), row.dimension),
                   "keep it between " + format_quantity(row.least, row.dimension) + " and " +
                       format_quantity(row.most, row.dimension));
    }
    return number;
  }

  std::string source_of(std::string_view key, const std::string& where) const {
    auto found = sources_.find(std::string(key));
    if (found == sources_.end()) found = sources_.find(std::string(table_of(key)));
    return found == sources_.end() ? where : where + "; " + found->second;
  }

  Status add_defaults() {
    for (const Row& row : rows()) {
      if (row.initial.empty() || !machine.has(table_of(row.key))) continue;
      if (const auto* number = std::get_if<Number Machine::*>(&row.member)) {
        if ((machine.*(*number)).given) continue;
        const auto value = parse_quantity(row.initial, row.dimension, "reading a default");
        if (!value) return {Code::internal, "reading the default of " + std::string(row.key), "it cannot be read", ""};
        machine.*(*number) = {value.value(), true, "default"};
      } else if (const auto* text = std::get_if<Text Machine::*>(&row.member)) {
        if (!(machine.*(*text)).given) machine.*(*text) = {std::string(row.initial), true, "default"};
      }
    }
    return {};
  }

  Status whole(const std::string& what, const std::string& remedy) const {
    return {Code::bad_input, "reading " + std::string(file_), what, remedy};
  }

  Status check() {
    if (!machine.has("machine")) return whole("there is no [machine]", "begin with [machine], name and nodes");
    if (machine.node_mtbf_s.given && machine.system_mtbf_s.given) {
      return whole("[failures] has both 'node_mtbf' and 'system_mtbf'", "give one of them");
    }
    if (machine.has("failures") && !machine.node_mtbf_s.given && !machine.system_mtbf_s.given) {
      return whole("[failures] lacks 'node_mtbf'", "give it or 'system_mtbf'");
    }
    if (machine.system_mtbf_s.given) {
      const Number& system = machine.system_mtbf_s;
      machine.node_mtbf_s = {system.value * machine.nodes.value, true, "system_mtbf x nodes: " + system.source};
    }
    if (machine.has("job")) {
      for (const char* needed : {"failures", "checkpoint"}) {
        if (!machine.has(needed)) return whole("there is a [job] but no [" + std::string(needed) + "]", "add it");
      }
      if (!machine.job_nodes.given) machine.job_nodes = {machine.nodes.value, true, "machine.nodes"};
      if (machine.job_nodes.value > machine.nodes.value) {
        return whole("the job has more nodes than the machine", "lower job.nodes");
      }
    }
    if (machine.has("corruption") && !machine.has("job")) {
      return whole("there is a [corruption] but no [job]", "add the job whose answer is at stake");
    }
    return check_collective();
  }

  // The model of a collective counts picoseconds in 63 bits, 106 days. Its longest sums are 6 copies of every packet,
  // and 100 rounds of retransmission at each of 8 levels and the leaves.
  Status check_collective() const {
    if (!machine.has("collective")) return {};
    const double packet = std::min(machine.packet_bytes.value, machine.collective_bytes.value);
    const double packet_s = 8 * (packet + 64) / machine.link_bit_per_s.value;
    const double packets = std::ceil(machine.collective_bytes.value / machine.packet_bytes.value);
    const double round_s = 8 * packet_s + 6 * machine.switch_delay_s.value;
    const double longest_s = machine.hca_delay_s.value + 6 * packets * packet_s + 1000 * round_s;
    if (longest_s < 1e6) return {};
    return whole("[collective] sends " + format_quantity(machine.collective_bytes.value, Dimension::bytes) + " at " +
                     format_quantity(machine.link_bit_per_s.value, Dimension::bit_rate) +
                     ", which takes longer than the model's 11 days",
                 "lower collective.message or raise collective.link_rate");
  }

  std::string_view file_;
  std::map<std::string, std::string> sources_;
};

}  // namespace

bool Machine::has(std::string_view table) const {
  return std::find(tables.begin(), tables.end(), table) != tables.end();
}

Result<Machine> read_machine(std::string_view text, std::string_view name) {
  const auto parsed = config::parse_toml(text, std::string(name) + ":");
  if (!parsed.ok()) return parsed.status();
  Reader reader(name);
  if (Status status = reader.read(parsed.value()); !status) return status;
  return std::move(reader.machine);
}

Result<Machine> read_machine_file(const std::string& path) {
  const Result<std::string> text = input::read_text_file(path, "the machine description");
  if (!text.ok()) return text.status();
  auto machine = read_machine(text.value(), std::filesystem::path(path).filename().string());
  if (machine.ok()) machine.value().folder = std::filesystem::path(path).parent_path().string();
  return machine;
}

}  // namespace holdfast::plan
