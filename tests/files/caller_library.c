/* A library that opens others, which lie where its own DT_RUNPATH says (runs.c). */
#include <dlfcn.h>

void* open_by_caller(const char* name) {
  return dlopen(name, RTLD_NOW);
}
