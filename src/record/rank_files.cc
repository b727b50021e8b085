#include "record/rank_files.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace holdfast::record {
namespace {

constexpr std::size_t fewest_digits = 6;

}  // namespace

std::string rank_file_name(std::uint64_t rank) {
  const std::string digits = std::to_string(rank);
  return "rank-" + std::string(fewest_digits - std::min(fewest_digits, digits.size()), '0') + digits + ".rec";
}

std::optional<std::uint64_t> rank_of_file(std::string_view name) {
  if (!name.starts_with("rank-") || !name.ends_with(".rec")) return std::nullopt;
  name.remove_prefix(5);
  name.remove_suffix(4);
  std::uint64_t rank = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), rank);
  if (error != std::errc() || end != name.data() + name.size() || rank >= std::uint64_t{1} << 24) return std::nullopt;
  return rank;
}

bool may_be_recorded_to(const std::string& folder) {
  std::error_code error;
  std::filesystem::directory_iterator entries(folder, error);
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error))
    if (!rank_of_file(entries->path().filename().string())) return false;
  return !error;
}

}  // namespace holdfast::record
