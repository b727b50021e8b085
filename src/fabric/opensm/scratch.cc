#include "fabric/opensm/scratch.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>

namespace holdfast::fabric::opensm {

Status write_file(const std::string& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (file) return {};
  return {Code::io, "writing " + path, std::strerror(errno), "see that the disk of $TMPDIR has room"};
}

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Status(Code::io, "reading " + path, std::strerror(errno));
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

std::string unused_folder() {
  static std::atomic<unsigned> count = 0;
  const char* base = std::getenv("TMPDIR");
  std::random_device entropy;  // a folder's name, not a result: two machines may share $TMPDIR
  return std::string(base != nullptr && *base != '\0' ? base : "/tmp") + "/holdfast-opensm-" +
         std::to_string(getpid()) + "-" + std::to_string(count++) + "-" + std::to_string(entropy());
}

}  // namespace holdfast::fabric::opensm
