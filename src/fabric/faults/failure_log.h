#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/status/status.h"
#include "fabric/faults/failures.h"

namespace holdfast::fabric {

/// What ages (struct Ageing), in this order.
inline constexpr std::array<Component, 3> ageing_components = {Component::link, Component::switch_, Component::adapter};

/// Which parts of a network failed and were repaired while it was observed: docs/spec/failure-log.md.
struct FailureLog {
  struct Entry {
    Component component = Component::link;
    std::string part;           ///< its name: the same part may fail again once it was repaired
    std::int64_t failed_s = 0;  ///< seconds since 1970, UTC
    std::optional<std::int64_t> repaired_s{};
  };
  std::int64_t from_s = 0, to_s = 0;        ///< when it was observed
  std::array<std::uint64_t, 3> parts = {};  ///< that there are, by ageing_components
  std::vector<Entry> entries;               ///< in the file's order
};

inline constexpr std::uint64_t most_logged_parts = 100'000'000;

/// `name` says in messages where the text is from. Errors (bad_input): a line that is none of the format, a kind whose
/// number of parts is not given or is smaller than the parts that are named, a time outside of the observation, a
/// repair before its failure, a part that fails again before it was repaired.
Result<FailureLog> parse_failure_log(std::string_view text, std::string_view name);

}  // namespace holdfast::fabric
