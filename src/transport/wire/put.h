#pragma once

#include <cstdint>

namespace holdfast::transport {

/// What became of a packet that was given to a rail.
enum class Put : std::uint8_t {
  done,     ///< the bytes were taken: they may change at once
  pending,  ///< they must stay until the rail says that the packet with this token left
  taken,    ///< they may change at once, and the rail says later whether they left
  busy,     ///< the rail has no room now, and says when to try again
  failed,   ///< this rail does not reach the destination now
};

}  // namespace holdfast::transport
