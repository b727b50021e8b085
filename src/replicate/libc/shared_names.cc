#include "replicate/libc/shared_names.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>

#include "core/integrity/xxh3.h"

namespace holdfast::replicate {

namespace {

/// What the folders' names begin with.
std::string shared_folders() {
  const char* text = std::getenv("HOLDFAST_RUN_SHARED_MEMORY");
  return text ? text : "";
}

std::string leaders_shared_folder() {
  return shared_folders() + "-0";
}

/// Makes a folder that is this user's alone, if it is not there.
bool make_folder(const std::string& path) {
  struct stat status {};
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return false;
  if (::lstat(path.c_str(), &status) != 0) return false;
  const bool own = S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() && (status.st_mode & 077) == 0;
  return own || fails(EACCES);
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// With what stands before it, a name is to be no longer than NAME_MAX.
std::string short_name(const std::string& name) {
  constexpr std::size_t longest = 180;
  if (name.size() <= longest) return name;
  const integrity::Digest digest = integrity::xxh3_128(bytes_of(name));
  std::array<char, 34> digits{};
  std::snprintf(digits.data(), digits.size(), "~%016" PRIx64 "%016" PRIx64, digest.high, digest.low);
  return digits.data();
}

struct KindWords {
  std::string front;  ///< before the name in the folders
  std::string place;  ///< before the name where the system shows it
};

KindWords words_of(SharedKind kind) {
  switch (kind) {
    case SharedKind::memory:
      return {"mem.", "/dev/shm/"};
    case SharedKind::semaphore:
      return {"sem.", "/dev/shm/sem."};
    case SharedKind::queue:
      return {"queue.", "/dev/mqueue/"};
  }
  return {};
}

}  // namespace

bool has_shared_folders() {
  return !shared_folders().empty();
}

std::string own_shared_folder() {
  return shared_folders() + "-" + std::to_string(file_view().replica());
}

bool make_own_shared_folder() {
  return make_folder(own_shared_folder());
}

void mark_shared(const std::string& name) {
  const int before = errno;
  if (make_folder(leaders_shared_folder()))
    ::close(::open((leaders_shared_folder() + "/" + name).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  errno = before;
}

bool is_marked_shared(const std::string& name) {
  return ::access((leaders_shared_folder() + "/" + name).c_str(), F_OK) == 0;
}

SharedName::SharedName(SharedKind kind, const char* name) {
  if (!name || !programs_own_call() || !has_shared_folders()) return;
  const std::string given = name;
  const std::string without = given.substr(std::min(given.find_first_not_of('/'), given.size()));
  if (without.empty() || without.find('/') != std::string::npos) return;
  kept_apart = true;
  plain = short_name(without);
  in_folder = words_of(kind).front + plain;
  path = words_of(kind).place + without;
}

std::string SharedName::own() const {
  const std::string folder = own_shared_folder();
  return folder.substr(folder.rfind('/')) + "." + plain;
}

key_t own_shared_key(const std::string& kind, key_t key) {
  const std::string text = own_shared_folder() + " " + kind + std::to_string(key);
  return static_cast<key_t>(integrity::xxh3_64(bytes_of(text)).low & 0x7fffffff) | 1;  // 0 is IPC_PRIVATE
}

int own_shared_number(const char* kind, int number) {
  const Answering answering;
  if (!programs_own_call() || !has_shared_folders() || file_view().leader()) return number;
  const int before = errno;
  char text[16] = {};
  const ssize_t length =
      ::readlink((own_shared_folder() + "/" + kind + std::to_string(number)).c_str(), text, sizeof text - 1);
  errno = before;
  return length > 0 ? std::atoi(text) : number;
}

void keep_shared_number(const std::string& kind, int number, int own) {
  if (own_shared_number(kind.c_str(), number) == own || !make_own_shared_folder()) return;
  const std::string link = own_shared_folder() + "/" + kind + std::to_string(number);
  const std::string made = link + "." + std::to_string(::getpid());  // whoever looks meanwhile finds one or the other
  (void)::symlink(std::to_string(own).c_str(), made.c_str());
  (void)::rename(made.c_str(), link.c_str());
}

}  // namespace holdfast::replicate
