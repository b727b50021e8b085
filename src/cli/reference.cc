#include <iostream>

#include "cli/subcommands.h"
#include "core/config/reference.h"
#include "replicate/launch/exit_code.h"
#include "replicate/launch/library_options.h"

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
  const config::AnyTable* table = &launch::library_table();
  add_page(*reference, action, "exit-codes", "Exit codes, Markdown", launch::exit_code_page);
  add_page(*reference, action, "options", "All options, Markdown", [table] {
    return config::reference_markdown({&table, 1});
  });
  add_page(*reference, action, "options-manual", "holdfast.conf(5), roff", [table] {
    return config::man_page({&table, 1});
  });
  add_page(*reference, action, "manual", "holdfast(1), roff", [&app] { return manual(app); });
}

}  // namespace holdfast::cli
