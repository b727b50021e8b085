#include "core/memory/available.h"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>

#include "core/arithmetic/checked.h"

namespace holdfast::memory {
namespace {

constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

/// The number at the start of a file; nothing where there is no such file, or where it says "max".
std::optional<std::uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  if (!(file >> word)) return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

/// The kilobytes that a line "NAME: 123 kB" of a file gives, as bytes.
std::optional<std::uint64_t> line_in(const std::string& path, std::string_view name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(name)) continue;
    std::istringstream words(line.substr(name.size()));
    std::uint64_t kilobytes = 0;
    if (!(words >> kilobytes)) return std::nullopt;
    return arithmetic::checked_multiply(kilobytes, std::uint64_t{1024});
  }
  return std::nullopt;
}

/// What a group leaves, given the file of its limit and that of its use.
std::uint64_t left_of(const std::string& limit, const std::string& use) {
  const auto most = number_in(limit);
  if (!most) return no_limit;
  const std::uint64_t used = number_in(use).value_or(0);
  return *most > used ? *most - used : 0;
}

/// The least of what the group at `path` and those above it leave. `base` is where the file system is mounted.
std::uint64_t left_of_groups(const std::string& base, std::string path, const char* limit, const char* use) {
  std::uint64_t left = no_limit;
  while (true) {
    const std::string folder = base + (path == "/" ? "" : path);
    left = std::min(left, left_of(folder + limit, folder + use));
    const std::size_t slash = path.rfind('/');
    if (path.size() <= 1 || slash == std::string::npos) return left;
    path.resize(std::max<std::size_t>(slash, 1));
  }
}

/// /proc/self/cgroup has lines "0::/path" (version 2) and "4:memory:/path" (version 1).
std::uint64_t left_by_groups(const std::string& root) {
  std::uint64_t left = no_limit;
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string kinds = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string path = line.substr(second + 1);
    if (kinds == ",,")
      left = std::min(left, left_of_groups(root + "/sys/fs/cgroup", path, "/memory.max", "/memory.current"));
    if (kinds.find(",memory,") != std::string::npos)
      left = std::min(left, left_of_groups(root + "/sys/fs/cgroup/memory", path, "/memory.limit_in_bytes",
                                           "/memory.usage_in_bytes"));
  }
  return left;
}

/// What a limit of the process leaves; `used` is the line of /proc/self/status that counts against it.
std::uint64_t left_by_limit(__rlimit_resource which, std::string_view used) {
  rlimit limit{};
  if (getrlimit(which, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return no_limit;
  const std::uint64_t now = line_in("/proc/self/status", used).value_or(0);
  return limit.rlim_cur > now ? limit.rlim_cur - now : 0;
}

}  // namespace

std::uint64_t available_bytes_below(const std::string& root) {
  const std::uint64_t machine = line_in(root + "/proc/meminfo", "MemAvailable:").value_or(no_limit);
  return std::min(machine, left_by_groups(root));
}

std::uint64_t available_bytes() {
  return std::min(
      {available_bytes_below(""), left_by_limit(RLIMIT_AS, "VmSize:"), left_by_limit(RLIMIT_DATA, "VmData:")});
}

Status check_estimate(std::string_view doing, std::uint64_t estimate, std::string_view remedy,
                      std::uint64_t available) {
  if (estimate <= available - available / 16) return {};
  const std::string about = estimate == no_limit ? "more than 18 EB" : "about " + in_words(estimate);
  return {Code::bad_input, std::string(doing),
          "it needs " + about + " of memory, and " + in_words(available) + " are available", std::string(remedy)};
}

Status check_estimate(std::string_view doing, std::uint64_t estimate, std::string_view remedy) {
  return check_estimate(doing, estimate, remedy, available_bytes());
}

std::string in_words(std::uint64_t bytes) {
  constexpr std::array<const char*, 7> units = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
  auto number = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (number >= 999.5 && unit + 1 < units.size()) number /= 1000, ++unit;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g %s", number, units[unit]);
  return text.data();
}

std::uint64_t estimate_product(std::uint64_t a, std::uint64_t b) {
  return arithmetic::checked_multiply(a, b).value_or(no_limit);
}
std::uint64_t estimate_sum(std::uint64_t a, std::uint64_t b) {
  return arithmetic::checked_add(a, b).value_or(no_limit);
}

}  // namespace holdfast::memory
