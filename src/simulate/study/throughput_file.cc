#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "core/config/toml_keys.h"
#include "core/config/toml_text.h"
#include "core/fault/grammar.h"
#include "core/input/text_file.h"
#include "fabric/faults/failure_statistics.h"
#include "fabric/formats/source.h"
#include "fabric/topology/notation.h"
#include "simulate/study/throughput.h"

namespace holdfast::simulate::study {
namespace {

constexpr std::string_view spec = "docs/spec/study.md";

using Ageings = std::map<std::string, fabric::Ageing, std::less<>>;
using Texts = std::map<std::string, std::shared_ptr<const std::string>>;  // of files, by path

/// The lists of a group, whose product its points are.
struct Lists {
  struct Source {
    std::string name;
    std::shared_ptr<const std::string> text;
  };
  std::vector<Source> fabrics;
  std::vector<fabric::Contender> engines;
  std::vector<Scenario> scenarios;
  std::vector<std::uint64_t> seeds;
  std::vector<TrafficSpec> traffics;
  std::vector<std::size_t> options;  // sets, by index
};

/// Whether the result depends on the seed of the traffic.
bool draws(const TrafficSpec& traffic) {
  switch (traffic.pattern) {
    case Pattern::uniform:
    case Pattern::all_to_all:
    case Pattern::permutation:
    case Pattern::hotspot:
      return true;
    default:
      return traffic.load < 1 && !traffic.even;
  }
}

/// A file beside the study.
std::string path_beside(std::string_view file, const std::string& name) {
  return (std::filesystem::path(std::string(file)).parent_path() / name).string();
}

/// The rates and shape that a log of failures says.
Status fit_ageing(const std::string& path, fabric::Ageing& ageing) {
  auto text = input::read_text_file(path, "the log of failures");
  if (!text.ok()) return text.status();
  const auto log = fabric::parse_failure_log(text.value(), path);
  if (!log.ok()) return log.status();
  const auto statistics = fabric::summarise(log.value(), 0.95, 1);
  if (!statistics.ok()) return statistics.status();
  ageing = statistics.value().ageing();
  ageing.adapter_rate = 0;  // studies let links and switches fail
  return {};
}

Status read_ageing(const toml::table& table, std::string_view file, fabric::Ageing& ageing) {
  config::TomlKeys keys(table, file, spec);
  std::string log;
  keys.text("log", log);
  if (!log.empty()) {
    keys.finish();
    if (!keys.status().ok()) return keys.status();
    return fit_ageing(path_beside(file, log), ageing);
  }
  keys.number("link_rate", 0.0, 0.999, ageing.link_rate);
  keys.number("switch_rate", 0.0, 0.999, ageing.switch_rate);
  keys.number("shape", 0.01, 100.0, ageing.shape);
  double ratio = 0;
  keys.number("links_per_switch", 1e-6, 1e6, ratio);
  if (ratio > 0) ageing.links_per_switch = ratio;
  if (ratio > 0 && ageing.switch_rate > 0)
    keys.fail(table, "switch_rate and links_per_switch contradict each other", "keep one of them");
  if (ageing.link_rate + ageing.switch_rate <= 0) keys.fail(table, "nothing fails", "give link_rate or switch_rate");
  keys.finish();
  return keys.status();
}

/// One group's table, into lists.
class GroupReader {
 public:
  GroupReader(const toml::table& table, std::string_view file, const Ageings& ageings,
              const std::vector<ThroughputFile::OptionSet>& options, Texts& texts)
      : table_(table), file_(file), ageings_(ageings), options_(options), texts_(texts), keys_(table, file, spec) {}

