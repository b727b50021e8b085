#include "replicate/launch/report/tally.h"

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace holdfast::launch {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t numbers_at = 2048;
constexpr std::size_t most_bytes = 4096;  ///< of a file that are looked at

bool add_tally(nlohmann::ordered_json& sums, const std::string& text, const std::string& job) {
  const std::size_t line = text.find('\n');
  if (line == std::string::npos || line >= numbers_at) return false;
  std::istringstream words(text.substr(0, line));
  std::string first;
  std::string of_job;
  if (!(words >> first >> of_job) || first != "holdfast-counted" || of_job != job) return false;
  std::vector<std::string> names;
  for (std::string name; words >> name;) names.push_back(name);
  if (text.size() < numbers_at + names.size() * sizeof(std::uint64_t)) return false;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::uint64_t number = 0;
    std::memcpy(&number, text.data() + numbers_at + i * sizeof number, sizeof number);
    sums[names[i]] = (sums.contains(names[i]) ? sums[names[i]].get<std::uint64_t>() : 0) + number;
  }
  return true;
}

}  // namespace

nlohmann::ordered_json read_tallies(const std::string& run_directory, const std::string& job) {
  nlohmann::ordered_json sums;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(run_directory, failed)) {
    if (!entry.path().filename().string().starts_with("counted-") || !entry.is_regular_file(failed)) continue;
    std::string text(most_bytes, '\0');
    std::ifstream file(entry.path(), std::ios::binary);
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    add_tally(sums, text, job);
  }
  return sums;
}

}  // namespace holdfast::launch
