#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// The files of a recording by their names and ends, for those who do not read them.
namespace holdfast::record {

/// "rank-000012.rec".
std::string rank_file_name(std::uint64_t rank);

/// The rank in such a name; none in any other.
std::optional<std::uint64_t> rank_of_file(std::string_view name);

/// Whether the folder holds files of a recording and nothing else, or nothing at all; such a folder may be recorded to.
/// A name alone makes no file a recording: it is empty, as a full disk leaves it, or begins as recordings do.
bool may_be_recorded_to(const std::string& folder);

/// What a rank's file is, told by its two ends alone.
enum class RankFileState {
  none,          ///< there is no such file, or no recording in it
  of_other_job,  ///< another job's
  cut,           ///< it has no end: the disk was full, or the process died
  whole,
};
RankFileState rank_file_state(const std::string& path, const std::string& job);

}  // namespace holdfast::record
