// Functions that tell whether a file is there, and what it is; and those that go by the working directory.
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "replicate/libc/descriptors.h"
#include "replicate/libc/files.h"
#include "replicate/mpi/io/file.h"
#include "replicate/process/standing_clocks.h"

namespace holdfast::replicate {

namespace {

struct Nothing {};
constexpr Nothing* nothing = nullptr;
struct LinkText {
  char* text;  ///< what a link leads to, without a zero
  std::size_t size;
};

std::span<std::byte> bytes_of(Nothing*) {
  return {};
}
std::span<std::byte> bytes_of(LinkText*) {
  return {};
}
template <class Status>
std::span<std::byte> bytes_of(Status* status) {
  return std::as_writable_bytes(std::span(status, 1));
}

void hold_times(Nothing*) {}
void hold_times(LinkText*) {}

/// Before MPI_Init nothing can be agreed on; standing_clocks.h.
template <class Status>
void hold_times(Status* status) {
  for (timespec Status::*time : {&Status::st_atim, &Status::st_mtim, &Status::st_ctim})
    status->*time = file_time_before_init(status->*time);
}
void hold_times(struct statx* status) {
  for (struct statx_timestamp* time :
       {&status->stx_atime, &status->stx_mtime, &status->stx_ctime, &status->stx_btime}) {
    const timespec held = file_time_before_init({time->tv_sec, static_cast<long>(time->tv_nsec)});
    time->tv_sec = held.tv_sec;
    time->tv_nsec = static_cast<std::uint32_t>(held.tv_nsec);
  }
}

/// What the leader tells of a file that it alone sees.
template <class Status>
std::string told_of(Status* status, int) {
  return std::string(reinterpret_cast<const char*>(bytes_of(status).data()), bytes_of(status).size());
}
std::string told_of(LinkText* link, int length) {
  return std::string(link->text, static_cast<std::size_t>(length));
}

/// The same in the others: what the function returns then, if that was told of such a file.
template <class Status>
std::optional<int> take_told(std::string_view told, Status* status) {
  const std::span<std::byte> own = bytes_of(status);
  if (told.size() != own.size()) return std::nullopt;
  std::copy_n(told.data(), own.size(), reinterpret_cast<char*>(own.data()));
  return 0;
}
std::optional<int> take_told(std::string_view told, LinkText* link) {
  if (told.size() > link->size) return std::nullopt;
  std::copy_n(told.data(), told.size(), link->text);
  return static_cast<int>(told.size());
}

/// Asks `real(folder, path)` about the file that this replica sees. `status`: what it fills in, where that differs
/// between the leader's file and the other replicas' copies of it.
template <class Status, class Real>
int look_at(int folder, const char* path, bool follow, Status* status, Real real) {
  const Answering answering;
  std::string name;
  if (!file_call(folder, path, name)) return real(folder, path);
  int answer = -1;
  const auto act = [&](Manner) {
    return read_in_view(
        name, follow,
        [&](const char* at) {
          answer = real(AT_FDCWD, at);
          return answer >= 0;
        },
        [] {});
  };
  const auto share = [&] {
    if (!bytes_of(status).empty()) take_leaders(bytes_of(status));
  };
  std::string told;  // behind a '+': a leader that has died told nothing
  const auto is_told = [&] {
    if (!is_made_outside(name, follow)) return false;
    told = "+" + told_of(status, answer);
    return true;
  };
  const auto take = [&] {
    const std::optional<int> taken = told.empty() ? std::nullopt : take_told(std::string_view(told).substr(1), status);
    if (taken) answer = *taken;
    return taken.has_value();
  };
  const MadeOutside made_outside{.is = is_told, .share = [&] { take_leaders(told); }, .follow = take};
  if (!agree_on_file(FileCall::look, name, act, made_outside, share)) return -1;
  hold_times(status);
  return answer;
}

/// The same for an open file.
template <class Status, class Real>
int look_at_open(int descriptor, Status* status, Real real) {
  const Answering answering;
  const std::string* name = depth > 0 ? nullptr : name_of_descriptor(descriptor);
  if (!name) return real();
  const auto act = [&](Manner) { return real() == 0; };
  if (!agree_on_file(FileCall::look, *name, act, [&] { take_leaders(bytes_of(status)); })) return -1;
  hold_times(status);
  return 0;
}

/// fstatat(2) and its kin ask about the descriptor itself then.
bool about_descriptor(int folder, const char* path, int flags) {
  return folder != AT_FDCWD && (flags & AT_EMPTY_PATH) != 0 && path && *path == '\0';
}

using WorkingDirectory = char* (*)(char*, std::size_t);

/// The C library's getcwd(3).
WorkingDirectory real_getcwd() {
  static const auto real = next_function<WorkingDirectory>("getcwd");
  return real;
}

/// The working directory as the program knows it.
std::string working_directory() {
  char text[PATH_MAX];
  return real_getcwd()(text, sizeof text) ? file_view().program_path(text) : "";
}

char* give(const std::string& text, char* buffer, std::size_t size) {
  if (buffer && size <= text.size()) {
    errno = ERANGE;
    return nullptr;
  }
  const ForProgram for_program;
  if (!buffer) buffer = static_cast<char*>(std::malloc(std::max(size, text.size() + 1)));
  if (buffer) std::memcpy(buffer, text.c_str(), text.size() + 1);
  return buffer;
}

/// Only a replica whose working directory is in its shadow must be told another one than the kernel's.
bool works_in_shadow(const char* kernels) {
  const Depth inside;
  return kernels && file_view().program_path(kernels) != kernels;
}

bool looking() {
  std::string name;
  return depth == 0 && file_call(AT_FDCWD, "/", name);
}

bool enter(const std::string& name, const std::function<bool(const char*)>& go) {
  const FileView& view = file_view();
  std::string resolved;
  if (const int error = view.resolve(name, true, resolved)) return fails(error);
  const FilePlace place = view.find(resolved);
  if (!place.exists()) return fails(ENOENT);
  const FilePlace before = view.leader() ? place : view.find_before(resolved);
  return go(before.is(S_IFDIR) ? before.path.c_str() : place.path.c_str());
}

char* real_name(const char* path, char* buffer, std::size_t size) {
  const Answering answering;
  static const auto real = next_function<char* (*)(const char*, char*)>("realpath");
  std::string name;
  if (!file_call(AT_FDCWD, path, name) || file_view().leader()) {
    const ForProgram for_program;
    return real(path, buffer);
  }
  const Depth inside;
  std::string resolved;
  const int error = file_view().resolve(name, true, resolved);
  if (error != 0 || !file_view().find(resolved).exists()) {
    errno = error != 0 ? error : ENOENT;
    return nullptr;
  }
  return give(resolved, buffer, size);
}

}  // namespace

}  // namespace holdfast::replicate

