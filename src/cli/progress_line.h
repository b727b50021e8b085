#pragma once

#include <chrono>
#include <string>

namespace holdfast::cli {

/// Where long work is: one line on standard error that is written over ten times a second at most, and gone at the
/// end. Nothing where standard error is no terminal, so that a log holds what is wrong and nothing else. One thread.
class ProgressLine {
 public:
  /// `wanted`: not --quiet.
  explicit ProgressLine(bool wanted);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Whether draw() would show anything now. Words that cost are made only then.
  bool due() const;
  /// `words`: without a line end.
  void draw(const std::string& words);
  void clear();
  /// Since this line was made.
  double seconds() const;

  /// `share` of a bar that is full at 1: 32 columns.
  static std::string bar(double share);

 private:
  using Clock = std::chrono::steady_clock;
  bool shown_;
  bool drawn_ = false;
  Clock::time_point begun_ = Clock::now();
  Clock::time_point next_ = begun_;
};

}  // namespace holdfast::cli
