// Memory and semaphores that processes of a host share by a name, a key or a number: POSIX and System V. They are each
// replica's own, so that what is wrong in one replica is not in the others: the leader's as the program calls them, the
// others' in a folder of the job's (launch/plan/window_folders.h), `<folders>-<replica>`:
//
//   <folders>-0/<name>                 a mark: the job has made what the leader calls so
//   <folders>-<k>/<name>               replica k's memory of that name; its semaphores are sem.<folders>-<k>.<name>
//   <folders>-<k>/shm-<n>, sem-<n>     a link whose text is replica k's number of what is number n to the program
//
// What the job has not made, but somebody else, is the same for all.
#include <fcntl.h>
#include <semaphore.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <span>
#include <string>

#include "core/integrity/xxh3.h"
#include "replicate/libc/answers.h"
#include "replicate/libc/files.h"
#include "replicate/mpi/io/file.h"

namespace holdfast::replicate {

namespace {

/// What the folders' names begin with; empty where each replica is the only one, or `holdfast run` did not start it.
std::string folders() {
  const char* text = std::getenv("HOLDFAST_RUN_WINDOWS");
  return text ? text : "";
}

std::string folder_of(int replica) {
  return folders() + "-" + std::to_string(replica);
}

std::string own_folder() {
  return folder_of(file_view().replica());
}

/// Makes a folder that is this user's alone, if it is not there.
bool make_folder(const std::string& path) {
  struct stat status {};
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return false;
  if (::lstat(path.c_str(), &status) != 0) return false;
  const bool own = S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() && (status.st_mode & 077) == 0;
  return own || fails(EACCES);
}

/// That the job makes it, for the replicas that come later.
void mark(const std::string& name) {
  const int before = errno;
  if (make_folder(folder_of(0)))
    ::close(::open((folder_of(0) + "/" + name).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  errno = before;
}

bool marked(const std::string& name) {
  return ::access((folder_of(0) + "/" + name).c_str(), F_OK) == 0;
}

/// The program's own call for something of a replica's: then without its slashes in `plain`.
bool named_call(const char* name, std::string& plain) {
  if (!name || !programs_own_call() || folders().empty()) return false;
  plain = name;
  plain.erase(0, plain.find_first_not_of('/'));
  return !plain.empty() && plain.find('/') == std::string::npos && plain.size() <= 200;
}

/// What the replicas compare of it.
std::string in_words(const std::string& plain) {
  return "/dev/shm/" + plain;
}

/// In which name space the others' things are: `there(name)` is the host's own.
template <class Own, class There>
bool open_named(const std::string& plain, int flags, Manner manner, Own own, There there) {
  if (file_view().leader()) {
    const bool done = there();
    if (done && (flags & O_CREAT)) mark(plain);
    return done;
  }
  if (flags & O_CREAT) {
    if (!make_folder(own_folder())) return false;
    return own(manner == Manner::repeat ? flags & ~O_EXCL : flags);
  }
  if (own(flags)) return true;
  return errno == ENOENT && !marked(plain) ? there() : false;
}

template <class Own, class There>
bool remove_named(const std::string& plain, Own own, There there) {
  if (file_view().leader()) return there();
  if (own()) return true;
  if (errno != ENOENT || marked(plain)) return false;
  return there() || errno == ENOENT;  // somebody else's: the leader has removed it
}

int open_memory(const char* name, int flags, mode_t mode) {
  const Answering answering;
  const auto real = next_function<int (*)(const char*, int, mode_t)>("shm_open");
  std::string plain;
  if (!named_call(name, plain)) return real(name, flags, mode);
  int opened = -1;
  const auto own = [&](int how) {
    opened = ::open((own_folder() + "/" + plain).c_str(), how | O_NOFOLLOW | O_CLOEXEC, mode);
    return opened >= 0;
  };
  const auto there = [&] { return (opened = real(name, flags, mode)) >= 0; };
  const bool done = agree_on_file(FileCall::open, in_words(plain),
                                  [&](Manner manner) { return open_named(plain, flags, manner, own, there); });
  return done ? opened : -1;
}

int remove_memory(const char* name) {
  const Answering answering;
  const auto real = next_function<int (*)(const char*)>("shm_unlink");
  std::string plain;
  if (!named_call(name, plain)) return real(name);
  const auto own = [&] { return ::unlink((own_folder() + "/" + plain).c_str()) == 0; };
  const auto there = [&] { return real(name) == 0; };
  return agree_on_file(FileCall::remove, in_words(plain), [&](Manner) { return remove_named(plain, own, there); }) ? 0
                                                                                                                   : -1;
}

/// As this replica's semaphore is called.
std::string own_semaphore(const std::string& plain) {
  const std::string folder = own_folder();
  return folder.substr(folder.rfind('/')) + "." + plain;
}

using OpenSemaphore = sem_t* (*)(const char*, int, mode_t, unsigned);

sem_t* open_semaphore(const char* name, int flags, mode_t mode, unsigned value) {
  const Answering answering;
  const auto real = next_function<OpenSemaphore>("sem_open");
  std::string plain;
  if (!named_call(name, plain)) return real(name, flags, mode, value);
  sem_t* opened = SEM_FAILED;
  const auto own = [&](int how) {
    return (opened = real(own_semaphore(plain).c_str(), how, mode, value)) != SEM_FAILED;
  };
  const auto there = [&] { return (opened = real(name, flags, mode, value)) != SEM_FAILED; };
  const std::string what = "sem." + plain;
  const bool done = agree_on_file(FileCall::open, in_words(what),
                                  [&](Manner manner) { return open_named(what, flags, manner, own, there); });
  return done ? opened : SEM_FAILED;
}

int remove_semaphore(const char* name) {
  const Answering answering;
  const auto real = next_function<int (*)(const char*)>("sem_unlink");
  std::string plain;
  if (!named_call(name, plain)) return real(name);
  const auto own = [&] { return real(own_semaphore(plain).c_str()) == 0; };
  const auto there = [&] { return real(name) == 0; };
  const std::string what = "sem." + plain;
  return agree_on_file(FileCall::remove, in_words(what), [&](Manner) { return remove_named(what, own, there); }) ? 0
                                                                                                                 : -1;
}

/// The key of this replica for the program's, which nobody else is likely to use.
key_t own_key(const std::string& kind, key_t key) {
  const std::string text = own_folder() + " " + kind + std::to_string(key);
  const auto digest = integrity::xxh3_64(std::as_bytes(std::span(text.data(), text.size()))).low;
  return static_cast<key_t>(digest & 0x7fffffff) | 1;  // 0 is IPC_PRIVATE
}

/// The number of this replica for what is `number` to the program.
int own_number(const std::string& kind, int number) {
  if (!programs_own_call() || folders().empty() || file_view().leader()) return number;
  const int before = errno;
  char text[16] = {};
  const ssize_t length =
      ::readlink((own_folder() + "/" + kind + std::to_string(number)).c_str(), text, sizeof text - 1);
  errno = before;
  return length > 0 ? std::atoi(text) : number;
}

/// shmget() and semget(): `get(key, flags)`. The program is given the leader's number.
template <class Get>
int get_number(const std::string& kind, key_t key, int flags, Get get) {
  const Answering answering;
  if (!programs_own_call() || folders().empty()) return get(key, flags);
  const std::string name = kind + "key-" + std::to_string(key);
  const bool made = key == IPC_PRIVATE || (flags & IPC_CREAT) != 0;
  int own = -1;
  int number = -1;
  const auto act = [&](Manner manner) {
    if (file_view().leader()) {
      own = get(key, flags);
      if (own >= 0 && made) mark(name);
    } else if (key == IPC_PRIVATE) {
      own = get(key, flags);
    } else {
      own = get(own_key(kind, key), made && manner == Manner::repeat ? flags & ~IPC_EXCL : flags);
      if (own < 0 && errno == ENOENT && !made && !marked(name)) own = get(key, flags);
    }
    return own >= 0;
  };
  const auto share = [&] {
    number = own;
    take_leaders(std::as_writable_bytes(std::span(&number, 1)));
  };
  if (!agree_on_file(FileCall::open, in_words(name), act, share)) return -1;
  if (number < 0) return own;  // nothing is agreed on here
  if (number != own && make_folder(own_folder())) {
    const std::string link = own_folder() + "/" + kind + std::to_string(number);
    ::unlink(link.c_str());
    (void)::symlink(std::to_string(own).c_str(), link.c_str());
  }
  return number;
}

}  // namespace

}  // namespace holdfast::replicate

namespace hr = holdfast::replicate;

extern "C" {

[[gnu::visibility("default")]] int shm_open(const char* name, int flags, mode_t mode) {
  return hr::open_memory(name, flags, mode);
}
[[gnu::visibility("default")]] int shm_unlink(const char* name) {
  return hr::remove_memory(name);
}
[[gnu::visibility("default")]] sem_t* sem_open(const char* name, int flags, ...) {
  mode_t mode = 0;
  unsigned value = 0;
  if (flags & O_CREAT) {
    va_list rest;
    va_start(rest, flags);
    mode = va_arg(rest, mode_t);
    value = va_arg(rest, unsigned);
    va_end(rest);
  }
  return hr::open_semaphore(name, flags, mode, value);
}
[[gnu::visibility("default")]] int sem_unlink(const char* name) {
  return hr::remove_semaphore(name);
}

[[gnu::visibility("default")]] int shmget(key_t key, std::size_t size, int flags) noexcept {
  const auto real = hr::next_function<int (*)(key_t, std::size_t, int)>("shmget");
  return hr::get_number("shm-", key, flags, [&](key_t own, int how) { return real(own, size, how); });
}
[[gnu::visibility("default")]] void* shmat(int number, const void* address, int flags) noexcept {
  return hr::next_function<void* (*)(int, const void*, int)>("shmat")(hr::own_number("shm-", number), address, flags);
}
[[gnu::visibility("default")]] int shmctl(int number, int command, shmid_ds* buffer) noexcept {
  return hr::next_function<int (*)(int, int, shmid_ds*)>("shmctl")(hr::own_number("shm-", number), command, buffer);
}

[[gnu::visibility("default")]] int semget(key_t key, int count, int flags) noexcept {
  const auto real = hr::next_function<int (*)(key_t, int, int)>("semget");
  return hr::get_number("sem-", key, flags, [&](key_t own, int how) { return real(own, count, how); });
}
[[gnu::visibility("default")]] int semop(int number, sembuf* operations, std::size_t count) noexcept {
  return hr::next_function<int (*)(int, sembuf*, std::size_t)>("semop")(hr::own_number("sem-", number), operations,
                                                                        count);
}
[[gnu::visibility("default")]] int semtimedop(int number, sembuf* operations, std::size_t count,
                                              const timespec* limit) noexcept {
  return hr::next_function<int (*)(int, sembuf*, std::size_t, const timespec*)>("semtimedop")(
      hr::own_number("sem-", number), operations, count, limit);
}
/// The last argument is a union of a number and pointers, and may be missing: a register in any case.
[[gnu::visibility("default")]] int semctl(int number, int place, int command, ...) noexcept {
  va_list rest;
  va_start(rest, command);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  return hr::next_function<int (*)(int, int, int, ...)>("semctl")(hr::own_number("sem-", number), place, command,
                                                                  argument);
}

}  // extern "C"
