#pragma once

#include "cli/subcommands.h"

/// The subcommands of `holdfast fabric`, one file each.
namespace holdfast::cli {

/// Each adds its subcommand below `fabric` and sets `action` when that one was chosen. fabric.cc has the list.
void add_fabric_generate(CLI::App& fabric, Action& action);
void add_fabric_route(CLI::App& fabric, Action& action);
void add_fabric_check(CLI::App& fabric, Action& action);
void add_fabric_compare(CLI::App& fabric, Action& action);

}  // namespace holdfast::cli
