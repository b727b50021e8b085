#include "cli/fabric_subcommands.h"

namespace holdfast::cli {
namespace {

/// The list: one row a subcommand, in the order of the help.
constexpr std::initializer_list<void (*)(CLI::App& fabric, Action& action)> subcommands = {
    add_fabric_generate,
};

constexpr const char* footer =
    "A FABRIC is a file (ibnetdiscover's output, an ibsim net file) or a topology such as 'torus(5,5) links=6'.\n";

}  // namespace

void add_fabric(CLI::App& app, Action& action) {
  CLI::App* fabric = app.add_subcommand("fabric", "Build, import, break, route and check InfiniBand networks");
  fabric->require_subcommand(1);
  fabric->footer(footer);
  for (auto add : subcommands) add(*fabric, action);
}

}  // namespace holdfast::cli
