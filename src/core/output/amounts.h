#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Numbers for people.
namespace holdfast::output {

/// "48,112".
std::string grouped(std::uint64_t number);
/// "1 rank", "48,112 ranks".
std::string count(std::uint64_t number, std::string_view one, std::string_view many);
/// "61.2 MB", in powers of 1000.
std::string byte_size(std::uint64_t bytes);

}  // namespace holdfast::output
