#pragma once

#include <string>
#include <string_view>

namespace holdfast::launch {

/// LD_PRELOAD for the application: `library` and what the user preloads already, which is kept. Ours comes first, so
/// that other tools see the calls that Holdfast makes; with `chain` it comes last, so that they see the application's.
std::string join_preload(std::string_view library, std::string_view users, bool chain);

}  // namespace holdfast::launch
