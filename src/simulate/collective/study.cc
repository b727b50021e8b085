#include "simulate/collective/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>

#include "core/event/record.h"
#include "fabric/topology/generate.h"

namespace holdfast::simulate::collective {
namespace {

template <class Names, class Enumeration>
std::string_view name_of(const Names& names, Enumeration value) {
  return names[static_cast<std::size_t>(value)];
}

double thread_seconds() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

nlohmann::ordered_json measured_json(const Measured& measured) {
  return {{"mean_ns", measured.mean_ns},
          {"low_ns", measured.interval_ns.low},
          {"high_ns", measured.interval_ns.high},
          {"least_ns", measured.least_ns},
          {"greatest_ns", measured.greatest_ns}};
}

}  // namespace

Result<std::vector<StudyRow>> run_study(const Study& study, unsigned threads,
                                        const std::function<void(std::size_t)>& done) {
  auto fabric = fabric::generate(study.fabric);
  if (!fabric.ok()) return fabric.status();
  std::vector<StudyRow> rows(study.points.size());
  std::atomic<std::size_t> next = 0;
  std::mutex lock;
  std::size_t finished = 0;
  Status failed;
  const auto work = [&] {
    for (std::size_t i = next++; i < rows.size(); i = next++) {
      const double before = thread_seconds();
      auto sampled = sample(fabric.value(), nullptr, study.points[i].plan);
      const std::lock_guard<std::mutex> held(lock);
      if (!sampled.ok()) {
        if (failed.ok()) failed = sampled.status();
        next = rows.size();
        return;
      }
      rows[i] = {study.points[i], sampled.value(), thread_seconds() - before};
      done(++finished);
    }
  };
  if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
  threads = static_cast<unsigned>(std::min<std::size_t>(threads, rows.size()));
  std::vector<std::thread> team;
  try {
    for (unsigned i = 1; i < threads; ++i) team.emplace_back(work);
  } catch (const std::system_error&) {
    // The system gives no more: those that there are do the work.
  }
  work();
  for (std::thread& each : team) each.join();
  if (!failed.ok()) return failed;
  return rows;
}

nlohmann::ordered_json parameters_json(const StudyPoint& point) {
  const SamplePlan& plan = point.plan;
  const ErrorProcess& errors = plan.errors;
  const Assumptions& set = plan.experiment.assumptions;
  nlohmann::ordered_json json = {{"group", point.group},
                                 {"assumptions", point.assumptions},
                                 {"set",
                                  {{"mtu_bytes", set.mtu_bytes},
                                   {"headers_count", set.headers_count},
                                   {"byte_ps", set.byte_ps},
                                   {"adapter_delay_ps", set.adapter_delay_ps},
                                   {"switch_delay_ps", set.switch_delay_ps},
                                   {"cable_delay_ps", set.cable_delay_ps},
                                   {"narrow_links", name_of(narrow_links_names, set.narrow_links)},
                                   {"nak_bytes", set.nak_bytes},
                                   {"nak_delays", set.nak_delays},
                                   {"timeout_exponent", set.timeout_exponent},
                                   {"retry_limit", set.retry_limit},
                                   {"link_retry_ps", set.link_retry_ps},
                                   {"window_segments", set.window_segments}}},
                                 {"operation", name_of(operation_names, plan.experiment.operation)},
                                 {"bytes", plan.experiment.bytes},
                                 {"protection", name_of(protection_names, plan.experiment.scheme.protection)},
                                 {"copies", plan.experiment.scheme.copies},
                                 {"dual_port", plan.experiment.scheme.dual_port},
                                 {"regenerate", plan.experiment.scheme.regenerate},
                                 {"adaptive_calm", plan.adaptive_calm},
                                 {"case", name_of(named_case_names, plan.named)},
                                 {"source", name_of(error_source_names, errors.source)},
                                 {"mean_ns", static_cast<double>(errors.mean_ps) / static_cast<double>(ps_per_ns)},
                                 {"strikes", name_of(strikes_names, errors.strikes)},
                                 {"reach", name_of(reach_names, errors.reach)},
                                 {"share", errors.share},
                                 {"up", errors.up},
                                 {"down", errors.down},
                                 {"bit_error_rate", errors.adapter_link_bit_error_rate},
                                 {"seed", plan.seed},
                                 {"confidence", plan.confidence},
                                 {"asked", plan.collectives}};
  // Where it is the usual one it stays unsaid, so that points of before it was asked keep their identity.
  if (set.port_lanes != Assumptions{}.port_lanes) json["set"]["port_lanes"] = set.port_lanes;
  if (plan.experiment.operand != Operand::integer) json["operand"] = name_of(operand_names, plan.experiment.operand);
  if (plan.experiment.together != 1) json["together"] = plan.experiment.together;
  if (plan.consecutive) json["consecutive"] = true;
  if (plan.fails != FailureKind::none) {
    json["fails"] = name_of(failure_kind_names, plan.fails);
    json["rebuild_ns"] = static_cast<double>(plan.rebuild_ps) / static_cast<double>(ps_per_ns);
  }
  if (errors.effect != ErrorEffect::corrupt) json["effect"] = name_of(error_effect_names, errors.effect);
  return json;
}

nlohmann::ordered_json sample_json(const Sample& sample) {
  nlohmann::ordered_json json = {{"collectives", sample.collectives},
                                 {"incomplete", sample.incomplete},
                                 {"wrong", sample.wrong},
                                 {"disturbed", sample.disturbed},
                                 {"mean_copies", sample.mean_copies},
                                 {"root", measured_json(sample.root)},
                                 {"last_host", measured_json(sample.last_host)}};
  if (sample.exposed > 0)
    json.update({{"exposed", sample.exposed}, {"rebuilt", sample.rebuilt}, {"cut_off", sample.cut_off}});
  if (sample.results > 0) json.update({{"split", sample.split}, {"results", sample.results}});
  return json;
}

nlohmann::ordered_json study_record(const Study& study, const std::vector<StudyRow>& rows) {
  nlohmann::ordered_json record = event::make_record("holdfast.collective-study", 1);
  record["study"] = study.name;
  record["fabric"] = study.fabric;
  record["rows"] = nlohmann::ordered_json::array();
  for (const StudyRow& row : rows) {
    nlohmann::ordered_json entry = parameters_json(row.point);
    entry.update(sample_json(row.sample));
    entry["cpu_s"] = row.seconds;
    record["rows"].push_back(std::move(entry));
  }
  return record;
}

std::string study_csv(const std::vector<StudyRow>& rows) {
  std::string text =
      "group,assumptions,operation,bytes,protection,copies,case,source,mean_ns,strikes,reach,bit_error_rate,"
      "collectives,"
      "incomplete,wrong,root_mean_ns,root_low_ns,root_high_ns,last_host_mean_ns,last_host_low_ns,last_host_high_ns\n";
  for (const StudyRow& row : rows) {
    const SamplePlan& plan = row.point.plan;
    const Sample& s = row.sample;
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f}\n",
                        row.point.group, row.point.assumptions, name_of(operation_names, plan.experiment.operation),
                        plan.experiment.bytes, name_of(protection_names, plan.experiment.scheme.protection),
                        plan.experiment.scheme.copies, name_of(named_case_names, plan.named),
                        name_of(error_source_names, plan.errors.source), plan.errors.mean_ps / ps_per_ns,
                        name_of(strikes_names, plan.errors.strikes), name_of(reach_names, plan.errors.reach),
                        plan.errors.adapter_link_bit_error_rate, s.collectives, s.incomplete, s.wrong, s.root.mean_ns,
                        s.root.interval_ns.low, s.root.interval_ns.high, s.last_host.mean_ns,
                        s.last_host.interval_ns.low, s.last_host.interval_ns.high);
  }
  return text;
}

}  // namespace holdfast::simulate::collective
