#include "replicate/engine/clock_pace.h"

#include <algorithm>

namespace holdfast::replicate {

namespace {
constexpr int longest_need = 256;
}

void ClockPace::close(std::int64_t now_ns) {
  if (!open_) return;
  open_ = false;
  Pattern& pattern = patterns_[history_];
  const bool quick = now_ns - last_ns_ < quick_ns;
  if (quick) {
    if (pattern.quick_in_a_row < longest_need) ++pattern.quick_in_a_row;
  } else {
    pattern.quick_in_a_row = 0;
    if (waited_) pattern.need = static_cast<std::uint16_t>(std::min(pattern.need * 2, longest_need));
  }
  history_ = static_cast<std::uint8_t>((history_ << 1) | (quick ? 1 : 0));
}

bool ClockPace::may_wait(std::int64_t now_ns) {
  close(now_ns);
  const Pattern& pattern = patterns_[history_];
  open_ = true;
  last_ns_ = now_ns;
  waited_ = pattern.quick_in_a_row >= pattern.need;
  return waited_;
}

void ClockPace::other_call(std::int64_t now_ns) {
  close(now_ns);
}

}  // namespace holdfast::replicate
