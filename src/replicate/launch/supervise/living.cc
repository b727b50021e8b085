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

/// Which process of the launcher's this is. Its children have the rank that the program plays in its place, and what
/// the launcher said in a variable of their own (libc/environment.cc): "NAME=SAID=TOLD " after each other.
std::optional<std::string_view> rank_in(std::string_view environment) {
  const std::string_view kept = value_in(environment, "HOLDFAST_RUN_LAUNCHED").value_or("");
  for (const std::string_view name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}) {
    const auto told = value_in(environment, name);
    if (!told) continue;
    const std::string entry = std::string(name) + "=";
    std::size_t at = kept.find(entry);
    while (at != std::string_view::npos && at > 0 && kept[at - 1] != ' ') at = kept.find(entry, at + 1);
    return at == std::string_view::npos ? told : kept.substr(at + entry.size());
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
    const auto text = rank_in(environment);
    int number = -1;
    if (!text || std::from_chars(text->data(), text->data() + text->size(), number).ec != std::errc()) continue;
    if (number >= 0) living.insert(number);
  }
  return living;
}

}  // namespace holdfast::launch
