#include "replicate/launch/plan/same_memory.h"

#include <sys/personality.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

namespace holdfast::launch {

Result<std::vector<Variable>> same_memory_variables() {
  const int before = personality(0xffffffff);
  if (before < 0 || personality(static_cast<unsigned>(before) | ADDR_NO_RANDOMIZE) < 0) {
    return Status(Code::unavailable, "turning random addresses off for --same-memory", std::strerror(errno),
                  "let the container call personality(2), or run without the option");
  }
  personality(static_cast<unsigned>(before));
  std::string tunables = "glibc.malloc.perturb=165:glibc.malloc.tcache_count=0:glibc.malloc.mmap_max=0";
  if (const char* users = std::getenv("GLIBC_TUNABLES")) tunables = std::string(users) + ":" + tunables;
  return std::vector<Variable>{{"HOLDFAST_RUN_SAME_MEMORY", "1"}, {"GLIBC_TUNABLES", tunables}};
}

}  // namespace holdfast::launch
