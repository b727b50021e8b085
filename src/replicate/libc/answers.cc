#include "replicate/libc/answers.h"

#include "replicate/engine/mix.h"
#include "replicate/mpi/context/comms.h"
#include "replicate/process/call_site.h"

namespace holdfast::replicate {

std::uint32_t subject_of(SystemAnswer what, std::uint64_t which) {
  const std::uint64_t mixed = mix(mix(static_cast<std::uint64_t>(what), which), call_site());
  return static_cast<std::uint32_t>(mixed ^ (mixed >> 32));
}

}  // namespace holdfast::replicate
