#include "replicate/launch/supervise/living.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

#include "replicate/launch/supervise/descendants.h"

namespace holdfast::launch {
namespace {

/// The value of a variable in the text of /proc/<pid>/environ: "NAME=value" with '\0' after each.
std::optional<std::string_view> value_in(std::string_view environment, std::string_view name) {
  while (!environment.empty()) {
    const std::string_view entry = environment.substr(0, environment.find('\0'));
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
      return entry.substr(name.size() + 1);
    environment.remove_prefix(std::min(environment.size(), entry.size() + 1));
  }
  return std::nullopt;
}

}  // namespace

std::set<int> living_processes(const std::string& job) {
  std::set<int> living;
  for (const pid_t pid : descendants(getpid())) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
    const std::string environment{std::istreambuf_iterator<char>(file), {}};
    if (value_in(environment, "HOLDFAST_RUN_JOB") != job) continue;
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}) {
      const auto text = value_in(environment, name);
      int number = -1;
      if (!text || std::from_chars(text->data(), text->data() + text->size(), number).ec != std::errc()) continue;
      if (number >= 0) living.insert(number);
      break;
    }
  }
  return living;
}

}  // namespace holdfast::launch
