// Where the program begins and ends: the loader has run the constructors of its shared libraries, its own and main()
// come next; what main() returns, or exit(), _exit() and their kin are called with, is compared across replicas.
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "replicate/libc/cleared_blocks.h"
#include "replicate/libc/environment.h"
#include "replicate/libc/files.h"
#include "replicate/libc/interpreter.h"
#include "replicate/libc/same_memory.h"
#include "replicate/libc/writes.h"
#include "replicate/mpi/life/exit_status.h"
#include "replicate/process/liveness.h"
#include "replicate/process/program.h"
#include "replicate/process/stack.h"
#include "replicate/process/standing_clocks.h"
#include "replicate/process/streams.h"

namespace {

using Main = int (*)(int, char**, char**);
using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);

using End = void (*)(int);

Main program_main = nullptr;
End real_end = nullptr;  // _exit(), found before the program begins: handlers of signals call it

/// The program's own end counts, once MPI has begun; that of its children, of the libraries and of a shell before it
/// does not.
int settled_end(int status) {
  using namespace holdfast::replicate;
  return program_asks() && init_has_been_called() ? settle_exit_status(status) : status;
}

[[noreturn]] void end_now(int status) {
  status = settled_end(status);
  holdfast::replicate::leave_launched_status(status);
  if (real_end) real_end(status);
  ::syscall(SYS_exit_group, status);
  __builtin_unreachable();
}

int settled_main(int count, char** arguments, char** environment) {
  holdfast::replicate::clear_startup();
  const int status = holdfast::replicate::settle_exit_status(program_main(count, arguments, environment));
  holdfast::replicate::leave_launched_status(status);
  holdfast::replicate::program_ends();
  return status;
}

}  // namespace

extern "C" {

// glibc's entry, called by every dynamically linked program's crt1.o with these arguments
// (Linux Standard Base, Core, __libc_start_main).
[[gnu::visibility("default")]] __attribute__((no_stack_protector)) int __libc_start_main(
    Main main, int count, char** arguments, void (*init)(), void (*fini)(), void (*loader_fini)(), void* stack) {
  holdfast::replicate::begin_with_mpi(arguments);
  holdfast::replicate::begin_with_same_memory(arguments);
  holdfast::replicate::clear_blocks_from_now_on();
  const auto start = reinterpret_cast<Start>(dlsym(RTLD_NEXT, "__libc_start_main"));
  real_end = reinterpret_cast<End>(dlsym(RTLD_NEXT, "_exit"));
  holdfast::replicate::program_begins();
  holdfast::replicate::tell_program_its_part();
  holdfast::replicate::watch_writes();
  holdfast::replicate::begin_liveness_of_program();
  holdfast::replicate::watch_files();
  program_main = main;
  return start(settled_main, count, arguments, init, fini, loader_fini, stack);
}

[[gnu::visibility("default"), noreturn]] void exit(int status) noexcept {
  const auto function = reinterpret_cast<void (*)(int)>(dlsym(RTLD_NEXT, "exit"));
  const int settled = holdfast::replicate::settle_exit_status(status);
  holdfast::replicate::leave_launched_status(settled);
  holdfast::replicate::program_ends();
  function(settled);
  __builtin_unreachable();
}

[[gnu::visibility("default"), noreturn]] void quick_exit(int status) noexcept {
  const auto function = reinterpret_cast<End>(dlsym(RTLD_NEXT, "quick_exit"));
  function(settled_end(status));
  __builtin_unreachable();
}

[[gnu::visibility("default"), noreturn]] void _exit(int status) {
  end_now(status);
}

[[gnu::visibility("default"), noreturn]] void _Exit(int status) noexcept {
  end_now(status);
}

}  // extern "C"
