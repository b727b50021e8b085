#include <iostream>

#include "cli/command_table.h"
#include "cli/subcommands.h"
#include "cli/tables.h"
#include "core/config/reference.h"
#include "core/status/exit_code.h"

namespace holdfast::cli {
namespace {

void add_page(CLI::App& reference, Action& action, const char* name, const char* doc,
              std::function<std::string()> page) {
  reference.add_subcommand(name, doc)->callback([&action, page] {
    action = [page] {
      std::cout << page();
      return 0;
    };
  });
}

}  // namespace

void add_reference(CLI::App& app, Action& action) {
  CLI::App* reference = app.add_subcommand("reference", "Print a generated page of the reference");
  reference->require_subcommand(1);
  reference->footer(
      "Examples:\n  holdfast reference exit-codes\n  holdfast reference commands | jq '.commands[].name'\n");
  add_page(*reference, action, "exit-codes", "Exit codes, Markdown", exit_code_page);
  add_page(*reference, action, "options", "All options, Markdown",
           [] { return config::reference_markdown(all_tables()); });
  add_page(*reference, action, "commands", "All commands with their options, JSON",
           [&app] { return command_table(app); });
}

}  // namespace holdfast::cli
