#include "core/database/sqlite_header.h"

#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace holdfast::database {
namespace {

constexpr std::size_t header_bytes = 100;
constexpr std::size_t log_header_bytes = 32, frame_header_bytes = 24;
constexpr std::string_view magic("SQLite format 3\0", 16);

using Bytes = std::array<char, header_bytes>;

std::uint32_t big_endian(const char* bytes) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

SqliteHeader header_of(const char* page) {
  return {big_endian(page + 68), big_endian(page + 60)};
}

/// Page 1 of the last frame of the log that has it. Frames are told from those of an earlier use of the file by their
/// salt; checksums are SQLite's business.
std::optional<SqliteHeader> read_log(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Bytes bytes{};
  if (!file.read(bytes.data(), log_header_bytes)) return std::nullopt;
  if ((big_endian(bytes.data()) & ~1U) != 0x377f0682U) return std::nullopt;
  const std::uint32_t page_bytes = big_endian(bytes.data() + 8);
  const std::array<char, 8> salt = [&] {
    std::array<char, 8> copy{};
    std::memcpy(copy.data(), bytes.data() + 16, copy.size());
    return copy;
  }();
  if (page_bytes < 512 || page_bytes > 65536) return std::nullopt;
  std::optional<SqliteHeader> found;
  while (file.read(bytes.data(), frame_header_bytes)) {
    if (std::memcmp(bytes.data() + 8, salt.data(), salt.size()) != 0) break;
    const bool first_page = big_endian(bytes.data()) == 1;
    const std::size_t taken = first_page ? header_bytes : 0;
    if (first_page && !file.read(bytes.data(), header_bytes)) break;
    if (first_page) found = header_of(bytes.data());
    if (!file.seekg(static_cast<std::streamoff>(page_bytes - taken), std::ios::cur)) break;
  }
  return found;
}

}  // namespace

Result<std::optional<SqliteHeader>> read_sqlite_header(const std::string& path) {
  const std::string doing = "opening the database " + path;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return Status{Code::not_found, doing, "there is no such file", "check the path"};
    return Status{Code::io, doing, std::strerror(errno), "check the path"};
  }
  if (!S_ISREG(status.st_mode)) return Status{Code::bad_input, doing, "it is no regular file", "name another file"};
  if (status.st_size == 0) return std::optional<SqliteHeader>();
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return Status{Code::io, doing, std::strerror(errno), "check its permissions"};
  Bytes bytes{};
  if (!file.read(bytes.data(), bytes.size()) || std::string_view(bytes.data(), magic.size()) != magic)
    return Status{Code::bad_input, doing, "it is no SQLite file", "name another file"};
  std::error_code none;
  const std::filesystem::path real = std::filesystem::canonical(path, none);
  const auto logged = read_log((none ? path : real.string()) + "-wal");
  return std::optional<SqliteHeader>(logged ? *logged : header_of(bytes.data()));
}

}  // namespace holdfast::database
