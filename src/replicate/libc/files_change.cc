// Functions that make, remove, rename or change what is in a directory.
#include <stdio.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
#include <utime.h>

#include <cerrno>
#include <optional>

#include "replicate/libc/files.h"
#include "replicate/mpi/io/file.h"

namespace holdfast::replicate {

namespace {

using Act = std::function<bool(const std::string& path)>;

/// Makes a name that must not be there yet. `exists_too`: another rank of this replica may have made it already.
bool make(const std::string& name, Manner manner, const Act& act) {
  const FileView& view = file_view();
  std::string resolved;
  if (const int error = view.resolve(name, false, resolved)) return fails(error);
  if (shared_by_all(resolved)) return act(resolved);
  if (view.find(resolved).exists()) return manner == Manner::repeat || fails(EEXIST);
  Prepared prepared;
  if (const int error = prepare_change(resolved, Change::name, manner, prepared)) return fails(error);
  return act(prepared.path) || (manner == Manner::repeat && errno == EEXIST);
}

/// Changes what is there: contents, length, permissions, times.
bool alter(const std::string& name, bool follow, Manner manner, const Act& act) {
  const FileView& view = file_view();
  std::string resolved;
  if (const int error = view.resolve(name, follow, resolved)) return fails(error);
  const FilePlace now = view.find(resolved);
  if (shared_by_all(resolved)) return act(resolved);
  if (!now.exists()) return fails(ENOENT);
  if (!now.is(S_IFREG) && !view.leader() && now.layer != FilePlace::Layer::shadow)
    return true;  // not the others' to change
  Prepared prepared;
  if (const int error = prepare_change(resolved, Change::contents, manner, prepared)) return fails(error);
  return act(prepared.path);
}

/// Of what was prepared and did not come about; errno stays.
bool took_back(const std::string& path, const Prepared& prepared) {
  const int error = errno;
  file_view().undo(path, prepared);
  return fails(error);
}

/// Whether there is nothing to remove, so that trying to changes nothing: what comes under that name later may be
/// anybody's.
bool is_irremovable(const std::string& path, bool directory) {
  const FilePlace now = file_view().find(path);
  return !now.exists() || now.is(S_IFDIR) != directory || (directory && !file_view().list(path).empty());
}

/// `outsiders`: whether somebody outside had made it, perhaps at this moment; only told in the leader.
bool remove(const std::string& name, bool directory, Manner manner, bool& outsiders, const Act& act) {
  const FileView& view = file_view();
  std::string resolved;
  if (const int error = view.resolve(name, false, resolved)) return fails(error);
  if (shared_by_all(resolved)) return act(resolved);
  if (!view.leader()) return fails(view.hide(resolved, directory));
  if (is_irremovable(resolved, directory)) {
    const bool done = act(resolved);
    outsiders = done && !view.changed_here(resolved);
    return done;
  }
  Prepared prepared;
  if (const int error = prepare_change(resolved, Change::removal, manner, prepared)) return fails(error);
  outsiders = prepared.outsiders;
  return act(resolved) || took_back(resolved, prepared);
}

bool rename(const std::string& from, const std::string& to, bool replaces, Manner manner, bool& outsiders,
            const Act& act) {
  const FileView& view = file_view();
  std::string source;
  std::string target;
  if (const int error = view.resolve(from, false, source)) return fails(error);
  if (const int error = view.resolve(to, false, target)) return fails(error);
  if (shared_by_all(source) != shared_by_all(target)) return fails(EXDEV);
  if (shared_by_all(source)) return act(target);
  if (!view.find(source).exists()) return fails(ENOENT);
  if (!replaces && view.find(target).exists()) return fails(EEXIST);
  if (!view.leader()) return fails(view.move(source, target));
  Prepared prepared;
  Prepared replaced;
  if (const int error = prepare_change(source, Change::removal, manner, prepared)) return fails(error);
  outsiders = prepared.outsiders;
  const int error = prepare_change(target, Change::name, manner, replaced);
  if (!fails(error) || !act(target)) return took_back(source, prepared);
  view.move_made(source, target);
  return true;
}

bool link(const std::string& from, const std::string& to, bool follow, Manner manner,
          const std::function<bool(const std::string& from, const std::string& to)>& act) {
  const FileView& view = file_view();
  std::string source;
  if (const int error = view.resolve(from, follow, source)) return fails(error);
  if (!view.find(source).exists()) return fails(ENOENT);
  Prepared own;  // both names are one file from now on, and it is to be this replica's
  if (const int error = prepare_change(source, Change::contents, manner, own)) return fails(error);
  return make(to, manner, [&](const std::string& path) { return act(own.path, path); });
}

int code(bool done) {
  return done ? 0 : -1;
}

int remove_path(int folder, const char* path, int flags) {
  const Answering answering;
  static const auto real = next_function<int (*)(int, const char*, int)>("unlinkat");
  std::string name;
  if (!file_call(folder, path, name)) return real(folder, path, flags);
  bool outsiders = false;
  const auto act = [&](Manner manner) {
    return remove(name, (flags & AT_REMOVEDIR) != 0, manner, outsiders,
                  [&](const std::string& at) { return real(AT_FDCWD, at.c_str(), flags) == 0; });
  };
  const auto follow = [&] {
    (void)act(Manner::repeat);  // mostly it is not there
    return true;
  };
  return code(agree_on_file(FileCall::remove, name, act, {.is = [&] { return outsiders; }, .follow = follow}));
}

int rename_path(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  const Answering answering;
  static const auto real = next_function<int (*)(int, const char*, int, const char*, unsigned)>("renameat2");
  std::string source;
  std::string target;
  const bool first = file_call(from_folder, from, source);
  const bool second = file_call(to_folder, to, target);
  if (!first && !second) return real(from_folder, from, to_folder, to, flags);
  if (!first || !second || (flags & ~RENAME_NOREPLACE) != 0) return code(fails(first && second ? EINVAL : EXDEV));
  bool outsiders = false;
  std::string contents;
  const auto act = [&](Manner manner) {
    return rename(source, target, flags == 0, manner, outsiders, [&](const std::string&) {
      return real(AT_FDCWD, source.c_str(), AT_FDCWD, target.c_str(), flags) == 0;
    });
  };
  const auto is_told = [&] {
    const std::optional<std::string> moved = outsiders ? read_small_file(target) : std::nullopt;
    contents = "+" + moved.value_or("");
    return moved.has_value();
  };
  const auto follow = [&] {
    if (act(Manner::repeat)) return true;  // one of this replica's own
    return !contents.empty() &&            // told, by a leader that has not died
           make_own_file(target, std::string_view(contents).substr(1));
  };
  const MadeOutside made_outside{.is = is_told, .share = [&] { take_leaders(contents); }, .follow = follow};
  return code(agree_on_file(FileCall::rename, source, act, made_outside));
}

int make_directory(int folder, const char* path, mode_t mode) {
  const Answering answering;
  static const auto real = next_function<int (*)(int, const char*, mode_t)>("mkdirat");
  std::string name;
  if (!file_call(folder, path, name)) return real(folder, path, mode);
  return code(agree_on_file(FileCall::make_directory, name, [&](Manner manner) {
    return make(name, manner, [&](const std::string& at) {
      if (file_view().leader()) file_view().new_generation();
      return real(AT_FDCWD, at.c_str(), mode) == 0;
    });
  }));
}

/// A pipe, the file of a socket, or a file: each replica has its own, between its own ranks.
int make_node(int folder, const char* path, mode_t mode, dev_t device) {
  const Answering answering;
  const auto real = next_function<int (*)(int, const char*, mode_t, dev_t)>("mknodat");  // seldom enough to look it up
  std::string name;
  if (!file_call(folder, path, name)) return real(folder, path, mode, device);
  return code(agree_on_file(FileCall::make_node, name, [&](Manner manner) {
    return make(name, manner, [&](const std::string& at) { return real(AT_FDCWD, at.c_str(), mode, device) == 0; });
  }));
}

int make_pipe(int folder, const char* path, mode_t mode) {
  return make_node(folder, path, (mode & ~static_cast<mode_t>(S_IFMT)) | S_IFIFO, 0);
}

int make_symbolic_link(const char* text, int folder, const char* path) {
  const Answering answering;
  static const auto real = next_function<int (*)(const char*, int, const char*)>("symlinkat");
  std::string name;
  if (!file_call(folder, path, name)) return real(text, folder, path);
  return code(agree_on_file(FileCall::link, name, [&](Manner manner) {
    return make(name, manner, [&](const std::string& at) { return real(text, AT_FDCWD, at.c_str()) == 0; });
  }));
}

int make_link(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  const Answering answering;
  static const auto real = next_function<int (*)(int, const char*, int, const char*, int)>("linkat");
  std::string source;
  std::string target;
  const bool first = file_call(from_folder, from, source);
  const bool second = file_call(to_folder, to, target);
  if (!first && !second) return real(from_folder, from, to_folder, to, flags);
  if (!first || !second) return code(fails(EXDEV));
  return code(agree_on_file(FileCall::link, target, [&](Manner manner) {
    return link(source, target, (flags & AT_SYMLINK_FOLLOW) != 0, manner,
                [&](const std::string& one, const std::string& two) {
                  return real(AT_FDCWD, one.c_str(), AT_FDCWD, two.c_str(), 0) == 0;
                });
  }));
}

/// `may_fail`: in the other replicas, whose file systems may refuse it.
template <class Real>
int alter_path(int folder, const char* path, bool follow, Real real, bool may_fail = false) {
  const Answering answering;
  std::string name;
  if (!file_call(folder, path, name)) return real(folder, path);
  return code(agree_on_file(FileCall::change, name, [&](Manner manner) {
    return alter(name, follow, manner, [&](const std::string& at) {
      return real(AT_FDCWD, at.c_str()) == 0 || (may_fail && !file_view().leader());
    });
  }));
}

/// A copy in a shadow is this user's, if it cannot be another one's.
template <class Real>
int alter_owner(int folder, const char* path, bool follow, Real real) {
  return alter_path(folder, path, follow, real, true);
}

}  // namespace

}  // namespace holdfast::replicate

