#include "replicate/engine/tolerance_place.h"

#include <charconv>

namespace holdfast::replicate {

namespace {

constexpr std::string_view blanks = " \t\n\r\f\v";

/// The next word, which is taken off; empty at the end.
std::string_view next_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(blanks));
  text.remove_prefix(word.size());
  return word;
}

/// Whether all of `word` is a number of the type and not below 0.
template <class Number>
bool read_number(std::string_view word, Number& number) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && end == word.data() + word.size() && number >= 0;
}

/// What stands behind the word, which has not been there before.
bool read_member(std::string_view word, std::string_view value, TolerancePlace& place) {
  if (word == "rank") return place.rank < 0 && read_number(value, place.rank);
  if (word == "tag") return place.tag < 0 && read_number(value, place.tag);
  if (word == "bytes") return place.bytes < 0 && read_number(value, place.bytes);
  if (word != "call" || !place.call.empty() || value.empty()) return false;
  place.call = value;
  return true;
}

Status wrong(std::string_view word, std::string_view value) {
  std::string shown(word.substr(0, 40));
  if (!value.empty()) shown.append(" ").append(value.substr(0, 40));
  for (char& letter : shown)
    if (letter < ' ' || letter > '~') letter = '?';
  return {Code::bad_input, "reading replicate.tolerate", "'" + shown + "' is not understood",
          "write places such as 'tag 7', 'rank 0 tag 3' or 'call MPI_Alltoall bytes 64', each word once a place"};
}

}  // namespace

bool TolerancePlace::fits(const TolerancePlace& there) const {
  if (rank >= 0 && rank != there.rank) return false;
  if (tag >= 0 && tag != there.tag) return false;
  if (bytes >= 0 && bytes != there.bytes) return false;
  return call.empty() || call == there.call;
}

Result<std::vector<TolerancePlace>> parse_tolerance(std::string_view text) {
  std::vector<TolerancePlace> places;
  while (!text.empty()) {
    std::string_view one = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    TolerancePlace place;
    bool any = false;
    for (std::string_view word = next_word(one); !word.empty(); word = next_word(one)) {
      const std::string_view value = next_word(one);
      if (!read_member(word, value, place)) return wrong(word, value);
      any = true;
    }
    if (any) places.push_back(std::move(place));
  }
  return places;
}

}  // namespace holdfast::replicate
