// Functions that open a file, or a directory.
#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

#include "replicate/libc/files.h"
#include "replicate/libc/made_files.h"
#include "replicate/libc/writes.h"

namespace holdfast::replicate {

namespace {

/// One way of opening: does it, and takes it back.
struct Opener {
  std::function<bool(const char* path, int flags)> open;
  std::function<void()> close;
};

bool opens_for_writing(int flags) {
  return (flags & O_PATH) == 0 && ((flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) != 0);
}

bool reads_contents(int flags) {
  return (flags & (O_ACCMODE | O_CREAT | O_TRUNC | O_PATH | O_DIRECTORY)) == O_RDONLY;
}

bool open_to_read(const std::string& name, const std::string& resolved, int flags, const Opener& opener) {
  if (file_view().leader()) return opener.open(name.c_str(), flags);
  return read_in_view(
      resolved, false, [&](const char* path) { return opener.open(path, flags); }, opener.close);
}

bool open_in_view(const std::string& name, int flags, Manner manner, const Opener& opener) {
  const FileView& view = file_view();
  const bool only_new = (flags & O_CREAT) && (flags & O_EXCL);
  std::string resolved;
  if (const int error = view.resolve(name, !(flags & O_NOFOLLOW) && !only_new, resolved)) return fails(error);
  if (shared_by_all(resolved)) return opener.open(name.c_str(), flags);
  const FilePlace now = view.find(resolved);
  if (now.exists() && only_new && manner != Manner::repeat) return fails(EEXIST);
  if (manner == Manner::repeat) flags &= ~O_EXCL;
  if (!now.exists() && !(flags & O_CREAT)) return fails(ENOENT);
  if (now.exists() && !opens_for_writing(flags)) return open_to_read(name, resolved, flags, opener);
  Change change = Change::name;
  if (now.exists()) change = (flags & O_TRUNC) ? Change::emptied : Change::contents;
  Prepared prepared;
  if (const int error = prepare_change(resolved, change, manner, prepared)) return fails(error);
  if (opener.open(prepared.path.c_str(), flags)) return true;
  const int error = errno;
  view.undo(resolved, prepared);
  return fails(error);
}

bool is_open_directory(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode);
}

bool open_stand_in(const std::string& name, int flags, const Opener& opener) {
  std::string folder;
  const int error = stand_in_directory(name, !(flags & O_NOFOLLOW), folder);
  return error == 0 ? opener.open(folder.c_str(), flags) : fails(error);
}

/// What belongs to the system is read at once.
bool system_file(const char* path, int flags) {
  return !opens_for_writing(flags) && (flags & O_CREAT) == 0 && is_system_path(path);
}

/// A file descriptor, which is -1 and not 0 where there is none.
struct Descriptor {
  int number = -1;
  friend bool operator==(const Descriptor&, const Descriptor&) = default;
};

int number_of(Descriptor file) {
  return file.number;
}
int number_of(FILE* stream) {
  return stream->_fileno;
}
int number_of(DIR* directory) {
  return ::dirfd(directory);
}

template <class Open, class Close>
auto open_file(int folder, const char* path, int flags, Open open, Close close) {
  std::string name;
  auto result = decltype(open(path, flags))();
  const auto failed = result;
  if (depth > 0 || !path || system_file(path, flags) || !file_call(folder, path, name)) {
    result = open(path, flags);
    if (result != failed) forget_descriptor(number_of(result));
    return result;
  }
  const auto opened_there = [&](const char* at, int how) { return (result = open(at, how)) != failed; };
  const auto taken_back = [&] { close(result); };
  const Opener opener{opened_there, taken_back};
  const auto act = [&](Manner manner) { return open_in_view(name, flags, manner, opener); };
  const MadeOutside directory{
      .is = [&] { return is_open_directory(number_of(result)) && is_made_outside(name, !(flags & O_NOFOLLOW)); },
      .follow = [&] { return act(Manner::repeat) || open_stand_in(name, flags, opener); }};
  const auto open_memory = [&](int memory, bool opened) {
    if (opened) close(result);
    const bool done = opened_there(("/proc/self/fd/" + std::to_string(memory)).c_str(), flags & ~O_NOFOLLOW);
    ::close(memory);
    return done;
  };
  const auto show = [&] {
    const Shown shown = show_opened(name, number_of(result));
    const std::optional<int> memory = shown == Shown::own ? std::nullopt : open_told(name);
    if (memory && *memory >= 0 && !open_memory(*memory, true)) (void)act(Manner::own);
    return shown;
  };
  const auto read_shown = [&](bool opened, Shown shown) {
    const int own = opened ? number_of(result) : -1;
    if (shown == Shown::anew) take_shown(name, own);
    const std::optional<int> memory = open_shown(name, own);
    return memory && *memory >= 0 ? open_memory(*memory, opened) : opened;
  };
  const auto open_everywhere = [&] {
    if ((flags & O_CREAT) != 0 && (flags & O_EXCL) != 0) return agree_on_new_file(name, act);
    return reads_contents(flags) ? agree_on_reading(name, act, show, read_shown, directory)
                                 : agree_on_file(FileCall::open, name, act, directory);
  };
  if (!open_everywhere() || result == failed) return failed;
  const int before = errno;
  opened(number_of(result), name, opens_for_writing(flags));
  errno = before;
  return result;
}

int open_descriptor(int folder, const char* path, int flags, mode_t mode) {
  const Answering answering;
  static const auto real = next_function<int (*)(int, const char*, int, ...)>("openat");
  if (const std::optional<int> made = open_made_file(path, flags)) return *made;
  if (const int copy = copy_of_stream(path, flags); copy >= 0) return copy;
  return open_file(
             folder, path, flags, [&](const char* at, int how) { return Descriptor{real(folder, at, how, mode)}; },
             [](Descriptor file) { ::close(file.number); })
      .number;
}

/// open(2)'s flags for fopen's mode; those of a mode that is none make fopen itself complain.
int flags_of(const char* mode) {
  if (!mode || !*mode) return O_RDONLY;
  int flags = std::strchr(mode, '+') ? O_RDWR : *mode == 'r' ? O_RDONLY : O_WRONLY;
  if (*mode == 'w') flags |= O_CREAT | O_TRUNC;
  if (*mode == 'a') flags |= O_CREAT | O_APPEND;
  if (std::strchr(mode, 'x')) flags |= O_EXCL;
  return flags;
}

/// The same mode with 'x' only where the flags have it.
std::string mode_for(const char* mode, int flags) {
  std::string text = mode;
  if (!(flags & O_EXCL)) std::erase(text, 'x');
  return text;
}

using OpenStream = FILE* (*)(const char*, const char*);

FILE* open_stream(OpenStream real, const char* path, const char* mode) {
  const Answering answering;
  const int flags = flags_of(mode);
  if (const std::optional<int> made = open_made_file(path, flags)) {
    const ForProgram for_program;
    return *made < 0 ? nullptr : ::fdopen(*made, mode);
  }
  if (const int copy = copy_of_stream(path, flags); copy >= 0) {
    const ForProgram for_program;
    return ::fdopen(copy, mode);
  }
  return open_file(
      AT_FDCWD, path, flags,
      [&](const char* at, int how) {
        const std::string other = how == flags ? "" : mode_for(mode, how);
        const ForProgram for_program;
        return real(at, how == flags ? mode : other.c_str());
      },
      [](FILE* stream) { std::fclose(stream); });
}

using ReopenStream = FILE* (*)(const char*, const char*, FILE*);

FILE* reopen_stream(ReopenStream real, const char* path, const char* mode, FILE* stream) {
  const Answering answering;
  return open_file(
      AT_FDCWD, path, flags_of(mode),
      [&](const char* at, int how) {
        const std::string other = at ? mode_for(mode, how) : "";
        const ForProgram for_program;
        return real(at, at ? other.c_str() : mode, stream);
      },
      [](FILE*) {});
}

/// Six characters that differ from call to call and from rank to rank, and are the same in all replicas.
void fill_in(char* six) {
  static std::atomic<std::uint64_t> calls{0};
  const char* const epoch = std::getenv("HOLDFAST_RUN_EPOCH");
  const std::uint64_t start = epoch ? std::strtoull(epoch, nullptr, 10) : 0;
  constexpr char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  const Depth inside;
  std::uint64_t bits = start ^ (static_cast<std::uint64_t>(file_rank()) << 48) ^ ++calls;
  for (int round = 0; round < 3; ++round) bits = (bits ^ (bits >> 31)) * 0x9e3779b97f4a7c15ULL;
  for (int i = 0; i < 6; ++i) {
    six[i] = letters[bits % 62];
    bits /= 62;
  }
}

/// The name of a temporary file or directory is made here, for the C library's own is another one in each replica.
template <class Make>
int make_temporary(char* pattern, int suffix, Make make) {
  const auto length = static_cast<int>(std::strlen(pattern));
  if (suffix < 0 || length < suffix + 6 || std::strncmp(pattern + length - suffix - 6, "XXXXXX", 6) != 0) {
    errno = EINVAL;
    return -1;
  }
  for (int attempt = 0; attempt < 1000; ++attempt) {
    fill_in(pattern + length - suffix - 6);
    const int made = make(pattern);
    if (made >= 0 || errno != EEXIST) return made;
  }
  return -1;
}

int temporary_file(char* pattern, int suffix, int flags) {
  const Answering answering;
  std::string name;
  if (!pattern || !file_call(AT_FDCWD, pattern, name)) {
    static const auto real = next_function<int (*)(char*, int, int)>("mkostemps");
    return real(pattern, suffix, flags);
  }
  return make_temporary(pattern, suffix, [&](const char* path) {
    return open_descriptor(AT_FDCWD, path, (flags & ~O_ACCMODE) | O_RDWR | O_CREAT | O_EXCL, 0600);
  });
}

/// The same for a name alone, which no file has yet; false where none is found.
bool name_temporary(char* pattern) {
  const Answering answering;
  return make_temporary(pattern, 0, [](const char* path) {
           struct stat found {};
           if (::lstat(path, &found) != 0 && errno == ENOENT) return 0;
           errno = EEXIST;
           return -1;
         }) == 0;
}

/// Where tempnam() makes names: the first of these that is a folder.
std::string temporary_folder(const char* asked) {
  for (const char* folder : {static_cast<const char*>(::secure_getenv("TMPDIR")), asked}) {
    struct stat found {};
    if (folder && ::stat(folder, &found) == 0 && S_ISDIR(found.st_mode)) return folder;
  }
  return P_tmpdir;
}

}  // namespace

}  // namespace holdfast::replicate

