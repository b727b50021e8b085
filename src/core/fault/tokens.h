#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "core/status/status.h"

namespace holdfast::fault {

/// A place in a text, both from 1; columns count bytes.
struct Position {
  std::size_t line = 1;
  std::size_t column = 1;
};

struct Token {
  enum class Kind { word, quoted, separator, end };
  Kind kind = Kind::end;
  std::string_view text;  ///< into the source, without the quotes
  Position at;
};

/// "reading NAME line 1 column 7"
std::string reading(std::string_view name, const Position& at);

/// Splits a text into words, quoted names and separators; the last token is always `end`. The tokens point into `text`.
/// Errors (bad_input): a quotation that does not end in its line, a control character.
Result<std::vector<Token>> split(std::string_view text, std::string_view name);

}  // namespace holdfast::fault
