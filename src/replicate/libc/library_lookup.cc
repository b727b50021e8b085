// dlsym(3). A library that puts itself in front of dlopen() by rewriting what others call looks for the next dlopen()
// after itself or the C library's, past that of files_run.cc: UCX does so when MPI is initialised
// (src/ucm/util/reloc.c). It gets ours, which calls the C library's. It also writes over the first shmat() that it
// finds (bistro.c), and then calls the kernel; that one is to be the C library's, and not ours, which calls it with the
// replica's number (shared_memory.cc). Everything else is passed on by a jump, since dlsym() goes by who calls it.
#include <dlfcn.h>

#include <initializer_list>

// A call through a pointer is a jump where the compiler optimizes, on these machines; sanitizers call dlsym() before
// anything may be called.
#if (defined(__x86_64__) || defined(__aarch64__)) && (defined(__OPTIMIZE__) || !defined(__clang__)) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace holdfast::replicate {

namespace {

using Lookup = void* (*)(void*, const char*) noexcept;  // one that may throw would be called, not jumped to

Lookup find_c_library_lookup() {
  for (const char* const version : {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"}) {
    if (void* const found = dlvsym(RTLD_NEXT, "dlsym", version)) return reinterpret_cast<Lookup>(found);
  }
  return nullptr;
}

Lookup c_library_lookup() {
  static const Lookup lookup = find_c_library_lookup();
  return lookup;
}

/// Where the object begins that holds this address.
const void* object_of(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

/// Whether no other library stands between our dlopen() and the C library's, so that who gets ours is not called by it.
bool next_is_c_library() {
  const Lookup lookup = c_library_lookup();
  return object_of(lookup(RTLD_NEXT, "dlopen")) == object_of(reinterpret_cast<const void*>(lookup));
}

constexpr bool same(const char* name, const char* wanted) {
  while (*wanted != '\0' && *name == *wanted) ++name, ++wanted;
  return *name == *wanted;
}

/// What comes after this library. `volatile`: a jump would make it what comes after the caller.
void* next_after_ours(const char* name) {
  void* volatile found = c_library_lookup()(RTLD_NEXT, name);
  return found;
}

/// Whether `caller`, which asks for the dlopen() of this handle, is to get ours: for the next one, or the C library's.
bool gets_ours(void* handle, const void* caller) {
  if (!next_is_c_library() || object_of(caller) == object_of(reinterpret_cast<const void*>(&gets_ours))) return false;
  const Lookup lookup = c_library_lookup();
  return handle == RTLD_NEXT || object_of(lookup(handle, "dlopen")) == object_of(reinterpret_cast<const void*>(lookup));
}

}  // namespace

}  // namespace holdfast::replicate

namespace hr = holdfast::replicate;

#ifdef __clang__
#define HOLDFAST_OPTIMIZED
#else
#define HOLDFAST_OPTIMIZED __attribute__((optimize("O2")))
#endif

extern "C" {

HOLDFAST_OPTIMIZED [[gnu::visibility("default")]] void* dlsym(void* handle, const char* name) noexcept {
  if ((handle == RTLD_DEFAULT || handle == RTLD_NEXT) && hr::same(name, "shmat")) return hr::next_after_ours(name);
  if (handle != RTLD_DEFAULT && hr::same(name, "dlopen") && hr::gets_ours(handle, __builtin_return_address(0))) {
    return reinterpret_cast<void*>(&dlopen);
  }
  return hr::c_library_lookup()(handle, name);
}

}  // extern "C"

#undef HOLDFAST_OPTIMIZED
#endif
