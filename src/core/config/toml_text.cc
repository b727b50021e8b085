#include "core/config/toml_text.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace holdfast::config {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";  // which toml++ skips

bool is_ascii(char letter) {
  return static_cast<unsigned char>(letter) < 0x80;
}

/// A letter for each byte of UTF-8 that is no ASCII: n for the first of a sequence, which may follow a backslash, and
/// others for the rest, so that quoted keys stay different.
char in_ascii(char letter) {
  constexpr std::string_view others = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const auto byte = static_cast<unsigned char>(letter);
  return byte < 0x80 ? letter : byte >= 0xC0 ? 'n' : others[byte & 0x3F];
}

bool is_space(char letter) {
  return letter == ' ' || letter == '\t' || letter == '\n' || letter == '\r';
}

constexpr int most_dots = 64;  ///< of a key; a table each, whose destructor calls the next one's

/// Reads a document that is good TOML but for letters, as far as to know where its strings and comments are. Where the
/// syntax is wrong, toml++ goes no further than this can be trusted.
class Scan {
 public:
  struct Problem {
    std::size_t line;
    std::string what, hint;
  };

  explicit Scan(std::string_view text) : text_(text) {}

  /// A key of more tables in each other than the stack may hold.
  std::optional<Problem> deep_key() {
    int dots = 0;
    while (at_ < text_.size()) {
      if (!closing_.empty()) {
        beyond_ascii_behind_backslash();
        continue;
      }
      const char letter = text_[at_];
      if (std::string_view("=,[]{}\n").find(letter) != std::string_view::npos) dots = 0;
      if (letter == '.' && ++dots > most_dots)
        return Problem{line_, "a key has more than " + std::to_string(most_dots) + " dots", "give it fewer"};
      step_outside();
    }
    return std::nullopt;
  }

  /// Letters that toml++ must not see.
  std::optional<Problem> letters() {
    if (text_.starts_with(byte_order_mark)) at_ = byte_order_mark.size();
    while (at_ < text_.size()) {
      if (closing_.empty() ? beyond_ascii_outside() : beyond_ascii_behind_backslash()) return problem_;
    }
    return std::nullopt;
  }

 private:
  void take() { line_ += text_[at_++] == '\n' ? 1 : 0; }
  void take(std::size_t letters) {
    for (; letters > 0 && at_ < text_.size(); --letters) take();
  }
  bool at(std::string_view what) const { return text_.substr(at_).starts_with(what); }

  bool beyond_ascii_outside() {
    if (!is_ascii(text_[at_])) {
      problem_ = {line_, "a letter that is no ASCII stands outside quotes", "put it in quotes"};
      return true;
    }
    step_outside();
    return false;
  }

  /// One letter further, or into a string or comment.
  void step_outside() {
    for (const std::string_view opening : {R"(""")", "'''", "\"", "'", "#"}) {
      if (!at(opening)) continue;
      closing_ = opening == "#" ? "\n" : opening;
      return take(opening.size());
    }
    take();
  }

  /// In a string or comment, one letter or escape further.
  bool beyond_ascii_behind_backslash() {
    if (at(closing_)) {
      const std::string_view quote = closing_.substr(0, 1);
      take(closing_.size());
      if (closing_.size() > 1)
        for (int more = 0; more < 2 && at(quote); ++more) take();  // quotes at the end of what is quoted
      closing_ = {};
      return false;
    }
    const bool escapes = text_[at_] == '\\' && closing_.front() == '"';
    take();
    if (!escapes) return false;
    const std::size_t line = line_;
    if (at_ < text_.size() && !is_space(text_[at_]) && is_ascii(text_[at_])) return take(), false;
    while (at_ < text_.size() && is_space(text_[at_])) take();
    if (at_ == text_.size() || is_ascii(text_[at_])) return false;
    problem_ = {line, "a letter that is no ASCII follows a backslash",
                "double the backslash, or write the string without breaking the line there"};
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0, line_ = 1;
  std::string_view closing_;  ///< of the string or comment that this is in
  Problem problem_{};
};

}  // namespace

// Where the syntax is wrong toml++ may take for a word what is a string to others. So letters that are no ASCII come to
// it only in documents that are good with in_ascii() of each byte.
Result<toml::table> parse_toml(std::string_view text, std::string_view place) {
  const auto refused = [&](std::size_t line, std::string what, std::string hint) {
    return Status{Code::bad_input, "reading " + std::string(place) + std::to_string(line), std::move(what),
                  std::move(hint)};
  };
  const auto syntax_of = [&](const toml::parse_error& error) {
    std::string what(error.description());
    std::ranges::replace_if(
        what, [](char letter) { return static_cast<unsigned char>(letter) < ' '; }, ' ');
    return refused(error.source().begin.line, std::move(what), "see https://toml.io for the syntax");
  };
  const auto refused_for = [&](Scan::Problem problem) {
    return refused(problem.line, std::move(problem.what), std::move(problem.hint));
  };
  if (auto problem = Scan(text).deep_key()) return refused_for(*std::move(problem));
  if (!std::ranges::all_of(text, is_ascii)) {
    std::string plain(text.substr(text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0));
    std::ranges::transform(plain, plain.begin(), in_ascii);
    if (const toml::parse_result parsed = toml::parse(plain); !parsed) return syntax_of(parsed.error());
    if (auto problem = Scan(text).letters()) return refused_for(*std::move(problem));
  }
  toml::parse_result parsed = toml::parse(text);
  if (!parsed) return syntax_of(parsed.error());
  return std::move(parsed).table();
}

}  // namespace holdfast::config
