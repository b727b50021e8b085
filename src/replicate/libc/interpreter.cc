#include "replicate/libc/interpreter.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>

#include "replicate/process/job.h"
#include "replicate/process/program.h"

namespace holdfast::replicate {

/// Names with the version's digits behind them: python3.11, R, julia, perl5.36.0.
bool may_load_mpi(const char* path) {
  constexpr std::string_view interpreters[] = {"python", "pypy", "R", "julia", "ruby", "perl", "octave-cli"};
  std::string_view name = path;
  name = name.substr(name.rfind('/') + 1);
  return std::any_of(std::begin(interpreters), std::end(interpreters), [name](std::string_view interpreter) {
    const std::string_view version = name.substr(std::min(name.size(), interpreter.size()));
    return name.starts_with(interpreter) && std::all_of(version.begin(), version.end(), [](char letter) {
             return std::isdigit(static_cast<unsigned char>(letter)) != 0 || letter == '.' || letter == '-';
           });
  });
}

void begin_with_mpi(char** arguments) {
  const char* const library = std::getenv("HOLDFAST_RUN_MPI_LIBRARY");
  const char* const preloaded = std::getenv("LD_PRELOAD");
  if (!library || !preloaded || !starts_before_mpi()) return;
  if ((std::string(":") + preloaded + ":").find(std::string(":") + library + ":") != std::string::npos) return;
  char path[4096];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path - 1);
  if (length <= 0) return;
  path[length] = '\0';
  if (!may_load_mpi(path)) return;
  set_variable("LD_PRELOAD", std::string(preloaded) + ":" + library);
  ::execv(path, arguments);
  set_variable("LD_PRELOAD", preloaded);
}

}  // namespace holdfast::replicate
