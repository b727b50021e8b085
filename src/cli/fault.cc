#include <iostream>
#include <memory>

#include "cli/subcommands.h"
#include "core/fault/fault.h"
#include "core/fault/grammar.h"

namespace holdfast::cli {
namespace {

int check_fault(const std::string& text) {
  auto faults = fault::parse(text, "the fault");
  if (!faults.ok()) return complain(faults.status());
  for (const fault::Fault& fault : faults.value()) std::cout << fault::format(fault) << "\n";
  return 0;
}

}  // namespace

void add_fault(CLI::App& app, Action& action) {
  CLI::App* fault = app.add_subcommand("fault", "Work with descriptions of faults");
  fault->require_subcommand(1);
  fault->footer(
      "Examples:\n  holdfast fault check 'rank 1 replica 2 message 40 bit 62'\n"
      "  holdfast fault check 'flip rate 1/10000; rank 0 message 3'\n");
  CLI::App* checking = fault->add_subcommand("check", "Read faults and print them in plain form");
  auto text = std::make_shared<std::string>();
  checking->add_option("spec", *text, "Faults, separated by ';'")->required()->type_name("FAULTS");
  checking->callback([text, &action] { action = [text] { return check_fault(*text); }; });
}

}  // namespace holdfast::cli
