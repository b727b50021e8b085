#include "replicate/mpi/verify/tolerance.h"

#include <algorithm>
#include <utility>

#include "replicate/mpi/context/runtime.h"

namespace holdfast::replicate {

namespace {
std::vector<TolerancePlace> allowed;
}  // namespace

void set_tolerance(std::vector<TolerancePlace> places) {
  allowed = std::move(places);
}

bool tolerated(const TolerancePlace& there) {
  if (std::none_of(allowed.begin(), allowed.end(), [&](const TolerancePlace& place) { return place.fits(there); }))
    return false;
  ++runtime().counters[Count::tolerated];
  return true;
}

}  // namespace holdfast::replicate
