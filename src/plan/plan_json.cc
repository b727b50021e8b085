#include <nlohmann/json.hpp>

#include "core/event/record.h"
#include "plan/plan_record.h"

namespace holdfast::plan {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json cell_json(const Cell& cell) {
  Json object{{"text", cell.text}};
  if (!std::isnan(cell.value)) object["value"] = number(cell.value);
  return object;
}

Json fact_json(const Fact& fact) {
  return Json{{"name", fact.name},
              {"text", fact.cell.text},
              {"value", number(fact.cell.value)},
              {"unit", fact.unit},
              {"source", fact.source}};
}

Json table_json(const Table& table) {
  Json rows = Json::array();
  for (const auto& row : table.rows) {
    Json cells = Json::array();
    for (const Cell& cell : row) cells.push_back(cell_json(cell));
    rows.push_back(std::move(cells));
  }
  return Json{{"title", table.title}, {"columns", table.columns}, {"rows", std::move(rows)}};
}

Json section_json(const Section& section) {
  Json object{{"id", section.id}, {"title", section.title}, {"advice", section.advice}};
  object["facts"] = Json::array();
  for (const Fact& fact : section.facts) object["facts"].push_back(fact_json(fact));
  object["tables"] = Json::array();
  for (const Table& table : section.tables) object["tables"].push_back(table_json(table));
  object["notes"] = section.notes;
  return object;
}

}  // namespace

Json plan_json(const Plan& plan) {
  Json record = event::make_record("holdfast.plan", 1);
  record["title"] = plan.title;
  record["about"] = plan.about;
  record["sections"] = Json::array();
  for (const Section& section : plan.sections) record["sections"].push_back(section_json(section));
  return record;
}

}  // namespace holdfast::plan
