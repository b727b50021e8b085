#include "cli/simulate_transport.h"

#include <algorithm>
#include <iterator>

#include "cli/settings_flags.h"
#include "core/fault/grammar.h"

namespace holdfast::cli {

void add_transport_flags(CLI::App& command, TransportFlags& flags) {
  command
      .add_flag("--transport", flags.used,
                "Hosts send by the transport's engine, with unreliable datagrams over all adapters of a host")
      ->group("The transport");
  add_settings_flags(command, flags.engine, flags.status, "The transport");
  add_settings_flags(command, flags.datagrams, flags.status, "The transport");
}

Result<std::vector<fault::Fault>> take_faults_of_packets(const TransportFlags& flags,
                                                         std::vector<fault::Fault>& faults) {
  const auto first = std::stable_partition(
      faults.begin(), faults.end(), [](const fault::Fault& fault) { return !fault::strikes_packets(fault.kind); });
  std::vector<fault::Fault> taken(std::make_move_iterator(first), std::make_move_iterator(faults.end()));
  faults.erase(first, faults.end());
  if (!taken.empty() && !flags.used)
    return Status{Code::bad_input, "reading --fault",
                  "'" + fault::format(taken.front()) + "' strikes packets of the transport, which is not used",
                  "give --transport, or a fault of the fabric, as fail-link"};
  return taken;
}

Result<simulate::TransportRun> run_transport(const TransportFlags& flags, const fabric::Fabric& fabric,
                                             const fabric::Forwarding& tables, const simulate::Parameters& parameters,
                                             simulate::Traffic& traffic, std::vector<fault::Fault> faults,
                                             std::uint64_t seed, const simulate::Control& control) {
  simulate::TransportSetting setting;
  setting.options = flags.engine.options();
  setting.datagrams = flags.datagrams.options();
  setting.faults = std::move(faults);
  setting.seed = seed;
  auto run = simulate::simulate_over_transport(fabric, tables, parameters, traffic, setting, control);
  if (!run.ok()) return run.status();
  for (const config::AnySettings::Shown& shown : flags.datagrams.show())
    if (shown.origin.source == config::Source::row_default)
      run.value().transport.assumed.push_back(std::string(shown.option->row.name) + " " + shown.value);
  return run;
}

}  // namespace holdfast::cli
