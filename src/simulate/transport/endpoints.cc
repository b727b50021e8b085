#include "simulate/transport/endpoints.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "simulate/packet/hosts.h"

namespace holdfast::simulate {

Result<Endpoints> find_endpoints(const fabric::Fabric& fabric, std::uint32_t most) {
  const Hosts hosts(fabric);
  const auto name_of = [&](std::uint32_t adapter) -> const std::string& {
    return fabric.node(fabric.port(hosts.ports[adapter]).node).name;
  };
  Endpoints found;
  found.rail_of.resize(hosts.count());
  std::unordered_map<std::string, std::uint32_t> by_name;
  for (std::uint32_t adapter = 0; adapter < hosts.count(); ++adapter) {
    const std::string& name = name_of(adapter);
    const auto next = static_cast<std::uint32_t>(found.adapters.size());
    std::uint32_t endpoint = next;
    if (most > 1) endpoint = by_name.try_emplace(name.substr(0, name.find_first_of(" \t")), next).first->second;
    if (endpoint == next) found.adapters.emplace_back();
    found.adapters[endpoint].push_back(adapter);
    if (found.adapters[endpoint].size() > most)
      return Status{Code::bad_input, "finding the rails of hosts",
                    "more than " + std::to_string(most) + " adapters have names that begin like '" + name + "'",
                    "let every adapter be a host: datagram.rails 1"};
  }
  for (std::uint32_t endpoint = 0; endpoint < found.adapters.size(); ++endpoint) {
    std::vector<std::uint32_t>& rails = found.adapters[endpoint];
    std::stable_sort(rails.begin(), rails.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return name_of(a) < name_of(b); });
    for (std::uint32_t rail = 0; rail < rails.size(); ++rail) found.rail_of[rails[rail]] = {endpoint, rail};
  }
  return found;
}

}  // namespace holdfast::simulate
