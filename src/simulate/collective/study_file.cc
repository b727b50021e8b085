#include <cmath>
#include <map>
#include <optional>
#include <span>

#include "core/config/toml_keys.h"
#include "core/config/toml_text.h"
#include "core/input/text_file.h"
#include "simulate/collective/study.h"

namespace holdfast::simulate::collective {
namespace {

using config::TomlKeys;
using Sets = std::map<std::string, Assumptions>;

constexpr std::string_view spec = "docs/spec/study.md";

Status read_assumptions(const toml::table& table, std::string_view file, Assumptions& set) {
  TomlKeys keys(table, file, spec);
  keys.number("mtu_bytes", 8U, 4096U, set.mtu_bytes);
  keys.boolean("headers_count", set.headers_count);
  keys.number("byte_ps", Time{1}, Time{1'000'000}, set.byte_ps);
  keys.duration_ps("adapter_delay", set.adapter_delay_ps);
  keys.duration_ps("switch_delay", set.switch_delay_ps);
  keys.duration_ps("cable_delay", set.cable_delay_ps);
  keys.choice("narrow_links", narrow_links_names, set.narrow_links);
  keys.number("port_lanes", 1U, 12U, set.port_lanes);
  keys.number("nak_bytes", 1U, 4096U, set.nak_bytes);
  keys.number("nak_delays", 0U, 1000U, set.nak_delays);
  keys.number("timeout_exponent", 0U, 31U, set.timeout_exponent);
  keys.number("retry_limit", 0U, 1000U, set.retry_limit);
  keys.duration_ps("link_retry", set.link_retry_ps);
  keys.number("window_segments", 1U, 1U << 20, set.window_segments);
  keys.finish();
  return keys.status();
}

/// The lists of a group, whose product its points are.
struct Lists {
  std::vector<std::string> assumptions;
  std::vector<Protection> protections = {Protection::temporal};
  std::vector<std::uint8_t> copies = {2};
  std::vector<std::uint64_t> bytes = {256};
  std::vector<Operation> operations = {Operation::allreduce};
  std::vector<ErrorSource> sources = {ErrorSource::none};
  std::vector<Time> means = {0};
  std::vector<Strikes> strikes = {Strikes::in_flight};
  std::vector<Reach> reaches = {Reach::one};
  std::vector<NamedCase> cases = {NamedCase::none};
  std::vector<double> rates = {0};
  std::vector<std::uint32_t> together = {1};
  std::vector<FailureKind> fails = {FailureKind::none};
};

bool has_copies(Protection protection) {
  return protection != Protection::retransmission && protection != Protection::link_retry;
}
bool has_mean(ErrorSource source) {
  return source != ErrorSource::none && source != ErrorSource::every_link && source != ErrorSource::bit_errors;
}

/// Calls `make` for each element; once, with the first, where the choice has no meaning for the point.
template <class Value, class Make>
void each_of(const std::vector<Value>& values, bool matters, const Make& make) {
  for (const Value& value : values) {
    make(value);
    if (!matters) return;
  }
}

/// The points of one operation and length: what goes wrong, and what is done about it.
void multiply_errors(const Lists& lists, StudyPoint& point, std::vector<StudyPoint>& points) {
  SamplePlan& plan = point.plan;
  ErrorProcess& errors = plan.errors;
  const auto schemes = [&] {
    each_of(lists.protections, true, [&](Protection protection) {
      plan.experiment.scheme.protection = protection;
      each_of(lists.copies, has_copies(protection), [&](std::uint8_t copies) {
        plan.experiment.scheme.copies = has_copies(protection) ? copies : std::uint8_t{1};
        points.push_back(point);
      });
    });
  };
  each_of(lists.cases, true, [&](NamedCase named) {
    plan.named = named;
    each_of(lists.sources, true, [&](ErrorSource source) {
      errors.source = source;
      const bool random = has_mean(source) || source == ErrorSource::bit_errors;
      each_of(lists.rates, source == ErrorSource::bit_errors, [&](double rate) {
        errors.adapter_link_bit_error_rate = errors.switch_link_bit_error_rate =
            source == ErrorSource::bit_errors ? rate : 0;
        each_of(lists.strikes, random, [&](Strikes strikes) {
          errors.strikes = random ? strikes : Strikes::in_flight;
          each_of(lists.reaches, random, [&](Reach reach) {
            errors.reach = random ? reach : Reach::one;
            each_of(lists.means, has_mean(source), [&](Time mean) {
              errors.mean_ps = has_mean(source) ? mean : 0;
              schemes();
            });
          });
        });
      });
    });
  });
}

void multiply(const Lists& lists, const Sets& sets, const StudyPoint& pattern, std::vector<StudyPoint>& points) {
  StudyPoint point = pattern;
  SamplePlan& plan = point.plan;
  each_of(lists.assumptions, true, [&](const std::string& set) {
    point.assumptions = set;
    plan.experiment.assumptions = sets.at(set);
    each_of(lists.operations, true, [&](Operation operation) {
      plan.experiment.operation = operation;
      each_of(lists.bytes, true, [&](std::uint64_t bytes) {
        plan.experiment.bytes = bytes;
        each_of(lists.together, true, [&](std::uint32_t together) {
          plan.experiment.together = together;
          each_of(lists.fails, true, [&](FailureKind fails) {
            plan.fails = fails;
            multiply_errors(lists, point, points);
          });
        });
      });
    });
  });
}

/// Whether the longest that a collective can take lies within the simulated clock: every segment by itself up and down
/// a tree of 8 levels, with a NAK, and one of them as often as it is tried again. The clock's 63 bits of picoseconds
/// are 106 days; a quarter of it is left for what several segments lose.
Status check_clock(const Experiment& experiment) {
  const Assumptions& set = experiment.assumptions;
  const auto ps = [](Time time) { return static_cast<double>(time); };
  const double segments = static_cast<double>(experiment.bytes) / set.mtu_bytes + 1;
  const double packet = ps(set.byte_ps) * (set.mtu_bytes + set.nak_bytes + 64) * experiment.scheme.copies;
  const double hop = packet + ps(set.switch_delay_ps) + ps(set.cable_delay_ps) + ps(set.link_retry_ps);
  const double once = (16 + set.nak_delays) * hop + 2 * ps(set.adapter_delay_ps);
  const double again = (set.retry_limit + 1.0) * (once + 4.096e6 * std::exp2(set.timeout_exponent));
  if (segments * once + again < ps(never) / 4) return {};
  return {Code::bad_input, "", "with these delays a collective may take longer than the simulated clock's 106 days",
          "lower the delays, timeout_exponent or retry_limit"};
}

Status read_group(const toml::table& table, std::string_view file, const Sets& sets, const SamplePlan& defaults,
                  std::vector<StudyPoint>& points) {
  TomlKeys keys(table, file, spec);
  StudyPoint pattern;
  pattern.plan = defaults;
  Lists lists;
  keys.text("name", pattern.group);
  for (const toml::node* node : keys.list("assumptions")) {
    const std::string name = node->value<std::string>().value_or("");
    if (!sets.contains(name)) {
      keys.fail(*node, "there is no set of assumptions '" + name + "'", "write it as [assumptions." + name + "]");
    }
    lists.assumptions.push_back(name);
  }
  if (lists.assumptions.empty()) lists.assumptions.push_back("default");
  keys.choices("protection", protection_names, lists.protections);
  keys.choices("operation", operation_names, lists.operations);
  keys.choices("source", error_source_names, lists.sources);
  keys.choices("strikes", strikes_names, lists.strikes);
  keys.choices("reach", reach_names, lists.reaches);
  keys.choices("case", named_case_names, lists.cases);
  const auto numbers = [&](std::string_view key, auto least, auto most, auto& values) {
    const auto nodes = keys.list(key);
    if (!nodes.empty()) values.clear();
    for (const toml::node* node : nodes) {
      values.emplace_back();
      keys.number(*node, key, least, most, values.back());
    }
  };
  numbers("copies", std::uint8_t{1}, most_copies, lists.copies);
  numbers("together", 1U, 256U, lists.together);
  numbers("bytes", std::uint64_t{8}, std::uint64_t{1} << 26, lists.bytes);
  numbers("bit_error_rate", 0.0, 1e-4, lists.rates);
  const auto means = keys.list("mean");
  if (!means.empty()) lists.means.clear();
  for (const toml::node* node : means) {
    lists.means.push_back(0);
    keys.duration_ps(*node, "mean", lists.means.back());
  }
  keys.number("share", 1e-6, 1.0, pattern.plan.errors.share);
  keys.boolean("up", pattern.plan.errors.up);
  keys.boolean("down", pattern.plan.errors.down);
  keys.choice("effect", error_effect_names, pattern.plan.errors.effect);
  keys.choice("operand", operand_names, pattern.plan.experiment.operand);
  keys.choices("fails", failure_kind_names, lists.fails);
  keys.duration_ps("rebuild", pattern.plan.rebuild_ps);
  keys.boolean("consecutive", pattern.plan.consecutive);
  keys.boolean("dual_port", pattern.plan.experiment.scheme.dual_port);
  keys.boolean("regenerate", pattern.plan.experiment.scheme.regenerate);
  keys.number("adaptive_calm", 0U, 1U << 30, pattern.plan.adaptive_calm);
  keys.number("collectives", std::uint64_t{1}, std::uint64_t{1} << 40, pattern.plan.collectives);
  keys.finish();
  if (!keys.status().ok()) return keys.status();
  double product = 1;
  for (const std::size_t size :
       {lists.assumptions.size(), lists.protections.size(), lists.copies.size(), lists.bytes.size(),
        lists.operations.size(), lists.sources.size(), lists.means.size(), lists.strikes.size(), lists.reaches.size(),
        lists.cases.size(), lists.rates.size(), lists.together.size(), lists.fails.size()})
    product *= static_cast<double>(size);
  if (product + static_cast<double>(points.size()) > 1e6) {
    keys.fail(table, "more than 1,000,000 points", "split the study");
    return keys.status();
  }
  const std::size_t first = points.size();
  multiply(lists, sets, pattern, points);
  for (std::size_t i = first; i < points.size(); ++i) {
    const SamplePlan& plan = points[i].plan;
    Status status = check(plan.experiment.scheme, plan.experiment.assumptions);
    if (status.ok()) status = check(plan.errors);
    if (status.ok()) status = check_clock(plan.experiment);
    if (!status.ok()) keys.fail(table, status.wrong(), status.remedy());
  }
  return keys.status();
}

Result<Study> read_root(const toml::table& root, std::string_view file) {
  Study study;
  Sets sets = {{"default", {}}};
  SamplePlan defaults;
  TomlKeys top(root, file, spec);
  const auto wrong_kind = [&](const toml::node& node, const char* wanted) {
    top.fail(node, "this is no table", wanted);
    return top.status();
  };
  if (const toml::node* node = top.take("study")) {
    if (!node->is_table()) return wrong_kind(*node, "write [study]");
    TomlKeys keys(*node->as_table(), file, spec);
    std::string kind;  // study/plan.h has looked at it
    keys.text("kind", kind);
    keys.text("name", study.name);
    keys.text("fabric", study.fabric);
    keys.number("collectives", std::uint64_t{1}, std::uint64_t{1} << 40, defaults.collectives);
    keys.number("seed", std::uint64_t{0}, std::uint64_t{1} << 62, defaults.seed);
    keys.number("confidence", 0.5, 0.9999, defaults.confidence);
    keys.finish();
    if (!keys.status().ok()) return keys.status();
  }
  if (study.fabric.empty()) {
    return Status{Code::bad_input, "reading " + std::string(file), "the study names no fabric",
                  "write fabric = \"xgft(3;24,12,6;1,12,6)\" below [study]"};
  }
  if (const toml::node* node = top.take("assumptions")) {
    if (!node->is_table()) return wrong_kind(*node, "write [assumptions.NAME]");
    for (const auto& [key, set] : *node->as_table()) {
      if (!set.is_table()) return wrong_kind(set, "write [assumptions.NAME]");
      if (Status status = read_assumptions(*set.as_table(), file, sets[std::string(key.str())]); !status.ok()) {
        return status;
      }
    }
  }
  const auto groups = top.closing_tables("group", "the study has no points");
  if (!groups.ok()) return groups.status();
  for (const toml::node& group : *groups.value()) {
    if (Status status = read_group(*group.as_table(), file, sets, defaults, study.points); !status.ok()) return status;
  }
  return study;
}

}  // namespace

Result<Study> read_study(std::string_view text, std::string_view name) {
  const auto parsed = config::parse_toml(text, std::string(name) + " line ");
  if (!parsed.ok()) return parsed.status();
  return read_root(parsed.value(), name);
}

Result<Study> read_study_file(const std::string& path) {
  const Result<std::string> text = input::read_text_file(path, "the study");
  if (!text.ok()) return text.status();
  return read_study(text.value(), path);
}

}  // namespace holdfast::simulate::collective
