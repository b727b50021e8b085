#pragma once

#include <cstdint>
#include <string_view>

#include "fabric/routing/engines/engine.h"

namespace holdfast::fabric {

struct Rerouting {
  Forwarding tables;
  std::uint32_t destinations = 0;  ///< LIDs whose routes were mended
  bool anew = false;               ///< all routes were computed anew: mending could not keep the engine's promise
};

/// Mends tables after links or switches have failed, changing few entries: switches whose way to a destination is whole
/// keep it; the others are joined to those, nearest first, keeping their old port where it still leads on. Where the
/// engine promises freedom from deadlock, a step is taken only if it closes no cycle of channel dependencies with the
/// routes that stay, and routes of engines that use several lanes may move to another lane; when that does not work
/// out, everything is routed anew. dor and torus-2qos are always computed anew: their rules leave almost everything
/// where it is.
///
/// `old` are that engine's tables of the same fabric with more links up. Links that came back are not used: call
/// route(). Time: one look at each entry in use, some milliseconds for thousands of hosts. Errors: as route().
Result<Rerouting> reroute(const Fabric& fabric, const Forwarding& old, std::string_view engine,
                          const EngineOptions& options = {});

}  // namespace holdfast::fabric
