#include "replicate/launch/plan/left_file.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/event/json.h"

namespace holdfast::launch {
namespace {

constexpr std::uint64_t largest_json = 64U << 20U;

/// Takes the digits that `text` begins with.
bool take_number(std::string_view& text, int& number) {
  if (text.empty() || text.front() < '0' || text.front() > '9') return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return error == std::errc();
}

}  // namespace

std::optional<ProcessName> process_named(std::string_view file, std::string_view prefix, std::string_view suffix) {
  if (!file.starts_with(prefix)) return std::nullopt;
  file.remove_prefix(prefix.size());
  ProcessName name;
  if (!take_number(file, name.rank) || !file.starts_with('.')) return std::nullopt;
  file.remove_prefix(1);
  if (!take_number(file, name.replica) || file != suffix) return std::nullopt;
  return name;
}

std::string read_left_file(const std::string& path, std::uint64_t most) {
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed)) return {};
  const std::uint64_t size = std::filesystem::file_size(path, failed);
  if (failed) return {};
  std::string text(std::min(size, most), '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return text;
}

nlohmann::ordered_json read_json_file(const std::string& path) {
  const std::string text = read_left_file(path, largest_json + 1);
  if (text.size() > largest_json) return nullptr;
  nlohmann::ordered_json object = event::parse_json(text);
  return object.is_object() ? object : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json read_jobs_file(const std::string& path, const std::string& job) {
  nlohmann::ordered_json object = read_json_file(path);
  if (!object.is_object()) return object;
  const auto said = object.find("job");
  return said != object.end() && *said == job ? object : nlohmann::ordered_json(nullptr);
}

}  // namespace holdfast::launch
