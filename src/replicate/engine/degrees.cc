#include "replicate/engine/degrees.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace holdfast::replicate {

namespace {

Status wrong(std::string_view word, const std::string& what) {
  std::string shown;
  for (const char c : word.substr(0, 20)) shown += c >= ' ' && c <= '~' ? c : '?';
  return {Code::bad_input, "reading the number of replicas", "'" + shown + "' " + what,
          "write 3, or 2.5 for every second rank a third, or 1,3:0,2:4-7 for ranks by themselves"};
}

std::optional<int> number(std::string_view word) {
  int value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (word.empty() || word.front() == '-' || error != std::errc() || end != word.data() + word.size())
    return std::nullopt;
  return value;
}

Result<int> degree(std::string_view word) {
  const auto value = number(word);
  if (!value) return wrong(word, "is no number of processes");
  if (*value < 1 || *value > Degrees::most)
    return wrong(word, "is out of bounds: 1 to " + std::to_string(Degrees::most) + " processes can play a rank");
  return *value;
}

/// Up to the separator, which is taken off too.
std::string_view cut(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view word = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  return word;
}

}  // namespace

Result<Degrees> Degrees::parse(std::string_view text) {
  constexpr std::size_t most_digits = 6;
  Degrees degrees;
  std::string_view rest = text;
  const std::string_view base = cut(rest, ',');
  std::string_view fraction = base;
  const auto whole = degree(cut(fraction, '.'));
  if (!whole)
    return base.find('.') == std::string_view::npos ? whole.status() : wrong(base, "is no number of processes");
  degrees.base_ = whole.value();
  if (base.find('.') != std::string_view::npos) {
    const auto digits = number(fraction);
    if (!digits || fraction.size() > most_digits)
      return wrong(base, "is no number with up to six digits after the point");
    degrees.more_ = *digits;
    for (std::size_t i = 0; i < fraction.size(); ++i) degrees.of_ *= 10;
    if (*digits > 0 && degrees.base_ == most) return wrong(base, "is out of bounds");
  }
  const bool listed = text.find(',') != std::string_view::npos;
  for (bool more = listed; more;) {
    more = rest.find(',') != std::string_view::npos;
    const std::string_view item = cut(rest, ',');
    std::string_view range = item;
    const auto here = degree(cut(range, ':'));
    if (!here) return here.status();
    const bool one = range.find('-') == std::string_view::npos;
    const auto first = number(cut(range, '-'));
    const auto last = one ? first : number(range);
    if (!first || !last || *first > *last) return wrong(item, "names no ranks");
    degrees.exceptions_.push_back({*first, *last, here.value()});
  }
  return degrees;
}

int Degrees::of_rank(int rank) const {
  const auto found = std::find_if(exceptions_.rbegin(), exceptions_.rend(),
                                  [rank](const Exception& e) { return rank >= e.first && rank <= e.last; });
  if (found != exceptions_.rend()) return found->degree;
  const auto up_to = [this](long ranks) { return (ranks * more_ + of_ - 1) / of_; };
  return base_ + static_cast<int>(up_to(rank + 1L) - up_to(rank));
}

int Degrees::highest_named() const {
  int highest = -1;
  for (const Exception& exception : exceptions_) highest = std::max(highest, exception.last);
  return highest;
}

Result<std::vector<int>> Degrees::of(int ranks) const {
  if (highest_named() >= ranks)
    return Status(Code::bad_input, "reading the number of replicas",
                  "rank " + std::to_string(highest_named()) + " is named, of " + std::to_string(ranks) + " ranks",
                  "name ranks from 0 to " + std::to_string(ranks - 1));
  if (ranks > std::numeric_limits<int>::max() / base_)
    return Status(Code::bad_input, "mapping " + std::to_string(ranks) + " ranks", "more processes than MPI can number",
                  "ask for fewer ranks or replicas");
  std::vector<int> all(static_cast<std::size_t>(std::max(ranks, 0)));
  for (int rank = 0; rank < ranks; ++rank) all[static_cast<std::size_t>(rank)] = of_rank(rank);
  return all;
}

std::optional<int> Degrees::ranks(int processes) const {
  long played = 0;
  int ranks = 0;
  while (played < processes) played += of_rank(ranks++);
  if (played != processes || ranks <= highest_named()) return std::nullopt;
  return ranks;
}

bool Degrees::single() const {
  return base_ == 1 && more_ == 0 &&
         std::all_of(exceptions_.begin(), exceptions_.end(), [](const Exception& e) { return e.degree == 1; });
}

bool asks_for_replicas(std::string_view text) {
  const auto degrees = Degrees::parse(text);
  return degrees.ok() && !degrees.value().single();
}

}  // namespace holdfast::replicate
