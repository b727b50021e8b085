#include <iostream>

#include "cli/subcommands.h"
#include "cli/tables.h"
#include "core/config/reference.h"
#include "replicate/launch/exit_code.h"

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
  reference->footer("Examples:\n  holdfast reference exit-codes\n  holdfast reference manual | man -l -\n");
  add_page(*reference, action, "exit-codes", "Exit codes, Markdown", launch::exit_code_page);
  add_page(*reference, action, "options", "All options, Markdown",
           [] { return config::reference_markdown(all_tables()); });
  add_page(*reference, action, "options-manual", "holdfast.conf(5), roff",
           [] { return config::man_page(all_tables()); });
  add_page(*reference, action, "manual", "holdfast(1), roff", [&app] { return manual(app); });
}

}  // namespace holdfast::cli
