// Walks over trees of files, ftw(3) and nftw(3), by functions that go by the replica's view: the C library's own read
// directories and look at files by ways of its own. What a walk meets comes in the order of the leader's sorted lists.
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "replicate/libc/files.h"

namespace holdfast::replicate {

namespace {

using OldVisitor = int (*)(const char*, const struct stat*, int);
using Visitor = int (*)(const char*, const struct stat*, int, struct FTW*);

/// One walk, as ftw(3) and the GNU C library have it.
class FileWalk {
 public:
  FileWalk(Visitor visitor, OldVisitor old, int flags) : visitor_(visitor), old_(old), flags_(flags) {}

  int begin(std::string path) {
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    if (path.front() != '/') {
      char* const here = ::get_current_dir_name();
      if (!here) return -1;
      start_ = std::string(here) + "/";
      std::free(here);
    }
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) return -1;
    if (::stat(path.c_str(), &status) == 0) device_ = status.st_dev;
    const std::size_t slash = path.rfind('/');
    const std::size_t base = slash == std::string::npos || path.size() == 1 ? 0 : slash + 1;
    if (has(FTW_CHDIR) && base > 0 && ::chdir(place(path.substr(0, base)).c_str()) != 0) return -1;
    const int code = visit(path, base, 0);
    if (has(FTW_CHDIR) && !start_.empty() && ::chdir(start_.c_str()) != 0) return -1;
    return has(FTW_ACTIONRETVAL) && (code == FTW_SKIP_SUBTREE || code == FTW_SKIP_SIBLINGS) ? 0 : code;
  }

 private:
  bool has(int flag) const { return (flags_ & flag) != 0; }
  /// What to open: paths of a walk that changes the directory are relative to where it began.
  std::string place(const std::string& path) const { return start_ + path; }

  int tell(const std::string& path, std::size_t base, int level, const struct stat& status, int what) {
    if (old_) {
      if (what == FTW_SLN) what = FTW_NS;
      return old_(path.c_str(), &status, what);
    }
    struct FTW where {
      static_cast<int>(base), level
    };
    return visitor_(path.c_str(), &status, what, &where);
  }

  /// Nothing where the walk cannot go on.
  std::optional<int> look(const std::string& path, struct stat& status) const {
    const std::string file = place(path);
    if (has(FTW_PHYS) ? ::lstat(file.c_str(), &status) == 0 : ::stat(file.c_str(), &status) == 0)
      return S_ISDIR(status.st_mode) ? FTW_D : S_ISLNK(status.st_mode) ? FTW_SL : FTW_F;
    if (errno != EACCES && errno != ENOENT) return std::nullopt;
    if (!has(FTW_PHYS) && ::lstat(file.c_str(), &status) == 0 && S_ISLNK(status.st_mode)) return FTW_SLN;
    return FTW_NS;
  }

  int visit(const std::string& path, std::size_t base, int level) {
    struct stat status {};
    const std::optional<int> what = look(path, status);
    if (!what) return -1;
    if (has(FTW_MOUNT) && *what != FTW_NS && device_ && status.st_dev != *device_) return 0;
    if (*what != FTW_D) return tell(path, base, level, status, *what);
    if (!has(FTW_PHYS) && !seen_.insert({status.st_dev, status.st_ino}).second) return 0;
    return visit_folder(path, base, level, status);
  }

  int visit_folder(const std::string& path, std::size_t base, int level, const struct stat& status) {
    DIR* const folder = ::opendir(place(path).c_str());
    if (!folder) return errno == EACCES ? tell(path, base, level, status, FTW_DNR) : -1;
    const int first = has(FTW_DEPTH) ? 0 : tell(path, base, level, status, FTW_D);
    std::vector<std::string> names;
    errno = 0;
    while (const struct dirent* entry = first == 0 ? ::readdir(folder) : nullptr)
      if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0)
        names.emplace_back(entry->d_name);
    const int failed = first == 0 ? errno : 0;
    ::closedir(folder);
    if (failed != 0) return fails(failed) ? 0 : -1;
    if (first != 0) return has(FTW_ACTIONRETVAL) && first == FTW_SKIP_SUBTREE ? 0 : first;
    const int code = visit_all(path, level, names);
    if (code != 0 && !(has(FTW_ACTIONRETVAL) && code == FTW_SKIP_SIBLINGS)) return code;
    if (!has(FTW_DEPTH)) return 0;
    if (has(FTW_CHDIR) && ::chdir(place(path).c_str()) != 0) return -1;  // where the GNU C library still is then
    return tell(path, base, level, status, FTW_DP);
  }

  int visit_all(const std::string& path, int level, const std::vector<std::string>& names) {
    const std::string folder = path == "/" ? path : path + "/";
    for (const std::string& name : names) {
      if (has(FTW_CHDIR) && ::chdir(place(path).c_str()) != 0) return -1;
      const int code = visit(folder + name, folder.size(), level + 1);
      if (code != 0 && !(has(FTW_ACTIONRETVAL) && code == FTW_SKIP_SUBTREE)) return code;
    }
    return 0;
  }

  Visitor visitor_;
  OldVisitor old_;
  int flags_;
  std::string start_;  ///< empty: paths are absolute
  std::optional<dev_t> device_{};
  std::set<std::pair<dev_t, ino_t>> seen_;
};

bool walks_in_view(const char* path) {
  std::string name;
  return path && file_call(AT_FDCWD, path, name);
}

int walk(const char* name, const char* path, Visitor visitor, int descriptors, int flags) {
  if (walks_in_view(path)) return FileWalk(visitor, nullptr, flags).begin(path);
  return next_function<int (*)(const char*, Visitor, int, int)>(name)(path, visitor, descriptors, flags);
}

int walk_old(const char* name, const char* path, OldVisitor visitor, int descriptors) {
  if (walks_in_view(path)) return FileWalk(nullptr, visitor, 0).begin(path);
  return next_function<int (*)(const char*, OldVisitor, int)>(name)(path, visitor, descriptors);
}

}  // namespace

}  // namespace holdfast::replicate

namespace hr = holdfast::replicate;

static_assert(sizeof(struct stat) == sizeof(struct stat64), "64-bit file offsets are the only ones");

extern "C" {

[[gnu::visibility("default")]] int nftw(const char* path, __nftw_func_t visitor, int descriptors, int flags) {
  return hr::walk("nftw", path, visitor, descriptors, flags);
}

[[gnu::visibility("default")]] int nftw64(const char* path, __nftw64_func_t visitor, int descriptors, int flags) {
  return hr::walk("nftw64", path, reinterpret_cast<__nftw_func_t>(visitor), descriptors, flags);
}

[[gnu::visibility("default")]] int ftw(const char* path, __ftw_func_t visitor, int descriptors) {
  return hr::walk_old("ftw", path, visitor, descriptors);
}

[[gnu::visibility("default")]] int ftw64(const char* path, __ftw64_func_t visitor, int descriptors) {
  return hr::walk_old("ftw64", path, reinterpret_cast<__ftw_func_t>(visitor), descriptors);
}

}  // extern "C"
