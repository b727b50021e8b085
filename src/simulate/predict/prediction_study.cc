#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <tuple>

#include "core/config/toml_keys.h"
#include "core/config/toml_text.h"
#include "core/event/json.h"
#include "fabric/topology/notation.h"
#include "simulate/predict/prediction.h"

namespace holdfast::simulate::predict {
namespace {

using study::Finished;
using study::Json;

constexpr std::string_view spec = "docs/spec/study.md";

/// Predictions one after the other as one study.
class PredictionStudy final : public study::Study {
 public:
  PredictionStudy() { kind = "prediction"; }

  void add(std::string group, std::unique_ptr<study::Study> part) {
    for (std::size_t i = 0; i < part->points.size(); ++i) {
      points.push_back(part->points[i]);
      points.back().group = group;
      places_.push_back({parts_.size(), i});
    }
    Json about = event::parse_json(part->text);
    about["group"] = std::move(group);
    about["trace"] = part->name;
    abouts_.push_back(std::move(about));
    parts_.push_back(std::move(part));
  }
  void finish(std::string_view file) { text = event::json_line({{"file", file}, {"parts", abouts_}}); }

  Result<Finished> run(std::size_t index) const override {
    const auto [part, point] = places_[index];
    return parts_[part]->run(point);
  }

 private:
  struct Place {
    std::size_t part, point;
  };
  std::vector<std::unique_ptr<study::Study>> parts_;
  std::vector<Place> places_;
  Json abouts_ = Json::array();
};

/// One group's table: a pattern of questions, and the recordings and fabrics that they are asked of.
class GroupReader {
 public:
  GroupReader(const toml::table& table, std::string_view file, Question pattern)
      : table_(table), file_(file), question_(std::move(pattern)), keys_(table, file, spec) {}

