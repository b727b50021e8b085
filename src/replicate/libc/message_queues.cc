// Message queues that processes of a host share: POSIX and System V (shared_names.h).
#include <fcntl.h>
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <unistd.h>

#include <cstdarg>
#include <string>

#include "replicate/libc/answers.h"
#include "replicate/libc/files.h"
#include "replicate/libc/shared_names.h"

namespace holdfast::replicate {

namespace {

/// Names the queue in this replica's folder, by which `holdfast run` removes what a killed job leaves.
void note_queue(const SharedName& name) {
  (void)::symlink(name.own().c_str(), (own_shared_folder() + "/" + name.in_folder).c_str());
}

mqd_t open_queue(const char* given, int flags, mode_t mode, mq_attr* attributes) {
  const Answering answering;
  const auto real = next_function<mqd_t (*)(const char*, int, mode_t, mq_attr*)>("mq_open");
  const SharedName name(SharedKind::queue, given);
  if (!name.kept_apart) return real(given, flags, mode, attributes);
  mqd_t opened = -1;
  const auto own = [&](int how) {
    if (how & O_CREAT) note_queue(name);
    return (opened = real(name.own().c_str(), how, mode, attributes)) >= 0;
  };
  const auto there = [&] { return (opened = real(given, flags, mode, attributes)) >= 0; };
  return open_shared(name, flags, own, there) ? opened : -1;
}

int remove_queue(const char* given) {
  const Answering answering;
  const auto real = next_function<int (*)(const char*)>("mq_unlink");
  const SharedName name(SharedKind::queue, given);
  if (!name.kept_apart) return real(given);
  const auto own = [&] {
    if (real(name.own().c_str()) != 0) return false;
    ::unlink((own_shared_folder() + "/" + name.in_folder).c_str());
    return true;
  };
  return remove_shared(name, own, [&] { return real(given) == 0; }) ? 0 : -1;
}

}  // namespace

}  // namespace holdfast::replicate

namespace hr = holdfast::replicate;

extern "C" {

[[gnu::visibility("default")]] mqd_t mq_open(const char* name, int flags, ...) noexcept {
  mode_t mode = 0;
  mq_attr* attributes = nullptr;
  if (flags & O_CREAT) {
    va_list rest;
    va_start(rest, flags);
    mode = va_arg(rest, mode_t);
    attributes = va_arg(rest, mq_attr*);
    va_end(rest);
  }
  return hr::open_queue(name, flags, mode, attributes);
}
/// What a program calls that is compiled with _FORTIFY_SOURCE, where the compiler does not know the flags.
[[gnu::visibility("default")]] mqd_t __mq_open_2(const char* name, int flags) noexcept {
  return hr::open_queue(name, flags, 0, nullptr);
}
[[gnu::visibility("default")]] int mq_unlink(const char* name) noexcept {
  return hr::remove_queue(name);
}

[[gnu::visibility("default")]] int msgget(key_t key, int flags) noexcept {
  return hr::get_shared_number("msg-", key, flags, hr::next_function<int (*)(key_t, int)>("msgget"));
}
[[gnu::visibility("default")]] int msgsnd(int number, const void* message, std::size_t bytes, int flags) {
  return hr::next_function<int (*)(int, const void*, std::size_t, int)>("msgsnd")(hr::own_shared_number("msg-", number),
                                                                                  message, bytes, flags);
}
[[gnu::visibility("default")]] ssize_t msgrcv(int number, void* message, std::size_t bytes, long type, int flags) {
  return hr::next_function<ssize_t (*)(int, void*, std::size_t, long, int)>("msgrcv")(
      hr::own_shared_number("msg-", number), message, bytes, type, flags);
}
[[gnu::visibility("default")]] int msgctl(int number, int command, msqid_ds* buffer) noexcept {
  return hr::next_function<int (*)(int, int, msqid_ds*)>("msgctl")(hr::own_shared_number("msg-", number), command,
                                                                   buffer);
}

}  // extern "C"
