#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace holdfast::input {

/// The lines of a text, one after the other, without their ends: "\n", "\r\n" (also "\r\r\n", of a text that was
/// converted twice) or "\r" alone, in any mixture. One pass over the text.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text), newline_(std::min(text.find('\n'), text.size())) {}
  /// False at the end of the text.
  bool next();
  std::string_view line() const { return line_; }
  bool at_end() const { return rest_.empty(); }
  std::size_t number() const { return number_; }  ///< from 1

 private:
  std::string_view rest_;
  std::size_t newline_;  ///< the next one in rest_, or its size
  std::string_view line_;
  std::size_t number_ = 0;
};

/// Whether a text ends in the middle of a line.
inline bool lacks_last_line_end(std::string_view text) {
  return !text.empty() && text.back() != '\n' && text.back() != '\r';
}

}  // namespace holdfast::input