  Status read(std::vector<ThroughputFile::Placed>& points) {
    keys_.text("name", name_);
    read_fabrics();
    read_engines();
    read_failures();
    read_ageings();
    read_seeds();
    read_traffics();
    read_option_sets();
    keys_.number("lanes", 1U, 15U, pattern_.lanes);
    keys_.duration_ps("limit", pattern_.limit_ps);
    keys_.finish();
    if (lists_.fabrics.empty()) keys_.fail(table_, "the group has no fabric", "write fabric = [\"16-ary-2-tree\"]");
    if (lists_.engines.empty()) keys_.fail(table_, "the group has no engine", "write engine = [\"dfsssp\"]");
    double size = 1;
    for (const std::size_t list : {lists_.fabrics.size(), lists_.engines.size(), lists_.scenarios.size(),
                                   lists_.seeds.size(), lists_.traffics.size(), lists_.options.size()})
      size *= static_cast<double>(list);
    if (size + static_cast<double>(points.size()) > static_cast<double>(most_points))
      keys_.fail(table_, "more than 1,000,000 points", "split the study");
    if (!keys_.status().ok()) return keys_.status();
    multiply(points);
    return {};
  }

 private:
  /// The text of each element of a list; fails on others.
  template <class Use>
  void each_text(std::string_view key, const Use& use) {
    for (const toml::node* node : keys_.list(key)) {
      const auto text = node->value<std::string>();
      if (!text) return keys_.fail(*node, "'" + std::string(key) + "' is no text", "write it in quotes");
      use(*node, *text);
    }
  }
  void fail(const toml::node& node, std::string_view key, const Status& status) {
    keys_.fail(node, "'" + std::string(key) + "': " + status.wrong(), status.remedy());
  }

  void read_fabrics() {
    each_text("fabric", [&](const toml::node& node, const std::string& text) {
      if (fabric::looks_like_topology(text)) {
        if (auto read = fabric::parse_topology(text); !read.ok()) fail(node, "fabric", read.status());
        lists_.fabrics.push_back({text, nullptr});
        return;
      }
      // A file: its path is seen from the study's folder.
      const std::filesystem::path path = path_beside(file_, text);
      std::error_code error;
      if (!std::filesystem::is_regular_file(path, error))
        return keys_.fail(node, "'fabric': '" + text + "' is neither a topology nor a file beside the study",
                          "see 'holdfast fabric generate --help'");
      auto& kept = texts_[path.string()];
      if (kept == nullptr) {
        auto read = input::read_text_file(path.string());
        if (!read.ok()) return fail(node, "fabric", read.status());
        kept = std::make_shared<const std::string>(std::move(read).value());
      }
      lists_.fabrics.push_back({path.string(), kept});
    });
  }

  void read_engines() {
    each_text("engine", [&](const toml::node& node, const std::string& text) {
      auto read = fabric::parse_contenders(text);
      if (!read.ok()) return fail(node, "engine", read.status());
      for (const fabric::Contender& one : read.value()) lists_.engines.push_back(one);
    });
  }

  void read_failures() {
    each_text("failures", [&](const toml::node& node, const std::string& text) {
      Scenario scenario;
      scenario.label = text;
      if (text != "none") {
        auto faults = fault::parse(text, "failures");
        if (!faults.ok()) return fail(node, "failures", faults.status());
        if (faults.value().empty())
          return keys_.fail(node, "'failures' is empty", "write \"none\" for a healthy fabric");
        for (const fault::Fault& each : faults.value())
          if (each.kind < fault::Kind::fail_link || std::holds_alternative<fault::Mean>(each.when))
            return keys_.fail(node,
                              "'failures': '" + fault::format(each) + "' is no failure of a fabric from the start",
                              "as in \"fail-link share 1%\"");
        scenario.faults = std::move(faults).value();
      }
      lists_.scenarios.push_back(std::move(scenario));
    });
  }

