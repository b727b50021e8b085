#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

/// Files that the processes of a job left in its run directory (run_directory.h). Who wrote them may have been struck,
/// cut off, or no process of the job at all: what they are called and hold is a stranger's word.
namespace holdfast::launch {

struct ProcessName {
  int rank = -1;
  int replica = -1;
};

/// Whose file this is, by its name "<prefix><rank>.<replica><suffix>" in digits alone; none for any other name.
std::optional<ProcessName> process_named(std::string_view file, std::string_view prefix, std::string_view suffix = {});

/// The file's first bytes, `most` of them; none when it is no regular file, which is not waited for.
std::string read_left_file(const std::string& path, std::uint64_t most);

/// The JSON object in a file; null when there is no such file, it is damaged, or is larger than 64 MiB.
nlohmann::ordered_json read_json_file(const std::string& path);
/// The same where it says that it is that job's ("job": NAME); null otherwise.
nlohmann::ordered_json read_jobs_file(const std::string& path, const std::string& job);

}  // namespace holdfast::launch
