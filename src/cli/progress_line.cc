#include "cli/progress_line.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>

namespace holdfast::cli {

ProgressLine::ProgressLine(bool wanted) : shown_(wanted && ::isatty(STDERR_FILENO) != 0) {}

bool ProgressLine::due() const {
  return shown_ && Clock::now() >= next_;
}

void ProgressLine::draw(const std::string& words) {
  if (!due()) return;
  next_ = Clock::now() + std::chrono::milliseconds(100);
  std::fprintf(stderr, "\r\033[K%s", words.c_str());
  std::fflush(stderr);
  drawn_ = true;
}

void ProgressLine::clear() {
  if (!drawn_) return;
  std::fprintf(stderr, "\r\033[K");
  std::fflush(stderr);
  drawn_ = false;
}

double ProgressLine::seconds() const {
  return std::chrono::duration<double>(Clock::now() - begun_).count();
}

std::string ProgressLine::bar(double share) {
  const auto filled = static_cast<std::size_t>(30 * std::clamp(share, 0.0, 1.0));
  return "[" + std::string(filled, '#') + std::string(30 - filled, ' ') + "]";
}

}  // namespace holdfast::cli