namespace hr = holdfast::replicate;

extern "C" {

[[gnu::visibility("default")]] int unlink(const char* path) noexcept {
  return hr::remove_path(AT_FDCWD, path, 0);
}
[[gnu::visibility("default")]] int unlinkat(int folder, const char* path, int flags) noexcept {
  return hr::remove_path(folder, path, flags);
}
[[gnu::visibility("default")]] int rmdir(const char* path) noexcept {
  return hr::remove_path(AT_FDCWD, path, AT_REMOVEDIR);
}
/// ISO C: a file, or an empty directory.
[[gnu::visibility("default")]] int remove(const char* path) noexcept {
  const int code = hr::remove_path(AT_FDCWD, path, 0);
  return code != 0 && (errno == EISDIR || errno == EPERM) ? hr::remove_path(AT_FDCWD, path, AT_REMOVEDIR) : code;
}

[[gnu::visibility("default")]] int rename(const char* from, const char* to) noexcept {
  return hr::rename_path(AT_FDCWD, from, AT_FDCWD, to, 0);
}
[[gnu::visibility("default")]] int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  return hr::rename_path(from_folder, from, to_folder, to, 0);
}
[[gnu::visibility("default")]] int renameat2(int from_folder, const char* from, int to_folder, const char* to,
                                             unsigned flags) noexcept {
  return hr::rename_path(from_folder, from, to_folder, to, flags);
}

