#include "report/predictions_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/event/record.h"
#include "report/markup.h"
#include "report/prediction_report.h"

namespace holdfast::report {
namespace {

using namespace simulate::predict;
using Json = nlohmann::ordered_json;

std::string protection_name(const Outlook& outlook) {
  return fmt::format("{}, {}", outlook.replicas, outlook.sender) +
         (outlook.collectives == "mpi" ? "" : ", " + outlook.collectives);
}

std::vector<std::string> protections(Predictions predictions) {
  std::vector<std::string> found;
  for (const PredictionRecord& record : predictions)
    for (const Outlook& outlook : record.outlooks)
      if (const std::string name = protection_name(outlook); std::ranges::find(found, name) == found.end())
        found.push_back(name);
  return found;
}

/// What a row is of.
struct Case {
  std::string engine, placement, failures;
  bool operator==(const Case&) const = default;
};

Case case_of(const Outlook& outlook) {
  return {outlook.engine, outlook.placement, outlook.failures};
}

const Outlook* find(const PredictionRecord& record, const Case& which, const std::string& protection) {
  const auto found = std::ranges::find_if(record.outlooks, [&](const Outlook& outlook) {
    return case_of(outlook) == which && protection_name(outlook) == protection && outlook.measured > 0;
  });
  return found == record.outlooks.end() ? nullptr : &*found;
}

/// With how many runs ended, where not all did.
std::string ended(const Outlook& outlook, const std::string& text) {
  return outlook.measured == outlook.asked ? text : text + fmt::format(" ({} of {})", outlook.measured, outlook.asked);
}

using Cell = std::function<std::string(const PredictionRecord&, const Outlook&)>;

Table by_protection(Predictions predictions, std::string title, bool healthy_too, const Cell& cell) {
  Table table{std::move(title), {"group", "program", "fabric", "engine", "placement", "failed parts"}, {}};
  const std::vector<std::string> all = protections(predictions);
  table.columns.insert(table.columns.end(), all.begin(), all.end());
  for (const PredictionRecord& record : predictions) {
    std::vector<Case> rows;
    for (const Outlook& outlook : record.outlooks)
      if ((healthy_too || !outlook.healthy) && std::ranges::find(rows, case_of(outlook)) == rows.end())
        rows.push_back(case_of(outlook));
    for (const Case& row : rows) {
      table.rows.push_back({record.group, record.trace, record.fabric, row.engine, row.placement, row.failures});
      for (const std::string& protection : all) {
        const Outlook* outlook = find(record, row, protection);
        table.rows.back().push_back(outlook == nullptr ? "-" : ended(*outlook, cell(record, *outlook)));
      }
    }
  }
  return table;
}

const Outlook* bare_of(const PredictionRecord& record, const Outlook& outlook) {
  return find(record, {outlook.engine, outlook.placement, "none"}, "1, plain");
}

Table ratio_table(Predictions predictions) {
  return by_protection(predictions, "Time over the unprotected job's on the whole fabric, by replicas and sender", true,
                       [](const PredictionRecord& record, const Outlook& outlook) {
                         const Outlook* bare = bare_of(record, outlook);
                         return bare == nullptr ? std::string("-")
                                                : fmt::format("{:.3f}", outlook.time_s.mean / bare->time_s.mean);
                       });
}

Table loss_table(Predictions predictions) {
  return by_protection(
      predictions, "What failures cost beside the same protection on the whole fabric, ms, by replicas and sender",
      false, [](const PredictionRecord& record, const Outlook& outlook) {
        const Outlook* whole = find(record, {outlook.engine, outlook.placement, "none"}, protection_name(outlook));
        return whole == nullptr ? std::string("-")
                                : fmt::format("{:.1f}", 1e3 * (outlook.time_s.mean - whole->time_s.mean));
      });
}

std::string title_of(const PredictionRecord& record) {
  return record.trace + " on " + record.fabric;
}

}  // namespace

std::string predictions_text(Predictions predictions) {
  if (predictions.size() == 1) return prediction_text(predictions.front());
  std::string text = table_text(ratio_table(predictions)) + "\n" + table_text(loss_table(predictions));
  for (const PredictionRecord& record : predictions) {
    text += "\n" + title_of(record) + "\n";
    for (const std::string& words : record.advice) text += "- " + words + "\n";
  }
  return text;
}

std::string predictions_html(Predictions predictions) {
  if (predictions.size() == 1) return prediction_html(predictions.front());
  std::string body = table_html(ratio_table(predictions)) + table_html(loss_table(predictions));
  for (const PredictionRecord& record : predictions)
    body += "<h2>" + escaped(title_of(record)) + "</h2>\n" + prediction_section(record);
  return page_html("Predictions", body);
}

std::string predictions_csv(Predictions predictions) {
  Table table{"",
              {"group", "trace", "fabric", "engine", "placement", "failures", "replicas", "sender", "collectives",
               "failed", "asked", "measured", "time_s", "time_s_low", "time_s_high", "waiting_share"},
              {}};
  for (const PredictionRecord& record : predictions)
    for (const Outlook& outlook : record.outlooks) {
      const auto bound = [](const std::optional<double>& value) { return value ? fmt::format("{:.9g}", *value) : ""; };
      const bool any = outlook.measured > 0;
      table.rows.push_back({record.group, record.trace, record.fabric, outlook.engine, outlook.placement,
                            outlook.failures, fmt::format("{}", outlook.replicas), outlook.sender, outlook.collectives,
                            fmt::format("{:.9g}", outlook.failed), fmt::format("{}", outlook.asked),
                            fmt::format("{}", outlook.measured), any ? fmt::format("{:.9g}", outlook.time_s.mean) : "",
                            bound(outlook.time_s.low), bound(outlook.time_s.high),
                            any ? fmt::format("{:.6f}", outlook.waiting) : ""});
    }
  return table_csv(table);
}

Json predictions_json(Predictions predictions) {
  Json json = event::make_record("holdfast.predictions", 1);
  json["predictions"] = Json::array();
  for (const PredictionRecord& record : predictions) {
    json["predictions"].push_back(prediction_json(record));
    json["predictions"].back()["group"] = record.group;
  }
  return json;
}

}  // namespace holdfast::report
