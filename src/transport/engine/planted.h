#pragma once

#include <cstdint>

namespace holdfast::transport {

/// Mechanisms of the engine that can be left out, for the proof that an oracle sees when they are. Only where the
/// engine is compiled with HOLDFAST_PLANTED_FAULTS, for tests of the oracles; in the shipped engine no branch on them
/// is left.
enum class Planted : std::uint8_t {
  none,
  accept_duplicates,
  ignore_checksums,
  ignore_order,
  acknowledge_too_much,
  forget_retransmission,
  lose_completion,
  leak_buffer,
  ignore_identities,
  ignore_tags,
  forget_lost_peers,   ///< after a loss the next message begins another session, and takes the lost one's place
  write_before_check,  ///< a fragment's bytes go to a receive's memory before they are known to be good
};

#ifdef HOLDFAST_PLANTED_FAULTS
/// What this thread's engines leave out.
inline constinit thread_local Planted planted = Planted::none;

inline bool is_planted(Planted fault) {
  return planted == fault;
}
#else
constexpr bool is_planted(Planted) {
  return false;
}
#endif

}  // namespace holdfast::transport
