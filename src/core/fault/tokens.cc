#include "core/fault/tokens.h"

#include <algorithm>
#include <string>

namespace holdfast::fault {
namespace {

constexpr std::string_view line_ends = "\n\r";

bool is_blank(char letter) {
  return letter == ' ' || letter == '\t';
}
bool ends_line(char letter) {
  return line_ends.find(letter) != std::string_view::npos;
}
bool is_control(char letter) {
  return (letter >= 0 && letter < ' ' && !is_blank(letter) && !ends_line(letter)) || letter == 127;
}
bool ends_word(char letter) {
  return is_blank(letter) || ends_line(letter) || is_control(letter) || letter == ';' || letter == '"' || letter == '#';
}

/// Of a line's end at the beginning of the text: "\n", "\r", "\r\n" or "\r\r\n", as input::Lines has them.
std::size_t line_end_length(std::string_view text) {
  const std::size_t newline = text.find_first_not_of('\r');
  return newline != std::string_view::npos && text[newline] == '\n' ? newline + 1 : 1;
}

class Splitter {
 public:
  Splitter(std::string_view text, std::string_view name) : rest_(text), name_(name) {}

  Result<std::vector<Token>> run() {
    while (!rest_.empty()) {
      if (Status status = step(); !status) return status;
    }
    tokens_.push_back({Token::Kind::end, {}, at_});
    return std::move(tokens_);
  }

 private:
  Status step() {
    const char letter = rest_.front();
    if (is_blank(letter)) {
      advance(1);
    } else if (letter == '#') {
      advance(std::min(rest_.find_first_of(line_ends), rest_.size()));
    } else if (letter == ';') {
      take(Token::Kind::separator, 1);
    } else if (ends_line(letter)) {
      take(Token::Kind::separator, line_end_length(rest_));
    } else if (letter == '"') {
      return take_quoted();
    } else if (is_control(letter)) {
      return {Code::bad_input, reading(name_, at_), "there is a control character", "remove it"};
    } else {
      std::size_t length = 1;
      while (length < rest_.size() && !ends_word(rest_[length])) ++length;
      take(Token::Kind::word, length);
    }
    return {};
  }

  Status take_quoted() {
    const std::size_t close = rest_.find_first_of("\"\n\r", 1);
    if (close == std::string_view::npos || ends_line(rest_[close])) {
      return {Code::bad_input, reading(name_, at_), "the quotation does not end in its line", "close it with \""};
    }
    tokens_.push_back({Token::Kind::quoted, rest_.substr(1, close - 1), at_});
    advance(close + 1);
    return {};
  }

  void take(Token::Kind kind, std::size_t length) {
    tokens_.push_back({kind, rest_.substr(0, length), at_});
    advance(length);
  }

  void advance(std::size_t length) {
    at_.column += length;
    if (ends_line(rest_[length - 1])) at_ = {at_.line + 1, 1};
    rest_.remove_prefix(length);
  }

  std::string_view rest_;
  std::string_view name_;
  Position at_;
  std::vector<Token> tokens_;
};

}  // namespace

std::string reading(std::string_view name, const Position& at) {
  return "reading " + std::string(name) + " line " + std::to_string(at.line) + " column " + std::to_string(at.column);
}

Result<std::vector<Token>> split(std::string_view text, std::string_view name) {
  return Splitter(text, name).run();
}

}  // namespace holdfast::fault
