#include "replicate/launch/compare/file_state.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>

namespace holdfast::launch {

using replicate::FilePlace;

namespace {

using OpenFile = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

OpenFile open_to_read(const std::string& path) {
  return {std::fopen(path.c_str(), "rb"), &std::fclose};
}

FileState unreadable(FileState state, int error) {
  state.text = std::strerror(error);
  state.unreadable = true;
  return state;
}

}  // namespace

FileState state_of(const FilePlace& place, integrity::Digester& digester) {
  FileState state;
  if (!place.exists()) return state;
  state.type = place.status.st_mode & S_IFMT;
  if (place.is(S_IFLNK)) {
    std::error_code failed;
    state.text = std::filesystem::read_symlink(place.path, failed).string();
    if (failed) return unreadable(state, failed.value());
  }
  if (!place.is(S_IFREG)) return state;
  digester.init(integrity::Algorithm::xxh3_128);
  const OpenFile file = open_to_read(place.path);
  if (!file) return unreadable(state, errno);
  std::vector<std::byte> block(1 << 20);
  while (const std::size_t n = std::fread(block.data(), 1, block.size(), file.get())) {
    digester.update(std::span(block).first(n));
    state.bytes += n;
  }
  if (std::ferror(file.get()) != 0) return unreadable(state, errno);
  state.digest = digester.finish();
  return state;
}

std::int64_t first_difference(const FilePlace& one, const FilePlace& other) {
  if (!one.is(S_IFREG) || !other.is(S_IFREG)) return -1;
  const OpenFile a = open_to_read(one.path);
  const OpenFile b = open_to_read(other.path);
  if (!a || !b) return -1;
  std::vector<char> left(1 << 20);
  std::vector<char> right(1 << 20);
  for (std::int64_t at = 0;;) {
    const std::size_t n = std::fread(left.data(), 1, left.size(), a.get());
    const std::size_t m = std::fread(right.data(), 1, right.size(), b.get());
    const std::size_t both = std::min(n, m);
    const auto end = left.begin() + static_cast<std::ptrdiff_t>(both);
    const auto found = std::mismatch(left.begin(), end, right.begin()).first;
    if (found != end || n != m) return at + (found - left.begin());
    if (both == 0) return -1;
    at += static_cast<std::int64_t>(both);
  }
}

int majority(const std::vector<FileState>& states) {
  for (std::size_t k = 0; k < states.size(); ++k) {
    const auto alike = std::count(states.begin(), states.end(), states[k]);
    if (2 * static_cast<std::size_t>(alike) > states.size()) return static_cast<int>(k);
  }
  return -1;
}

}  // namespace holdfast::launch
