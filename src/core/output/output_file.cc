#include "core/output/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <random>

#include "core/output/write_all.h"

namespace holdfast::output {
namespace {

constexpr int most_links = 40;  // as Linux follows, path_resolution(7)

/// Closes what it holds; close() says what the system says of that.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { (void)close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }
  int close() {
    const int closed = number_ < 0 ? 0 : ::close(number_);
    number_ = -1;
    return closed == 0 ? 0 : errno;
  }

 private:
  int number_;
};

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string real_path(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), std::free);
  return real ? real.get() : "";
}

/// Where a path leads when its symbolic links have been followed.
struct Place {
  std::string path;
  int descriptor = -1;  ///< of this process, where the path names one
  bool is_there = false;
  bool behind_a_descriptor = false;  ///< of another process: what it leads to is to be opened, not replaced
  struct stat status {};
};

/// The last part of the path as the number of a descriptor below /proc/PID/fd, or -1.
int descriptor_in(const std::string& folder, const std::string& path, bool& is_ours) {
  const std::string real = real_path(folder);
  if (!real.starts_with("/proc/") || !real.ends_with("/fd")) return -1;
  is_ours = real == "/proc/" + std::to_string(::getpid()) + "/fd";
  const std::string name = path.substr(path.rfind('/') + 1);
  char* end = nullptr;
  const long number = std::strtol(name.c_str(), &end, 10);
  return name.empty() || *end != '\0' || number < 0 || number > INT_MAX ? -1 : static_cast<int>(number);
}

/// 0 or an errno.
int find_place(const std::string& path, Place& place) {
  place.path = path;
  for (int links = 0; links <= most_links; ++links) {
    if (::lstat(place.path.c_str(), &place.status) != 0) return errno == ENOENT ? 0 : errno;
    place.is_there = true;
    if (!S_ISLNK(place.status.st_mode)) return 0;
    const std::string folder = folder_of(place.path);
    bool is_ours = false;
    if (const int number = descriptor_in(folder, place.path, is_ours); number >= 0) {
      place.descriptor = is_ours ? number : -1;
      place.behind_a_descriptor = !is_ours;
      return 0;
    }
    char target[PATH_MAX];
    const ssize_t length = ::readlink(place.path.c_str(), target, sizeof target);
    if (length < 0) return errno;
    const std::string next(target, static_cast<std::size_t>(length));
    place.path = next.starts_with('/') ? next : folder + "/" + next;
    place.is_there = false;
  }
  return ELOOP;
}

int synced(int file) {
  return ::fsync(file) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP ? 0 : errno;
}

/// Without a new file, for good or bad: a reader may see half of it.
int write_in_place(const Place& place, std::string_view text) {
  const bool regular = S_ISREG(place.status.st_mode) && !place.behind_a_descriptor;
  Descriptor file(::open(place.path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | (regular ? O_TRUNC : 0)));
  if (file.number() < 0) return errno;
  int error = write_all(file.number(), text);
  if (error == 0 && regular) error = synced(file.number());
  const int closed = file.close();
  return error != 0 ? error : closed;
}

int write_to_descriptor(int number, std::string_view text) {
  std::cout.flush();
  return write_all(number, text);
}

/// A name that nobody has, in the folder of the file, so that rename(2) can put it there.
std::string draft_name(const std::string& path) {
  static std::atomic<unsigned> count = 0;
  std::random_device entropy;  // a file's name, not a result: two machines may share the folder
  return folder_of(path) + "/.holdfast-" + std::to_string(::getpid()) + "-" + std::to_string(count++) + "-" +
         std::to_string(entropy()) + ".partial";
}

/// As the file that it is to replace; false: it cannot be.
bool take_after(int draft, const struct stat& before) {
  struct stat made {};
  if (::fstat(draft, &made) != 0) return false;
  const bool same_owner = made.st_uid == before.st_uid && made.st_gid == before.st_gid;
  if (!same_owner && ::fchown(draft, before.st_uid, before.st_gid) != 0) return false;
  return ::fchmod(draft, before.st_mode & 07777) == 0;
}

/// 0, an errno, or -1: it can only be written in place.
int replace(const Place& place, std::string_view text) {
  const std::string draft = draft_name(place.path);
  Descriptor file(::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (file.number() < 0) return place.is_there ? -1 : errno;
  int error = place.is_there && !take_after(file.number(), place.status) ? -1 : 0;
  if (error == 0) error = write_all(file.number(), text);
  if (error == 0) error = synced(file.number());
  const int closed = file.close();
  if (error == 0) error = closed;
  if (error == 0 && std::rename(draft.c_str(), place.path.c_str()) != 0)
    error = errno == EBUSY && place.is_there ? -1 : errno;
  if (error != 0) (void)::unlink(draft.c_str());
  return error;
}

int write_there(const std::string& path, std::string_view text) {
  Place place;
  if (const int error = find_place(path, place); error != 0) return error;
  if (place.descriptor >= 0) return write_to_descriptor(place.descriptor, text);
  if (place.is_there && (!S_ISREG(place.status.st_mode) || place.behind_a_descriptor))
    return write_in_place(place, text);
  if (place.is_there && ::access(place.path.c_str(), W_OK) != 0) return errno;
  const int error = replace(place, text);
  return error < 0 ? write_in_place(place, text) : error;
}

int may_write(const std::string& path) {
  Place place;
  if (const int error = find_place(path, place); error != 0) return error;
  if (place.descriptor >= 0) return ::fcntl(place.descriptor, F_GETFD) < 0 ? errno : 0;
  if (place.is_there && S_ISDIR(place.status.st_mode)) return EISDIR;
  if (place.is_there) return ::access(place.path.c_str(), W_OK) != 0 ? errno : 0;
  return ::access(folder_of(place.path).c_str(), W_OK | X_OK) != 0 ? errno : 0;
}

Status cannot_write(const std::string& path, int error) {
  if (error == 0) return {};
  return {Code::io, "writing " + (path.empty() ? "a file without a name" : path), std::strerror(error),
          error == ENOSPC || error == EDQUOT || error == EFBIG ? "make room, or name another file"
                                                               : "check that its folder exists and is writable"};
}

}  // namespace

Status write_file(const std::string& path, std::string_view text) {
  return cannot_write(path, path.empty() ? ENOENT : write_there(path, text));
}

Status check_file(const std::string& path) {
  return cannot_write(path, path.empty() ? ENOENT : may_write(path));
}

}  // namespace holdfast::output
