#include "replicate/launch/run_directory.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <string_view>
#include <vector>

namespace holdfast::launch {
namespace {

namespace fs = std::filesystem;

bool is_output(std::string_view base) {
  return base.starts_with("rank-") && (base.ends_with(".out") || base.ends_with(".err"));
}

bool is_result(std::string_view base) {
  bool incident = base.starts_with("incident-") && base.ends_with(".json");
  return is_output(base) || incident || base.starts_with("status-") || base.starts_with("record.");
}

bool is_plumbing(std::string_view base) {
  return base == "hosts" || base == "stdin" || base == "stdin.spool" || base == "roster" || base == secret_file_name || base.starts_with("stdin.replica-");
}

template <class Choice>
void remove_files(const std::string& folder, Choice chosen) {
  std::error_code ignored;
  std::vector<fs::path> doomed;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (chosen(entry.path().filename().string())) doomed.push_back(entry.path());
  for (const fs::path& path : doomed) fs::remove(path, ignored);
}

std::string time_stamp() {
  std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S", &parts);
  return text.data();
}

}  // namespace

std::string RunDirectory::plan(const std::optional<std::string>& output) {
  fs::path path =
      output ? fs::path(*output) : fs::path("holdfast-run-" + time_stamp() + "-" + std::to_string(getpid()));
  std::error_code failed;
  fs::path whole = fs::absolute(path, failed);
  return (failed ? path : whole).lexically_normal().string();
}

Result<RunDirectory> RunDirectory::create(const std::string& path, bool keep) {
  std::error_code failed;
  fs::create_directories(path, failed);
  if (failed || access(path.c_str(), W_OK | X_OK) != 0)
    return Status(Code::io, "creating the run directory " + path,
                  failed ? failed.message() : std::string("it may not be written to"), "choose another with --output");
  remove_files(path, [](std::string_view base) { return is_result(base) || is_plumbing(base); });
  fs::remove_all(fs::path(path) / "holdfast-files", failed);
  return RunDirectory(path, keep);
}

bool RunDirectory::conclude(bool success) {
  remove_files(path_, is_plumbing);
  if (!success || keep_) return true;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  return false;
}

bool any_replica_began(const std::string& run_directory) {
  std::error_code ignored;
  const fs::directory_iterator files(run_directory, ignored);
  return std::any_of(begin(files), end(files),
                     [](const fs::directory_entry& file) { return is_output(file.path().filename().string()); });
}

}  // namespace holdfast::launch
