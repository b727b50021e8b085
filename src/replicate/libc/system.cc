// What the system tells a program about its host and its memory, other than by files: the leader's answers.
#include <malloc.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "core/integrity/digest.h"
#include "replicate/libc/answers.h"
#include "replicate/libc/files.h"
#include "replicate/mpi/agree/agreeing_thread.h"

namespace holdfast::replicate {

namespace {

/// An answer that may be an error.
template <std::size_t size>
struct Answered {
  int code = -1;
  int error = 0;
  unsigned char value[size] = {};
};

/// Calls `real(&value)` and answers what the leader's call did.
template <class Value, class Real>
int ask_system(SystemAnswer what, std::uint64_t which, Value* into, Real real) {
  if (!agreed_answers() || !into) return real(into);
  Answered<sizeof(Value)> answer;
  const int before = errno;
  answer.code = real(into);
  answer.error = answer.code < 0 ? errno : 0;
  std::memcpy(answer.value, into, sizeof(Value));
  agree(what, which, answer);
  errno = answer.code < 0 ? answer.error : before;
  if (answer.code >= 0) std::memcpy(static_cast<void*>(into), answer.value, sizeof(Value));
  return answer.code;
}

std::uint64_t number_of(const char* path) {
  if (!path) return 0;
  const std::string_view name = path;
  return integrity::digest(integrity::Algorithm::crc32c, std::as_bytes(std::span(name.data(), name.size()))).low;
}

struct Loads {
  double average[3];
};

struct Processor {
  unsigned number, node;
};

}  // namespace

}  // namespace holdfast::replicate

namespace hr = holdfast::replicate;
using hr::SystemAnswer;

#define HOLDFAST_FILE_SYSTEM(function, Place, Status, which)                                                    \
  extern "C" [[gnu::visibility("default")]] int function(Place place, Status* status) noexcept {                \
    static const auto real = hr::next_function<int (*)(Place, Status*)>(#function);                             \
    return hr::ask_system(SystemAnswer::file_system, which, status, [&](Status* s) { return real(place, s); }); \
  }
HOLDFAST_FILE_SYSTEM(statfs, const char*, struct statfs, hr::number_of(place))
HOLDFAST_FILE_SYSTEM(statfs64, const char*, struct statfs64, hr::number_of(place))
HOLDFAST_FILE_SYSTEM(statvfs, const char*, struct statvfs, hr::number_of(place))
HOLDFAST_FILE_SYSTEM(statvfs64, const char*, struct statvfs64, hr::number_of(place))
HOLDFAST_FILE_SYSTEM(fstatfs, int, struct statfs, 0)
HOLDFAST_FILE_SYSTEM(fstatfs64, int, struct statfs64, 0)
HOLDFAST_FILE_SYSTEM(fstatvfs, int, struct statvfs, 0)
HOLDFAST_FILE_SYSTEM(fstatvfs64, int, struct statvfs64, 0)
#undef HOLDFAST_FILE_SYSTEM

extern "C" {

[[gnu::visibility("default")]] int sysinfo(struct sysinfo* host) noexcept {
  static const auto real = hr::next_function<int (*)(struct sysinfo*)>("sysinfo");
  return hr::ask_system(SystemAnswer::host, 0, host, real);
}

/// glibc's own asks the kernel itself for these.
[[gnu::visibility("default")]] long sysconf(int name) noexcept {
  static const auto real = hr::next_function<long (*)(int)>("sysconf");
  long value = real(name);
  if (name == _SC_AVPHYS_PAGES || name == _SC_PHYS_PAGES)
    hr::agree(SystemAnswer::host, static_cast<std::uint64_t>(name), value);
  return value;
}
[[gnu::visibility("default")]] long get_avphys_pages() noexcept {
  return sysconf(_SC_AVPHYS_PAGES);
}
[[gnu::visibility("default")]] long get_phys_pages() noexcept {
  return sysconf(_SC_PHYS_PAGES);
}

[[gnu::visibility("default")]] int getloadavg(double averages[], int count) noexcept {
  static const auto real = hr::next_function<int (*)(double*, int)>("getloadavg");
  hr::Loads loads{};
  const int code = hr::ask_system(SystemAnswer::load, 0, &loads, [](hr::Loads* own) { return real(own->average, 3); });
  const int given = std::clamp(count, 0, std::max(code, 0));
  std::copy_n(loads.average, given, averages);
  return code < 0 ? code : given;
}

[[gnu::visibility("default")]] int sched_getcpu() noexcept {
  static const auto real = hr::next_function<int (*)()>("sched_getcpu");
  int processor = real();
  hr::agree(SystemAnswer::processor, 0, processor);
  return processor;
}

[[gnu::visibility("default")]] int getcpu(unsigned* processor, unsigned* node) noexcept {
  static const auto real = hr::next_function<int (*)(unsigned*, unsigned*)>("getcpu");
  hr::Processor answer{};
  const int code = hr::ask_system(SystemAnswer::processor, 1, &answer,
                                  [](hr::Processor* own) { return real(&own->number, &own->node); });
  if (code != 0) return code;
  if (processor) *processor = answer.number;
  if (node) *node = answer.node;
  return 0;
}

[[gnu::visibility("default")]] struct mallinfo mallinfo() noexcept {
  static const auto real = hr::next_function<struct mallinfo (*)()>("mallinfo");
  struct mallinfo heap = real();
  hr::agree(SystemAnswer::heap, 0, heap);
  return heap;
}
[[gnu::visibility("default")]] struct mallinfo2 mallinfo2() noexcept {
  static const auto real = hr::next_function<struct mallinfo2 (*)()>("mallinfo2");
  struct mallinfo2 heap = real();
  hr::agree(SystemAnswer::heap, 1, heap);
  return heap;
}

/// The launcher, or what it starts processes with: another one on each host.
[[gnu::visibility("default")]] pid_t getppid() noexcept {
  static const auto real = hr::next_function<pid_t (*)()>("getppid");
  pid_t parent = real();
  // Before MPI_Init it is each one's own: a program asks again to see whether its parent is still there.
  if (hr::agreed_clocks()) hr::agree(SystemAnswer::parent, 0, parent);
  return parent;
}

}  // extern "C"
