#pragma once

#include <string>
#include <string_view>

namespace holdfast::launch {

/// `word` as a POSIX shell reads it back: as it is when nothing in it is special, otherwise in single quotes.
std::string shell_quote(std::string_view word);

}  // namespace holdfast::launch
