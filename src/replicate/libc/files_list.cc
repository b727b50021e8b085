// Functions that read a directory. All replicas find the same entries in the same order: sorted by name, since a shadow
// is another directory than the one it stands for. Where they agree on what they open the entries are the leader's, and
// elsewhere those of each one's own view.
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "replicate/libc/descriptors.h"
#include "replicate/libc/files.h"
#include "replicate/mpi/io/file.h"

namespace holdfast::replicate {

namespace {

static_assert(sizeof(struct dirent) == sizeof(struct dirent64) && sizeof(glob_t) == sizeof(glob64_t),
              "64-bit file offsets are the only ones");

struct Entry {
  std::uint64_t inode = 0;
  unsigned char type = 0;
  std::string name;
};

/// What an open directory holds, and how far the program has read it.
struct Listing {
  std::string name;     ///< none: it is read as it is
  bool agreed = false;  ///< the entries are the leader's
  std::vector<Entry> entries;
  std::size_t next = 0;
  bool read = false;
  struct dirent given {};  ///< what the program was given last

  void start_again() {
    entries.clear();
    next = 0;
    read = false;
  }
};

struct Listings {
  std::mutex mutex;
  std::unordered_map<DIR*, std::unique_ptr<Listing>> open;
};
Listings& listings() {
  static auto* all = new Listings();
  return *all;
}

using ReadEntry = struct dirent* (*)(DIR*);

/// The C library's readdir(3).
ReadEntry real_readdir() {
  static const auto real = next_function<ReadEntry>("readdir");
  return real;
}

void sort_by_name(std::vector<Entry>& entries) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
}

std::vector<Entry> read_entries(DIR* directory) {
  const ReadEntry real = real_readdir();
  std::vector<Entry> entries;
  while (const struct dirent* entry = real(directory)) {
    if (is_run_directory(::dirfd(directory), entry->d_name)) continue;
    entries.push_back({entry->d_ino, entry->d_type, entry->d_name});
  }
  sort_by_name(entries);
  return entries;
}

/// Of each entry its number, its type and its name with a zero behind it.
std::string packed(const std::vector<Entry>& entries) {
  std::string text;
  for (const Entry& entry : entries) {
    text.append(reinterpret_cast<const char*>(&entry.inode), sizeof entry.inode);
    text += static_cast<char>(entry.type);
    text.append(entry.name.c_str(), entry.name.size() + 1);
  }
  return text;
}

std::vector<Entry> unpacked(const std::string& text) {
  std::vector<Entry> entries;
  constexpr std::size_t head = sizeof(Entry::inode) + 1;
  for (std::size_t at = 0; text.size() - at > head;) {
    Entry entry;
    std::memcpy(&entry.inode, text.data() + at, sizeof entry.inode);
    entry.type = static_cast<unsigned char>(text[at + sizeof entry.inode]);
    const std::size_t end = text.find('\0', at + head);
    if (end == std::string::npos) break;
    entry.name = text.substr(at + head, end - at - head);
    entries.push_back(std::move(entry));
    at = end + 1;
  }
  return entries;
}

std::unique_ptr<Listing> new_listing(DIR* directory) {
  auto listing = std::make_unique<Listing>();
  const std::string* const agreed = name_of_descriptor(::dirfd(directory));
  listing->agreed = agreed != nullptr;
  if (agreed)
    listing->name = *agreed;
  else if (!file_call(::dirfd(directory), ".", listing->name) || is_system_path(listing->name.c_str()))
    listing->name.clear();
  return listing;
}

/// The listing of a directory of the program's; null where it is read as it is.
Listing* listing_of(DIR* directory) {
  if (depth > 0 || !directory) return nullptr;
  const std::lock_guard hold(listings().mutex);
  std::unique_ptr<Listing>& listing = listings().open[directory];
  if (!listing) listing = new_listing(directory);
  return listing->name.empty() ? nullptr : listing.get();
}

/// Of a directory that it may have opened before another replica, or another rank of its own, changed it.
std::vector<Entry> entries_in_view(DIR* directory, const std::string& name) {
  const Depth inside;
  const FileView& view = file_view();
  const std::string path = normal_path(name);
  std::vector<Entry> entries = read_entries(directory);
  if (!view.differs_from_disk(path)) return entries;
  std::erase_if(entries, [](const Entry& entry) { return entry.name != "." && entry.name != ".."; });
  for (const std::string& own : view.list(path)) {
    const FilePlace place = view.find((path == "/" ? "" : path) + "/" + own);
    if (place.exists()) entries.push_back({place.status.st_ino, IFTODT(place.status.st_mode), own});
  }
  sort_by_name(entries);
  return entries;
}

void read_once(DIR* directory, Listing& listing) {
  if (listing.read) return;
  listing.read = true;
  if (!listing.agreed) {
    listing.entries = entries_in_view(directory, listing.name);
    return;
  }
  std::string text;
  const auto act = [&](Manner) {
    if (text.empty()) text = packed(read_entries(directory));
    return true;
  };
  (void)agree_on_file(FileCall::list, listing.name, act, [&] { take_leaders(text); });
  listing.entries = unpacked(text);
}

/// Of a directory that is read as it is.
struct dirent* next_unlisted(ReadEntry real, DIR* directory) {
  struct dirent* entry = real(directory);
  if (!programs_own_call()) return entry;
  while (entry && is_run_directory(::dirfd(directory), entry->d_name)) entry = real(directory);
  return entry;
}

struct dirent* next_entry(DIR* directory) {
  const Answering answering;
  const ReadEntry real = real_readdir();
  Listing* const listing = listing_of(directory);
  if (!listing) return next_unlisted(real, directory);
  const int before = errno;
  read_once(directory, *listing);
  errno = before;
  if (listing->next >= listing->entries.size()) return nullptr;
  const Entry& entry = listing->entries[listing->next++];
  listing->given = {};
  listing->given.d_ino = entry.inode;
  listing->given.d_off = static_cast<off_t>(listing->next);
  listing->given.d_reclen = sizeof listing->given;
  listing->given.d_type = entry.type;
  std::strncpy(listing->given.d_name, entry.name.c_str(), sizeof listing->given.d_name - 1);
  return &listing->given;
}

int next_entry_into(DIR* directory, struct dirent* entry, struct dirent** result) {
  const int before = errno;
  errno = 0;
  const struct dirent* const next = next_entry(directory);
  const int error = errno;
  errno = before;
  if (next) *entry = *next;
  *result = next ? entry : nullptr;
  return next ? 0 : error;
}

using Filter = int (*)(const struct dirent*);
using Compare = int (*)(const struct dirent**, const struct dirent**);

void release(std::vector<struct dirent*>& chosen) {
  for (struct dirent* entry : chosen) std::free(entry);
  chosen.clear();
}

struct dirent* copied(const struct dirent& entry) {
  const ForProgram for_program;
  auto* const copy = static_cast<struct dirent*>(std::malloc(sizeof entry));
  if (copy) *copy = entry;
  return copy;
}

/// scandir(3) with the C library's own reading of directories left out. The filter and the order are the program's.
int scan(int folder, const char* path, struct dirent*** list, Filter filter, Compare compare) {
  const int descriptor = ::openat(folder, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const directory = descriptor < 0 ? nullptr : ::fdopendir(descriptor);
  if (!directory) return -1;
  std::vector<struct dirent*> chosen;
  bool whole = true;
  while (const struct dirent* entry = ::readdir(directory)) {
    if (filter && filter(entry) == 0) continue;
    struct dirent* const copy = copied(*entry);
    whole = copy != nullptr;
    if (!whole) break;
    chosen.push_back(copy);
  }
  ::closedir(directory);
  {
    const ForProgram for_program;
    *list = whole ? static_cast<struct dirent**>(std::malloc(chosen.size() * sizeof(struct dirent*) + 1)) : nullptr;
  }
  if (!*list) {
    release(chosen);
    errno = ENOMEM;
    return -1;
  }
  std::copy(chosen.begin(), chosen.end(), *list);
  if (compare)
    ::qsort(*list, chosen.size(), sizeof **list, reinterpret_cast<int (*)(const void*, const void*)>(compare));
  return static_cast<int>(chosen.size());
}

using Glob = int (*)(const char*, int, int (*)(const char*, int), glob_t*);

/// glob(3) by functions that go by the replica's view.
int find_matches(Glob real, const char* pattern, int flags, int (*failed)(const char*, int), glob_t* found) {
  if (depth > 0 || (flags & GLOB_ALTDIRFUNC) != 0 || !found) return real(pattern, flags, failed, found);
  found->gl_opendir = [](const char* path) -> void* { return ::opendir(path); };
  found->gl_readdir = [](void* directory) -> struct dirent* {
    return ::readdir(static_cast<DIR*>(directory));
  };
  found->gl_closedir = [](void* directory) { (void)::closedir(static_cast<DIR*>(directory)); };
  found->gl_stat = [](const char* path, struct stat* status) { return ::stat(path, status); };
  found->gl_lstat = [](const char* path, struct stat* status) { return ::lstat(path, status); };
  const int code = real(pattern, flags | GLOB_ALTDIRFUNC, failed, found);
  found->gl_flags &= ~GLOB_ALTDIRFUNC;
  return code;
}

}  // namespace

}  // namespace holdfast::replicate

