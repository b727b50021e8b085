#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "core/integrity/digest.h"

/// XXH3 of xxHash, seed 0 (Y. Collet, https://xxhash.com, library version 0.8).
namespace holdfast::integrity {

/// Both widths, by the kernel for this CPU. Short inputs, up to 240 bytes, take xxHash's code inlined here: they are
/// the common messages, and a call through the dispatcher costs as much as the digest.
Digest xxh3_64(std::span<const std::byte> bytes);
Digest xxh3_128(std::span<const std::byte> bytes);

/// One implementation. All give the same digests.
struct Xxh3Kernel {
  std::string_view name;
  Digest (*digest_64)(std::span<const std::byte> bytes);
  Digest (*digest_128)(std::span<const std::byte> bytes);
};

/// Every kernel that this build and CPU can run; for the conformance suite and the benchmark.
std::span<const Xxh3Kernel> xxh3_kernels();

}  // namespace holdfast::integrity
