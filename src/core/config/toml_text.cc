#include "core/config/toml_text.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <utility>

namespace holdfast::config {
namespace {

bool is_ascii(char letter) {
  return static_cast<unsigned char>(letter) < 0x80;
}

bool is_space(char letter) {
  return letter == ' ' || letter == '\t' || letter == '\n' || letter == '\r';
}

bool is_of_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
         std::string_view("_-+\"'").find(letter) != std::string_view::npos;
}

/// Reads a document as far as to know where its strings and comments are.
class Scan {
 public:
  struct Problem {
    std::size_t line;
    std::string what, hint;
  };

  explicit Scan(std::string_view text) : text_(text) {}

  /// What toml++ must not see.
  std::optional<Problem> problem() {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;  // a byte order mark, which it skips
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
    for (const std::string_view opening : {R"(""")", "'''", "\"", "'", "#"}) {
      if (!at(opening)) continue;
      if (opening != "#" && at_ > 0 && is_of_word(text_[at_ - 1])) {  // toml++ would go on with the word
        problem_ = {line_, "a quote stands in the middle of a word", "put the whole in quotes, or a comma before it"};
        return true;
      }
      closing_ = opening == "#" ? "\n" : opening;
      take(opening.size());
      return false;
    }
    take();
    return false;
  }

  /// In a string or comment, one letter or escape further.
  bool beyond_ascii_behind_backslash() {
    if (at(closing_) || (closing_.size() == 1 && at("\n"))) {  // a string of one line ends with it at the latest
      const std::string_view quote = closing_.substr(0, 1);
      take(at(closing_) ? closing_.size() : 1);
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
    while (at_ < text_.size() && is_space(text_[at_]) && (closing_.size() > 1 || text_[at_] != '\n')) take();
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

Result<toml::table> parse_toml(std::string_view text, std::string_view place) {
  const auto refused = [&](std::size_t line, std::string what, std::string hint) {
    return Status{Code::bad_input, "reading " + std::string(place) + std::to_string(line), std::move(what),
                  std::move(hint)};
  };
  if (auto problem = Scan(text).problem())
    return refused(problem->line, std::move(problem->what), std::move(problem->hint));
  toml::parse_result parsed = toml::parse(text);
  if (parsed) return std::move(parsed).table();
  std::string what(parsed.error().description());
  std::ranges::replace_if(
      what, [](char letter) { return static_cast<unsigned char>(letter) < ' '; }, ' ');
  return refused(parsed.error().source().begin.line, std::move(what), "see https://toml.io for the syntax");
}

}  // namespace holdfast::config
