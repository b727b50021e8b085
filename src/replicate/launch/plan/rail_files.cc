#include "replicate/launch/plan/rail_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace holdfast::launch {
namespace {

namespace fs = std::filesystem;

constexpr ino_t first_pid_namespace = 0xEFFFFFFC;  ///< PROC_PID_INIT_INO of linux/proc_ns.h

bool sees_all_processes() {
  struct stat status {};
  return ::stat("/proc/self/ns/pid", &status) == 0 && status.st_ino == first_pid_namespace;
}

/// The process in "PID:UID:NUMBER" with this user's number; 0 for other names.
pid_t maker_of(std::string_view name) {
  pid_t maker = 0;
  const std::string middle = ":" + std::to_string(::getuid()) + ":";
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), maker);
  if (error != std::errc() || maker <= 0) return 0;
  const std::string_view rest(end, static_cast<std::size_t>(name.data() + name.size() - end));
  const bool whole = rest.starts_with(middle) && rest.size() > middle.size() &&
                     rest.substr(middle.size()).find_first_not_of("0123456789") == std::string_view::npos;
  return whole ? maker : 0;
}

/// One that is dead and that nobody has waited for is gone.
bool lives(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t name_ends = text.rfind(')');
  return name_ends != std::string::npos && text.compare(name_ends + 1, 2, " Z") != 0;
}

bool is_own(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == ::getuid();
}

/// Of the files, those that no process has mapped.
std::vector<std::string> unmapped(std::vector<std::string> files) {
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator("/proc", gone)) {
    if (files.empty()) break;
    std::ifstream maps(entry.path() / "maps");
    const std::string text{std::istreambuf_iterator<char>(maps), {}};
    std::erase_if(files, [&](const std::string& file) { return text.find(file + "\n") != std::string::npos; });
  }
  return files;
}

}  // namespace

void remove_left_rail_files(const std::string& place) {
  if (!sees_all_processes()) return;
  std::vector<std::string> left;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(place, failed)) {
    const pid_t maker = maker_of(entry.path().filename().string());
    if (maker > 0 && !lives(maker) && is_own(entry.path())) left.push_back(entry.path());
  }
  for (const std::string& path : unmapped(std::move(left))) ::unlink(path.c_str());
}

}  // namespace holdfast::launch
