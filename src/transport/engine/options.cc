#include "transport/engine/options.h"

namespace holdfast::transport {

const config::Table<Options>& options_table() {
  using config::duration;
  using config::option;
  static const config::Table<Options> table(
      "transport",
      {
          option<&Options::fragment_bytes>({.name = "transport.fragment_bytes",
                                            .initial = "262144",
                                            .least = "64",
                                            .most = "1048576",
                                            .unit = "bytes",
                                            .doc = "Largest payload of a fragment, S_max; a smaller packet size of a "
                                                   "rail lowers it."}),
          option<&Options::checksum>({.name = "transport.checksum",
                                      .initial = "crc32c",
                                      .choices = integrity::checksum_names,
                                      .doc = "The checksum of each fragment's payload."}),
          option<&Options::eager_bytes>({.name = "transport.eager_bytes",
                                         .initial = "65536",
                                         .most = "16777216",
                                         .unit = "bytes",
                                         .doc = "Longest message that is sent without asking the receiver first."}),
          duration<&Options::tick_ns>({.name = "transport.tick",
                                       .initial = "10ms",
                                       .least = "10us",
                                       .most = "10s",
                                       .doc = "Longest time between two calls of the engine by the progress thread.\n"
                                              "A rail that is silent for three ticks is asked for a sign."}),
          duration<&Options::ack_delay_ns>({.name = "transport.ack_delay",
                                            .initial = "200us",
                                            .most = "1s",
                                            .doc = "How long an acknowledgement may wait for data to ride on."}),
          option<&Options::ack_packets>({.name = "transport.ack_packets",
                                         .initial = "16",
                                         .least = "1",
                                         .most = "65535",
                                         .unit = "packets",
                                         .doc = "Packets after which an acknowledgement waits no longer."}),
          duration<&Options::least_timeout_ns>({.name = "transport.least_timeout",
                                                .initial = "1ms",
                                                .least = "1us",
                                                .most = "10s",
                                                .doc = "Shortest retransmission timeout."}),
          duration<&Options::most_timeout_ns>({.name = "transport.most_timeout",
                                               .initial = "500ms",
                                               .least = "1us",
                                               .most = "60s",
                                               .doc = "Longest retransmission timeout."}),
          option<&Options::retransmission_limit>(
              {.name = "transport.retransmission_limit",
               .initial = "6",
               .least = "1",
               .most = "100",
               .unit = "times",
               .doc =
                   "Questions in a row that a suspect rail may leave unanswered, and suspicions with no data carried "
                   "in between, after which it is taken out; fragments that it may lose in a row before it is in "
                   "doubt."}),
          duration<&Options::local_timeout_ns>(
              {.name = "transport.local_timeout",
               .initial = "1s",
               .least = "1ms",
               .most = "60s",
               .doc = "How long a rail may keep a fragment without saying that it was sent."}),
          duration<&Options::unreachable_after_ns>(
              {.name = "transport.unreachable_after",
               .initial = "60s",
               .least = "1ms",
               .most = "24h",
               .doc = "How long an outage may last: a peer from which nothing came for so long, on all rails, is "
                      "given up, for good."}),
          duration<&Options::keepalive_ns>(
              {.name = "transport.keepalive",
               .initial = "1s",
               .least = "1ms",
               .most = "24h",
               .doc = "How often a silent peer is asked for a sign while a receive waits for it alone."}),
          duration<&Options::probe_interval_ns>({.name = "transport.probe_interval",
                                                 .initial = "1s",
                                                 .least = "1ms",
                                                 .most = "1h",
                                                 .doc = "Longest time between two probes of a rail that is out."}),
          option<&Options::window_bytes>({.name = "transport.window_bytes",
                                          .initial = "4194304",
                                          .least = "4096",
                                          .unit = "bytes",
                                          .doc = "Largest congestion window of one rail to one peer."}),
          option<&Options::vfrag_window>({.name = "transport.vfrag_window",
                                          .initial = "1024",
                                          .least = "64",
                                          .most = "65536",
                                          .unit = "VFRAGs",
                                          .doc = "VFRAGs to one peer that may be unacknowledged; a power of two."}),
          option<&Options::message_window>({.name = "transport.message_window",
                                            .initial = "65536",
                                            .least = "1",
                                            .most = "16777216",
                                            .unit = "messages",
                                            .doc = "Messages of one peer that may wait for a receive to be posted."}),
          option<&Options::eager_credit_bytes>(
              {.name = "transport.eager_credit_bytes",
               .initial = "262144",
               .unit = "bytes",
               .doc = "Unexpected bytes that one peer may have here; more of them wait at the sender."}),
          option<&Options::unexpected_bytes>({.name = "transport.unexpected_bytes",
                                              .initial = "268435456",
                                              .unit = "bytes",
                                              .doc = "Unexpected bytes that all peers together may have here."}),
          option<&Options::log_bytes>(
              {.name = "transport.log_bytes",
               .initial = "67108864",
               .least = "65536",
               .unit = "bytes",
               .doc = "Bytes of sent and unacknowledged messages that are kept here, with what the "
                      "engine keeps of each; beyond them a send has to be tried again."}),
          option<&Options::secret_file>(
              {.name = "transport.secret_file",
               .initial = "",
               .doc = "File with the secret that the processes of the job share: 32 or more hexadecimal digits, mode "
                      "0600.\nEvery packet is authenticated with it. 'holdfast run --transport' makes one for each "
                      "job.\nEmpty: packets are not authenticated."}),
      });
  return table;
}

}  // namespace holdfast::transport
