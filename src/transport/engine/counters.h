#pragma once

#include "core/event/counters.h"

namespace holdfast::transport {

enum class Count {
  messages_sent,
  messages_received,
  bytes_sent,
  bytes_received,
  fragments_sent,
  fragments_retransmitted,
  fragments_received,
  duplicates,
  corrupt_fragments,
  corrupt_headers,
  corrupt_sources,
  foreign_packets,
  malformed_packets,
  stale_packets,
  stray_fragments,
  acks_sent,
  acks_piggybacked,
  acks_received,
  timeouts,
  local_timeouts,
  rails_suspected,
  rails_lost,
  rails_regained,
  probes_sent,
  peers_unreachable,
  peers_restarted,
  peers_given_up,
  messages_lost,
  unexpected_messages,
  back_pressure,
  clock_jumps,
  time_without_rail_ns,
  packets_refused_by_rail,
  count
};

inline constexpr event::CounterRows<Count> counter_rows = {{
    {"messages_sent", "messages", "Messages given to send."},
    {"messages_received", "messages", "Messages delivered into a receive."},
    {"bytes_sent", "bytes", "Bytes of the messages given to send."},
    {"bytes_received", "bytes", "Bytes of the messages delivered."},
    {"fragments_sent", "fragments", "Fragments put on a rail for the first time."},
    {"fragments_retransmitted", "fragments", "Fragments put on a rail again."},
    {"fragments_received", "fragments", "Fragments that arrived whole for the first time."},
    {"duplicates", "fragments", "Fragments that had arrived before."},
    {"corrupt_fragments", "fragments", "Fragments whose payload did not fit its checksum."},
    {"corrupt_headers", "packets", "Packets whose headers did not fit their check."},
    {"corrupt_sources", "fragments", "Fragments whose bytes had changed at their sender before they were sent again."},
    {"foreign_packets", "packets", "Packets of another protocol or version, or cut short."},
    {"malformed_packets", "packets", "Packets that fit their check and make no sense."},
    {"stale_packets", "packets", "Packets of a session that is over."},
    {"stray_fragments", "fragments", "Fragments that belong to nothing here."},
    {"acks_sent", "acknowledgements", "Acknowledgements sent, alone or with data."},
    {"acks_piggybacked", "acknowledgements", "Acknowledgements that rode on data."},
    {"acks_received", "acknowledgements", "Acknowledgements received."},
    {"timeouts", "VFRAGs", "VFRAGs whose acknowledgement did not come in time."},
    {"local_timeouts", "VFRAGs", "VFRAGs that a rail kept too long."},
    {"rails_suspected", "rails", "Rails to a peer that fell silent."},
    {"rails_lost", "rails", "Rails to a peer that were taken out."},
    {"rails_regained", "rails", "Rails to a peer that were taken back."},
    {"probes_sent", "packets", "Probes of rails and peers, and the first packet to each peer."},
    {"peers_unreachable", "peers", "Peers given up because no rail reached them."},
    {"peers_restarted", "peers", "Peers that came back as another process, or had given this one up."},
    {"peers_given_up", "peers", "Peers to and from which nothing goes any more, for whatever reason."},
    {"messages_lost", "messages", "Messages that were sent and whose delivery is unknown."},
    {"unexpected_messages", "messages", "Messages that arrived before their receive was posted."},
    {"back_pressure", "calls", "Sends refused because the log was full."},
    {"clock_jumps", "jumps", "Times the clock went back, or further ahead than a step."},
    {"time_without_rail_ns", "ns", "Time in which there was something to send to a peer and no rail to it."},
    {"packets_refused_by_rail", "packets", "Packets that a rail had no room for at that moment."},
}};

using Counters = event::Counters<Count>;

}  // namespace holdfast::transport
