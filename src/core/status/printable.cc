#include "core/status/printable.h"

#include <algorithm>
#include <cstddef>

namespace holdfast {
namespace {

constexpr std::size_t most_word = 160;
constexpr std::size_t kept_end = 70;  ///< bytes of each end of a longer one

bool continues_letter(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

char shown(char letter) {
  if (letter == '\n' || letter == '\r' || letter == '\t') return ' ';
  const auto byte = static_cast<unsigned char>(letter);
  return byte < ' ' || byte == 0x7F ? '?' : letter;
}

void append_word(std::string_view word, std::string& line) {
  if (word.size() <= most_word) {
    line += word;
    return;
  }
  // What is no UTF-8 may have any number of such bytes: a letter has four at most.
  std::size_t head = kept_end, tail = word.size() - kept_end;
  for (int i = 0; i < 3 && continues_letter(word[head]); ++i) --head;
  for (int i = 0; i < 3 && continues_letter(word[tail]); ++i) ++tail;
  line += word.substr(0, head);
  line += "...";
  line += word.substr(tail);
}

}  // namespace

std::string printable(std::string_view text) {
  std::string clean(text);
  std::transform(clean.begin(), clean.end(), clean.begin(), shown);
  std::string line;
  line.reserve(clean.size());
  for (std::size_t at = 0; at < clean.size();) {
    const std::size_t blank = std::min(clean.find(' ', at), clean.size());
    append_word(std::string_view(clean).substr(at, blank - at), line);
    const std::size_t next = std::min(clean.find_first_not_of(' ', blank), clean.size());
    line.append(clean, blank, next - blank);
    at = next;
  }
  return line;
}

}  // namespace holdfast
