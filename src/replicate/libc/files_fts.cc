// Walks over trees of files by fts(3), by functions that go by the replica's view, as files_walk.cc has ftw(3). The
// working directory is not changed: fts_accpath is the path.
#include <dirent.h>
#include <fts.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "replicate/libc/files.h"

namespace holdfast::replicate {

namespace {

using FtsCompare = int (*)(const FTSENT**, const FTSENT**);

/// An entry with what its pointers lead to.
struct FtsNode {
  struct Free {
    void operator()(FTSENT* entry) const { ::operator delete(entry); }
  };
  std::unique_ptr<FTSENT, Free> entry;  ///< with the name behind it
  std::string path;
  struct stat status {};

  FtsNode(const std::string& name, std::string at, FTSENT* parent, int level) : path(std::move(at)) {
    entry.reset(new (::operator new(sizeof(FTSENT) + name.size() + 1)) FTSENT{});
    std::memcpy(entry->fts_name, name.c_str(), name.size() + 1);
    entry->fts_namelen = static_cast<unsigned short>(name.size());
    entry->fts_parent = parent;
    entry->fts_level = static_cast<short>(level);
    entry->fts_instr = FTS_NOINSTR;
    entry->fts_path = entry->fts_accpath = path.data();
    entry->fts_pathlen = static_cast<unsigned short>(path.size());
    entry->fts_statp = &status;
  }
};
using FtsNodes = std::vector<std::unique_ptr<FtsNode>>;

/// One walk. The program has the address of `handle`.
class FtsWalk {
 public:
  FtsWalk(char* const* paths, int options, FtsCompare compare) : options_(options), compare_(compare) {
    handle.fts_options = options;
    root_parent_.fts_level = FTS_ROOTPARENTLEVEL;
    FtsNodes roots;
    for (char* const* path = paths; *path; ++path) {
      auto node = std::make_unique<FtsNode>(*path, *path, &root_parent_, FTS_ROOTLEVEL);
      node->entry->fts_info = look(*node, (options_ & FTS_COMFOLLOW) != 0);
      if (node->entry->fts_info == FTS_DOT) node->entry->fts_info = FTS_D;
      roots.push_back(std::move(node));
    }
    arrange(roots);
    levels_.push_back({std::move(roots), 0});
  }

  FTSENT* read() {
    if (levels_.empty()) return nullptr;
    FtsNode* const now = current();
    if (!now) return arrive();  // at the first root
    FTSENT& entry = *now->entry;
    const int instruction = std::exchange(entry.fts_instr, static_cast<unsigned short>(FTS_NOINSTR));
    const bool link = entry.fts_info == FTS_SL || entry.fts_info == FTS_SLNONE;
    if (instruction == FTS_AGAIN || (instruction == FTS_FOLLOW && link)) {
      entry.fts_info = look(*now, instruction == FTS_FOLLOW);
      return &entry;
    }
    if (entry.fts_info == FTS_D) return descend(*now, instruction == FTS_SKIP);
    children_.reset();
    ++levels_.back().at;
    return arrive();
  }

  FTSENT* children(int instruction) {
    if (instruction != 0 && instruction != FTS_NAMEONLY) return fails(EINVAL), nullptr;
    errno = 0;
    if (levels_.empty()) return nullptr;
    FtsNode* const now = current();
    if (!now) return first(levels_.front().nodes);
    if (now->entry->fts_info != FTS_D) return nullptr;
    if (const int error = list(*now)) return fails(error), nullptr;
    return first(children_->nodes);
  }

  FTS handle{};

 private:
  struct Level {
    FtsNodes nodes;
    std::size_t at = 0;
    bool begun = false;
  };

  FtsNode* current() const {
    const Level& level = levels_.back();
    return level.begun ? level.nodes[level.at].get() : nullptr;
  }
  static FTSENT* first(const FtsNodes& nodes) { return nodes.empty() ? nullptr : nodes.front()->entry.get(); }

  /// A root's name is the path until the walk is there, then what is behind the last slash, as in the C library.
  static void shorten_name(FTSENT& root) {
    const char* const slash = std::strrchr(root.fts_name, '/');
    if (!slash || (slash == root.fts_name && slash[1] == '\0')) return;
    root.fts_namelen = static_cast<unsigned short>(std::strlen(slash + 1));
    std::memmove(root.fts_name, slash + 1, root.fts_namelen + std::size_t{1});
  }

