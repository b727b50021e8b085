#include <iostream>
#include <memory>

#include "cli/fabric_subcommands.h"
#include "fabric/formats/ibsim_net.h"
#include "fabric/topology/generate.h"

namespace holdfast::cli {
namespace {

int generate(const std::string& topology) {
  Result<fabric::Fabric> fabric = fabric::generate(topology);
  if (!fabric.ok()) return complain(fabric.status());
  std::cout << fabric::write_ibsim_net(fabric.value());
  return 0;
}

}  // namespace

void add_fabric_generate(CLI::App& fabric, Action& action) {
  CLI::App* command = fabric.add_subcommand("generate", "Build a network and print it as an ibsim net file");
  auto topology = std::make_shared<std::string>();
  command->add_option("topology", *topology, "As 'torus(5,5) links=6 hosts=275'")->required()->type_name("TOPOLOGY");
  command->callback([topology, &action] { action = [topology] { return generate(*topology); }; });
}

}  // namespace holdfast::cli
