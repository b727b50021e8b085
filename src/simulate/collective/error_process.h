#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/random/stream.h"
#include "core/status/status.h"
#include "fabric/topology/fabric.h"
#include "simulate/collective/disturbance.h"
#include "simulate/collective/tree.h"

/// Where and when soft errors come from. The paper gives the mean gap between errors and not what has the errors; these
/// are the processes that its words allow.
namespace holdfast::simulate::collective {

enum class ErrorSource : std::uint8_t {
  none,
  every_link,     ///< no randomness: the next good packet of every channel is hit, once in each direction asked for
  link,           ///< every link of the tree has errors of its own
  switch_ports,   ///< every switch has events of its own, which hit all its links at once
  switch_port,    ///< every switch has events of its own, each of which hits one of its links
  network,        ///< one process: each event hits every link at once
  network_share,  ///< one process: each event hits each link with the probability `share`
  network_link,   ///< one process: each event hits one link
  bit_errors,     ///< every link by its bit error rate; `mean_ps` is not used
};
inline constexpr std::array<std::string_view, 9> error_source_names = {"none",          "every-link",   "link",
                                                                       "switch-ports",  "switch-port",  "network",
                                                                       "network-share", "network-link", "bit-errors"};

/// What an event meets.
enum class Strikes : std::uint8_t {
  in_flight,  ///< the packet that is on the wire at that moment; none: no harm
  next,       ///< that packet, or else the next one on that channel
};
inline constexpr std::array<std::string_view, 2> strikes_names = {"in-flight", "next"};

/// How many of the copies.
enum class Reach : std::uint8_t {
  one,         ///< one channel, one packet
  every_copy,  ///< all channels of the link, and the copies of the same transmission that follow
};
inline constexpr std::array<std::string_view, 2> reach_names = {"one", "every-copy"};

/// What becomes of a packet that is hit.
enum class ErrorEffect : std::uint8_t {
  corrupt,  ///< a bit error: the receiver's checksums find it
  lose,     ///< a routing error or a buffer overrun: it does not arrive, and nobody but the sender's timer misses it
};
inline constexpr std::array<std::string_view, 2> error_effect_names = {"corrupt", "lose"};

struct ErrorProcess {
  ErrorSource source = ErrorSource::none;
  Time mean_ps = 0;  ///< between events of one process, exponentially distributed
  Strikes strikes = Strikes::in_flight;
  Reach reach = Reach::one;
  ErrorEffect effect = ErrorEffect::corrupt;
  double share = 0.1;
  bool up = true;                            ///< every_link: on the way up
  bool down = true;                          ///< every_link: on the way down
  double adapter_link_bit_error_rate = 0;    ///< bit_errors: errors per bit carried, copper to the adapters
  double switch_link_bit_error_rate = 0;     ///< and between switches
  std::int64_t bits_per_s = 10'000'000'000;  ///< of a whole link, signals included, for the bit error rate
  bool operator==(const ErrorProcess&) const = default;
};

/// Error (bad_input): a mean, share or rate that makes no process.
Status check(const ErrorProcess& process);

/// Draws what happens to a tree's wires from the start of a collective up to a horizon, which can be moved on: the same
/// events come again, with those after them. Not thread-safe.
class ErrorDraw {
 public:
  /// The tree and fabric must outlive it; `stream` is the collective's own.
  ErrorDraw(const ErrorProcess& process, const Tree& tree, const fabric::Fabric& fabric);

  /// Starts a collective's draw anew from this stream.
  void begin(const random::Stream& stream);
  /// The disturbance with all events before `horizon`, which must not decrease between two begin().
  const Disturbance& until(Time horizon);
  /// Drops what was drawn before this moment; the times of the others stay.
  void forget(Time before);

 private:
  void event(Time at);
  void strike(Time at, std::uint32_t wire);

  ErrorProcess process_;
  const Tree& tree_;
  std::vector<std::vector<std::uint32_t>> wires_of_switch_;
  std::vector<std::uint32_t> adapter_wires_;
  std::vector<std::uint32_t> switch_wires_;
  double rate_per_ps_ = 0;    // of events, all processes together
  double adapter_share_ = 0;  // bit_errors: of the events, those on adapters' links
  random::Stream stream_{0};
  Time next_ = 0;
  Disturbance drawn_;
};

}  // namespace holdfast::simulate::collective
