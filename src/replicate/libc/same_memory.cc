#include "replicate/libc/same_memory.h"

#include <dlfcn.h>
#include <sys/personality.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <string>

#include "replicate/process/job.h"
#include "replicate/process/own_memory.h"
#include "replicate/process/stack.h"

namespace holdfast::replicate {

namespace {

constexpr const char* padding = "HOLDFAST_RUN_PADDING";

/// Ranks, process ids and descriptors are written with more digits in one process than in another, so digits are not
/// counted: as many bytes are kept for them as none has.
std::size_t missing_in_environment() {
  constexpr std::size_t block = 4096;
  std::size_t digits = 0;
  std::size_t others = 0;
  for (char** variable = environ; *variable; ++variable) {
    for (const char* c = *variable; *c; ++c) ++(std::isdigit(static_cast<unsigned char>(*c)) ? digits : others);
  }
  const std::size_t kept = std::max<std::size_t>(2 * block, (2 * digits + block - 1) / block * block);
  return (others + block - 1) / block * block + kept - others - digits;
}

/// Starts the program again, at addresses that are not random; returns where that cannot be.
void start_again(char** arguments) {
  const int before = personality(0xffffffff);
  if (before < 0 || personality(static_cast<unsigned>(before) | ADDR_NO_RANDOMIZE) < 0) return;
  set_variable(padding, "");
  set_variable(padding, std::string(missing_in_environment(), ' '));
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
  if (length <= 0) return;
  path[length] = '\0';
  execv(path, arguments);
}

#ifdef __x86_64__
/// Where the C library has it in x86-64 (System V ABI's TLS, tcbhead_t of glibc). Its lowest byte is zero, so that no
/// string runs over it.
inline void set_stack_guard() {
  const unsigned long constant = 0x64616f4c646c6f00;
  asm volatile("movq %0, %%fs:0x28" : : "r"(constant) : "memory");
}
#else
inline void set_stack_guard() {}
#endif

}  // namespace

__attribute__((no_stack_protector)) void begin_with_same_memory(char** arguments) {
  if (!std::getenv("HOLDFAST_RUN_SAME_MEMORY")) return;
  if (!std::getenv(padding)) start_again(arguments);
  set_stack_guard();
  clear_stack_from_now_on(arguments);
  using Tell = void (*)(bool (*)());
  if (const auto tell = reinterpret_cast<Tell>(dlsym(RTLD_DEFAULT, "holdfast_heap_ask"))) tell(own_memory);
}

}  // namespace holdfast::replicate
