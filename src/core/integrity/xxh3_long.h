#pragma once

#include <cstddef>
#include <span>

#include "core/integrity/digest.h"

namespace holdfast::integrity {

/// XXH3 by libxxhash's own choice among AVX-512, AVX2, SSE2 and scalar code, made at the first call. Any length, meant
/// for long ones. In a file of its own because xxHash cannot be inlined and dispatched in one.
Digest xxh3_64_dispatched(std::span<const std::byte> bytes);
Digest xxh3_128_dispatched(std::span<const std::byte> bytes);

}  // namespace holdfast::integrity
