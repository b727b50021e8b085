// Memory and semaphores that processes of a host share: POSIX and System V (shared_names.h).
#include <fcntl.h>
#include <semaphore.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <string>

#include "replicate/libc/answers.h"
#include "replicate/libc/files.h"
#include "replicate/libc/shared_names.h"

namespace holdfast::replicate {

namespace {

std::string own_memory(const SharedName& name) {
  return own_shared_folder() + "/" + name.in_folder;
}

int open_memory(const char* given, int flags, mode_t mode) {
  const Answering answering;
  const auto real = next_function<int (*)(const char*, int, mode_t)>("shm_open");
  const SharedName name(SharedKind::memory, given);
  if (!name.kept_apart) return real(given, flags, mode);
  int opened = -1;
  const auto own = [&](int how) {
    return (opened = ::open(own_memory(name).c_str(), how | O_NOFOLLOW | O_CLOEXEC, mode)) >= 0;
  };
  const auto there = [&] { return (opened = real(given, flags, mode)) >= 0; };
  return open_shared(name, flags, own, there) ? opened : -1;
}

int remove_memory(const char* given) {
  const Answering answering;
  const auto real = next_function<int (*)(const char*)>("shm_unlink");
  const SharedName name(SharedKind::memory, given);
  if (!name.kept_apart) return real(given);
  const auto own = [&] { return ::unlink(own_memory(name).c_str()) == 0; };
  return remove_shared(name, own, [&] { return real(given) == 0; }) ? 0 : -1;
}

sem_t* open_semaphore(const char* given, int flags, mode_t mode, unsigned value) {
  const Answering answering;
  const auto real = next_function<sem_t* (*)(const char*, int, mode_t, unsigned)>("sem_open");
  const SharedName name(SharedKind::semaphore, given);
  if (!name.kept_apart) return real(given, flags, mode, value);
  sem_t* opened = SEM_FAILED;
  const auto own = [&](int how) { return (opened = real(name.own().c_str(), how, mode, value)) != SEM_FAILED; };
  const auto there = [&] { return (opened = real(given, flags, mode, value)) != SEM_FAILED; };
  return open_shared(name, flags, own, there) ? opened : SEM_FAILED;
}

int remove_semaphore(const char* given) {
  const Answering answering;
  const auto real = next_function<int (*)(const char*)>("sem_unlink");
  const SharedName name(SharedKind::semaphore, given);
  if (!name.kept_apart) return real(given);
  const auto own = [&] { return real(name.own().c_str()) == 0; };
  return remove_shared(name, own, [&] { return real(given) == 0; }) ? 0 : -1;
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
  return hr::get_shared_number("shm-", key, flags, [&](key_t own, int how) { return real(own, size, how); });
}
[[gnu::visibility("default")]] void* shmat(int number, const void* address, int flags) noexcept {
  return hr::next_function<void* (*)(int, const void*, int)>("shmat")(hr::own_shared_number("shm-", number), address,
                                                                      flags);
}
[[gnu::visibility("default")]] int shmctl(int number, int command, shmid_ds* buffer) noexcept {
  return hr::next_function<int (*)(int, int, shmid_ds*)>("shmctl")(hr::own_shared_number("shm-", number), command,
                                                                   buffer);
}

[[gnu::visibility("default")]] int semget(key_t key, int count, int flags) noexcept {
  const auto real = hr::next_function<int (*)(key_t, int, int)>("semget");
  return hr::get_shared_number("sem-", key, flags, [&](key_t own, int how) { return real(own, count, how); });
}
[[gnu::visibility("default")]] int semop(int number, sembuf* operations, std::size_t count) noexcept {
  return hr::next_function<int (*)(int, sembuf*, std::size_t)>("semop")(hr::own_shared_number("sem-", number),
                                                                        operations, count);
}
[[gnu::visibility("default")]] int semtimedop(int number, sembuf* operations, std::size_t count,
                                              const timespec* limit) noexcept {
  return hr::next_function<int (*)(int, sembuf*, std::size_t, const timespec*)>("semtimedop")(
      hr::own_shared_number("sem-", number), operations, count, limit);
}
/// The last argument is a union of a number and pointers, and may be missing: a register in any case.
[[gnu::visibility("default")]] int semctl(int number, int place, int command, ...) noexcept {
  va_list rest;
  va_start(rest, command);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  return hr::next_function<int (*)(int, int, int, ...)>("semctl")(hr::own_shared_number("sem-", number), place, command,
                                                                  argument);
}

}  // extern "C"
