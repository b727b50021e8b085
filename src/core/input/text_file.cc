#include "core/input/text_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/memory/available.h"

namespace holdfast::input {
namespace {

/// A file descriptor that is closed at the end of its scope.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

std::string remedy_for(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
      return "check its permissions";
    case EISDIR:
      return "name a file in it";
    default:
      return "check the path";
  }
}

/// What the system said of a name that the user gave.
Status refused(const std::string& doing, int error) {
  switch (error) {
    case ENOENT:
      return {Code::not_found, doing, "there is no such file", remedy_for(error)};
    case EISDIR:
      return {Code::bad_input, doing, "it is a directory", remedy_for(error)};
    case EACCES:
    case EPERM:
    case ELOOP:
    case ENAMETOOLONG:
    case ENOTDIR:
    case ENXIO:
    case ENODEV:
    case EINVAL:
      return {Code::bad_input, doing, std::strerror(error), remedy_for(error)};
    default:
      return {Code::io, doing, std::strerror(error), "check the disk"};
  }
}

/// Smaller files are read without a look at how much memory is left.
constexpr std::uint64_t large = std::uint64_t{64} << 20;

Status too_long(const std::string& doing, std::uint64_t most) {
  return {Code::bad_input, doing, "it has more than " + std::to_string(most) + " bytes", "is it the right file?"};
}

Result<std::string> read(const std::string& path, std::string_view what, std::uint64_t most, bool text_alone) {
  const std::string doing = "reading " + (what.empty() ? "" : std::string(what) + " ") + path;
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (file.number() < 0) return refused(doing, errno);
  struct stat status = {};
  if (::fstat(file.number(), &status) != 0) return refused(doing, errno);
  if (S_ISDIR(status.st_mode)) return refused(doing, EISDIR);
  std::string bytes;
  constexpr std::size_t piece = std::size_t{1} << 16;
  if (S_ISREG(status.st_mode)) {
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (size > most) return too_long(doing, most);
    if (size > large) {
      Status fits = memory::check_estimate(doing, size, "is it the right file?");
      if (!fits.ok()) return fits;
    }
    bytes.reserve(static_cast<std::size_t>(size) + piece);  // the last piece comes when all is there
  }
  while (true) {
    const std::size_t before = bytes.size();
    bytes.resize(before + piece);
    const ssize_t got = ::read(file.number(), bytes.data() + before, piece);
    const int error = errno;
    bytes.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && error == EINTR) continue;
    if (got < 0) return refused(doing, error);
    if (got == 0) return bytes;
    const std::size_t zero = text_alone ? bytes.find('\0', before) : std::string::npos;
    if (zero != std::string::npos)
      return Status(Code::bad_input, doing, "it is no text: byte " + std::to_string(zero + 1) + " is 0",
                    "is it the right file?");
    if (bytes.size() > most) return too_long(doing, most);
  }
}

}  // namespace

Status check_file(const std::string& path, std::string_view what) {
  const std::string doing = "reading " + std::string(what) + " " + path;
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (file.number() < 0) return refused(doing, errno);
  struct stat status = {};
  if (::fstat(file.number(), &status) != 0) return refused(doing, errno);
  if (S_ISDIR(status.st_mode)) return refused(doing, EISDIR);
  if (S_ISREG(status.st_mode)) return {};
  return {Code::bad_input, doing, "it is no regular file", "copy it to one"};
}

Result<std::string> read_text_file(const std::string& path, std::string_view what, std::uint64_t most) {
  return read(path, what, most, true);
}

Result<std::string> read_file(const std::string& path, std::string_view what, std::uint64_t most) {
  return read(path, what, most, false);
}

}  // namespace holdfast::input
