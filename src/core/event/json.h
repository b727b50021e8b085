#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

/// JSON from and to others, with what the library leaves to its callers. Any thread.
namespace holdfast::event {

/// Arrays and objects within each other; ours nest four deep.
inline constexpr std::size_t deepest_json = 64;

/// What another process, a file or another host gave as JSON. Discarded (is_discarded()) when it is none, or nests
/// deeper than `deepest_json`: to copy or to print such a value takes a frame of the stack for each level.
nlohmann::ordered_json parse_json(std::string_view text);

/// In one line. Bytes that are no UTF-8, as names of files may have, become U+FFFD; dump() alone would throw.
std::string json_line(const nlohmann::ordered_json& value);

}  // namespace holdfast::event
