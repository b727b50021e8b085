#pragma once

#include "core/status/status.h"
#include "simulate/packet/simulate.h"
#include "simulate/transport/transport_traffic.h"

namespace holdfast::simulate {

struct TransportRun {
  Record record;  ///< of the network: its messages are packets of the transport
  TransportRecord transport;
};

/// Whether these engines can run over datagrams of such a network. Errors (bad_input): an MTU that the engine's headers
/// do not leave room in; a secret; a fault of another kind.
Status check(const TransportSetting& setting, const Parameters& parameters);

/// simulate(), with the traffic's messages sent by the transport (transport_traffic.h) over unreliable datagrams,
/// whatever the timeline says of connections. A finite traffic's run is over with its last message. Deterministic,
/// like simulate(). Errors (bad_input): those of simulate() and check(); adapters that are too many for one host.
Result<TransportRun> simulate_over_transport(const fabric::Fabric& fabric, const fabric::Forwarding& forwarding,
                                             const Parameters& parameters, Traffic& traffic,
                                             const TransportSetting& setting, const Control& control = {});

}  // namespace holdfast::simulate
