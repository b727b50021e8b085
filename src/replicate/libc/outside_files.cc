#include "replicate/libc/outside_files.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/time/nanoseconds.h"
#include "replicate/libc/files.h"
#include "replicate/libc/made_files.h"
#include "replicate/mpi/io/file.h"
#include "replicate/process/real_clock.h"
#include "replicate/process/standing_clocks.h"

namespace holdfast::replicate {

namespace {

/// Number, length, and when the file and its entry were changed, in seconds and nanoseconds: alike on all hosts.
using Identity = std::array<std::int64_t, 6>;

struct OutsideFile {
  Identity identity{};
  std::string contents;  ///< that the leader told
  bool told = false;
  bool overwritten = false;  ///< in place, so that it is empty for a moment, perhaps before it has been read
};

/// What is known of names as programs have them.
struct OutsideFiles {
  std::unordered_map<std::string, OutsideFile> files;
  /// Those that were found not to be of files made outside, at this generation (FileView): programs look at the same
  /// ones again and again.
  std::unordered_set<std::string> not_outsiders;
  std::uint64_t generation = 0;
  bool answers_taken = false;
};
constinit OutsideFiles* outside = nullptr;  // never gone: programs read files in exit handlers

OutsideFiles& outside_files() {
  if (!outside) outside = new OutsideFiles;
  return *outside;
}

OutsideFile* known_file(const std::string& name) {
  auto& files = outside_files().files;
  const auto found = files.find(name);
  return found == files.end() ? nullptr : &found->second;
}

OutsideFile* remember_file(const std::string& name) {
  auto& files = outside_files().files;
  if (files.size() >= most_shown_files && !files.contains(name)) return nullptr;
  return &files[name];
}

Identity identity_of(const struct stat& status) {
  return {static_cast<std::int64_t>(status.st_ino),
          status.st_size,
          status.st_mtim.tv_sec,
          status.st_mtim.tv_nsec,
          status.st_ctim.tv_sec,
          status.st_ctim.tv_nsec};
}

/// A change after which another may follow without being seen in the times: they go by the kernel's ticks, and by the
/// clock of a file server.
constexpr std::int64_t just_now_ns = 100'000'000;

bool changed_within(const struct stat& status, std::int64_t nanoseconds) {
  timespec now{};
  (void)real_clock_gettime(CLOCK_REALTIME, &now);
  return time::in_ns(now) - nanoseconds < time::in_ns(status.st_ctim);
}

bool changed_just_now(const struct stat& status) {
  return changed_within(status, just_now_ns);
}

/// Who overwrites a file in place empties it first: waits a little until that is done.
bool settle(int file, struct stat& status) {
  constexpr std::int64_t settled_ns = 10'000'000;
  constexpr timespec pause{0, 4'000'000};
  for (int i = 0; i < 5 && changed_within(status, settled_ns); ++i) {
    (void)::nanosleep(&pause, nullptr);
    if (::fstat(file, &status) != 0) return false;
  }
  return true;
}

/// As it is at one moment, if there is one.
bool read_whole(int file, struct stat& status, std::string& contents) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return false;
    if (static_cast<std::uint64_t>(status.st_size) > most_shown_bytes) return false;
    contents.resize(static_cast<std::size_t>(status.st_size) + 1);
    const ssize_t length = ::pread(file, contents.data(), contents.size(), 0);
    if (length < 0) return false;
    contents.resize(static_cast<std::size_t>(length));
    struct stat after {};
    if (::fstat(file, &after) == 0 && length == after.st_size && identity_of(after) == identity_of(status)) return true;
  }
  return false;
}

/// Neither a rank of this replica nor MPI-IO has changed it.
bool is_outsiders(const std::string& name) {
  const FileView& view = file_view();
  std::string resolved;
  if (view.resolve(name, true, resolved) != 0 || shared_by_all(resolved)) return false;
  return view.as_before_job(resolved) || view.is_outsiders(resolved);
}

/// Ranks of this replica have made or changed it, though the leader has not: whose is right is to be seen.
bool is_own(const std::string& name) {
  std::string resolved;
  return file_view().resolve(name, true, resolved) == 0 && file_view().changed_here(resolved);
}

void replace(OutsideFile& before, OutsideFile told) {
  const bool in_place = before.told && before.identity[0] == told.identity[0];
  told.overwritten = before.overwritten || (in_place && !told.contents.starts_with(before.contents));
  before = std::move(told);
}

