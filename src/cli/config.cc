#include <iostream>
#include <memory>
#include <optional>

#include "cli/subcommands.h"
#include "cli/tables.h"
#include "core/config/environment.h"
#include "core/config/reference.h"
#include "core/config/toml_file.h"
#include "replicate/launch/plan/library_options.h"

extern char** environ;

namespace holdfast::cli {
namespace {

int list_options() {
  for (const config::AnyTable* table : all_tables()) {
    for (const config::Option& option : table->rows()) std::cout << config::help_text(option) << "\n";
  }
  return 0;
}

int explain(const std::optional<std::string>& file) {
  auto library = launch::library_settings();
  config::AnySettings* tables[] = {library.get()};
  Status status = config::read_environment(*library, environ);
  if (status.ok() && file) status = config::read_toml_file(*file, tables);
  if (!status.ok()) return complain(status);
  for (const config::AnySettings::Shown& row : library->show())
    std::cout << row.option->row.name << " = " << row.value << "  (" << config::origin_text(row.origin) << ")\n";
  return 0;
}

int check(const std::string& file) {
  auto library = launch::library_settings();
  config::AnySettings* tables[] = {library.get()};
  if (Status status = config::read_toml_file(file, tables); !status.ok()) return complain(status);
  std::cout << file << ": good\n";
  return 0;
}

}  // namespace

void add_config(CLI::App& app, Action& action) {
  CLI::App* config = app.add_subcommand("config", "List the options, explain the values in force, check a file");
  config->require_subcommand(1);
  config->footer(
      "Examples:\n  holdfast config list\n  holdfast config explain --config holdfast.toml\n"
      "  holdfast config check holdfast.toml\n\nA flag beats the environment, the environment beats a file.\n");
  CLI::App* list = config->add_subcommand("list", "Every option with its values, default and meaning");
  list->callback([&action] { action = list_options; });

  auto explained = std::make_shared<std::optional<std::string>>();
  CLI::App* explaining = config->add_subcommand("explain", "Every option's value in force, and where it comes from");
  explaining->add_option("--config", *explained, "A TOML file to read")->type_name("FILE");
  explaining->callback([explained, &action] { action = [explained] { return explain(*explained); }; });

  auto checked = std::make_shared<std::string>();
  CLI::App* checking = config->add_subcommand("check", "Check a TOML file of options");
  checking->add_option("file", *checked, "The file")->required()->type_name("FILE");
  checking->callback([checked, &action] { action = [checked] { return check(*checked); }; });
}

}  // namespace holdfast::cli
