// Whether a descriptor is a terminal. Open MPI gives rank 0 of replica 0 one for its output, while the others write to
// files, and programs go by it: they write colours, or as wide as the terminal is. No replica's output is one.
#include <dlfcn.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>

#include "replicate/process/depth.h"
#include "replicate/process/streams.h"

namespace {

/// Output of the program that is compared across replicas.
bool is_compared(int descriptor) {
  using namespace holdfast::replicate;
  return depth == 0 && recording() && (is_stream(descriptor, STDOUT_FILENO) || is_stream(descriptor, STDERR_FILENO));
}

int refuse_terminal(int result) {
  errno = ENOTTY;
  return result;
}

/// The C library's; what asks for a terminal asks seldom.
template <class Function>
Function* terminal_function(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

[[gnu::visibility("default")]] int isatty(int descriptor) noexcept {
  return is_compared(descriptor) ? refuse_terminal(0) : terminal_function<int(int)>("isatty")(descriptor);
}

[[gnu::visibility("default")]] int tcgetattr(int descriptor, termios* settings) noexcept {
  return is_compared(descriptor) ? refuse_terminal(-1)
                                 : terminal_function<int(int, termios*)>("tcgetattr")(descriptor, settings);
}

[[gnu::visibility("default")]] int ioctl(int descriptor, unsigned long request, ...) noexcept {
  std::va_list arguments;
  va_start(arguments, request);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  const bool of_terminal = request == TCGETS || request == TIOCGWINSZ;
  if (of_terminal && is_compared(descriptor)) return refuse_terminal(-1);
  return static_cast<int>(::syscall(SYS_ioctl, descriptor, request, argument));
}

}  // extern "C"
