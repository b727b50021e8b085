// Who a process is and where it runs: the same answer in all replicas of a rank, because programs seed random numbers
// with it and write it into messages and files.
#include <dlfcn.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

#include "core/random/stream.h"
#include "replicate/libc/answers.h"
#include "replicate/libc/identity.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/mpi/intercept/guard.h"
#include "replicate/process/program.h"
#include "replicate/process/standing_clocks.h"
#include "replicate/process/streams.h"

namespace holdfast::replicate {

namespace {

/// A process id of one's own is not known to the other replicas before MPI_Init, so all get one that is made up: above
/// the largest that Linux gives (2^22), with bits of the job's entropy, so that names made of it stay apart between
/// jobs.
pid_t make_process_id() {
  const char* entropy = std::getenv("HOLDFAST_RUN_IDENTITY");
  const std::optional<Place> place = launched_place();
  if (!entropy || !place) return 0;
  const std::uint64_t job = random::Stream(std::strtoull(entropy, nullptr, 10)).child("process").next64();
  return static_cast<pid_t>((1U << 30) | ((static_cast<std::uint32_t>(job) & 0x3ffU) << 20) |
                            (static_cast<std::uint32_t>(place->rank) & 0xfffffU));
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

/// Of the replica that asked first; empty where that is not known.
std::string first_host() {
  const Inside inside;
  struct utsname own {};
  std::string name = ::syscall(SYS_uname, &own) == 0 ? own.nodename : "";
  (void)agree_on_bytes(SystemAnswer::host_name, 0, false, name);
  return name;
}

/// Replica 0's host, from MPI_Init on; before that of the replica that asks first. Empty where this process is told its
/// own.
std::string agreed_host() {
  if (!program_asks() || !std::getenv("HOLDFAST_RUN_IDENTITY")) return "";
  if (init_has_been_called()) return runtime().leader_host;
  static const std::string first = program_stands() ? first_host() : "";
  return first;
}

}  // namespace

pid_t agreed_process_id() {
  if (!program_asks_until_its_end()) return 0;
  const Depth inside;
  static const pid_t agreed = make_process_id();
  return agreed;
}

}  // namespace holdfast::replicate

namespace hr = holdfast::replicate;

extern "C" {

[[gnu::visibility("default")]] pid_t getpid() noexcept {
  const pid_t agreed = hr::agreed_process_id();
  return agreed ? agreed : hr::real_process_id();
}

/// As natively, the first thread's number is its process's; other threads have the kernel's.
[[gnu::visibility("default")]] pid_t gettid() noexcept {
  const pid_t agreed = hr::agreed_process_id();
  return agreed ? agreed : static_cast<pid_t>(syscall(SYS_gettid));
}

[[gnu::visibility("default")]] int gethostname(char* name, std::size_t length) noexcept {
  static const auto function = hr::next<int (*)(char*, std::size_t)>("gethostname");
  const std::string host = hr::agreed_host();
  if (host.empty()) return function(name, length);
  if (host.size() >= length) {  // as glibc: truncated, without a last zero
    std::memcpy(name, host.data(), length);
    errno = ENAMETOOLONG;
    return -1;
  }
  std::memcpy(name, host.c_str(), host.size() + 1);
  return 0;
}

[[gnu::visibility("default")]] int uname(struct utsname* system) noexcept {
  static const auto function = hr::next<int (*)(struct utsname*)>("uname");
  const int code = function(system);
  const std::string host = hr::agreed_host();
  if (code == 0 && !host.empty()) {
    const std::size_t length = std::min(host.size(), sizeof(system->nodename) - 1);
    std::memcpy(system->nodename, host.data(), length);
    system->nodename[length] = '\0';
  }
  return code;
}

}  // extern "C"
