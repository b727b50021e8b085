#pragma once

#include <fcntl.h>
#include <sys/ipc.h>

#include <cerrno>
#include <cstdint>
#include <span>
#include <string>

#include "replicate/libc/files.h"
#include "replicate/mpi/io/file.h"

namespace holdfast::replicate {

/// What processes of a host share by a name, a key or a number is each replica's own, so that what is wrong in one
/// replica is not in the others: the leader's as the program calls it, the others' in a folder of the job's
/// (launch/plan/shared_memory_folders.h), `<folders>-<replica>`:
///
///   <folders>-0/mem.<name>                  a mark: the job has made what the leader calls so
///   <folders>-<k>/mem.<name>                replica k's memory of that name
///   <folders>-<k>/queue.<name>              a link whose text is the name of replica k's queue
///   <folders>-<k>/shm-<n>, sem-<n>, msg-<n> a link whose text is replica k's number of what is number n to the program
///
/// and its semaphores and queues are `<folders>-<k>.<name>`. What the job opens and has not made, but somebody else, is
/// the same for all. All functions: only where SharedName or programs_own_call() says that the call is the program's.

/// Whether `holdfast run` has named the folders; not where each replica is the only one.
bool has_shared_folders();
/// This replica's folder.
std::string own_shared_folder();
/// Makes this replica's folder, if it is not there; false with errno.
bool make_own_shared_folder();

/// Notes that the job makes it, for the replicas that come later.
void mark_shared(const std::string& name);
bool is_marked_shared(const std::string& name);

enum class SharedKind : std::uint8_t { memory, semaphore, queue };

/// The name that a program gives to something: "/a" is "a", and as long as others can begin it with theirs.
struct SharedName {
  SharedName(SharedKind kind, const char* name);

  bool kept_apart = false;  ///< the program's own call, and a name that the system may take
  std::string plain;        ///< the name without its slash; a digest stands for a long one
  std::string in_folder;    ///< the same with its kind, as it is in the folders
  std::string path;         ///< where the system shows it: what replicas compare, and tell the user

  /// As this replica's semaphore or queue is called.
  std::string own() const;
};

/// Opens by a name: own(flags) opens this replica's, there() what the program says.
template <class Own, class There>
bool open_shared(const SharedName& name, int flags, Own own, There there) {
  return agree_on_file(FileCall::open, name.path, [&](Manner manner) {
    if (file_view().leader()) {
      const bool done = there();
      if (done && (flags & O_CREAT)) mark_shared(name.in_folder);
      return done;
    }
    if (flags & O_CREAT) {
      if (!make_own_shared_folder()) return false;
      return own(manner == Manner::repeat ? flags & ~O_EXCL : flags);
    }
    if (own(flags)) return true;
    return errno == ENOENT && !is_marked_shared(name.in_folder) ? there() : false;
  });
}

/// Removes a name: own() this replica's, there() what the program says.
template <class Own, class There>
bool remove_shared(const SharedName& name, Own own, There there) {
  return agree_on_file(FileCall::remove, name.path, [&](Manner) {
    if (file_view().leader()) return there();
    if (own()) return true;
    if (errno != ENOENT || is_marked_shared(name.in_folder)) return false;
    return there() || errno == ENOENT;  // somebody else's: the leader has removed it
  });
}

/// The key of this replica for the program's, which nobody else is likely to use. `kind`: "shm-", "sem-" or "msg-".
key_t own_shared_key(const std::string& kind, key_t key);
/// The number of this replica for what is `number` to the program. Every call of the program's may come by here.
int own_shared_number(const char* kind, int number);
/// Keeps it.
void keep_shared_number(const std::string& kind, int number, int own);

/// shmget(), semget() and msgget(): `get(key, flags)`. The program is given the leader's number.
template <class Get>
int get_shared_number(const char* kind, key_t key, int flags, Get get) {
  const Answering answering;
  if (!programs_own_call() || !has_shared_folders()) return get(key, flags);
  const std::string name = std::string(kind) + "key-" + std::to_string(key);
  const bool made = key == IPC_PRIVATE || (flags & IPC_CREAT) != 0;
  int own = -1;
  int number = -1;
  const auto act = [&](Manner manner) {
    if (file_view().leader()) {
      own = get(key, flags);
      if (own >= 0 && made) mark_shared(name);
    } else if (key == IPC_PRIVATE) {
      own = get(key, flags);
    } else {
      own = get(own_shared_key(kind, key), made && manner == Manner::repeat ? flags & ~IPC_EXCL : flags);
      if (own < 0 && errno == ENOENT && !made && !is_marked_shared(name)) own = get(key, flags);
    }
    return own >= 0;
  };
  const auto share = [&] {
    number = own;
    take_leaders(std::as_writable_bytes(std::span(&number, 1)));
  };
  if (!agree_on_file(FileCall::open, name, act, share)) return -1;
  if (number < 0) return own;  // nothing is agreed on here
  if (number != own) keep_shared_number(kind, number, own);
  return number;
}

}  // namespace holdfast::replicate
