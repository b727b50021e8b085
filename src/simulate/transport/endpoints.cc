#include "simulate/transport/endpoints.h"

#include <string>
#include <utility>

#include "fabric/topology/hosts.h"
#include "simulate/packet/hosts.h"

namespace holdfast::simulate {

Result<Endpoints> find_endpoints(const fabric::Fabric& fabric, std::uint32_t most) {
  const Hosts hosts(fabric);
  Endpoints found;
  found.rail_of.resize(hosts.count());
  if (most > 1) {
    found.adapters = computers_of(fabric);
  } else {
    for (std::uint32_t adapter = 0; adapter < hosts.count(); ++adapter) found.adapters.push_back({adapter});
  }
  for (std::uint32_t endpoint = 0; endpoint < found.adapters.size(); ++endpoint) {
    const std::vector<std::uint32_t>& rails = found.adapters[endpoint];
    if (rails.size() > most) {
      const std::string& name = fabric.node(fabric.port(hosts.ports[rails.front()]).node).name;
      return Status{
          Code::bad_input, "finding the rails of hosts",
          "the host '" + std::string(fabric::host_of(name)) + "' has more than " + std::to_string(most) + " adapters",
          "let every adapter be a host: datagram.rails 1"};
    }
    for (std::uint32_t rail = 0; rail < rails.size(); ++rail) found.rail_of[rails[rail]] = {endpoint, rail};
  }
  return found;
}

}  // namespace holdfast::simulate
