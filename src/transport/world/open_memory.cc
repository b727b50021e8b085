#include "transport/world/open_memory.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "transport/world/oracle.h"

namespace holdfast::transport {
namespace {

// Messages of the oracle have small numbers; these contents have others.
constexpr Oracle::MessageId first_write = 1U << 24;
constexpr Oracle::MessageId first_readable = 1U << 25;
constexpr std::byte untouched{0x5A};
constexpr std::byte reused{0xC3};

}  // namespace

// From the first address on: the counter, what may be read, and the places of the writes.
OpenMemory::OpenMemory(const Plan& plan, unsigned node)
    : bytes_(counter_bytes + readable_bytes + plan.written_bytes(node), untouched) {
  std::fill_n(bytes_.begin(), counter_bytes, std::byte{0});
  Oracle::fill(first_readable + node, std::span(bytes_).subspan(counter_bytes, readable_bytes));
  expected_ = bytes_;
  anything_.assign(bytes_.size(), false);
  std::fill_n(anything_.begin(), counter_bytes, true);
  for (const RemoteOperation& operation : plan.remote) {
    if (operation.kind != RemoteOperation::Kind::write || operation.to != node) continue;
    const auto place = static_cast<std::ptrdiff_t>(address(operation) - first_address);
    std::fill_n(anything_.begin() + place, operation.bytes, true);
  }
}

std::byte* OpenMemory::find(std::uint64_t of_key, std::uint64_t address, std::size_t bytes,
                            RemoteOperation::Kind kind) {
  std::size_t begin = 0;
  std::size_t end = counter_bytes;
  if (kind == RemoteOperation::Kind::read) {
    begin = counter_bytes;
    end = counter_bytes + readable_bytes;
  } else if (kind == RemoteOperation::Kind::write) {
    begin = counter_bytes + readable_bytes;
    end = bytes_.size();
  }
  if (of_key != key || address < first_address + begin || address + bytes > first_address + end) return nullptr;
  return at(address);
}

std::uint64_t OpenMemory::address(const RemoteOperation& operation) {
  switch (operation.kind) {
    case RemoteOperation::Kind::write:
      return first_address + counter_bytes + readable_bytes + operation.place;
    case RemoteOperation::Kind::read:
      return first_address + counter_bytes + operation.place;
    case RemoteOperation::Kind::atomic:
      return first_address;
  }
  return 0;
}

std::vector<std::byte> OpenMemory::readable(const RemoteOperation& operation) {
  std::vector<std::byte> all(readable_bytes);
  Oracle::fill(first_readable + operation.to, all);
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(operation.place);
  return {begin, begin + static_cast<std::ptrdiff_t>(operation.bytes)};
}

std::vector<std::byte> OpenMemory::written(std::size_t index, std::size_t bytes) {
  std::vector<std::byte> what(bytes);
  Oracle::fill(first_write + static_cast<Oracle::MessageId>(index), what);
  return what;
}

bool OpenMemory::settle(std::size_t index, const RemoteOperation& operation) {
  std::byte* place = at(address(operation));
  const std::vector<std::byte> wanted = written(index, operation.bytes);
  const bool there = std::equal(wanted.begin(), wanted.end(), place);
  std::fill_n(place, operation.bytes, reused);
  const auto begin = static_cast<std::ptrdiff_t>(address(operation) - first_address);
  std::fill_n(expected_.begin() + begin, operation.bytes, reused);
  std::fill_n(anything_.begin() + begin, operation.bytes, false);
  return there;
}

bool OpenMemory::unharmed() const {
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    if (!anything_[i] && bytes_[i] != expected_[i]) return false;
  }
  return true;
}

}  // namespace holdfast::transport
