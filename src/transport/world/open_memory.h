#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/world/plan.h"

namespace holdfast::transport {

/// What one life of a process lets others reach: bytes to read, a place for each write that the plan has, and a
/// counter. Knows what must be where, and says when something else is.
class OpenMemory {
 public:
  static constexpr std::uint64_t key = 0x5EED;

  OpenMemory(const Plan& plan, unsigned node);

  /// The bytes that an operation may reach, as Host::memory() answers: null for another key, and for bytes that are not
  /// all in the part of this kind.
  std::byte* find(std::uint64_t of_key, std::uint64_t address, std::size_t bytes, RemoteOperation::Kind kind);

  /// The address of what an operation of the plan reaches; the same in every life.
  static std::uint64_t address(const RemoteOperation& operation);
  /// What a read of these bytes must give.
  static std::vector<std::byte> readable(const RemoteOperation& operation);
  /// What write number `index` of the plan writes.
  static std::vector<std::byte> written(std::size_t index, std::size_t bytes);

  /// Write number `index` is over: whether all of it is there. The process uses the place for something else from here
  /// on, so that a late fragment would be seen by unharmed().
  bool settle(std::size_t index, const RemoteOperation& operation);
  /// Whether what nobody may have written is as it was.
  bool unharmed() const;

 private:
  std::byte* at(std::uint64_t address) { return bytes_.data() + (address - first_address); }

  static constexpr std::uint64_t first_address = 1 << 20;
  static constexpr std::size_t counter_bytes = 8;
  std::vector<std::byte> bytes_;
  std::vector<std::byte> expected_;
  std::vector<bool> anything_;  ///< by byte: writes that are not over may have put anything there
};

}  // namespace holdfast::transport
