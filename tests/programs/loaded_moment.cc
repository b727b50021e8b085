// A library like LAMMPS's: a static variable keeps the moment at which it was loaded, and what has passed since is
// sent.
#include <chrono>

namespace {
const auto loaded = std::chrono::steady_clock::now();
}

extern "C" double seconds_since_loaded() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - loaded).count();
}