void exchange(OutsideFile& shown) {
  take_leaders(std::as_writable_bytes(std::span(shown.identity)));
  take_leaders(shown.contents);
  shown.told = shown.identity != Identity{};
}

}  // namespace

Shown show_opened(const std::string& name, int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return Shown::own;
  const bool again = known_file(name) != nullptr;
  OutsideFile* const file = remember_file(name);
  if (!file || (!again && !is_since_start(status.st_ctim)) || !is_outsiders(name)) return Shown::own;
  if (!settle(descriptor, status)) return Shown::own;
  if (file->told && file->identity == identity_of(status) && !changed_just_now(status)) return Shown::as_before;
  std::string contents;
  if (!read_whole(descriptor, status, contents)) return Shown::own;
  const bool same = file->told && file->identity == identity_of(status) && file->contents == contents;
  replace(*file, {identity_of(status), std::move(contents), true});
  return same ? Shown::as_before : Shown::anew;
}

std::optional<int> open_told(const std::string& name) {
  const OutsideFile& file = *known_file(name);
  if (!file.overwritten) return std::nullopt;
  const int memory = file_in_memory(file.contents, O_RDONLY);
  const timespec modified{file.identity[2], file.identity[3]};
  const timespec times[2] = {modified, modified};
  if (memory >= 0) (void)::futimens(memory, times);
  return memory;
}

void tell_shown(const std::string& name) {
  OutsideFile shown = *known_file(name);
  exchange(shown);
}

void take_shown(const std::string& name, int own) {
  OutsideFile shown;  // this replica's, should it have to lead before it is told
  struct stat status {};
  if (own >= 0 && read_whole(own, status, shown.contents)) shown.identity = identity_of(status);
  exchange(shown);
  if (OutsideFile* const file = remember_file(name)) replace(*file, std::move(shown));
}

std::optional<int> open_shown(const std::string& name, int own) {
  const OutsideFile* const file = known_file(name);
  if (!file || !file->told || (own >= 0 && is_own(name))) return std::nullopt;
  struct stat status {};
  std::string contents;
  if (own >= 0 && read_whole(own, status, contents)) {
    const Identity mine = identity_of(status);
    const bool longer = mine[0] == file->identity[0] && !file->contents.empty() && contents.starts_with(file->contents);
    const bool will_do = !file->overwritten && (contents == file->contents || longer);
    const bool changed = mine != file->identity || changed_just_now(status);
    if (will_do || (contents != file->contents && !changed)) return std::nullopt;
  }
  return file_in_memory(file->contents, O_RDONLY);
}

bool is_made_outside(const std::string& name, bool follow) {
  const FileView& view = file_view();
  const std::uint64_t generation = view.outside_generation();
  if (generation == 0) return false;
  constexpr std::size_t most = 4096;
  auto& not_outsiders = outside_files().not_outsiders;
  if (std::exchange(outside_files().generation, generation) != generation || not_outsiders.size() > most)
    not_outsiders.clear();
  const std::string key = (follow ? "+" : "-") + name;
  if (not_outsiders.contains(key)) return false;
  std::string resolved;
  const bool is = view.resolve(name, follow, resolved) == 0 && !shared_by_all(resolved) && view.is_outsiders(resolved);
  if (!is) not_outsiders.insert(key);
  return is;
}

void take_answer() {
  outside_files().answers_taken = true;
}

bool answers_taken() {
  return std::exchange(outside_files().answers_taken, false);
}

std::optional<std::string> read_small_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  struct stat status {};
  std::string contents;
  const bool done = read_whole(file, status, contents);
  ::close(file);
  return done ? std::optional(contents) : std::nullopt;
}

int stand_in_directory(const std::string& name, bool follow, std::string& folder) {
  const FileView& view = file_view();
  std::string resolved;
  if (view.resolve(name, follow, resolved) != 0) resolved = normal_path(name);
  return view.make_stand_in(resolved, folder);
}

bool make_own_file(const std::string& name, std::string_view contents) {
  const FileView& view = file_view();
  std::string resolved;
  Prepared prepared;
  if (const int error = view.resolve(name, false, resolved)) return fails(error);
  if (const int error = view.prepare(resolved, Change::emptied, prepared)) return fails(error);
  const int file = ::open(prepared.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return false;
  const bool done = ::write(file, contents.data(), contents.size()) == static_cast<ssize_t>(contents.size());
  return ::close(file) == 0 && done;
}

}  // namespace holdfast::replicate
