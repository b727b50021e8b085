#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "fabric/check/paths.h"
#include "fabric/tables/forwarding.h"

namespace holdfast::fabric {

/// How many routes are cut from the moment that something fails until the subnet manager has routed anew: J. Domke,
/// T. Hoefler, S. Matsuoka, "Fail-in-Place Network Design", SC 2014, section III-C and Figure 2.
enum class Failing : std::uint8_t { links, switches };

/// Equations 5 and 6: n / |E| times the sum of all edge forwarding indices, where E is the working links between
/// switches and a link's index the routes over both of its directions. For switches likewise, with the routes through,
/// from and to each of them. Exact for n = 1; for more it counts routes that several failures cut more than once.
double expected_lost_routes(const Fabric& fabric, const Forwarding& tables, const PathReport& report, Failing what,
                            unsigned failures);

struct LostRoutes {
  unsigned failures = 0;
  std::uint64_t min = 0;
  std::uint64_t max = 0;
  double mean = 0;
  double expected = 0;  ///< by expected_lost_routes()
};

/// Counts: for each number of failures, takes down that many working links between switches (or switches with all their
/// links), drawn anew for each seed from first_seed on, and walks the tables as they are. A number larger than what
/// there is takes all. The draw may disconnect hosts. The result does not depend on `threads`.
std::vector<LostRoutes> count_lost_routes(const Fabric& fabric, const Forwarding& tables, Failing what,
                                          const std::vector<unsigned>& failures, unsigned seeds,
                                          std::uint64_t first_seed = 1, unsigned threads = 0);

/// A table for people, a line a number of failures; and as an array of JSON objects.
std::string lost_routes_text(const std::vector<LostRoutes>& counts, Failing what);
nlohmann::ordered_json lost_routes_json(const std::vector<LostRoutes>& counts);

}  // namespace holdfast::fabric
