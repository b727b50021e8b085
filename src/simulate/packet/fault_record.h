#pragma once

#include <cstdint>
#include <vector>

#include "simulate/kernel/time.h"

namespace holdfast::simulate {

/// What faults during the traffic did to it. Packets are counted each time they are sent: sent = delivered + lost +
/// discarded by receivers (`repeated`, `out_of_order`, `late`) + under way at the end.
struct FaultRecord {
  bool any = false;                ///< there was a timeline
  bool reliable = false;           ///< connections
  std::uint64_t lost_cut = 0;      ///< on a link when it failed, or in the buffer before it
  std::uint64_t lost_down = 0;     ///< for a link that was down
  std::uint64_t lost_noise = 0;    ///< their VCRC was wrong
  std::uint64_t lost_looping = 0;  ///< beyond the hop limit
  std::uint64_t lost_no_route = 0;
  std::uint64_t under_way = 0;  ///< at the end
  std::uint64_t looped = 0;     ///< packets that passed more switches than there are

  std::uint64_t repeated = 0;      ///< arrived again
  std::uint64_t out_of_order = 0;  ///< arrived after a gap
  std::uint64_t late = 0;          ///< arrived after its sender had given up
  std::uint64_t retransmitted = 0;
  std::uint64_t timeouts = 0;
  std::uint64_t sequence_errors = 0;  ///< negative acknowledgements
  std::uint64_t connections = 0;
  std::uint64_t connections_broken = 0;   ///< their retries were over
  std::uint64_t messages_failed = 0;      ///< of broken connections
  std::uint64_t connections_stalled = 0;  ///< lost something and went on
  Time longest_stall_ps = 0;              ///< from the loss of a connection's packet to the acknowledgement of one
  Time total_stall_ps = 0;

  Time sample_ps = 0;                  ///< length of the samples of
  std::vector<std::uint64_t> goodput;  ///< payload bytes that all hosts got, by sample
};

}  // namespace holdfast::simulate
