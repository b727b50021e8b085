#include "replicate/mpi/tolerance.h"

#include <cinttypes>
#include <cstdio>
#include <sstream>
#include <utility>

#include "replicate/mpi/runtime.h"

namespace holdfast::replicate {

namespace {
std::vector<TolerancePlace> allowed;
}

Result<std::vector<TolerancePlace>> parse_tolerance(std::string_view text) {
  std::vector<TolerancePlace> places;
  std::istringstream all{std::string(text)};
  std::string one;
  while (std::getline(all, one, ';')) {
    std::istringstream words(one);
    std::string word;
    TolerancePlace place;
    bool any = false;
    while (words >> word) {
      int value = -1;
      if ((word != "rank" && word != "tag") || !(words >> value) || value < 0) {
        return Status(Code::bad_input, "reading replicate.tolerate", "'" + word + "' is not understood",
                      "write places such as 'tag 7' or 'rank 0 tag 3'");
      }
      (word == "rank" ? place.rank : place.tag) = value;
      any = true;
    }
    if (any) places.push_back(place);
  }
  return places;
}

void set_tolerance(std::vector<TolerancePlace> places) { allowed = std::move(places); }

bool tolerated(const Operation& op) {
  if (op.kind != Operation::Kind::receive) return false;
  for (const TolerancePlace& place : allowed) {
    if (place.rank >= 0 && place.rank != op.comm->virtual_rank(op.source)) continue;
    if (place.tag >= 0 && place.tag != op.tag) continue;
    ++runtime().counters[Count::tolerated];
    return true;
  }
  return false;
}

std::string ballot_list(std::span<const Ballot> ballots) {
  std::string text = " (";
  for (std::size_t k = 0; k < ballots.size(); ++k) {
    char part[96];
    std::snprintf(part, sizeof part, "%sreplica %zu: %016" PRIx64 ", %" PRIu64 " bytes", k ? "; " : "", k,
                  ballots[k].digest.low, ballots[k].bytes);
    text += part;
  }
  return text + ")";
}

}  // namespace holdfast::replicate
