// Where the program begins: the loader has run the constructors of its shared libraries, its own and main() come next.
#include <dlfcn.h>

#include "replicate/libc/files.h"
#include "replicate/mpi/program.h"

namespace {
using Main = int (*)(int, char**, char**);
using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
}  // namespace

// glibc's entry, called by every dynamically linked program's crt1.o with these arguments
// (Linux Standard Base, Core, __libc_start_main).
extern "C" [[gnu::visibility("default")]] int __libc_start_main(Main main, int count, char** arguments, void (*init)(),
                                                                void (*fini)(), void (*loader_fini)(), void* stack) {
  const auto start = reinterpret_cast<Start>(dlsym(RTLD_NEXT, "__libc_start_main"));
  holdfast::replicate::program_begins();
  holdfast::replicate::watch_files();
  return start(main, count, arguments, init, fini, loader_fini, stack);
}
