#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/compare/comparison.h"

/// Tables III and IV of J. Domke, T. Hoefler, S. Matsuoka, "Fail-in-Place Network Design", SC 2014: the configurations,
/// and which engine routes which of them, with or without deadlock; OpenSM's engines beside ours.
namespace holdfast::fabric {

/// One configuration, counted on the generated fabric, and what each engine made of it.
struct PaperRow {
  std::string_view preset;
  std::string_view doc;
  std::uint32_t switches = 0;
  std::uint32_t hosts = 0;
  std::uint32_t links = 0;       ///< between switches
  std::uint32_t redundancy = 0;  ///< fewest parallel links between two neighbours (the paper's equation 3)
  std::vector<Judged> judged;
};

/// The names of the presets of Table III: the small ones, of about 256 hosts, or the larger ones and the two machines.
std::vector<std::string_view> small_configurations();
std::vector<std::string_view> large_configurations();

/// Called when an engine has been judged on a configuration.
using PaperProgress = std::function<void(std::string_view preset, const Judged& judged)>;

/// Runs every engine of OpenSM and of ours on each configuration, `jobs` at a time. Error: the first of compare().
Result<std::vector<PaperRow>> run_paper_tables(std::span<const std::string_view> presets, const ContestRules& rules,
                                               unsigned jobs, const PaperProgress& progress);

/// Both tables and the list of cells where OpenSM and we disagree, as Markdown.
std::string paper_tables_markdown(std::span<const PaperRow> rows);

/// The record "holdfast.fabric.paper-tables".
nlohmann::ordered_json paper_tables_record(std::span<const PaperRow> rows);

}  // namespace holdfast::fabric