  void read_ageings() {
    std::vector<double> years;
    for (const toml::node* node : keys_.list("years")) {
      years.push_back(0);
      keys_.number(*node, "years", 0.0, 1000.0, years.back());
    }
    bool any = false;
    each_text("ageing", [&](const toml::node& node, const std::string& text) {
      any = true;
      const auto found = ageings_.find(text);
      if (found == ageings_.end())
        return keys_.fail(node, "there is no ageing '" + text + "'", "write it as [ageing." + text + "]");
      if (years.empty()) return keys_.fail(node, "'ageing' without years", "write years = [0, 1, 2]");
      for (const double year : years) {
        Scenario scenario;
        scenario.label = fmt::format("{} {} years", text, year);
        scenario.ageing = found->second;
        scenario.ageing->years = year;
        lists_.scenarios.push_back(std::move(scenario));
      }
    });
    if (!any && !years.empty())
      keys_.fail(table_, "'years' without ageing", "write ageing = \"NAME\" and [ageing.NAME]");
    if (lists_.scenarios.empty()) lists_.scenarios.push_back({"none", {}, {}});
  }

  void read_seeds() {
    unsigned count = 0;
    keys_.number("seeds", 1U, 1'000'000U, count);
    for (std::uint64_t seed = 1; seed <= count; ++seed) lists_.seeds.push_back(seed);
    for (const toml::node* node : keys_.list("seed")) {
      lists_.seeds.push_back(0);
      keys_.number(*node, "seed", std::uint64_t{0}, std::uint64_t{1} << 62, lists_.seeds.back());
      if (count > 0) keys_.fail(*node, "'seed' and 'seeds' contradict each other", "keep one of them");
    }
    if (lists_.seeds.empty()) lists_.seeds.push_back(1);
  }

  void read_traffics() {
    each_text("traffic", [&](const toml::node& node, const std::string& text) {
      auto read = parse_traffic(text);
      if (!read.ok()) return fail(node, "traffic", read.status());
      lists_.traffics.push_back(read.value());
    });
    if (lists_.traffics.empty()) lists_.traffics.push_back({});
  }

  void read_option_sets() {
    each_text("options", [&](const toml::node& node, const std::string& text) {
      const auto found = std::ranges::find(options_, text, &ThroughputFile::OptionSet::name);
      if (found == options_.end())
        return keys_.fail(node, "there are no options '" + text + "'", "write them as [options." + text + "]");
      lists_.options.push_back(static_cast<std::size_t>(found - options_.begin()));
    });
    if (lists_.options.empty()) lists_.options.push_back(0);
  }

  /// Seeds outermost: a study that was cut short has a whole picture with fewer seeds.
  void multiply(std::vector<ThroughputFile::Placed>& points) const {
    for (const std::uint64_t seed : lists_.seeds)
      for (const TrafficSpec& traffic : lists_.traffics)
        for (const Lists::Source& fabric : lists_.fabrics)
          for (const Scenario& scenario : lists_.scenarios)
            for (const auto& [engine, options] : engines_with_options()) {
              // Nothing random: one seed says all.
              if (scenario.healthy() && !draws(traffic) && seed != lists_.seeds.front()) continue;
              ThroughputPoint point = pattern_;
              point.fabric = fabric.name;
              point.fabric_text = fabric.text;
              point.engine = engine;
              point.scenario = scenario;
              point.seed = seed;
              point.traffic = traffic;
              points.push_back({name_, std::move(point), options});
            }
  }

  /// Options innermost: what a worker has routed serves them all.
  std::vector<std::pair<fabric::Contender, std::size_t>> engines_with_options() const {
    std::vector<std::pair<fabric::Contender, std::size_t>> pairs;
    for (const fabric::Contender& engine : lists_.engines)
      for (const std::size_t options : lists_.options) pairs.emplace_back(engine, options);
    return pairs;
  }

  const toml::table& table_;
  std::string_view file_;
  const Ageings& ageings_;
  const std::vector<ThroughputFile::OptionSet>& options_;
  Texts& texts_;
  config::TomlKeys keys_;
  std::string name_ = "all";
  ThroughputPoint pattern_;
  Lists lists_;
};

/// Reads and says what is wrong; with others' tables left out of it.
class FileReader {
 public:
  explicit FileReader(std::string_view file) : file_(file) {}

