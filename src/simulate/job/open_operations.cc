#include "simulate/job/open_operations.h"

#include <utility>

namespace holdfast::simulate::job {

/// Where others have, or had, its place.
std::uint32_t& OpenOperations::find(std::uint32_t operation) {
  if (const auto known = beside_.find(operation); known != beside_.end()) return known->second;
  if (beside_.size() > places_.size() / 2) grow();
  Place& place = places_[operation & mask()];
  if (place.operation == none) return open(place, operation);
  return beside_[operation] = none;
}

void OpenOperations::grow() {
  std::vector<Place> old = std::exchange(places_, std::vector<Place>(2 * places_.size()));
  const auto put = [this](const Place& held) {
    Place& place = places_[held.operation & mask()];
    if (place.operation == none)
      place = held;
    else
      beside_[held.operation] = held.value;
  };
  for (const auto& [operation, value] : std::exchange(beside_, {})) old.push_back({operation, value});
  for (const Place& held : old)
    if (held.operation != none) put(held);
}

}  // namespace holdfast::simulate::job
