#include "replicate/libc/made_files.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/integrity/digest.h"
#include "replicate/libc/answers.h"
#include "replicate/libc/files.h"
#include "replicate/libc/random.h"
#include "replicate/mpi/agree/agreeing_thread.h"
#include "replicate/process/program.h"

namespace holdfast::replicate {

namespace {

/// Below /proc/self and /proc/PID. Not those by which a process finds its own memory and descriptors: maps, fd, exe.
constexpr const char* of_process[] = {"statm", "stat",      "status",       "io",
                                      "sched", "schedstat", "smaps_rollup", "oom_score"};
constexpr const char* of_host[] = {"/proc/meminfo",
                                   "/proc/loadavg",
                                   "/proc/stat",
                                   "/proc/uptime",
                                   "/proc/vmstat",
                                   "/proc/cpuinfo",
                                   "/proc/diskstats",
                                   "/proc/zoneinfo",
                                   "/proc/buddyinfo",
                                   "/proc/interrupts",
                                   "/proc/softirqs",
                                   "/proc/net/dev",
                                   "/proc/pressure/*",
                                   "/sys/devices/system/cpu/cpu*/cpufreq/*",
                                   "/sys/devices/system/node/node*/meminfo",
                                   "/sys/class/thermal/*",
                                   "/sys/class/powercap/*",
                                   "/sys/fs/cgroup/*"};

/// The name below /proc/self, of this process by whatever number; empty for anything else.
std::string_view name_in_own_process(std::string_view path) {
  if (!path.starts_with("/proc/")) return {};
  path.remove_prefix(6);
  const std::string_view whose = path.substr(0, path.find('/'));
  if (whose.size() == path.size()) return {};
  const bool own = whose == "self" || whose == "thread-self" || whose == std::to_string(real_process_id()) ||
                   whose == std::to_string(::getpid());
  return own ? path.substr(whose.size() + 1) : std::string_view{};
}

/// The path under which the kernel tells that, alike in all replicas; empty for any other file.
std::string told_by_kernel(const char* path) {
  if (std::strncmp(path, "/proc/", 6) != 0 && std::strncmp(path, "/sys/", 5) != 0) return "";
  const std::string_view own = name_in_own_process(path);
  if (!own.empty())
    return std::count(std::begin(of_process), std::end(of_process), own) > 0 ? "/proc/self/" + std::string(own) : "";
  const bool told = std::any_of(std::begin(of_host), std::end(of_host),
                                [path](const char* pattern) { return ::fnmatch(pattern, path, 0) == 0; });
  return told ? path : "";
}

/// What is in it, behind a '+', or the number of the error.
std::string read_own(const char* path) {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::to_string(errno);
  std::string text = "+";
  std::vector<char> piece(std::size_t{1} << 16);
  ssize_t length = 0;
  while ((length = ::read(file, piece.data(), piece.size())) > 0)
    text.append(piece.data(), static_cast<std::size_t>(length));
  const int error = errno;
  ::close(file);
  return length < 0 ? std::to_string(error) : text;
}

std::vector<std::string> words(std::string_view line) {
  std::vector<std::string> list;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = std::min(line.find_first_of(" \n", at), line.size());
    list.emplace_back(line.substr(at, end - at));
    at = end + 1;
  }
  return list;
}

/// /proc/self/stat with the addresses that are this process's own (proc(5): its fields 26 to 30 and 45 to 51).
std::string with_own_addresses(const std::string& leaders, const std::string& own) {
  const std::size_t after = leaders.rfind(')');
  const std::size_t own_after = own.rfind(')');
  if (after == std::string::npos || own_after == std::string::npos) return leaders;
  std::vector<std::string> fields = words(std::string_view(leaders).substr(after + 1));  // [0]: between ')' and field 3
  const std::vector<std::string> own_fields = words(std::string_view(own).substr(own_after + 1));
  const auto keep = [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first - 2; i <= last - 2 && i < std::min(fields.size(), own_fields.size()); ++i)
      fields[i] = own_fields[i];
  };
  keep(26, 30);
  keep(45, 51);
  std::string text = leaders.substr(0, after + 1);
  for (std::size_t i = 1; i < fields.size(); ++i) text += " " + fields[i];
  return text + "\n";
}

/// The directories among them are each host's own.
std::optional<int> open_told(const std::string& path, int flags, bool talking) {
  const Inside inside;
  const std::string own = read_own(path.c_str());
  if (own == std::to_string(EISDIR)) return std::nullopt;
  std::string told = own;
  const auto name = integrity::digest(integrity::Algorithm::crc32c, std::as_bytes(std::span(path.data(), path.size())));
  (void)agree_on_bytes(SystemAnswer::file, name.low, talking, told);
  if (!told.starts_with('+')) {
    errno = std::atoi(told.c_str());
    return -1;
  }
  if (path == "/proc/self/stat" && told != own) told = with_own_addresses(told, own);
  return file_in_memory(std::string_view(told).substr(1), flags);
}

}  // namespace

int file_in_memory(std::string_view contents, int flags) {
  const int file = ::memfd_create("answer", (flags & O_CLOEXEC) ? MFD_CLOEXEC : 0U);
  if (file < 0) return file;
  for (std::size_t at = 0; at < contents.size();) {
    const ssize_t written = ::write(file, contents.data() + at, contents.size() - at);
    if (written <= 0) {
      ::close(file);
      errno = ENOMEM;
      return -1;
    }
    at += static_cast<std::size_t>(written);
  }
  ::lseek(file, 0, SEEK_SET);
  return file;
}

std::optional<int> open_made_file(const char* path, int flags) {
  if (!path) return std::nullopt;
  if (const std::optional<int> numbers = open_random_device(path, flags)) return numbers;
  if ((flags & (O_ACCMODE | O_PATH | O_DIRECTORY)) != O_RDONLY) return std::nullopt;
  const bool talking = agreed_clocks();
  if (!talking && !program_stands()) return std::nullopt;
  const std::string told = told_by_kernel(path);
  return told.empty() ? std::nullopt : open_told(told, flags, talking);
}

}  // namespace holdfast::replicate
