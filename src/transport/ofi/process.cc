#include "transport/ofi/process.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace holdfast::transport::ofi {

std::uint32_t launched_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}) {
    if (const char* text = std::getenv(name)) return static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10));
  }
  return 0;
}

std::string host_name() {
  char name[256] = "?";
  (void)gethostname(name, sizeof name - 1);
  return name;
}

void warn(const std::string& text) {
  std::fprintf(stderr, "holdfast: %s\n", text.c_str());
}

}  // namespace holdfast::transport::ofi