namespace hr = holdfast::replicate;

namespace {
mode_t mode_of(int flags, va_list arguments) {
  return (flags & (O_CREAT | __O_TMPFILE)) ? va_arg(arguments, mode_t) : 0;
}
}  // namespace

// open() takes its third argument only with certain flags (POSIX, open).
#define HOLDFAST_OPEN(function)                                                              \
  extern "C" [[gnu::visibility("default")]] int function(const char* path, int flags, ...) { \
    va_list arguments;                                                                       \
    va_start(arguments, flags);                                                              \
    const mode_t mode = mode_of(flags, arguments);                                           \
    va_end(arguments);                                                                       \
    return hr::open_descriptor(AT_FDCWD, path, flags, mode);                                 \
  }
HOLDFAST_OPEN(open)
HOLDFAST_OPEN(open64)
#undef HOLDFAST_OPEN

#define HOLDFAST_OPENAT(function)                                                                        \
  extern "C" [[gnu::visibility("default")]] int function(int folder, const char* path, int flags, ...) { \
    va_list arguments;                                                                                   \
    va_start(arguments, flags);                                                                          \
    const mode_t mode = mode_of(flags, arguments);                                                       \
    va_end(arguments);                                                                                   \
    return hr::open_descriptor(folder, path, flags, mode);                                               \
  }
