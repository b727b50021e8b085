#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/subcommands.h"
#include "core/event/record.h"
#include "plan/plan_record.h"
#include "plan/redmpi_tables.h"

namespace holdfast::cli {
namespace {

struct Request {
  std::string machine;
  std::string tables;
  std::string html;
  bool json = false;
  std::uint64_t seed = 1;
};

int print(const plan::Plan& plan, const Request& request) {
  std::cout << (request.json ? event::record_text(plan::plan_json(plan)) : plan::plan_text(plan));
  return 0;
}

}  // namespace

void add_plan(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("plan", "Say what protection a machine and its jobs need");
  auto request = std::make_shared<Request>();
  command->add_option("--tables", request->tables, "redmpi");
  command->add_flag("--json", request->json, "Print a JSON record");
  command->add_option("--seed", request->seed, "Seed of the simulations");
  command->callback(
      [request, &action] { action = [request] { return print(plan::redmpi_tables(request->seed), *request); }; });
}

}  // namespace holdfast::cli
