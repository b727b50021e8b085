#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/numbers.h"
#include "cli/subcommands.h"
#include "core/event/record.h"
#include "core/output/output_file.h"
#include "plan/machine.h"
#include "plan/plan_record.h"
#include "plan/recommend.h"
#include "plan/redmpi_tables.h"
#include "plan/regression_database.h"
#include "simulate/study/analysis.h"
#include "simulate/study/database.h"

namespace holdfast::cli {
namespace {

struct Request {
  std::string machine;
  std::string tables;
  std::string html;
  bool json = false;
  bool keys = false;
  std::uint64_t seed = 1;
};

int show(const plan::Plan& plan, const Request& request) {
  if (!request.html.empty()) {
    if (Status status = output::write_file(request.html, plan::plan_html(plan)); !status) return complain(status);
  }
  if (request.json) {
    std::cout << event::record_text(plan::plan_json(plan));
  } else if (request.html.empty()) {
    std::cout << plan::plan_text(plan);
  }
  return 0;
}

/// Says which runs of a study that the plan is made from would come out otherwise today.
void tell_of_stale_runs(const plan::Machine& machine) {
  const std::string path = (std::filesystem::path(machine.folder) / machine.regression_file.value).string();
  if (!machine.regression_file.given || !plan::is_database(path)) return;
  const auto database = simulate::study::Database::open_to_read(path);
  if (!database.ok()) return;  // plan::gather_inputs() has said why
  const auto record = simulate::study::analyse(database.value());
  if (!record.ok()) return;
  for (const auto& [why, count] : record.value().stale)
    std::cerr << "holdfast: " << count << " runs of " << path << " are stale (" << why
              << "): the same 'holdfast study run' computes them anew\n";
}

int plan_machine(const Request& request) {
  auto machine = plan::read_machine_file(request.machine);
  if (!machine.ok()) return complain(machine.status());
  auto inputs = plan::gather_inputs(std::move(machine).value());
  if (!inputs.ok()) return complain(inputs.status());
  inputs.value().seed = request.seed;
  tell_of_stale_runs(inputs.value().machine);
  return show(plan::recommend(inputs.value()), request);
}

int answer(const Request& request) {
  const int asked = (request.machine.empty() ? 0 : 1) + (request.tables.empty() ? 0 : 1) + (request.keys ? 1 : 0);
  if (asked != 1) {
    return complain({Code::bad_input, "reading the command line",
                     "give a machine file, --tables or --keys, one of them", "see holdfast plan --help"});
  }
  if (request.keys) {
    std::cout << plan::machine_reference();
    return 0;
  }
  return request.tables.empty() ? plan_machine(request) : show(plan::redmpi_tables(request.seed), request);
}

}  // namespace

void add_plan(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("plan", "Say what protection a machine and its jobs need");
  command->footer(
      "Examples:\n  holdfast plan examples/machines/tsubame2.toml\n"
      "  holdfast plan machine.toml --json > plan.json\n  holdfast plan machine.toml --html plan.html\n"
      "  holdfast plan --tables redmpi\n  holdfast plan --keys\n\n"
      "A machine file says what the machine is and how often its parts fail; each of its tables asks a question:\n"
      "[job] which redundancy and checkpoint interval, [corruption] how likely a wrong answer is, [transport] which\n"
      "fragment length, window and check, [collective] how many copies of packets, [fabric] when maintenance is due "
      "and\n"
      "which routing engine to use. Every number on the page names its source.\n");
  auto request = std::make_shared<Request>();
  command->add_option("machine", request->machine, "A description of the machine")->type_name("MACHINE.toml");
  command->add_option("--tables", request->tables, "Compute a paper's tables again: redmpi")
      ->type_name("PAPER")
      ->check(CLI::IsMember({"redmpi"}));
  command->add_flag("--keys", request->keys, "List the keys of a machine file");
  command->add_flag("--json", request->json, "Print a JSON record");
  command->add_option("--html", request->html, "Write a page that needs nothing else")->type_name("FILE");
  command->add_option("--seed", request->seed, "Seed of the simulations that stand beside the models")
      ->type_name("NUMBER")
      ->check(whole_number())
      ->capture_default_str();
  command->callback([request, &action] { action = [request] { return answer(*request); }; });
}

}  // namespace holdfast::cli