  Status read() {
    keys_.text("name", name_);
    traces_ = texts("trace");
    for (std::string& trace : traces_) trace = beside(trace);
    fabrics_ = texts("fabric");
    for (std::string& fabric : fabrics_)
      if (!fabric::looks_like_topology(fabric)) fabric = beside(fabric);
    read_engines();
    question_.failures = texts("failures");
    std::erase(question_.failures, "none");  // which is there in any case
    if (auto given = texts("placement"); !given.empty()) question_.placements = std::move(given);
    if (auto given = texts("sender"); !given.empty()) question_.senders = std::move(given);
    if (auto given = texts("collectives"); !given.empty()) question_.collectives = std::move(given);
    read_replicas();
    keys_.number("ranks_per_host", 1U, 4096U, question_.ranks_per_host);
    keys_.number("compute_scale", 0.0, 1e6, question_.compute_scale);
    keys_.number("lanes", 1U, 15U, question_.lanes);
    keys_.number("seeds", std::uint64_t{1}, std::uint64_t{100'000}, question_.seeds);
    keys_.duration_ps("limit", question_.limit_ps);
    keys_.text("inject", question_.inject);
    keys_.text("place_replicas", question_.place_replicas);
    keys_.finish();
    if (traces_.empty()) keys_.fail(table_, "the group has no trace", "write trace = [\"job.trace\"]");
    if (fabrics_.empty()) keys_.fail(table_, "the group has no fabric", "write fabric = [\"16-ary-2-tree\"]");
    if (static_cast<double>(traces_.size()) * static_cast<double>(fabrics_.size()) > study::most_points)
      keys_.fail(table_, "more than 1,000,000 points", "split the study");
    return keys_.status();
  }

  const std::string& name() const { return name_; }
  /// Each with the line that it comes from.
  std::vector<Question> questions() const {
    std::vector<Question> all;
    for (const std::string& trace : traces_)
      for (const std::string& fabric : fabrics_) {
        all.push_back(question_);
        all.back().trace = trace;
        all.back().fabric = fabric;
      }
    return all;
  }

 private:
  std::string beside(const std::string& path) const {
    return (std::filesystem::path(std::string(file_)).parent_path() / path).string();
  }

  std::vector<std::string> texts(std::string_view key) {
    std::vector<std::string> found;
    for (const toml::node* node : keys_.list(key)) {
      const auto text = node->value<std::string>();
      if (text)
        found.push_back(*text);
      else
        keys_.fail(*node, "'" + std::string(key) + "' is no text", "write it in quotes");
    }
    return found;
  }

  void read_engines() {
    for (const toml::node* node : keys_.list("engine")) {
      auto read = fabric::parse_contenders(node->value<std::string>().value_or(""));
      if (!read.ok()) return keys_.fail(*node, "'engine': " + read.status().wrong(), read.status().remedy());
      for (const fabric::Contender& one : read.value()) question_.engines.push_back(one);
    }
    if (question_.engines.empty()) question_.engines = fabric::parse_contenders("dfsssp").value();
  }

  void read_replicas() {
    const auto nodes = keys_.list("replicas");
    if (!nodes.empty()) question_.replicas.clear();
    for (const toml::node* node : nodes) {
      question_.replicas.push_back(1);
      keys_.number(*node, "replicas", 1, 16, question_.replicas.back());
    }
    const toml::node* protocol = keys_.take("protocol");
    if (protocol == nullptr) return;
    auto read = job::parse_protocol(protocol->value<std::string>().value_or(""));
    if (!read.ok()) return keys_.fail(*protocol, "'protocol': " + read.status().wrong(), read.status().remedy());
    question_.replica_protocol = read.value();
  }

  const toml::table& table_;
  std::string_view file_;
  Question question_;
  config::TomlKeys keys_;
  std::string name_ = "all";
  std::vector<std::string> traces_, fabrics_;
};

class FileReader {
 public:
  explicit FileReader(std::string_view file) : file_(file) {}

  Result<std::unique_ptr<study::Study>> read(const toml::table& root, std::string_view text) {
    auto study = std::make_unique<PredictionStudy>();
    config::TomlKeys top(root, file_, spec);
    Status status = read_head(top.take("study"), *study);
    Question pattern;
    config::AnySettings* tables[] = {&pattern.parameters, &pattern.protocol, &pattern.replication_costs,
                                     &pattern.engine_options, &pattern.datagrams};
    for (config::AnySettings* settings : tables)
      if (status.ok()) status = read_options(top.take(settings->table().component()), *settings);
    if (status.ok()) status = check(pattern.parameters.options());
    if (!status.ok()) return status;
    const auto groups = top.closing_tables("group", "the study has no points");
    if (!groups.ok()) return groups.status();
    for (const toml::node& group : *groups.value())
      if (status = add(*group.as_table(), pattern, *study); !status.ok()) return status;
    study->finish(text);
    return std::unique_ptr<study::Study>(std::move(study));
  }

 private:
  Status read_head(const toml::node* node, study::Study& study) const {
    const std::string remedy = "write [study] with name = \"...\" and kind = \"prediction\"";
    if (node == nullptr || !node->is_table())
      return {Code::bad_input, "reading " + std::string(file_), "the study has no [study]", remedy};
    config::TomlKeys keys(*node->as_table(), file_, spec);
    std::string kind;  // whoever calls has looked at it
    keys.text("kind", kind);
    keys.text("name", study.name);
    keys.text("title", study.title);
    if (study.name.empty()) keys.fail(*node, "the study has no name", remedy);
    keys.finish();
    return keys.status();
  }

  Status read_options(const toml::node* node, config::AnySettings& settings) const {
    if (node == nullptr) return {};
    if (node->is_table()) return config::read_component(*node->as_table(), file_, settings);
    return {Code::bad_input, "reading " + std::string(file_) + " line " + std::to_string(node->source().begin.line),
            "this is no table", "write [" + std::string(settings.table().component()) + "]"};
  }

  /// A group's predictions. What is wrong with one is told with the group's line.
  Status add(const toml::table& table, const Question& pattern, PredictionStudy& study) {
    GroupReader group(table, file_, pattern);
    if (Status status = group.read(); !status.ok()) return status;
    const std::string here = "reading " + std::string(file_) + " line " + std::to_string(table.source().begin.line);
    for (const Question& question : group.questions()) {
      auto part = make_prediction(question);
      if (!part.ok()) {
        const Status& status = part.status();
        return {status.code(), here + ": " + status.doing(), status.wrong(), status.remedy()};
      }
      if (!pairs_.insert({group.name(), part.value()->name, question.fabric}).second)
        return {Code::bad_input, here, part.value()->name + " on " + question.fabric + " stands twice in one group",
                "give the groups, or the recordings' folders, names of their own"};
      if (study.points.size() + part.value()->points.size() > study::most_points)
        return {Code::bad_input, here, "more than 1,000,000 points", "split the study"};
      study.add(group.name(), std::move(part).value());
    }
    return {};
  }

  std::string_view file_;
  std::set<std::tuple<std::string, std::string, std::string>> pairs_;
};

}  // namespace

Result<std::unique_ptr<study::Study>> read_prediction_study(std::string_view text, std::string_view name) {
  const auto parsed = config::parse_toml(text, std::string(name) + " line ");
  if (!parsed.ok()) return parsed.status();
  return FileReader(name).read(parsed.value(), text);
}

}  // namespace holdfast::simulate::predict
