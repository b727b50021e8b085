#pragma once

#include <string_view>

#include "core/config/toml.h"
#include "core/status/status.h"

/// For sources, as toml.h is.
namespace holdfast::config {

/// The root table of a TOML 1.0 document. `place` is what stands before a line's number in messages: "study.toml line
/// ". Error (bad_input): no such document; a key of more than 64 dots, each of which is a table that copying and
/// destroying take a frame of the stack for; or letters where toml++ up to 3.4 runs into undefined behaviour
/// (is_non_ascii_horizontal_whitespace(), its issues 190 and 295): what is no ASCII outside strings and comments, where
/// TOML has none, or behind a backslash that ends a line of a string. Text with such letters is read twice.
Result<toml::table> parse_toml(std::string_view text, std::string_view place);

}  // namespace holdfast::config
