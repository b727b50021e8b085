#include "replicate/launch/report/tally.h"

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <vector>

#include "core/arithmetic/totals.h"
#include "replicate/launch/plan/left_file.h"

namespace holdfast::launch {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t numbers_at = 2048;
constexpr std::size_t most_tally_bytes = 4096;  ///< of a file that are looked at

void add_tally(nlohmann::ordered_json& sums, const std::string& text, const std::string& job) {
  const std::size_t line = text.find('\n');
  if (line == std::string::npos || line >= numbers_at) return;
  std::istringstream words(text.substr(0, line));
  std::string first;
  std::string of_job;
  if (!(words >> first >> of_job) || first != "holdfast-counted" || of_job != job) return;
  std::vector<std::string> names;
  for (std::string name; words >> name; names.push_back(name))
    if (name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") != std::string::npos) return;
  if (text.size() < numbers_at + names.size() * sizeof(std::uint64_t)) return;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::uint64_t number = 0;
    std::memcpy(&number, text.data() + numbers_at + i * sizeof number, sizeof number);
    const std::uint64_t before = sums.contains(names[i]) ? sums[names[i]].get<std::uint64_t>() : 0;
    sums[names[i]] = arithmetic::add_or_most(before, number);
  }
}

}  // namespace

nlohmann::ordered_json read_tallies(const std::string& run_directory, const std::string& job) {
  nlohmann::ordered_json sums;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(run_directory, failed)) {
    if (!process_named(entry.path().filename().string(), "counted-")) continue;
    add_tally(sums, read_left_file(entry.path().string(), most_tally_bytes), job);
  }
  return sums;
}

}  // namespace holdfast::launch
