#include "replicate/process/first_told.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <optional>

#include "core/output/write_all.h"

namespace holdfast::replicate {

namespace {

constexpr std::size_t longest_answer = std::size_t{1} << 20;

/// Nothing where there is no such file, with errno ENOENT, and where it is none of first_told()'s.
std::optional<std::string> answer_there(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  struct stat status {};
  const bool sound = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
                     static_cast<std::size_t>(status.st_size) <= longest_answer;
  std::string text(sound ? static_cast<std::size_t>(status.st_size) : 0, '\0');
  const bool whole = sound && ::pread(file, text.data(), text.size(), 0) == status.st_size;
  ::close(file);
  errno = 0;
  return whole ? std::optional(std::move(text)) : std::nullopt;
}

bool write_draft(const std::string& path, std::string_view text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return false;
  const bool written = output::write_all(file, text) == 0;
  return ::close(file) == 0 && written;
}

}  // namespace

std::string first_told(const std::string& path, const std::string& draft, std::string_view own) {
  const int before = errno;
  std::optional<std::string> told = answer_there(path);
  if (!told && errno == ENOENT && own.size() <= longest_answer) {
    if (write_draft(draft, own) && ::link(draft.c_str(), path.c_str()) == 0) {
      told = own;
    } else {
      told = answer_there(path);
    }
    ::unlink(draft.c_str());
  }
  errno = before;
  return told ? *told : std::string(own);
}

long count_in_file(const std::string& path) {
  const int before = errno;
  long count = -1;
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
  if (file >= 0 && ::flock(file, LOCK_EX) == 0) {
    std::array<char, 24> text{};
    const ssize_t length = ::pread(file, text.data(), text.size(), 0);
    long found = 0;
    const bool sound =
        length == 0 || (length > 0 && std::from_chars(text.data(), text.data() + length, found).ec == std::errc{});
    const std::string next = sound && found >= 0 && found < 1'000'000'000 ? std::to_string(found + 1) : "";
    if (!next.empty() && ::pwrite(file, next.data(), next.size(), 0) == static_cast<ssize_t>(next.size()))
      count = found;
  }
  if (file >= 0) ::close(file);
  errno = before;
  return count;
}

}  // namespace holdfast::replicate
