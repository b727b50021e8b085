#pragma once

// xxHash's header for code that calls the library: where the library can choose a kernel at run time (x86), the names
// XXH3_64bits and so on stand for the functions that do.
#define XXH_STATIC_LINKING_ONLY  // for the layout of XXH3_state_t
#include <xxhash.h>
#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h>
#endif
