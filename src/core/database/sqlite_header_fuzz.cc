// Any bytes are a database and, behind the first 100 of them, its write-ahead log: whose it is comes from a first page
// that is in one of them, or an error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include "core/database/sqlite_header.h"
#include "core/scratch/scratch_folder.h"

namespace {

constexpr std::size_t header_bytes = 100;

std::string big_endian(std::uint32_t value) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(value >> shift & 0xFF);
  return text;
}

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast;
  static const scratch::ScratchFolder folder;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const std::string page = bytes.substr(0, header_bytes), log = bytes.substr(page.size());
  write(folder.file("a"), page);
  write(folder.file("a-wal"), log);
  const auto header = database::read_sqlite_header(folder.file("a"));
  const bool sound = page.size() == header_bytes && page.starts_with(std::string("SQLite format 3\0", 16));
  if (header.ok() != (sound || page.empty())) std::abort();
  if (!header.ok() || page.empty()) return 0;
  const std::string id = big_endian(header.value()->application_id);
  const bool of_page = page.substr(68, 4) == id;
  if (!of_page && log.find(id) == std::string::npos) std::abort();
  return 0;
}