namespace hr = holdfast::replicate;
using hr::FileCall;

// A wrapper for each function that fills in what the C library knows of a file.
#define HOLDFAST_LOOK(function, Status, follow)                                                                \
  extern "C" [[gnu::visibility("default")]] int function(const char* path, Status* status) noexcept {          \
    static const auto real = hr::next_function<int (*)(const char*, Status*)>(#function);                      \
    return hr::look_at(AT_FDCWD, path, follow, status, [&](int, const char* at) { return real(at, status); }); \
  }
HOLDFAST_LOOK(stat, struct stat, true)
HOLDFAST_LOOK(stat64, struct stat64, true)
HOLDFAST_LOOK(lstat, struct stat, false)
HOLDFAST_LOOK(lstat64, struct stat64, false)
#undef HOLDFAST_LOOK

// The same as programs call it that were compiled before glibc 2.33.
#define HOLDFAST_OLD_LOOK(function, Status, follow)                                                                \
  extern "C" [[gnu::visibility("default")]] int function(int version, const char* path, Status* status) noexcept { \
    static const auto real = hr::next_function<int (*)(int, const char*, Status*)>(#function);                     \
    return hr::look_at(AT_FDCWD, path, follow, status,                                                             \
                       [&](int, const char* at) { return real(version, at, status); });                            \
  }
HOLDFAST_OLD_LOOK(__xstat, struct stat, true)
HOLDFAST_OLD_LOOK(__xstat64, struct stat64, true)
HOLDFAST_OLD_LOOK(__lxstat, struct stat, false)
HOLDFAST_OLD_LOOK(__lxstat64, struct stat64, false)
#undef HOLDFAST_OLD_LOOK

#define HOLDFAST_LOOK_AT_OPEN(function, Status)                                                     \
  extern "C" [[gnu::visibility("default")]] int function(int descriptor, Status* status) noexcept { \
    static const auto real = hr::next_function<int (*)(int, Status*)>(#function);                   \
    return hr::look_at_open(descriptor, status, [&] { return real(descriptor, status); });          \
  }
HOLDFAST_LOOK_AT_OPEN(fstat, struct stat)
HOLDFAST_LOOK_AT_OPEN(fstat64, struct stat64)
#undef HOLDFAST_LOOK_AT_OPEN

#define HOLDFAST_OLD_LOOK_AT_OPEN(function, Status)                                                              \
  extern "C" [[gnu::visibility("default")]] int function(int version, int descriptor, Status* status) noexcept { \
    static const auto real = hr::next_function<int (*)(int, int, Status*)>(#function);                           \
    return hr::look_at_open(descriptor, status, [&] { return real(version, descriptor, status); });              \
  }
HOLDFAST_OLD_LOOK_AT_OPEN(__fxstat, struct stat)
HOLDFAST_OLD_LOOK_AT_OPEN(__fxstat64, struct stat64)
#undef HOLDFAST_OLD_LOOK_AT_OPEN

extern "C" {

[[gnu::visibility("default")]] int fstatat(int folder, const char* path, struct stat* status, int flags) noexcept {
  static const auto real = hr::next_function<int (*)(int, const char*, struct stat*, int)>("fstatat");
  if (hr::about_descriptor(folder, path, flags))
    return hr::look_at_open(folder, status, [&] { return real(folder, path, status, flags); });
  return hr::look_at(folder, path, !(flags & AT_SYMLINK_NOFOLLOW), status,
                     [&](int in, const char* at) { return real(in, at, status, flags); });
}
[[gnu::visibility("default")]] int fstatat64(int folder, const char* path, struct stat64* status, int flags) noexcept {
  static const auto real = hr::next_function<int (*)(int, const char*, struct stat64*, int)>("fstatat64");
  if (hr::about_descriptor(folder, path, flags))
    return hr::look_at_open(folder, status, [&] { return real(folder, path, status, flags); });
  return hr::look_at(folder, path, !(flags & AT_SYMLINK_NOFOLLOW), status,
                     [&](int in, const char* at) { return real(in, at, status, flags); });
}
[[gnu::visibility("default")]] int statx(int folder, const char* path, int flags, unsigned mask,
                                         struct statx* status) noexcept {
  static const auto real = hr::next_function<int (*)(int, const char*, int, unsigned, struct statx*)>("statx");
  if (hr::about_descriptor(folder, path, flags))
    return hr::look_at_open(folder, status, [&] { return real(folder, path, flags, mask, status); });
  return hr::look_at(folder, path, !(flags & AT_SYMLINK_NOFOLLOW), status,
                     [&](int in, const char* at) { return real(in, at, flags, mask, status); });
}

[[gnu::visibility("default")]] int access(const char* path, int mode) noexcept {
  static const auto real = hr::next_function<int (*)(const char*, int)>("access");
  return hr::look_at(AT_FDCWD, path, true, hr::nothing, [&](int, const char* at) { return real(at, mode); });
}
[[gnu::visibility("default")]] int faccessat(int folder, const char* path, int mode, int flags) noexcept {
  static const auto real = hr::next_function<int (*)(int, const char*, int, int)>("faccessat");
  return hr::look_at(folder, path, !(flags & AT_SYMLINK_NOFOLLOW), hr::nothing,
                     [&](int in, const char* at) { return real(in, at, mode, flags); });
}

[[gnu::visibility("default")]] int eaccess(const char* path, int mode) noexcept {
  static const auto real = hr::next_function<int (*)(const char*, int)>("eaccess");
  return hr::look_at(AT_FDCWD, path, true, hr::nothing, [&](int, const char* at) { return real(at, mode); });
}
[[gnu::visibility("default")]] int euidaccess(const char* path, int mode) noexcept {
  return eaccess(path, mode);
}

[[gnu::visibility("default")]] ssize_t readlink(const char* path, char* text, size_t size) noexcept {
  static const auto real = hr::next_function<ssize_t (*)(const char*, char*, size_t)>("readlink");
  hr::LinkText link{text, size};
  return hr::look_at(AT_FDCWD, path, false, &link,
                     [&](int, const char* at) { return static_cast<int>(real(at, text, size)); });
}
[[gnu::visibility("default")]] ssize_t readlinkat(int folder, const char* path, char* text, size_t size) noexcept {
  static const auto real = hr::next_function<ssize_t (*)(int, const char*, char*, size_t)>("readlinkat");
  hr::LinkText link{text, size};
  return hr::look_at(folder, path, false, &link,
                     [&](int in, const char* at) { return static_cast<int>(real(in, at, text, size)); });
}

/// Fortified forms: `room` is that of `text`.
[[gnu::visibility("default")]] ssize_t __readlink_chk(const char* path, char* text, size_t size, size_t room) noexcept {
  return readlink(path, text, std::min(size, room));
}
[[gnu::visibility("default")]] ssize_t __readlinkat_chk(int folder, const char* path, char* text, size_t size,
                                                        size_t room) noexcept {
  return readlinkat(folder, path, text, std::min(size, room));
}

[[gnu::visibility("default")]] char* realpath(const char* path, char* buffer) noexcept {
  return hr::real_name(path, buffer, PATH_MAX);
}
[[gnu::visibility("default")]] char* __realpath_chk(const char* path, char* buffer, size_t size) noexcept {
  return hr::real_name(path, buffer, size);
}

[[gnu::visibility("default")]] char* canonicalize_file_name(const char* path) noexcept {
  return hr::real_name(path, nullptr, PATH_MAX);
}

[[gnu::visibility("default")]] int chdir(const char* path) noexcept {
  static const auto real = hr::next_function<int (*)(const char*)>("chdir");
  std::string name;
  if (!hr::file_call(AT_FDCWD, path, name)) return real(path);
  const auto go = [&](const char* at) { return real(at) == 0; };
  const auto act = [&](hr::Manner) { return hr::enter(name, go); };
  const auto follow = [&] {
    std::string folder;
    return act(hr::Manner::repeat) || (hr::stand_in_directory(name, true, folder) == 0 && go(folder.c_str()));
  };
  const hr::MadeOutside made_outside{.is = [&] { return hr::is_made_outside(name, true); }, .follow = follow};
  return hr::agree_on_file(FileCall::enter, name, act, made_outside) ? 0 : -1;
}

[[gnu::visibility("default")]] char* getcwd(char* buffer, size_t size) noexcept {
  const hr::WorkingDirectory real = hr::real_getcwd();
  const hr::Answering answering;
  char text[PATH_MAX];
  if (!hr::looking() || !hr::works_in_shadow(real(text, sizeof text))) {
    const hr::ForProgram for_program;
    return real(buffer, size);
  }
  const hr::Depth inside;
  return hr::give(hr::working_directory(), buffer, size);
}
[[gnu::visibility("default")]] char* __getcwd_chk(char* buffer, size_t size, size_t room) noexcept {
  return getcwd(buffer, std::min(size, room));
}
[[gnu::visibility("default")]] char* get_current_dir_name() noexcept {
  return getcwd(nullptr, 0);
}

}  // extern "C"
