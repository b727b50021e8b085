#include "core/integrity/digest.h"

#include <string>

#include "core/integrity/crc32c.h"
#include "core/integrity/xxh3.h"
#include "core/status/hint.h"

namespace holdfast::integrity {

Digest digest(Algorithm algorithm, std::span<const std::byte> bytes) {
  switch (algorithm) {
    case Algorithm::xxh3_128:
      return xxh3_128(bytes);
    case Algorithm::xxh3_64:
      return xxh3_64(bytes);
    case Algorithm::crc32c:
      return {crc32c_extend(0, bytes), 0};
  }
  return {};
}

std::string_view name(Algorithm algorithm) {
  return algorithm_names[static_cast<std::size_t>(algorithm)];
}

Result<Algorithm> find_algorithm(std::string_view name) {
  for (std::size_t i = 0; i < algorithm_names.size(); ++i) {
    if (algorithm_names[i] == name) return static_cast<Algorithm>(i);
  }
  return Status(Code::bad_input, "choosing a digest", "unknown algorithm '" + std::string(name) + "'",
                did_you_mean(name, algorithm_names, "choose one of xxh3-128, xxh3-64, crc32c"));
}

}  // namespace holdfast::integrity
