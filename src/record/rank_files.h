#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// The files of a recording by their names, for those who do not read them.
namespace holdfast::record {

/// "rank-000012.rec".
std::string rank_file_name(std::uint64_t rank);

/// The rank in such a name; none in any other.
std::optional<std::uint64_t> rank_of_file(std::string_view name);

/// Whether the folder holds files of a recording and nothing else, or nothing at all; such a folder may be recorded to.
bool may_be_recorded_to(const std::string& folder);

}  // namespace holdfast::record
