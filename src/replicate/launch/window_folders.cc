#include "replicate/launch/window_folders.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

namespace holdfast::launch {

std::string window_folders(unsigned long job) {
  return fmt::format("/dev/shm/holdfast-{}-{:016x}", getuid(), job);
}

void remove_window_folders(const std::string& prefix, int replicas) {
  std::error_code gone;  // as it is where the job ended by itself, or had no window
  for (int k = 0; k < replicas; ++k) std::filesystem::remove_all(fmt::format("{}-{}", prefix, k), gone);
}

}  // namespace holdfast::launch
