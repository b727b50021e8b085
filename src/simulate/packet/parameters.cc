#include "simulate/packet/parameters.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "simulate/packet/arbitration.h"

namespace holdfast::simulate {
namespace {

/// Picoseconds a flit of 512 bits takes at `lanes` times `megabits` Mbit/s, rounded up.
Pace pace(std::uint64_t megabits, std::uint64_t thirds, std::uint32_t lanes) {
  const std::uint64_t bits = std::uint64_t{flit_bytes} * 8 * 1'000'000 * thirds;
  return {static_cast<Time>((bits + megabits * lanes - 1) / (megabits * lanes))};
}

}  // namespace

Pace link_pace(fabric::LinkRate rate) {
  // Mbit/s a lane, times 3 where a third is left over: FDR carries 14,062.5 x 64 / 66 = 40,909.09... / 3.
  struct Row {
    std::uint64_t megabits, parts;
  };
  static constexpr std::array<Row, 9> rows{{{2'000, 1},
                                            {4'000, 1},
                                            {8'000, 1},
                                            {10'000, 1},
                                            {150'000, 11},
                                            {25'000, 1},
                                            {50'000, 1},
                                            {100'000, 1},
                                            {200'000, 1}}};
  const Row row = rows[static_cast<std::size_t>(rate.speed)];
  return pace(row.megabits, row.parts, rate.lanes);
}

Pace pcie_pace(std::uint32_t generation, std::uint32_t lanes) {
  struct Row {
    std::uint64_t megabits, parts;
  };
  static constexpr std::array<Row, 6> rows{
      {{2'000, 1}, {4'000, 1}, {8'000 * 128, 130}, {16'000 * 128, 130}, {32'000 * 128, 130}, {64'000 * 236, 256}}};
  const Row row = rows[generation - 1];
  return pace(row.megabits, row.parts, lanes);
}

namespace {

constexpr std::array<std::string_view, 2> input_queues_names{"lane", "output"};

/// What parts of one generation have. Vendors do not say how large buffers are: up to QDR they are the paper's, and
/// from there they hold what arrives in the same time, up to the 2,048 blocks that credits can announce (InfiniBand
/// Architecture Specification 1.3, 7.9.4.2). PCI Express is that of the adapters of the time: ConnectX-2, -3 (FDR10,
/// FDR), -4 (EDR), -6 (HDR), -7 (NDR), -8 (XDR), as their manuals say.
struct Generation {
  std::uint32_t input_flits, output_flits, pcie_generation, pcie_lanes;
};

constexpr std::array<Generation, 9> generations{{{128, 78, 2, 8},        // SDR
                                                 {128, 78, 2, 8},        // DDR
                                                 {128, 78, 2, 8},        // QDR
                                                 {160, 98, 3, 8},        // FDR10
                                                 {219, 133, 3, 8},       // FDR
                                                 {400, 244, 3, 16},      // EDR
                                                 {800, 488, 4, 16},      // HDR
                                                 {1600, 975, 5, 16},     // NDR
                                                 {2048, 1950, 6, 16}}};  // XDR

const Generation& generation_of(fabric::LaneSpeed speed) {
  return generations[static_cast<std::size_t>(speed)];
}

}  // namespace

Parameters settle(Parameters parameters, const fabric::Fabric& fabric) {
  fabric::LaneSpeed fastest = fabric::LaneSpeed::qdr, adapter = fabric::LaneSpeed::qdr;
  for (const fabric::Link& link : fabric.links()) {
    const fabric::LaneSpeed speed = link.rate.speed;
    fastest = std::max(fastest, speed);
    for (const fabric::PortId end : {link.a, link.b})
      if (!fabric.is_switch(fabric.port(end).node)) adapter = std::max(adapter, speed);
  }
  const auto choose = [](std::uint32_t& value, std::uint32_t chosen) {
    if (value == 0) value = chosen;
  };
  choose(parameters.input_buffer, generation_of(fastest).input_flits);
  choose(parameters.output_buffer, generation_of(fastest).output_flits);
  choose(parameters.pcie_generation, generation_of(adapter).pcie_generation);
  choose(parameters.pcie_lanes, generation_of(adapter).pcie_lanes);
  return parameters;
}

Pace Parameters::link_pace(fabric::LinkRate rate) const {
  const Pace named = simulate::link_pace(rate);
  if (link_slowdown <= 1) return named;
  return {static_cast<Time>(std::ceil(static_cast<double>(named.flit_ps) * link_slowdown))};
}

Time Parameters::hoq_life_ps() const {
  return hoq_life >= 20 ? never : Time{4'096'000} << hoq_life;
}

Time Parameters::ack_timeout_ps() const {
  return ack_timeout == 0 ? never : Time{4'096'000} << ack_timeout;
}

const config::Table<Parameters>& parameters_table() {
  using config::duration;
  using config::option;
  using P = Parameters;
  static const config::Table<Parameters> table(
      "simulate",
      {
          option<&P::mtu>({.name = "simulate.mtu",
                           .initial = "2048",
                           .least = "256",
                           .most = "4096",
                           .unit = "bytes",
                           .doc = "Payload of a full packet; 26 bytes of headers come on top.\n"
                                  "2,074 bytes on the wire: Fail-in-place networks, section IV-B."}),
          option<&P::input_buffer>({.name = "simulate.input_buffer",
                                    .initial = "0",
                                    .least = "0",
                                    .most = "65535",
                                    .unit = "flits",
                                    .doc = "Input buffer of a port for each virtual lane, in flits of 64 bytes.\n"
                                           "0: by generation, 128 up to QDR (Fail-in-place networks, section IV-B)."}),
          option<&P::output_buffer>({.name = "simulate.output_buffer",
                                     .initial = "0",
                                     .least = "0",
                                     .most = "65535",
                                     .unit = "flits",
                                     .doc = "Output buffer of a switch port, shared by its lanes.\n"
                                            "0: by generation, 78 up to QDR (Fail-in-place networks, section IV-B)."}),
          option<&P::input_queues>(
              {.name = "simulate.input_queues",
               .initial = "lane",
               .choices = input_queues_names,
               .doc = "How packets wait in an input buffer (one virtual lane of a port).\n"
                      "lane: first in, first out, so that the head blocks those behind it. output: a queue for every "
                      "output port, as in Fail-in-place networks, section IV-B."}),
          option<&P::input_sends>(
              {.name = "simulate.input_sends",
               .initial = "0",
               .least = "0",
               .most = "65535",
               .unit = "packets",
               .doc = "How many packets of one input buffer may cross the crossbar at once, each from another queue.\n"
                      "0: one for every output. With simulate.input_queues lane there is one queue, which sends one "
                      "at a time."}),
          option<&P::crossbar_speedup>(
              {.name = "simulate.crossbar_speedup",
               .initial = "150",
               .least = "100",
               .most = "1000",
               .unit = "percent",
               .doc = "Speed of a path through the crossbar, relative to the switch's fastest link.\n"
                      "An assumption: the paper gives no value. At 100 the output buffers are of no use."}),
          duration<&P::switch_latency_ns>(
              {.name = "simulate.switch_latency",
               .initial = "100ns",
               .least = "0ns",
               .most = "1ms",
               .doc = "From a flit's arrival in an input buffer to when it may cross the crossbar.\n"
                      "Port to port it takes one flit's time on the link and one in the crossbar longer."}),
          option<&P::link_slowdown>(
              {.name = "simulate.link_slowdown",
               .initial = "1",
               .least = "1",
               .most = "10000",
               .unit = "times",
               .doc = "Every link, adapters' included, and the switches' crossbars are so many times slower than the "
                      "link's rate.\n"
                      "For networks that InfiniBand's rates do not name: 32 makes 1 Gbit/s of 4X QDR."}),
          option<&P::cable_length>({.name = "simulate.cable_length",
                                    .initial = "7",
                                    .least = "0",
                                    .most = "100000",
                                    .unit = "metres",
                                    .doc = "Length of cables whose length the fabric does not give.\n"
                                           "7 m copper: Fail-in-place networks, section IV-B."}),
          option<&P::propagation_ps>({.name = "simulate.propagation",
                                      .initial = "6100",
                                      .least = "0",
                                      .most = "100000",
                                      .unit = "ps a metre",
                                      .doc = "Propagation delay of cables.\n"
                                             "6.1 ns a metre: Fail-in-place networks, section IV-B."}),
          option<&P::pcie_generation>({.name = "simulate.pcie_generation",
                                       .initial = "0",
                                       .least = "0",
                                       .most = "6",
                                       .doc = "PCI Express generation of the slots of the adapters.\n"
                                              "0: by generation, 8X PCIe 2.0 up to QDR (Fail-in-place networks, "
                                              "section IV-B)."}),
          option<&P::pcie_lanes>({.name = "simulate.pcie_lanes",
                                  .initial = "0",
                                  .least = "0",
                                  .most = "32",
                                  .unit = "lanes",
                                  .doc = "PCI Express lanes of the adapters; 0: by generation."}),
          duration<&P::hiccup_period_ns>({.name = "simulate.hiccup_period",
                                          .initial = "100ns",
                                          .least = "1ns",
                                          .most = "1s",
                                          .doc = "How often PCI Express pauses.\n"
                                                 "Every 0.1 us: Fail-in-place networks, section IV-B."}),
          duration<&P::hiccup_ns>({.name = "simulate.hiccup",
                                   .initial = "10ns",
                                   .least = "0ns",
                                   .most = "1s",
                                   .doc = "How long each pause of PCI Express lasts; 0ns for none.\n"
                                          "0.01 us: Fail-in-place networks, section IV-B."}),
          duration<&P::credit_update_ns>(
              {.name = "simulate.credit_update",
               .initial = "0ns",
               .least = "0ns",
               .most = "1ms",
               .doc = "Period at which receivers announce free buffer space; 0ns: each block as it becomes free.\n"
                      "InfiniBand Architecture Specification 1.3, 7.9.4, asks for 65,536 symbol times at most."}),
          option<&P::hoq_life>(
              {.name = "simulate.hoq_life",
               .initial = "20",
               .least = "0",
               .most = "20",
               .doc = "A packet is dropped 4.096us x 2^n after it came to the head of its queue; 20: never.\n"
                      "InfiniBand Architecture Specification 1.3, 18.2.5.4."}),
          option<&P::vl_stall>({.name = "simulate.vl_stall",
                                .initial = "0",
                                .least = "0",
                                .most = "7",
                                .unit = "packets",
                                .doc =
                                    "So many drops in a row on a lane stall it for 8 head-of-queue lives; 0: never.\n"
                                    "InfiniBand Architecture Specification 1.3, 18.2.5.4."}),
          option<&P::vl_arbitration>(
              {.name = "simulate.vl_arbitration",
               .initial = "fair",
               .doc = "fair, or tables of lane:weight as 'high 1:64 limit 1; low 0:32, 2:32'.\n"
                      "Weights count blocks of 64 bytes; limit counts 4,096 bytes, 255 is without end. InfiniBand "
                      "Architecture Specification 1.3, 7.6.9."}),
          option<&P::ack_timeout>(
              {.name = "simulate.ack_timeout",
               .initial = "14",
               .least = "0",
               .most = "31",
               .doc =
                   "With faults during the traffic a reliable connection sends again after 4.096us x 2^n; 0: never.\n"
                   "The Local ACK Timeout of a queue pair: InfiniBand Architecture Specification 1.3, 9.7.6.1.3. 14 "
                   "is 67 ms, as programs usually ask for."}),
          option<&P::retry_count>(
              {.name = "simulate.retry_count",
               .initial = "7",
               .least = "0",
               .most = "7",
               .unit = "retries",
               .doc = "So often a reliable connection sends again without progress before it gives up.\n"
                      "InfiniBand Architecture Specification 1.3, 9.9.2.1: 3 bits, for timeouts and sequence errors."}),
          duration<&P::ack_delay_ns>(
              {.name = "simulate.ack_delay",
               .initial = "1us",
               .least = "1ns",
               .most = "1s",
               .doc = "From a packet's arrival in memory to when its sender has the acknowledgement.\n"
                      "An assumption. Acknowledgements of 30 bytes take no bandwidth in the model."}),
          option<&P::hop_limit>(
              {.name = "simulate.hop_limit",
               .initial = "64",
               .least = "1",
               .most = "65535",
               .unit = "switches",
               .doc = "A packet that has passed so many switches is dropped, with faults during the traffic.\n"
                      "InfiniBand has no such limit in a subnet; a packet that loops would go on until tables agree."}),
          duration<&P::deadlock_check_ns>({.name = "simulate.deadlock_check",
                                           .initial = "100us",
                                           .least = "1us",
                                           .most = "10s",
                                           .doc = "How often ports report whether they are idle, sending or blocked.\n"
                                                  "Fail-in-place networks, section IV-D."}),
          duration<&P::sample_ns>(
              {.name = "simulate.sample",
               .initial = "10us",
               .least = "1us",
               .most = "10s",
               .doc = "Length of the samples of consumption bandwidth that steady state is told by."}),
          option<&P::confidence>({.name = "simulate.confidence",
                                  .initial = "99",
                                  .least = "50",
                                  .most = "99.99",
                                  .unit = "percent",
                                  .doc = "Confidence of the interval by which a sink says that it is steady.\n"
                                         "Fail-in-place networks, section IV-D."}),
          option<&P::steady_hosts>({.name = "simulate.steady_hosts",
                                    .initial = "99",
                                    .least = "1",
                                    .most = "100",
                                    .unit = "percent",
                                    .doc = "How many of the receiving hosts must be steady to end an infinite run.\n"
                                           "Fail-in-place networks, section IV-D."}),
          option<&P::steady_width>({.name = "simulate.steady_width",
                                    .initial = "5",
                                    .least = "0.01",
                                    .most = "100",
                                    .unit = "percent",
                                    .doc =
                                        "Half the width, relative to the mean, that the confidence interval may have.\n"
                                        "An assumption: the paper gives no value."}),
      });
  return table;
}

Status check(const Parameters& parameters) {
  const std::uint32_t flits = flits_of(parameters.mtu + header_bytes);
  auto small = [&](std::string_view which, std::uint32_t held) {
    return Status{Code::bad_input, "checking simulate." + std::string(which),
                  "a packet of " + std::to_string(flits) + " flits does not fit into " + std::to_string(held),
                  "make the buffer larger or simulate.mtu smaller"};
  };
  if (parameters.input_buffer != 0 && parameters.input_buffer < flits)
    return small("input_buffer", parameters.input_buffer);
  if (parameters.output_buffer != 0 && parameters.output_buffer < flits)
    return small("output_buffer", parameters.output_buffer);
  if (parameters.hiccup_ns >= parameters.hiccup_period_ns)
    return {Code::bad_input, "checking simulate.hiccup", "it is not shorter than simulate.hiccup_period",
            "PCI Express would never move anything"};
  return read_arbitration(parameters.vl_arbitration, 16).status();
}

}  // namespace holdfast::simulate