  /// The next entry of the deepest level, or the directory above when it has no more.
  FTSENT* arrive() {
    for (;;) {
      Level& level = levels_.back();
      level.begun = true;
      if (level.at == level.nodes.size()) break;
      FtsNode& node = *level.nodes[level.at];
      const int instruction = node.entry->fts_instr;
      if (instruction == FTS_SKIP) {
        ++level.at;
        continue;
      }
      if (instruction == FTS_FOLLOW) node.entry->fts_info = look(node, true);
      node.entry->fts_instr = FTS_NOINSTR;
      if (node.entry->fts_level == FTS_ROOTLEVEL) {
        device_ = node.status.st_dev;
        shorten_name(*node.entry);
      }
      return node.entry.get();
    }
    levels_.pop_back();
    if (levels_.empty()) return errno = 0, nullptr;
    FTSENT* const above = current()->entry.get();
    above->fts_info = above->fts_errno != 0 ? FTS_ERR : FTS_DP;
    return above;
  }

  FTSENT* descend(FtsNode& folder, bool skip) {
    FTSENT* const entry = folder.entry.get();
    if (skip || ((options_ & FTS_XDEV) != 0 && folder.status.st_dev != device_)) {
      children_.reset();
      entry->fts_info = FTS_DP;
      return entry;
    }
    if (const int error = list(folder)) {
      entry->fts_info = FTS_DNR;
      entry->fts_errno = error;
      return entry;
    }
    if (children_->nodes.empty()) {
      children_.reset();
      entry->fts_info = FTS_DP;
      return entry;
    }
    levels_.push_back(std::move(*children_));
    children_.reset();
    return arrive();
  }

  /// Reads a directory, once; 0 or errno.
  int list(FtsNode& folder) {
    if (children_) return 0;
    DIR* const directory = ::opendir(folder.path.c_str());
    if (!directory) return errno;
    children_ = std::make_unique<Level>();
    const std::string before = folder.path.ends_with('/') ? folder.path : folder.path + "/";
    errno = 0;
    while (const struct dirent* found = ::readdir(directory)) {
      const std::string name = found->d_name;
      if ((options_ & FTS_SEEDOT) == 0 && (name == "." || name == "..")) continue;
      auto node = std::make_unique<FtsNode>(name, before + name, folder.entry.get(), folder.entry->fts_level + 1);
      node->entry->fts_info = look(*node, false);
      const bool not_asked = (options_ & FTS_NOSTAT) != 0 && node->entry->fts_info != FTS_D;
      if (not_asked && node->entry->fts_info != FTS_DOT) node->entry->fts_info = FTS_NSOK;
      children_->nodes.push_back(std::move(node));
      errno = 0;
    }
    const int error = errno;
    ::closedir(directory);
    if (error != 0) children_.reset();
    if (children_) arrange(children_->nodes);
    return error;
  }

  void arrange(FtsNodes& nodes) const {
    if (compare_) {
      std::stable_sort(nodes.begin(), nodes.end(), [this](const auto& left, const auto& right) {
        const FTSENT* a = left->entry.get();
        const FTSENT* b = right->entry.get();
        return compare_(&a, &b) < 0;
      });
    }
    for (std::size_t at = 0; at + 1 < nodes.size(); ++at) nodes[at]->entry->fts_link = nodes[at + 1]->entry.get();
  }

  unsigned short look(FtsNode& node, bool follow) const {
    FTSENT& entry = *node.entry;
    entry.fts_errno = 0;
    node.status = {};
    const bool through = follow || (options_ & FTS_LOGICAL) != 0;
    if ((through ? ::stat(node.path.c_str(), &node.status) : ::lstat(node.path.c_str(), &node.status)) != 0) {
      const int error = errno;
      if (through && ::lstat(node.path.c_str(), &node.status) == 0) return FTS_SLNONE;
      node.status = {};
      entry.fts_errno = error;
      return FTS_NS;
    }
    entry.fts_dev = node.status.st_dev;
    entry.fts_ino = node.status.st_ino;
    entry.fts_nlink = node.status.st_nlink;
    if (S_ISDIR(node.status.st_mode)) return folder_or_circle(entry);
    return S_ISLNK(node.status.st_mode) ? FTS_SL : S_ISREG(node.status.st_mode) ? FTS_F : FTS_DEFAULT;
  }

  static unsigned short folder_or_circle(FTSENT& entry) {
    if (std::strcmp(entry.fts_name, ".") == 0 || std::strcmp(entry.fts_name, "..") == 0) return FTS_DOT;
    for (FTSENT* above = entry.fts_parent; above && above->fts_level >= FTS_ROOTLEVEL; above = above->fts_parent) {
      if (above->fts_ino != entry.fts_ino || above->fts_dev != entry.fts_dev) continue;
      entry.fts_cycle = above;
      return FTS_DC;
    }
    return FTS_D;
  }

