#include "replicate/mpi/io/common_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "core/integrity/digester.h"
#include "replicate/mpi/agree/decide.h"
#include "replicate/mpi/context/failure.h"
#include "replicate/mpi/context/runtime.h"

namespace holdfast::replicate {

namespace {

FilesLookedAfter looked_after;

/// The path in a file name that may begin with the kind of its file system.
const char* without_prefix(const char* filename) {
  const char* colon = std::strchr(filename, ':');
  const char* slash = std::strchr(filename, '/');
  return colon != nullptr && (slash == nullptr || colon < slash) ? colon + 1 : filename;
}

/// What a replica has at a path, as it is compared.
struct Held {
  integrity::Digest digest;
  std::uint64_t bytes = 0;
  std::uint64_t type = 0;
  friend bool operator==(const Held&, const Held&) = default;
};

/// Whether all of an open file could be read.
bool digest_contents(int file, Held& held) {
  integrity::Digester digester{integrity::Algorithm::xxh3_128};
  std::vector<std::byte> block(1 << 20);
  for (;;) {
    const ssize_t length = ::read(file, block.data(), block.size());
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) {
      held.digest = digester.finish();
      return length == 0;
    }
    digester.update(std::span(block).first(static_cast<std::size_t>(length)));
    held.bytes += static_cast<std::uint64_t>(length);
  }
}

Held held_at(const std::string& path) {
  constexpr std::uint64_t unreadable = ~std::uint64_t{0};
  const FilePlace place = looked_after.view->find(path);
  Held held;
  if (!place.exists()) return held;
  held.type = place.status.st_mode & S_IFMT;
  if (!place.is(S_IFREG)) return held;
  const int file = ::open(place.path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0 || !digest_contents(file, held)) held.type = unreadable;
  if (file >= 0) ::close(file);
  return held;
}

/// All replicas of this rank have come; whether this one had what most have.
bool agrees(Function function, File& comparisons, Held held) {
  const Held own = held;
  std::vector<Region> regions;
  regions.push_back(Region::borrow(&held, sizeof held, MPI_BYTE));
  compare_in_team(function, comparisons.next(), std::move(regions));
  return held == own;
}

}  // namespace

void find_common_files_by(const FilesLookedAfter& files) {
  looked_after = files;
}

CommonFile::CommonFile(const char* filename) : for_mpi_(filename) {
  const char* path = without_prefix(filename);
  std::string name;
  if (!looked_after.view || !looked_after.named(path, name)) return;
  if (looked_after.view->resolve(name, true, resolved_) != 0) return;
  looked_after_ = true;
  if (!looked_after.view->leader() && path[0] != '/') for_mpi_ = std::string(filename, path) + name;
}

void CommonFile::come_together(Function function, File& comparisons, bool changes, bool compares) {
  const Runtime& state = runtime();
  if (!state.here(0)) return;  // the real files are what replica 0 left
  const bool changed = decide_index(looked_after_ && looked_after.view->changed_here(resolved_) ? 1 : 0) != 0;
  if (!changed && !changes) return;
  const bool looks = changed && compares && looked_after_ && !looked_after.may_differ(resolved_);
  const bool right = agrees(function, comparisons, looks ? held_at(resolved_) : Held{});
  if (decide_index(right ? 1 : 0) == 0) {
    if (right && !state.leader()) put_right();
    agrees(function, comparisons, {});
  }
  if (compares || state.partial) share();
}

/// The leader's file is the one that is wrong. Whoever has the majority's puts that in its place.
void CommonFile::put_right() const {
  const FilePlace good = looked_after.view->find(resolved_);
  const int error = good.is(S_IFREG)                                     ? copy_file(good.path, resolved_)
                    : !good.exists() && ::unlink(resolved_.c_str()) != 0 ? errno
                                                                         : 0;
  if (error != 0 && error != ENOENT)
    fail(Incident::uncorrected,
         "replica " + std::to_string(runtime().leading) + " has left " + resolved_ +
             " in another state than most, and theirs could not take its place: " + std::strerror(error));
  say("replica " + std::to_string(runtime().leading) + " had left " + resolved_ +
      " in another state than most, whose file has taken its place");
}

void CommonFile::share() const {
  if (looked_after_ && runtime().here(0)) (void)looked_after.view->make_common(resolved_);
}

}  // namespace holdfast::replicate
