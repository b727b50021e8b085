#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/subcommands.h"
#include "core/event/record.h"
#include "core/status/exit_code.h"
#include "replicate/launch/report/inventory.h"

namespace holdfast::cli {

void add_doctor(CLI::App& app, Action& action) {
  CLI::App* doctor = app.add_subcommand("doctor", "Say what is installed, what is missing and how to get it");
  doctor->footer(
      "Examples:\n  holdfast doctor\n  holdfast doctor --test\n  holdfast doctor --json\n\n"
      "Ends with 5 when no MPI is installed or a self test fails.\n");
  auto json = std::make_shared<bool>(false);
  doctor->add_flag("--json", *json, "Print a JSON record");
  auto test = std::make_shared<bool>(false);
  doctor->add_flag("--test", *test, "Run a job with each MPI, one over the rails, and OpenSM");
  doctor->callback([json, test, &action] {
    action = [json, test] {
      launch::Inventory inventory = launch::take_inventory();
      if (*test) launch::run_self_tests(inventory);
      std::cout << (*json ? event::record_text(launch::inventory_json(inventory)) : launch::inventory_text(inventory));
      return static_cast<int>(inventory.any_mpi && inventory.passed ? Exit::success : Exit::unavailable);
    };
  });
}

}  // namespace holdfast::cli
