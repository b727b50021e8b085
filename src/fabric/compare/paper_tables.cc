#include "fabric/compare/paper_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/event/record.h"
#include "fabric/topology/generate.h"
#include "fabric/topology/presets.h"

namespace holdfast::fabric {
namespace {

constexpr std::string_view columns[] = {"minhop", "updn", "dnup",   "dor",        "ftree",
                                        "lash",   "sssp", "dfsssp", "torus-2qos", "nue"};
constexpr std::uint32_t most_hosts_of_small = 300;

std::vector<std::string_view> configurations(bool small) {
  std::vector<std::string_view> names;
  for (const Preset& preset : presets())
    if ((preset.hosts <= most_hosts_of_small) == small && preset.in_paper) names.push_back(preset.name);
  return names;
}

std::uint32_t switch_links(const Fabric& fabric, std::uint32_t& redundancy) {
  std::map<std::pair<NodeId, NodeId>, std::uint32_t> parallel;
  std::uint32_t links = 0;
  for (const Link& link : fabric.links()) {
    const auto ends = std::minmax(fabric.port(link.a).node, fabric.port(link.b).node);
    if (!fabric.is_switch(ends.first) || !fabric.is_switch(ends.second)) continue;
    ++links;
    ++parallel[ends];
  }
  redundancy = links;
  for (const auto& [ends, count] : parallel) redundancy = std::min(redundancy, count);
  return links;
}

std::string cell(const Judged& judged) {
  switch (judged.routing.verdict) {
    case opensm::Verdict::refused:
      return "refused";
    case opensm::Verdict::timed_out:
      return "too slow";
    case opensm::Verdict::crashed:
      return "crashed";
    case opensm::Verdict::routed:
      break;
  }
  if (judged.lost_pairs != 0) return "loses pairs";
  return judged.credit_loops != 0 ? "deadlock" : "ok";
}

const Judged* find(const PaperRow& row, std::string_view engine, bool in_opensm) {
  for (const Judged& judged : row.judged) {
    std::string name = judged.contender.engine;
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    if (name == engine && judged.contender.in_opensm == in_opensm) return &judged;
  }
  return nullptr;
}

std::string detail(const Judged& judged) {
  if (!judged.routing.reason.empty()) return judged.routing.reason;
  if (!judged.example.empty()) return judged.example;
  return fmt::format("{} lanes, longest path {}", judged.lanes, judged.longest_path);
}

std::string pair_of_cells(const PaperRow& row, std::string_view engine) {
  const Judged* theirs = find(row, engine, true);
  const Judged* ours = find(row, engine, false);
  if (theirs == nullptr || ours == nullptr) return "";
  const std::string a = cell(*theirs);
  const std::string b = cell(*ours);
  return a == b ? a : "**" + a + " / " + b + "**";
}

}  // namespace

std::vector<std::string_view> small_configurations() {
  return configurations(true);
}
std::vector<std::string_view> large_configurations() {
  return configurations(false);
}

Result<std::vector<PaperRow>> run_paper_tables(std::span<const std::string_view> presets, const ContestRules& rules,
                                               unsigned jobs, const PaperProgress& progress) {
  auto contenders = parse_contenders("all");
  if (!contenders.ok()) return contenders.status();
  std::vector<PaperRow> rows;
  for (const std::string_view name : presets) {
    const Preset* preset = find_preset(name);
    auto fabric = generate(name);
    if (!fabric.ok()) return fabric.status();
    PaperRow row;
    row.preset = name;
    row.doc = preset->doc;
    row.switches = fabric.value().switch_count();
    row.hosts = fabric.value().adapter_count();
    row.links = switch_links(fabric.value(), row.redundancy);
    auto judged =
        compare(fabric.value(), contenders.value(), rules, jobs, [&](const Judged& one, std::size_t, std::size_t) {
          if (progress) progress(name, one);
        });
    if (!judged.ok()) return judged.status();
    row.judged = std::move(judged.value());
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string paper_tables_markdown(std::span<const PaperRow> rows) {
  std::string text = "| Table III | switches | hosts | switch-to-switch links | r |\n|---|---|---|---|---|\n";
  for (const PaperRow& row : rows)
    text += fmt::format("| {}: {} | {} | {} | {} | {} |\n", row.preset, row.doc, row.switches, row.hosts, row.links,
                        row.redundancy);
  text += "\nIn each cell: OpenSM's engine / ours; one word where both agree.\n\n| Table IV |";
  for (const std::string_view engine : columns) text += fmt::format(" {} |", engine);
  text += "\n|---|";
  for (std::size_t i = 0; i < std::size(columns); ++i) text += "---|";
  text += "\n";
  std::string disagreements;
  for (const PaperRow& row : rows) {
    text += fmt::format("| {} |", row.preset);
    for (const std::string_view engine : columns) {
      const std::string cells = pair_of_cells(row, engine);
      text += fmt::format(" {} |", cells);
      if (!cells.starts_with("**")) continue;
      disagreements += fmt::format("- {}, {}: OpenSM: {}; ours: {}.\n", row.preset, engine,
                                   detail(*find(row, engine, true)), detail(*find(row, engine, false)));
    }
    text += "\n";
  }
  return text + "\nWhere they disagree:\n\n" + (disagreements.empty() ? "nowhere.\n" : disagreements);
}

nlohmann::ordered_json paper_tables_record(std::span<const PaperRow> rows) {
  nlohmann::ordered_json record = event::make_record("holdfast.fabric.paper-tables", 1);
  record["configurations"] = nlohmann::ordered_json::array();
  for (const PaperRow& row : rows) {
    nlohmann::ordered_json entry;
    entry["name"] = row.preset;
    entry["switches"] = row.switches;
    entry["hosts"] = row.hosts;
    entry["switch_links"] = row.links;
    entry["redundancy"] = row.redundancy;
    entry["engines"] = judged_json(row.judged);
    record["configurations"].push_back(std::move(entry));
  }
  return record;
}

}  // namespace holdfast::fabric
