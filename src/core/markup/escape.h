#pragma once

#include <string>
#include <string_view>

namespace holdfast::markup {

/// Text for XML and HTML, as content or in quotes (XML 1.0, 2.4). Control characters, which XML has none of, become
/// blanks.
std::string escaped(std::string_view text);

}  // namespace holdfast::markup
