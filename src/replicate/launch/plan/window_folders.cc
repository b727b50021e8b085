#include "replicate/launch/plan/window_folders.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <vector>

namespace holdfast::launch {

std::string window_folders(unsigned long job) {
  return fmt::format("/dev/shm/holdfast-{}-{:016x}", getuid(), job);
}

void remove_window_folders(const std::string& prefix, int replicas) {
  std::error_code gone;  // as it is where the job ended by itself, or had no window
  for (int k = 0; k < replicas; ++k) std::filesystem::remove_all(fmt::format("{}-{}", prefix, k), gone);
}

namespace {

namespace fs = std::filesystem;

/// "holdfast-<uid>-<16 hexadecimal digits>-<replica>": the beginning that window_folders() made; empty for other names.
std::string beginning_of(const std::string& base) {
  const std::string front = fmt::format("holdfast-{}-", getuid());
  constexpr std::size_t digits = 16;
  const std::size_t end = front.size() + digits;
  if (!base.starts_with(front) || base.size() < end + 2 || base[end] != '-') return "";
  const std::string_view job = std::string_view(base).substr(front.size(), digits);
  const std::string_view replica = std::string_view(base).substr(end + 1);
  const bool whole = job.find_first_not_of("0123456789abcdef") == std::string_view::npos &&
                     replica.find_first_not_of("0123456789") == std::string_view::npos;
  return whole ? base.substr(0, end) : "";
}

/// A process that has been told of the folders may be about to make one.
bool somebody_is_told(const std::string& beginning) {
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator("/proc", gone)) {
    std::ifstream file(entry.path() / "environ", std::ios::binary);
    const std::string environment{std::istreambuf_iterator<char>(file), {}};
    if (environment.find(beginning) != std::string::npos) return true;
  }
  return false;
}

void remove_if_left(const std::string& path, const std::string& beginning) {
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return;
  struct stat status {};
  const bool own = ::fstat(folder, &status) == 0 && status.st_uid == getuid();
  std::error_code gone;
  if (own && ::flock(folder, LOCK_EX | LOCK_NB) == 0 && !somebody_is_told(beginning)) fs::remove_all(path, gone);
  ::close(folder);
}

}  // namespace

void remove_left_window_folders(const std::string& place) {
  std::error_code failed;
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(place, failed)) found.push_back(entry.path().filename().string());
  for (const std::string& base : found)
    if (const std::string beginning = beginning_of(base); !beginning.empty())
      remove_if_left(place + "/" + base, beginning);
}

}  // namespace holdfast::launch