[[gnu::visibility("default")]] int mkdir(const char* path, mode_t mode) noexcept {
  return hr::make_directory(AT_FDCWD, path, mode);
}
[[gnu::visibility("default")]] int mkdirat(int folder, const char* path, mode_t mode) noexcept {
  return hr::make_directory(folder, path, mode);
}

[[gnu::visibility("default")]] int mkfifo(const char* path, mode_t mode) noexcept {
  return hr::make_pipe(AT_FDCWD, path, mode);
}
[[gnu::visibility("default")]] int mkfifoat(int folder, const char* path, mode_t mode) noexcept {
  return hr::make_pipe(folder, path, mode);
}
[[gnu::visibility("default")]] int mknod(const char* path, mode_t mode, dev_t device) noexcept {
  return hr::make_node(AT_FDCWD, path, mode, device);
}
[[gnu::visibility("default")]] int mknodat(int folder, const char* path, mode_t mode, dev_t device) noexcept {
  return hr::make_node(folder, path, mode, device);
}
/// As programs call it that were compiled before glibc 2.33.
[[gnu::visibility("default")]] int __xmknod(int, const char* path, mode_t mode, dev_t* device) noexcept {
  return hr::make_node(AT_FDCWD, path, mode, *device);
}

[[gnu::visibility("default")]] int symlink(const char* text, const char* path) noexcept {
  return hr::make_symbolic_link(text, AT_FDCWD, path);
}
[[gnu::visibility("default")]] int symlinkat(const char* text, int folder, const char* path) noexcept {
  return hr::make_symbolic_link(text, folder, path);
}
[[gnu::visibility("default")]] int link(const char* from, const char* to) noexcept {
  return hr::make_link(AT_FDCWD, from, AT_FDCWD, to, 0);
}
[[gnu::visibility("default")]] int linkat(int from_folder, const char* from, int to_folder, const char* to,
                                          int flags) noexcept {
  return hr::make_link(from_folder, from, to_folder, to, flags);
}

