#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace holdfast::plan {

/// How a reduction in the fabric protects its packets against soft errors ("Reducing the Impact of Soft Errors on
/// Fabric-Based Collectives", section 4): not at all but for retransmission, r copies back to back through one port, or
/// one copy through each of r ports, for which a host's port is split into r channels of 1/r of its rate, or its
/// adapter has r ports of full rate, which take as many switches more.
enum class Scheme : std::uint8_t { single, temporal, spatial, several_ports };
std::string_view scheme_name(Scheme scheme);

/// A reduction to the root of a tree of switches that store and forward. Times are whole picoseconds.
struct Reduction {
  std::vector<std::uint64_t> children;  ///< of a switch at each level, from the hosts up; at most 8 levels
  std::uint64_t packets = 1;            ///< of an operand
  std::int64_t packet_ps = 0;           ///< a full packet on a link
  std::int64_t hca_delay_ps = 0;
  std::int64_t switch_delay_ps = 0;
  std::int64_t retransmission_ps = 0;  ///< from a lost packet to its repeated copy's arrival
  double packet_loss = 0;              ///< chance that a packet arrives corrupt at the end of one link
};

/// When the root has the result.
struct Completion {
  std::int64_t undisturbed_ps = 0;
  double mean_ps = 0;
  double delayed_chance = 0;        ///< that errors delay it at all
  double retransmitted_chance = 0;  ///< that they delay it by a retransmission or more
};

/// Closed form of the undisturbed time, and the exact distribution of the delay that follows: a switch waits for the
/// slowest of its children, who are independent; a link's delay is the place of its first good copy, or a
/// retransmission when all r are lost. A message of several packets counts as if each were on the critical path, and
/// the r trees of the spatial scheme as if they shared no link above the leaves: both make the mean too long rather
/// than too short. docs/design/plan.md; `packet_loss` at most 0.5; what is rarer
/// than 1e-30 is left out.
Completion complete(const Reduction& reduction, Scheme scheme, int copies);

/// The penalty that the paper's 55 % for two lost ports implies under the assumptions of docs/design/plan.md: a NAK of
/// 30 bytes, five switch delays, and the packet again.
std::int64_t retransmission_ps(double packet_bytes, double link_bit_per_s, std::int64_t switch_delay_ps);

}  // namespace holdfast::plan