  Result<ThroughputFile> read(const toml::table& root) {
    ThroughputFile study;
    config::TomlKeys top(root, file_, spec);
    Status status = read_head(top.take("study"), study);
    study.options.push_back({"default"});
    if (status.ok()) status = read_options(top.take("simulate"), study.options.front());
    if (status.ok()) status = read_option_sets(top.take("options"), study);
    if (status.ok()) status = read_ageing_sets(top.take("ageing"));
    if (!status.ok()) return status;
    const auto groups = top.closing_tables("group", "the study has no points");
    if (!groups.ok()) return groups.status();
    for (const toml::node& group : *groups.value())
      if (status = GroupReader(*group.as_table(), file_, ageings_, study.options, texts_).read(study.points);
          !status.ok())
        return status;
    return study;
  }

 private:
  Status no_table(const toml::node& node, std::string wanted) const {
    return {Code::bad_input, "reading " + std::string(file_) + " line " + std::to_string(node.source().begin.line),
            "this is no table", "write " + std::move(wanted)};
  }

  Status read_head(const toml::node* node, ThroughputFile& study) const {
    const std::string remedy = "write [study] with name = \"...\"";
    if (node == nullptr) return {Code::bad_input, "reading " + std::string(file_), "the study has no name", remedy};
    if (!node->is_table()) return no_table(*node, "[study]");
    config::TomlKeys keys(*node->as_table(), file_, spec);
    std::string kind;  // read_any_study() has looked at it
    keys.text("kind", kind);
    keys.text("name", study.name);
    keys.text("title", study.title);
    if (study.name.empty()) keys.fail(*node, "the study has no name", remedy);
    keys.finish();
    return keys.status();
  }

  Status read_option_sets(const toml::node* node, ThroughputFile& study) const {
    if (node == nullptr) return {};
    if (!node->is_table()) return no_table(*node, "[options.NAME]");
    for (const auto& [key, set] : *node->as_table()) {
      study.options.push_back({std::string(key.str()), study.options.front().settings});
      if (Status status = read_options(&set, study.options.back()); !status.ok()) return status;
    }
    return {};
  }

  Status read_options(const toml::node* node, ThroughputFile::OptionSet& set) const {
    if (node == nullptr) return {};
    if (!node->is_table()) return no_table(*node, set.name == "default" ? "[simulate]" : "[options.NAME]");
    for (const auto& [key, value] : *node->as_table()) {
      const std::string place = std::string(file_) + " line " + std::to_string(key.source().begin.line);
      std::string text;
      if (const auto* given = value.as_string())
        text = given->get();
      else if (const auto* whole = value.as_integer())
        text = std::to_string(whole->get());
      else if (const auto* real = value.as_floating_point())
        text = fmt::format("{}", real->get());
      else
        return {Code::bad_input, "reading " + place, "this is no value", "give a number or a text in quotes"};
      Status status = set.settings.set("simulate." + std::string(key.str()), text, {config::Source::file, place});
      if (!status.ok()) return {status.code(), "reading " + place, status.wrong(), status.remedy()};
    }
    return check(set.settings.options());
  }

  Status read_ageing_sets(const toml::node* node) {
    if (node == nullptr) return {};
    if (!node->is_table()) return no_table(*node, "[ageing.NAME]");
    for (const auto& [key, set] : *node->as_table()) {
      if (!set.is_table()) return no_table(set, "[ageing.NAME]");
      if (Status status = read_ageing(*set.as_table(), file_, ageings_[std::string(key.str())]); !status.ok())
        return status;
    }
    return {};
  }

  std::string_view file_;
  Ageings ageings_;
  Texts texts_;
};

}  // namespace

Result<ThroughputFile> read_throughput_file(std::string_view text, std::string_view name) {
  const auto parsed = config::parse_toml(text, std::string(name) + " line ");
  if (!parsed.ok()) return parsed.status();
  return FileReader(name).read(parsed.value());
}

}  // namespace holdfast::simulate::study