  int options_;
  FtsCompare compare_;
  FTSENT root_parent_{};
  std::vector<Level> levels_;        ///< from the roots down to where the walk is
  std::unique_ptr<Level> children_;  ///< of the directory where the walk is, once they were read
  dev_t device_ = 0;
};

/// The walks of ours, by what the program has of them; the others are the C library's.
struct FtsWalks {
  std::mutex mutex;
  std::set<FtsWalk*> all;
};
FtsWalks& fts_walks() {
  static auto* walks = new FtsWalks();
  return *walks;
}

FtsWalk* own_walk(FTS* handle) {
  const std::lock_guard hold(fts_walks().mutex);
  for (FtsWalk* walk : fts_walks().all) {
    if (&walk->handle == handle) return walk;
  }
  return nullptr;
}

bool in_view(char* const* paths) {
  std::string name;
  for (char* const* path = paths; path && *path; ++path) {
    if (file_call(AT_FDCWD, *path, name)) return true;
  }
  return false;
}

FTS* open_walk(char* const* paths, int options, FtsCompare compare) {
  const auto real = next_function<FTS* (*)(char* const*, int, FtsCompare)>("fts_open");
  if ((options & ~FTS_OPTIONMASK) != 0 || !in_view(paths)) return real(paths, options, compare);
  for (char* const* path = paths; *path; ++path) {
    if (**path == '\0') return fails(ENOENT), nullptr;
  }
  auto* const walk = new FtsWalk(paths, options, compare);
  const std::lock_guard hold(fts_walks().mutex);
  fts_walks().all.insert(walk);
  return &walk->handle;
}

int close_walk(FTS* handle) {
  FtsWalk* const walk = own_walk(handle);
  if (!walk) return next_function<int (*)(FTS*)>("fts_close")(handle);
  const std::lock_guard hold(fts_walks().mutex);
  fts_walks().all.erase(walk);
  delete walk;
  return 0;
}

FTSENT* read_walk(FTS* handle) {
  FtsWalk* const walk = own_walk(handle);
  return walk ? walk->read() : next_function<FTSENT* (*)(FTS*)>("fts_read")(handle);
}

FTSENT* children_of_walk(FTS* handle, int instruction) {
  FtsWalk* const walk = own_walk(handle);
  return walk ? walk->children(instruction)
              : next_function<FTSENT* (*)(FTS*, int)>("fts_children")(handle, instruction);
}

}  // namespace

}  // namespace holdfast::replicate

namespace hr = holdfast::replicate;

static_assert(sizeof(FTS) == sizeof(FTS64) && sizeof(FTSENT) == sizeof(FTSENT64), "64-bit file offsets are the only");

extern "C" {

// fts_set(3) does nothing but set a member of the entry, which is the same in both.
[[gnu::visibility("default")]] FTS* fts_open(char* const* paths, int options,
                                             int (*compare)(const FTSENT**, const FTSENT**)) {
  return hr::open_walk(paths, options, compare);
}
[[gnu::visibility("default")]] FTSENT* fts_read(FTS* walk) {
  return hr::read_walk(walk);
}
[[gnu::visibility("default")]] FTSENT* fts_children(FTS* walk, int instruction) {
  return hr::children_of_walk(walk, instruction);
}
[[gnu::visibility("default")]] int fts_close(FTS* walk) {
  return hr::close_walk(walk);
}
[[gnu::visibility("default")]] FTS64* fts64_open(char* const* paths, int options,
                                                 int (*compare)(const FTSENT64**, const FTSENT64**)) {
  return reinterpret_cast<FTS64*>(hr::open_walk(paths, options, reinterpret_cast<hr::FtsCompare>(compare)));
}
[[gnu::visibility("default")]] FTSENT64* fts64_read(FTS64* walk) {
  return reinterpret_cast<FTSENT64*>(hr::read_walk(reinterpret_cast<FTS*>(walk)));
}
[[gnu::visibility("default")]] FTSENT64* fts64_children(FTS64* walk, int instruction) {
  return reinterpret_cast<FTSENT64*>(hr::children_of_walk(reinterpret_cast<FTS*>(walk), instruction));
}
[[gnu::visibility("default")]] int fts64_close(FTS64* walk) {
  return hr::close_walk(reinterpret_cast<FTS*>(walk));
}

}  // extern "C"