HOLDFAST_OPENAT(openat)
HOLDFAST_OPENAT(openat64)
#undef HOLDFAST_OPENAT

extern "C" {

// What a program calls that was compiled with _FORTIFY_SOURCE.
[[gnu::visibility("default")]] int __open_2(const char* path, int flags) {
  return hr::open_descriptor(AT_FDCWD, path, flags, 0);
}
[[gnu::visibility("default")]] int __open64_2(const char* path, int flags) {
  return hr::open_descriptor(AT_FDCWD, path, flags, 0);
}
[[gnu::visibility("default")]] int __openat_2(int folder, const char* path, int flags) {
  return hr::open_descriptor(folder, path, flags, 0);
}
[[gnu::visibility("default")]] int __openat64_2(int folder, const char* path, int flags) {
  return hr::open_descriptor(folder, path, flags, 0);
}

[[gnu::visibility("default")]] int creat(const char* path, mode_t mode) {
  return hr::open_descriptor(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}
[[gnu::visibility("default")]] int creat64(const char* path, mode_t mode) {
  return hr::open_descriptor(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}

[[gnu::visibility("default")]] FILE* fopen(const char* path, const char* mode) {
  static const auto real = hr::next_function<hr::OpenStream>("fopen");
  return hr::open_stream(real, path, mode);
}
[[gnu::visibility("default")]] FILE* fopen64(const char* path, const char* mode) {
  static const auto real = hr::next_function<hr::OpenStream>("fopen64");
  return hr::open_stream(real, path, mode);
}
[[gnu::visibility("default")]] FILE* freopen(const char* path, const char* mode, FILE* stream) {
  static const auto real = hr::next_function<hr::ReopenStream>("freopen");
  return hr::reopen_stream(real, path, mode, stream);
}
[[gnu::visibility("default")]] FILE* freopen64(const char* path, const char* mode, FILE* stream) {
  static const auto real = hr::next_function<hr::ReopenStream>("freopen64");
  return hr::reopen_stream(real, path, mode, stream);
}

[[gnu::visibility("default")]] DIR* opendir(const char* path) {
  static const auto real = hr::next_function<DIR* (*)(const char*)>("opendir");
  const hr::Answering answering;
  return hr::open_file(
      AT_FDCWD, path, O_RDONLY | O_DIRECTORY,
      [&](const char* at, int) {
        const hr::ForProgram for_program;
        return real(at);
      },
      [](DIR* directory) { ::closedir(directory); });
}

[[gnu::visibility("default")]] int mkstemp(char* pattern) {
  return hr::temporary_file(pattern, 0, 0);
}
[[gnu::visibility("default")]] int mkstemp64(char* pattern) {
  return hr::temporary_file(pattern, 0, 0);
}
[[gnu::visibility("default")]] int mkostemp(char* pattern, int flags) {
  return hr::temporary_file(pattern, 0, flags);
}
[[gnu::visibility("default")]] int mkostemp64(char* pattern, int flags) {
  return hr::temporary_file(pattern, 0, flags);
}
[[gnu::visibility("default")]] int mkstemps(char* pattern, int suffix) {
  return hr::temporary_file(pattern, suffix, 0);
}
[[gnu::visibility("default")]] int mkstemps64(char* pattern, int suffix) {
  return hr::temporary_file(pattern, suffix, 0);
}
[[gnu::visibility("default")]] int mkostemps(char* pattern, int suffix, int flags) {
  return hr::temporary_file(pattern, suffix, flags);
}
[[gnu::visibility("default")]] int mkostemps64(char* pattern, int suffix, int flags) {
  return hr::temporary_file(pattern, suffix, flags);
}

[[gnu::visibility("default")]] char* mktemp(char* pattern) noexcept {
  static const auto real = hr::next_function<char* (*)(char*)>("mktemp");
  std::string name;
  if (!hr::file_call(AT_FDCWD, pattern, name)) return real(pattern);
  if (!hr::name_temporary(pattern)) *pattern = '\0';
  return pattern;
}
[[gnu::visibility("default")]] char* tmpnam_r(char* into) noexcept {
  static const auto real = hr::next_function<char* (*)(char*)>("tmpnam_r");
  constexpr char pattern[] = P_tmpdir "/fileXXXXXX";
  static_assert(sizeof pattern <= L_tmpnam);
  std::string name;
  if (!into || !hr::file_call(AT_FDCWD, pattern, name)) return real(into);
  std::memcpy(into, pattern, sizeof pattern);
  return hr::name_temporary(into) ? into : nullptr;
}
[[gnu::visibility("default")]] char* tmpnam(char* into) noexcept {
  static char own[L_tmpnam];
  return ::tmpnam_r(into ? into : own);
}
[[gnu::visibility("default")]] char* tempnam(const char* folder, const char* prefix) noexcept {
  static const auto real = hr::next_function<char* (*)(const char*, const char*)>("tempnam");
  const std::string pattern =
      hr::temporary_folder(folder) + "/" + std::string(prefix ? prefix : "file").substr(0, 5) + "XXXXXX";
  std::string name;
  if (!hr::file_call(AT_FDCWD, pattern.c_str(), name)) return real(folder, prefix);
  char* const made = ::strdup(pattern.c_str());
  if (!made || hr::name_temporary(made)) return made;
  ::free(made);
  return nullptr;
}

[[gnu::visibility("default")]] char* mkdtemp(char* pattern) {
  static const auto real = hr::next_function<char* (*)(char*)>("mkdtemp");
  const hr::Answering answering;
  std::string name;
  if (!hr::file_call(AT_FDCWD, pattern, name)) return real(pattern);
  return hr::make_temporary(pattern, 0, [](const char* path) { return ::mkdir(path, 0700); }) == 0 ? pattern : nullptr;
}

}  // extern "C"
