// Functions that read and set extended attributes of files, as programs do that copy files with all they have. What
// they read is the leader's: another replica's file is a copy, on a file system that may not have attributes.
#include <sys/xattr.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "replicate/libc/descriptors.h"
#include "replicate/libc/files.h"
#include "replicate/mpi/io/file.h"

namespace holdfast::replicate {

namespace {

/// What the program's room takes of an answer.
struct Room {
  char* bytes;
  std::size_t size;  ///< 0: only the length is asked for
};

/// One answer: its length, and as much of it as there was room for.
class Attribute {
 public:
  explicit Attribute(Room room) : room_(room) {}

  bool read(ssize_t length) { return (length_ = length) >= 0; }
  ssize_t length() const { return length_; }

  bool pack() {
    const auto kept = room_.size == 0 ? std::size_t{0} : static_cast<std::size_t>(length_);
    told_.assign(reinterpret_cast<const char*>(&length_), sizeof length_).append(room_.bytes, kept);
    return true;
  }
  void tell() { take_leaders(told_); }
  /// False: the leader had died by then.
  bool take() {
    if (told_.size() < sizeof length_) return false;
    std::memcpy(&length_, told_.data(), sizeof length_);
    const std::string_view bytes = std::string_view(told_).substr(sizeof length_);
    std::copy_n(bytes.data(), std::min(bytes.size(), room_.size), room_.bytes);
    return true;
  }

 private:
  Room room_;
  ssize_t length_ = -1;
  std::string told_;
};

ssize_t read_attribute(const std::string& name, Room room, const std::function<bool(Attribute&)>& real) {
  Attribute attribute(room);
  const MadeOutside leaders{.is = [&] { return attribute.pack(); },
                            .share = [&] { attribute.tell(); },
                            .follow = [&] { return attribute.take(); }};
  const bool done = agree_on_file(
      FileCall::look, name, [&](Manner) { return real(attribute); }, leaders);
  return done ? attribute.length() : -1;
}

/// `real`: (path on disk) to a length.
template <class Real>
ssize_t read_at(const char* path, bool follow, Room room, Real real) {
  const Answering answering;
  std::string name;
  if (!file_call(AT_FDCWD, path, name)) return real(path);
  return read_attribute(name, room, [&](Attribute& attribute) {
    return read_in_view(
        name, follow, [&](const char* at) { return attribute.read(real(at)); }, [] {});
  });
}

template <class Real>
ssize_t read_at_open(int descriptor, Room room, Real real) {
  const Answering answering;
  const std::string* name = depth > 0 ? nullptr : name_of_descriptor(descriptor);
  if (!name) return real();
  return read_attribute(*name, room, [&](Attribute& attribute) { return attribute.read(real()); });
}

/// Of the leader's file; of another replica's as far as its file system has them.
template <class Real>
int set_at(const char* path, bool follow, Real real) {
  const Answering answering;
  std::string name;
  if (!file_call(AT_FDCWD, path, name)) return real(path);
  const auto act = [&](Manner) {
    const FileView& view = file_view();
    std::string resolved;
    if (const int error = view.resolve(name, follow, resolved)) return fails(error);
    if (view.leader() || shared_by_all(resolved)) return real(resolved.c_str()) == 0;
    const FilePlace place = view.find(resolved);
    if (place.layer == FilePlace::Layer::shadow) (void)real(place.path.c_str());
    return place.exists() || fails(ENOENT);
  };
  return agree_on_file(FileCall::change, name, act) ? 0 : -1;
}

Room room_of(void* bytes, std::size_t size) {
  return {static_cast<char*>(bytes), size};
}

}  // namespace

}  // namespace holdfast::replicate

namespace hr = holdfast::replicate;

#define HOLDFAST_GET(function, follow)                                                                           \
  extern "C" [[gnu::visibility("default")]] ssize_t function(const char* path, const char* name, void* value,    \
                                                             size_t size) noexcept {                             \
    static const auto real = hr::next_function<ssize_t (*)(const char*, const char*, void*, size_t)>(#function); \
    return hr::read_at(path, follow, hr::room_of(value, size),                                                   \
                       [&](const char* at) { return real(at, name, value, size); });                             \
  }
HOLDFAST_GET(getxattr, true)
HOLDFAST_GET(lgetxattr, false)
#undef HOLDFAST_GET

#define HOLDFAST_LIST(function, follow)                                                                                \
  extern "C" [[gnu::visibility("default")]] ssize_t function(const char* path, char* names, size_t size) noexcept {    \
    static const auto real = hr::next_function<ssize_t (*)(const char*, char*, size_t)>(#function);                    \
    return hr::read_at(path, follow, hr::room_of(names, size), [&](const char* at) { return real(at, names, size); }); \
  }
HOLDFAST_LIST(listxattr, true)
HOLDFAST_LIST(llistxattr, false)
#undef HOLDFAST_LIST

#define HOLDFAST_SET(function, follow)                                                                          \
  extern "C" [[gnu::visibility("default")]] int function(const char* path, const char* name, const void* value, \
                                                         size_t size, int flags) noexcept {                     \
    static const auto real =                                                                                    \
        hr::next_function<int (*)(const char*, const char*, const void*, size_t, int)>(#function);              \
    return hr::set_at(path, follow, [&](const char* at) { return real(at, name, value, size, flags); });        \
  }
HOLDFAST_SET(setxattr, true)
HOLDFAST_SET(lsetxattr, false)
#undef HOLDFAST_SET

#define HOLDFAST_REMOVE(function, follow)                                                               \
  extern "C" [[gnu::visibility("default")]] int function(const char* path, const char* name) noexcept { \
    static const auto real = hr::next_function<int (*)(const char*, const char*)>(#function);           \
    return hr::set_at(path, follow, [&](const char* at) { return real(at, name); });                    \
  }
HOLDFAST_REMOVE(removexattr, true)
HOLDFAST_REMOVE(lremovexattr, false)
#undef HOLDFAST_REMOVE

extern "C" {

[[gnu::visibility("default")]] ssize_t fgetxattr(int descriptor, const char* name, void* value, size_t size) noexcept {
  static const auto real = hr::next_function<ssize_t (*)(int, const char*, void*, size_t)>("fgetxattr");
  return hr::read_at_open(descriptor, hr::room_of(value, size), [&] { return real(descriptor, name, value, size); });
}
[[gnu::visibility("default")]] ssize_t flistxattr(int descriptor, char* names, size_t size) noexcept {
  static const auto real = hr::next_function<ssize_t (*)(int, char*, size_t)>("flistxattr");
  return hr::read_at_open(descriptor, hr::room_of(names, size), [&] { return real(descriptor, names, size); });
}

}  // extern "C"
