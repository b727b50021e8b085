#include "core/input/lines.h"

namespace holdfast::input {

bool Lines::next() {
  if (rest_.empty()) return false;
  const std::size_t end = std::min(rest_.substr(0, newline_).find('\r'), newline_);
  line_ = rest_.substr(0, end);
  const bool twice = newline_ < rest_.size() && newline_ - end == 2 && rest_[end + 1] == '\r';
  const bool of_this_line = end == newline_ || (newline_ < rest_.size() && newline_ - end == 1) || twice;
  const std::size_t past = std::min(of_this_line ? newline_ + 1 : end + 1, rest_.size());
  rest_.remove_prefix(past);
  newline_ = of_this_line ? std::min(rest_.find('\n'), rest_.size()) : newline_ - past;
  if (number_++ == 0 && line_.starts_with("\xEF\xBB\xBF")) line_.remove_prefix(3);  // an editor's mark of UTF-8
  return true;
}

}  // namespace holdfast::input
