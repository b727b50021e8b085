#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/status/status.h"
#include "fabric/tables/forwarding.h"
#include "fabric/topology/fabric.h"

/// A judge that is not ours: ibdmchk of ibutils, on a fabric and its tables.
namespace holdfast::fabric::opensm {

struct Judgement {
  std::uint64_t scanned_paths = 0;  ///< between adapters
  std::uint64_t lost_paths = 0;
  bool looked_for_loops = false;  ///< it does not when paths are lost
  bool credit_loops = false;
  std::string loop;  ///< the first line that names one
};

/// Writes what ibdmchk reads (subnet list, forwarding tables, SL of every pair, SL to VL tables), runs it, and reads
/// its verdict from what it prints, since it may crash afterwards. A line a pair of adapters: for fabrics of a few
/// hundred hosts. It also leaves histograms in /var/cache/ibutils, its own fixed folder. Errors: unavailable when it is
/// not installed; io; internal when it printed no verdict.
Result<Judgement> ask_ibdmchk(const Fabric& fabric, const Forwarding& tables, std::int64_t time_limit_ns);

/// The verdict in what ibdmchk printed. Error: internal.
Result<Judgement> read_judgement(std::string_view text);

}  // namespace holdfast::fabric::opensm
