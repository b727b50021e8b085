#include "replicate/engine/roll_call.h"

#include <array>
#include <charconv>
#include <vector>

namespace holdfast::replicate {

namespace {

constexpr std::array<std::string_view, 10> names{"join",   "ready", "finishing", "finished", "exit",
                                                 "failed", "gone",  "finalize",  "leave",    "starting"};

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t end = line.find(' ');
    words.push_back(line.substr(0, end));
    if (end == std::string_view::npos) return words;
    line.remove_prefix(end + 1);
  }
}

/// Decimal digits alone, as much as fits.
template <class Number>
bool read(std::string_view word, Number& number) {
  if (word.empty() || word.front() < '0' || word.front() > '9') return false;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && end == word.data() + word.size();
}

}  // namespace

std::optional<RollCall> parse_roll_call(std::string_view line) {
  const std::vector<std::string_view> words = words_of(line);
  std::size_t kind = 0;
  while (kind < names.size() && names[kind] != words[0]) ++kind;
  if (kind == names.size()) return std::nullopt;
  RollCall message;
  message.kind = static_cast<RollCall::Kind>(kind);
  switch (message.kind) {
    case RollCall::Kind::join:
      if (words.size() != 4 || !read(words[1], message.token) || !read(words[2], message.rank) ||
          !read(words[3], message.number))
        return std::nullopt;
      return message;
    case RollCall::Kind::exit:
    case RollCall::Kind::gone:
      if (words.size() != 2 || !read(words[1], message.number)) return std::nullopt;
      return message;
    default:
      return words.size() == 1 ? std::optional(message) : std::nullopt;
  }
}

std::string format_roll_call(const RollCall& message) {
  std::string line(names[static_cast<std::size_t>(message.kind)]);
  if (message.kind == RollCall::Kind::join)
    line += " " + std::to_string(message.token) + " " + std::to_string(message.rank);
  const bool numbered = message.kind == RollCall::Kind::join || message.kind == RollCall::Kind::exit ||
                        message.kind == RollCall::Kind::gone;
  if (numbered) line += " " + std::to_string(message.number);
  return line + "\n";
}

std::optional<RollCall> RollCallReader::next() {
  if (spoilt_) return std::nullopt;
  const std::size_t end = held_.find('\n');
  if (end == std::string::npos) {
    spoilt_ = held_.size() > longest_roll_call;
    return std::nullopt;
  }
  const auto message = end > longest_roll_call ? std::nullopt : parse_roll_call(std::string_view(held_).substr(0, end));
  held_.erase(0, end + 1);
  spoilt_ = !message;
  return message;
}

}  // namespace holdfast::replicate
