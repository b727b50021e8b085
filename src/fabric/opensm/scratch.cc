#include "fabric/opensm/scratch.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <system_error>
#include <vector>

namespace holdfast::fabric::opensm {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view first_part = "holdfast-opensm-";
constexpr std::time_t youngest_left_s = 60;

std::string base() {
  const char* set = std::getenv("TMPDIR");
  return set != nullptr && *set != '\0' ? set : "/tmp";
}

/// Whether unused_folder() makes such names: three numbers after the first part.
bool is_of_a_session(std::string_view name) {
  if (!name.starts_with(first_part)) return false;
  name.remove_prefix(first_part.size());
  return std::ranges::count(name, '-') == 2 && name.find_first_not_of("0123456789-") == std::string_view::npos;
}

void remove_if_left(const std::string& path) {
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return;
  struct stat status {};
  const bool own_and_old = ::fstat(folder, &status) == 0 && status.st_uid == geteuid() &&
                           status.st_mtime + youngest_left_s < std::time(nullptr);
  std::error_code gone;
  if (own_and_old && ::flock(folder, LOCK_EX | LOCK_NB) == 0) fs::remove_all(path, gone);
  ::close(folder);
}

}  // namespace

Status write_file(const std::string& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (file) return {};
  return {Code::io, "writing " + path, std::strerror(errno), "see that the disk of $TMPDIR has room"};
}

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Status(Code::io, "reading " + path, std::strerror(errno));
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

std::string unused_folder() {
  static std::atomic<unsigned> count = 0;
  std::random_device entropy;  // a folder's name, not a result: two machines may share $TMPDIR
  return base() + "/" + std::string(first_part) + std::to_string(getpid()) + "-" + std::to_string(count++) + "-" +
         std::to_string(entropy());
}

void remove_left_folders() {
  std::error_code failed;
  std::vector<std::string> found;
  const std::string place = base();
  for (fs::directory_iterator entry(place, failed), end; !failed && entry != end; entry.increment(failed))
    if (is_of_a_session(entry->path().filename().string())) found.push_back(entry->path().string());
  for (const std::string& path : found) remove_if_left(path);
}

}  // namespace holdfast::fabric::opensm
