#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/integrity/digester.h"
#include "replicate/shadow/file_view.h"

namespace holdfast::launch {

/// What is found at a path: nothing, a directory, a symbolic link with its text, or a file with its contents.
struct FileState {
  mode_t type = 0;
  std::uint64_t bytes = 0;
  integrity::Digest digest;
  std::string text;
  bool unreadable = false;  ///< `text` says why; it agrees with nothing, not even with another that cannot be read
  friend bool operator==(const FileState& a, const FileState& b) {
    return !a.unreadable && !b.unreadable && a.type == b.type && a.bytes == b.bytes && a.digest == b.digest &&
           a.text == b.text;
  }
};

/// Reads a file whole.
FileState state_of(const replicate::FilePlace& place, integrity::Digester& digester);

/// The first byte, from 0, where two files differ, or one of them ends; -1 where they are alike or no files.
std::int64_t first_difference(const replicate::FilePlace& one, const replicate::FilePlace& other);

/// The lowest index of the state that more than half share; -1 without one.
int majority(const std::vector<FileState>& states);

}  // namespace holdfast::launch
