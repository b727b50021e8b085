#pragma once

#include <cstdint>
#include <vector>

#include "core/status/status.h"
#include "fabric/tables/forwarding.h"
#include "fabric/topology/fabric.h"
#include "simulate/kernel/time.h"
#include "simulate/packet/parameters.h"

namespace holdfast::simulate {

/// What becomes of the network while traffic runs. All of it is known before the run, so that a packet's fate is known
/// when it is sent. Of one moment, everything here takes effect before anything else does.
struct Timeline {
  /// A link carries nothing in [down, up). What has not passed it wholly at `down` is lost, and so is what asks for it
  /// until `up`.
  struct Outage {
    fabric::LinkId link = 0;
    Time down = 0;
    Time up = never;
  };
  /// Each bit of a packet whose transmission begins in [from, to) is damaged with this probability, each by itself.
  struct Noise {
    fabric::LinkId link = 0;
    double bit_error_rate = 0;  ///< above 0, below 1
    Time from = 0;
    Time to = never;
  };
  /// A link has this part of its rate left for the packets that are let across to it in [from, to). Of several at once
  /// the slowest holds.
  struct Slowness {
    fabric::LinkId link = 0;
    std::uint64_t numerator = 0, denominator = 1;  ///< above 0, below 1
    Time from = 0;
    Time to = never;
  };
  /// A switch (by row) has the entries of other tables from now on; null: none at all, as after it was switched on.
  struct Write {
    Time at = 0;
    std::uint32_t row = 0;
    const fabric::Forwarding* tables = nullptr;
  };
  /// Messages that begin from now on get the service levels of these tables.
  struct Paths {
    Time at = 0;
    const fabric::Forwarding* tables = nullptr;
  };

  std::vector<Outage> outages;
  std::vector<Noise> noise;
  std::vector<Slowness> slow;
  std::vector<Write> writes;
  std::vector<Paths> paths;
  std::uint64_t seed = 1;  ///< of the noise

  /// Adapters' connections are reliable: what is lost is sent again. Otherwise a message that lost a packet is lost.
  bool reliable = true;
};

/// The same with the outages of each link in the order of time, those that touch each other joined.
/// Errors (bad_input): a link or row that there is not; an end that is not after its begin; a rate outside (0, 1);
/// tables of another size; a time before the start; a link slower than any that is simulated (slowest_flit_ps); more
/// than 1,000 slow links.
Result<Timeline> check(Timeline timeline, const fabric::Fabric& fabric, const fabric::Forwarding& tables,
                       const Parameters& parameters);

/// A link has another pace from now on.
struct RateChange {
  Time at = 0;
  fabric::LinkId link = 0;
  Pace pace;
};

/// What the slow links of a timeline that was checked come to, in the order of links and of time.
std::vector<RateChange> rate_changes(const Timeline& timeline, const fabric::Fabric& fabric,
                                     const Parameters& parameters);

/// The probability that a packet of so many bytes is damaged.
double damage_probability(double bit_error_rate, std::uint32_t bytes);

}  // namespace holdfast::simulate
