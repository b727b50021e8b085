/* A program that links no MPI and opens what does while it runs, for itself alone, as Python opens its modules:
 *   loads_mpi FILE ARGUMENTS   calls loaded_main() of the shared library FILE
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  int (*run)(int, char**) = NULL;
  if (library) *(void**)&run = dlsym(library, "loaded_main");
  if (run) return run(argc - 1, argv + 1);
  fprintf(stderr, "loads_mpi: %s\n", dlerror());
  return 2;
}
