#pragma once

#include <array>
#include <cstdint>

namespace holdfast::replicate {

/// Tells the leader whether its answer to a clock reading may wait, to travel with the next one, or must leave at once.
/// A follower needs the answer when it reads the clock itself, so an answer that waits while the leader computes holds
/// the followers up; one that waits for another reading a few microseconds later costs nobody anything.
///
/// What comes after a reading is guessed from what came after earlier ones: a two-level predictor (T.-Y. Yeh, Y. Patt,
/// "Two-Level Adaptive Training Branch Prediction", MICRO-24, 1991) over the last eight gaps, each quick or slow. An
/// answer waits only where the same pattern of gaps was followed by a quick one `need` times in a row; each wrong guess
/// doubles `need` for its pattern. Values are never touched: a wrong guess costs the followers time, once, nothing
/// else.
///
/// 1 KiB, no I/O, reads no clock; one thread at a time.
class ClockPace {
 public:
  static constexpr std::int64_t quick_ns = 20'000;

  /// A clock was read now; true when the answer may wait for what comes next.
  bool may_wait(std::int64_t now_ns);
  /// The program did something else that carries waiting answers along (a communication call).
  void other_call(std::int64_t now_ns);
  /// Whether other_call() has anything to learn from: a reading is the last thing that happened.
  bool open() const { return open_; }

 private:
  struct Pattern {
    std::uint16_t quick_in_a_row = 0;
    std::uint16_t need = 8;
  };
  void close(std::int64_t now_ns);

  std::array<Pattern, 256> patterns_{};
  std::uint8_t history_ = 0;  ///< one bit a gap, the latest lowest; 1 is quick
  std::int64_t last_ns_ = 0;
  bool open_ = false;
  bool waited_ = false;  ///< the last answer was let wait
};

}  // namespace holdfast::replicate
