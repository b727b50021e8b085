#pragma once

#include <string>
#include <vector>

#include "cli/subcommands.h"
#include "fabric/compare/contender.h"
#include "fabric/formats/forwarding_tables.h"
#include "fabric/formats/imported.h"

/// The subcommands of `holdfast fabric`, one file each.
namespace holdfast::cli {

/// Each adds its subcommand below `fabric` and sets `action` when that one was chosen. fabric.cc has the list.
void add_fabric_generate(CLI::App& fabric, Action& action);
void add_fabric_import(CLI::App& fabric, Action& action);
void add_fabric_export(CLI::App& fabric, Action& action);
void add_fabric_show(CLI::App& fabric, Action& action);
void add_fabric_fail(CLI::App& fabric, Action& action);
void add_fabric_ageing(CLI::App& fabric, Action& action);
void add_fabric_route(CLI::App& fabric, Action& action);
void add_fabric_check(CLI::App& fabric, Action& action);
void add_fabric_compare(CLI::App& fabric, Action& action);
void add_fabric_diff(CLI::App& fabric, Action& action);

/// Exit code of a subcommand that was asked a question and whose answer is "no, not good": fabrics that differ, a link
/// that must not be isolated, a fabric that does not pass a check.
inline constexpr int answer_is_no = 1;

/// fabric::open_fabric(), with its notes printed on stderr, one a line.
Result<fabric::Imported> open_fabric_with_notes(const std::string& source);

/// Adds the positional FABRIC that open_fabric_with_notes() takes.
void add_fabric_argument(CLI::App& command, std::string& source);

/// Adds --tables, --sl2vl and --path-records; check_table_flags() says when they do not fit together.
void add_table_flags(CLI::App& command, fabric::TableFiles& files);
Status check_table_flags(const fabric::TableFiles& files);

/// Adds --torus-config; read_torus_rules() has the rules follow that file, and none when it was not given.
void add_torus_config(CLI::App& command, std::string& file);
Status read_torus_rules(const std::string& file, const fabric::Fabric& network, fabric::ContestRules& rules);

}  // namespace holdfast::cli
