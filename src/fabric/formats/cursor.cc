#include "fabric/formats/cursor.h"

#include <charconv>

namespace holdfast::fabric {

void Cursor::skip_blanks() {
  while (peek() == ' ' || peek() == '\t') ++at_;
}

bool Cursor::take(char letter) {
  if (at_end() || line_[at_] != letter) return false;
  ++at_;
  return true;
}

bool Cursor::take(std::string_view word) {
  if (!rest().starts_with(word)) return false;
  at_ += word.size();
  return true;
}

std::string_view Cursor::word(std::string_view stops) {
  const std::size_t from = at_;
  while (!at_end() && peek() != ' ' && peek() != '\t' && stops.find(peek()) == std::string_view::npos) ++at_;
  return line_.substr(from, at_ - from);
}

std::optional<std::string_view> Cursor::quoted() {
  if (peek() != '"') return std::nullopt;
  const std::size_t end = line_.find('"', at_ + 1);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view inside = line_.substr(at_ + 1, end - at_ - 1);
  at_ = end + 1;
  return inside;
}

std::optional<std::uint64_t> Cursor::digits(int base) {
  std::uint64_t number = 0;
  const char* from = line_.data() + at_;
  const auto [end, error] = std::from_chars(from, line_.data() + line_.size(), number, base);
  if (error != std::errc()) return std::nullopt;
  at_ += static_cast<std::size_t>(end - from);
  return number;
}

std::optional<std::uint64_t> Cursor::decimal() {
  return digits(10);
}

std::optional<std::uint64_t> Cursor::hexadecimal() {
  const std::size_t from = at_;
  if (rest().starts_with("0x") || rest().starts_with("0X")) at_ += 2;
  const std::optional<std::uint64_t> number = digits(16);
  if (!number) at_ = from;
  return number;
}

std::optional<std::uint64_t> Cursor::number_of_any_base() {
  return rest().starts_with("0x") || rest().starts_with("0X") ? hexadecimal() : decimal();
}

Status Cursor::wrong(std::string what, std::string remedy) const {
  return {Code::bad_input,
          "reading " + std::string(file_) + " line " + std::to_string(number_) + " column " + std::to_string(at_ + 1),
          std::move(what), std::move(remedy)};
}

}  // namespace holdfast::fabric
