#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace holdfast::simulate::job {

/// A number for each operation of one rank that was begun, or asked for, and is not over. Operations are numbered as
/// they begin and nearly all are over soon, so that each has the place of its number's low bits: no hashing, no
/// allocation. One whose place is taken by an operation that stays open stands beside the table; the table doubles when
/// many do. Not thread-safe.
class OpenOperations {
 public:
  static constexpr std::uint32_t none = 0xffffffff;

  OpenOperations() : places_(8) {}

  /// The value of this operation; none: it was not open, and is now. The caller sets it.
  std::uint32_t& operator[](std::uint32_t operation) {
    Place& place = places_[operation & mask()];
    if (place.operation == operation) return place.value;
    return place.operation == none && beside_.empty() ? open(place, operation) : find(operation);
  }
  /// Of one that is open.
  void close(std::uint32_t operation) {
    Place& place = places_[operation & mask()];
    if (place.operation == operation)
      place = {};
    else
      beside_.erase(operation);
  }

 private:
  struct Place {
    std::uint32_t operation = none;
    std::uint32_t value = none;
  };
  std::uint32_t mask() const { return static_cast<std::uint32_t>(places_.size() - 1); }
  static std::uint32_t& open(Place& place, std::uint32_t operation) {
    place = {operation, none};
    return place.value;
  }
  std::uint32_t& find(std::uint32_t operation);
  void grow();

  std::vector<Place> places_;  ///< a power of two
  std::unordered_map<std::uint32_t, std::uint32_t> beside_;
};

}  // namespace holdfast::simulate::job
