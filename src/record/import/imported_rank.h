#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "record/event_writer.h"

namespace holdfast::record {

/// One rank's file of a trace, made of what another tool recorded. Not thread-safe.
class ImportedRank {
 public:
  explicit ImportedRank(const Head& head);

  /// The number by which facts name the communicator from now on.
  std::int64_t define(Communicator communicator) {
    return static_cast<std::int64_t>(writer_.define(std::move(communicator)));
  }
  std::int64_t new_request() { return static_cast<std::int64_t>(writer_.new_request()); }

  /// A call of a thread from one moment to another, in ns of any clock that all of this rank's calls share. Calls of a
  /// thread come in order; one that begins before the last one's end is taken to begin there.
  void add(std::string_view function, std::uint32_t thread, std::span<const FactValue> facts, std::int64_t entered_ns,
           std::int64_t left_ns);
  /// A call of which only the name is kept; `local`: it needs no other process.
  void count(std::string_view function, bool local);
  /// All bytes of the file. Nothing may be added any more.
  std::string finish(Ending ending);

 private:
  std::uint32_t number_of(std::string_view function);

  std::deque<std::string> names_;
  std::map<std::string, std::uint32_t, std::less<>> numbers_;
  std::unordered_map<std::uint32_t, std::int64_t> left_at_ns_;  ///< by thread
  std::int64_t began_ns_ = 0;
  bool began_ = false;
  std::string bytes_;
  EventWriter writer_;
};

}  // namespace holdfast::record
