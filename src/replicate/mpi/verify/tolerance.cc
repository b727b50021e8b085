#include "replicate/mpi/verify/tolerance.h"

#include <sstream>
#include <utility>

#include "replicate/mpi/context/runtime.h"

namespace holdfast::replicate {

namespace {
std::vector<TolerancePlace> allowed;

bool read_word(const std::string& word, std::istringstream& words, TolerancePlace& place) {
  if (word == "call") return static_cast<bool>(words >> place.call);
  long value = -1;
  if (!(words >> value) || value < 0) return false;
  if (word == "rank") {
    place.rank = static_cast<int>(value);
  } else if (word == "tag") {
    place.tag = static_cast<int>(value);
  } else if (word == "bytes") {
    place.bytes = value;
  } else {
    return false;
  }
  return true;
}

/// Whether what lies at `there` is meant by `place`.
bool fits(const TolerancePlace& place, const TolerancePlace& there) {
  if (place.rank >= 0 && place.rank != there.rank) return false;
  if (place.tag >= 0 && place.tag != there.tag) return false;
  if (place.bytes >= 0 && place.bytes != there.bytes) return false;
  return place.call.empty() || place.call == there.call;
}

}  // namespace

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
      if (!read_word(word, words, place)) {
        return Status(Code::bad_input, "reading replicate.tolerate", "'" + word + "' is not understood",
                      "write places such as 'tag 7', 'rank 0 tag 3' or 'call MPI_Alltoall bytes 64'");
      }
      any = true;
    }
    if (any) places.push_back(place);
  }
  return places;
}

void set_tolerance(std::vector<TolerancePlace> places) {
  allowed = std::move(places);
}

bool tolerated(const TolerancePlace& there) {
  for (const TolerancePlace& place : allowed) {
    if (!fits(place, there)) continue;
    ++runtime().counters[Count::tolerated];
    return true;
  }
  return false;
}

}  // namespace holdfast::replicate
