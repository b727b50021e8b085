#include "simulate/transport/simulate_transport.h"

#include <algorithm>
#include <utility>

#include "core/fault/grammar.h"
#include "transport/wire/packet.h"

namespace holdfast::simulate {
namespace {

constexpr std::size_t least_payload = 64;  // engine.h

}  // namespace

Status check(const TransportSetting& setting, const Parameters& parameters) {
  constexpr std::uint32_t least = transport::wire::most_data_header_bytes + least_payload + datagram_header_bytes;
  if (parameters.mtu < least)
    return {Code::bad_input, "simulating the transport",
            "a datagram of " + std::to_string(parameters.mtu) + " bytes has no room for its headers and a payload",
            "take a simulate.mtu of " + std::to_string(least) + " or more"};
  if (!setting.options.secret_file.empty())
    return {Code::bad_input, "simulating the transport", "transport.secret_file is set",
            "leave it out: simulated packets are not authenticated"};
  for (const fault::Fault& fault : setting.faults)
    if (!fault::strikes_packets(fault.kind))
      return {Code::bad_input, "simulating the transport", "'" + fault::format(fault) + "' is no fault of packets",
              "docs/spec/faults.md says what there is"};
  return {};
}

Result<TransportRun> simulate_over_transport(const fabric::Fabric& fabric, const fabric::Forwarding& forwarding,
                                             const Parameters& parameters, Traffic& traffic,
                                             const TransportSetting& setting, const Control& control) {
  if (Status status = check(setting, parameters); !status.ok()) return status;
  auto endpoints = find_endpoints(fabric, setting.datagrams.rails);
  if (!endpoints.ok()) return endpoints.status();
  TransportTraffic transported(traffic, fabric, settle(parameters, fabric), std::move(endpoints).value(), setting);
  Control own = control;
  Timeline unreliable;
  if (control.timeline != nullptr) {
    unreliable = *control.timeline;
    unreliable.reliable = false;
    own.timeline = &unreliable;
  }
  if (control.progress)
    own.progress = [&](const Progress& network) {
      Progress progress = network;
      progress.messages_delivered = transported.messages_delivered();
      progress.messages = traffic.messages();
      return control.progress(progress);
    };
  auto simulated = simulate(fabric, forwarding, parameters, transported, own);
  if (!simulated.ok()) return simulated.status();
  TransportRun run{std::move(simulated).value(), {}};
  run.transport = transported.record(run.record);
  if (run.record.ending == Ending::complete) {
    run.record.completion_ps = run.record.end_ps = run.transport.completion_ps;
  }
  return run;
}

}  // namespace holdfast::simulate