namespace hr = holdfast::replicate;

extern "C" {

[[gnu::visibility("default")]] struct dirent* readdir(DIR* directory) {
  return hr::next_entry(directory);
}
[[gnu::visibility("default")]] struct dirent64* readdir64(DIR* directory) {
  return reinterpret_cast<struct dirent64*>(hr::next_entry(directory));
}
[[gnu::visibility("default")]] int readdir_r(DIR* directory, struct dirent* entry, struct dirent** result) {
  return hr::next_entry_into(directory, entry, result);
}
[[gnu::visibility("default")]] int readdir64_r(DIR* directory, struct dirent64* entry, struct dirent64** result) {
  return hr::next_entry_into(directory, reinterpret_cast<struct dirent*>(entry),
                             reinterpret_cast<struct dirent**>(result));
}
[[gnu::visibility("default")]] void rewinddir(DIR* directory) noexcept {
  static const auto real = hr::next_function<void (*)(DIR*)>("rewinddir");
  real(directory);
  const hr::Answering answering;
  if (hr::Listing* const listing = hr::listing_of(directory)) listing->start_again();
}
[[gnu::visibility("default")]] long telldir(DIR* directory) noexcept {
  static const auto real = hr::next_function<long (*)(DIR*)>("telldir");
  const hr::Answering answering;
  const hr::Listing* const listing = hr::listing_of(directory);
  return listing ? static_cast<long>(listing->next) : real(directory);
}
[[gnu::visibility("default")]] void seekdir(DIR* directory, long place) noexcept {
  static const auto real = hr::next_function<void (*)(DIR*, long)>("seekdir");
  const hr::Answering answering;
  hr::Listing* const listing = hr::listing_of(directory);
  if (!listing) return real(directory, place);
  hr::read_once(directory, *listing);
  listing->next = static_cast<std::size_t>(std::max(place, 0L));
}
[[gnu::visibility("default")]] int closedir(DIR* directory) {
  static const auto real = hr::next_function<int (*)(DIR*)>("closedir");
  {
    const hr::Answering answering;
    const std::lock_guard hold(hr::listings().mutex);
    if (hr::listings().open.erase(directory) > 0) hr::forget_name(::dirfd(directory));
  }
  return real(directory);
}

[[gnu::visibility("default")]] int scandirat(int folder, const char* path, struct dirent*** list, hr::Filter filter,
                                             hr::Compare compare) {
  return hr::scan(folder, path, list, filter, compare);
}
[[gnu::visibility("default")]] int scandir(const char* path, struct dirent*** list, hr::Filter filter,
                                           hr::Compare compare) {
  return hr::scan(AT_FDCWD, path, list, filter, compare);
}
[[gnu::visibility("default")]] int scandirat64(int folder, const char* path, struct dirent64*** list,
                                               int (*filter)(const struct dirent64*),
                                               int (*compare)(const struct dirent64**, const struct dirent64**)) {
  return hr::scan(folder, path, reinterpret_cast<struct dirent***>(list), reinterpret_cast<hr::Filter>(filter),
                  reinterpret_cast<hr::Compare>(compare));
}
[[gnu::visibility("default")]] int scandir64(const char* path, struct dirent64*** list,
                                             int (*filter)(const struct dirent64*),
                                             int (*compare)(const struct dirent64**, const struct dirent64**)) {
  return scandirat64(AT_FDCWD, path, list, filter, compare);
}

[[gnu::visibility("default")]] int glob(const char* pattern, int flags, int (*failed)(const char*, int),
                                        glob_t* found) {
  static const auto real = hr::next_function<hr::Glob>("glob");
  return hr::find_matches(real, pattern, flags, failed, found);
}
[[gnu::visibility("default")]] int glob64(const char* pattern, int flags, int (*failed)(const char*, int),
                                          glob64_t* found) {
  static const auto real = hr::next_function<hr::Glob>("glob64");
  return hr::find_matches(real, pattern, flags, failed, reinterpret_cast<glob_t*>(found));
}

}  // extern "C"
