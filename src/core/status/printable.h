#pragma once

#include <string>
#include <string_view>

namespace holdfast {

/// Text that came from outside, fit for one line of a message: control characters are '?', line breaks and tabs a
/// blank, and a word of more than 160 bytes, such as a path of 5,000 letters, has "..." for its middle. UTF-8 letters
/// are not torn apart. Any thread.
std::string printable(std::string_view text);

}  // namespace holdfast
