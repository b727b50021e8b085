#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "core/config/settings.h"
#include "core/fault/fault.h"
#include "simulate/transport/simulate_transport.h"

namespace holdfast::cli {

/// What `holdfast simulate` is told of the transport.
struct TransportFlags {
  bool used = false;
  config::Settings<transport::Options> engine{transport::options_table()};
  config::Settings<simulate::DatagramOptions> datagrams{simulate::datagram_table()};
  Status status;  ///< the first error of a transport.* or datagram.* flag
};

/// Adds --transport and the options of components "transport" and "datagram". `flags` lives as long as the command.
void add_transport_flags(CLI::App& command, TransportFlags& flags);

/// Takes the faults of packets out of `faults`. Error (bad_input): there are some, and the transport is not used.
Result<std::vector<fault::Fault>> take_faults_of_packets(const TransportFlags& flags,
                                                         std::vector<fault::Fault>& faults);

/// simulate_over_transport() with these settings.
Result<simulate::TransportRun> run_transport(const TransportFlags& flags, const fabric::Fabric& fabric,
                                             const fabric::Forwarding& tables, const simulate::Parameters& parameters,
                                             simulate::Traffic& traffic, std::vector<fault::Fault> faults,
                                             std::uint64_t seed, const simulate::Control& control);

}  // namespace holdfast::cli