[[gnu::visibility("default")]] int truncate(const char* path, off_t length) noexcept {
  static const auto real = hr::next_function<int (*)(const char*, off_t)>("truncate");
  return hr::alter_path(AT_FDCWD, path, true, [&](int, const char* at) { return real(at, length); });
}
[[gnu::visibility("default")]] int truncate64(const char* path, off64_t length) noexcept {
  static const auto real = hr::next_function<int (*)(const char*, off64_t)>("truncate64");
  return hr::alter_path(AT_FDCWD, path, true, [&](int, const char* at) { return real(at, length); });
}

[[gnu::visibility("default")]] int chmod(const char* path, mode_t mode) noexcept {
  static const auto real = hr::next_function<int (*)(const char*, mode_t)>("chmod");
  return hr::alter_path(AT_FDCWD, path, true, [&](int, const char* at) { return real(at, mode); });
}
[[gnu::visibility("default")]] int fchmodat(int folder, const char* path, mode_t mode, int flags) noexcept {
  static const auto real = hr::next_function<int (*)(int, const char*, mode_t, int)>("fchmodat");
  return hr::alter_path(folder, path, !(flags & AT_SYMLINK_NOFOLLOW),
                        [&](int in, const char* at) { return real(in, at, mode, flags); });
}

[[gnu::visibility("default")]] int chown(const char* path, uid_t user, gid_t group) noexcept {
  static const auto real = hr::next_function<int (*)(const char*, uid_t, gid_t)>("chown");
  return hr::alter_owner(AT_FDCWD, path, true, [&](int, const char* at) { return real(at, user, group); });
}
[[gnu::visibility("default")]] int lchown(const char* path, uid_t user, gid_t group) noexcept {
  static const auto real = hr::next_function<int (*)(const char*, uid_t, gid_t)>("lchown");
  return hr::alter_owner(AT_FDCWD, path, false, [&](int, const char* at) { return real(at, user, group); });
}
[[gnu::visibility("default")]] int fchownat(int folder, const char* path, uid_t user, gid_t group, int flags) noexcept {
  static const auto real = hr::next_function<int (*)(int, const char*, uid_t, gid_t, int)>("fchownat");
  return hr::alter_owner(folder, path, !(flags & AT_SYMLINK_NOFOLLOW),
                         [&](int in, const char* at) { return real(in, at, user, group, flags); });
}

[[gnu::visibility("default")]] int utime(const char* path, const utimbuf* times) noexcept {
  static const auto real = hr::next_function<int (*)(const char*, const utimbuf*)>("utime");
  return hr::alter_path(AT_FDCWD, path, true, [&](int, const char* at) { return real(at, times); });
}
[[gnu::visibility("default")]] int utimes(const char* path, const timeval times[2]) noexcept {
  static const auto real = hr::next_function<int (*)(const char*, const timeval*)>("utimes");
  return hr::alter_path(AT_FDCWD, path, true, [&](int, const char* at) { return real(at, times); });
}
[[gnu::visibility("default")]] int lutimes(const char* path, const timeval times[2]) noexcept {
  static const auto real = hr::next_function<int (*)(const char*, const timeval*)>("lutimes");
  return hr::alter_path(AT_FDCWD, path, false, [&](int, const char* at) { return real(at, times); });
}
[[gnu::visibility("default")]] int futimesat(int folder, const char* path, const timeval times[2]) noexcept {
  static const auto real = hr::next_function<int (*)(int, const char*, const timeval*)>("futimesat");
  return hr::alter_path(folder, path, true, [&](int in, const char* at) { return real(in, at, times); });
}
[[gnu::visibility("default")]] int utimensat(int folder, const char* path, const timespec times[2],
                                             int flags) noexcept {
  static const auto real = hr::next_function<int (*)(int, const char*, const timespec*, int)>("utimensat");
  return hr::alter_path(folder, path, !(flags & AT_SYMLINK_NOFOLLOW),
                        [&](int in, const char* at) { return real(in, at, times, flags); });
}

}  // extern "C"
