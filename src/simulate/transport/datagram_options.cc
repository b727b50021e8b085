#include "simulate/transport/datagram_options.h"

namespace holdfast::simulate {

const config::Table<DatagramOptions>& datagram_table() {
  using config::duration;
  using config::option;
  using D = DatagramOptions;
  static const config::Table<D> table(
      "datagram",
      {
          option<&D::rails>({.name = "datagram.rails",
                             .initial = "16",
                             .least = "1",
                             .most = "16",
                             .unit = "adapters",
                             .doc = "Most rails of a host, its adapters by name.\n"
                                    "Adapters whose descriptions differ by the device alone (node17 mlx5_0, node17 "
                                    "mlx5_1) are one host's. 1: every adapter is a host of its own."}),
          option<&D::queue>({.name = "datagram.queue",
                             .initial = "64",
                             .least = "1",
                             .most = "65536",
                             .unit = "packets",
                             .doc = "Packets that an adapter holds before it has no room for the engine's next.\n"
                                    "An assumption."}),
          option<&D::ahead>({.name = "datagram.ahead",
                             .initial = "256",
                             .least = "1",
                             .most = "1048576",
                             .unit = "messages",
                             .doc = "Messages of a host that may be on their way; the next waits in the program.\n"
                                    "It bounds the memory of a simulation, and is no part of the protocol."}),
          duration<&D::send_overhead_ns>(
              {.name = "datagram.send_overhead",
               .initial = "335ns",
               .least = "0ns",
               .most = "1s",
               .doc = "Time of the sender's processor for each packet.\n"
                      "Half of what a message of 8 bytes costs over the provider below, shared memory "
                      "(docs/results/provider.md)."}),
          duration<&D::receive_overhead_ns>({.name = "datagram.receive_overhead",
                                             .initial = "335ns",
                                             .least = "0ns",
                                             .most = "1s",
                                             .doc = "Time of the receiver's processor for each packet; likewise."}),
          option<&D::send_byte_ps>({.name = "datagram.send_byte",
                                    .initial = "26",
                                    .least = "0",
                                    .most = "1000000",
                                    .unit = "ps a byte",
                                    .doc = "Time of the sender's processor for each byte of a packet.\n"
                                           "Half of what 1 MiB costs over the provider below, with its sums "
                                           "(docs/results/provider.md)."}),
          option<&D::receive_byte_ps>({.name = "datagram.receive_byte",
                                       .initial = "26",
                                       .least = "0",
                                       .most = "1000000",
                                       .unit = "ps a byte",
                                       .doc = "Time of the receiver's processor for each byte of a packet; likewise."}),
      });
  return table;
}

}  // namespace holdfast::simulate
