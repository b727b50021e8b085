/* A library that opens others, which lie where its own DT_RUNPATH says (runs.c). */
#define _GNU_SOURCE
#include <dlfcn.h>

void* open_by_caller(const char* name) {
  return dlopen(name, RTLD_NOW);
}

/* As a library does that stands in front of dlopen() and calls the next one (UCX). */
void* open_by_next(const char* name, int mode) {
  void* (*next)(const char*, int) = (void* (*)(const char*, int))dlsym(RTLD_NEXT, "dlopen");
  return next(name, mode);
}

void* open_by_c_library(const char* name, int mode) {
  void* library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  void* (*its)(const char*, int) = (void* (*)(const char*, int))dlsym(library, "dlopen");
  return its(name, mode);
}
