#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/input/lines.h"
#include "core/status/status.h"

namespace holdfast::fabric {

using input::lacks_last_line_end;
using input::Lines;

/// A place in one line of a file, for readers of line-based formats. Views point into the line.
class Cursor {
 public:
  /// `file` says in messages where the text is from.
  Cursor(std::string_view file, std::size_t number, std::string_view line)
      : file_(file), number_(number), line_(line) {}

  bool at_end() const { return at_ == line_.size(); }
  char peek() const { return at_end() ? '\0' : line_[at_]; }
  std::string_view rest() const { return line_.substr(at_); }
  std::size_t number() const { return number_; }

  void skip(std::size_t letters) { at_ = letters < line_.size() - at_ ? at_ + letters : line_.size(); }
  void skip_blanks();
  /// Moves behind the letter or word when it comes next (after no blanks).
  bool take(char letter);
  bool take(std::string_view word);
  /// Up to the next blank or one of `stops`; may be empty.
  std::string_view word(std::string_view stops = {});
  /// What stands in quotation marks here, up to the next one; nothing, and no move, without both.
  std::optional<std::string_view> quoted();
  /// A number here: decimal, or hexadecimal digits with or without "0x". Nothing, and no move, without one or beyond
  /// 64 bits.
  std::optional<std::uint64_t> decimal();
  std::optional<std::uint64_t> hexadecimal();
  /// "0x..." or decimal.
  std::optional<std::uint64_t> number_of_any_base();

  /// Error (bad_input) at this place: "reading FILE line 3 column 7: <what>: <remedy>".
  Status wrong(std::string what, std::string remedy = {}) const;

 private:
  std::optional<std::uint64_t> digits(int base);

  std::string_view file_;
  std::size_t number_;
  std::string_view line_;
  std::size_t at_ = 0;
};

}  // namespace holdfast::fabric
