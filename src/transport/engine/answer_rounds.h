#pragma once

#include <cstdint>

namespace holdfast::transport {

/// How often a peer has answered on other rails while one says nothing. A round is a question on another rail, asked
/// after the answer of the round before was seen, and its answer. So between two answers the peer's process has looked
/// at all of its rails, and this one's at its own, however long each was without a processor. No clock can tell that: a
/// process that is put aside between two rails has answered on one and has not read the other, for as long as the
/// system likes.
///
/// One look need not take all that a rail has (a stream gives a few packets at a time), so that some rounds are needed.
/// One in which packets came in on the silent rail counts little: the answer may be behind them. But the way to the
/// peer may be dead alone, and is not to be hidden by what comes the other way.
class AnswerRounds {
 public:
  static constexpr unsigned enough = 3;  ///< in a row, with nothing on the silent rail
  static constexpr unsigned most = 32;   ///< of any kind

  /// Questions are numbered; those up to `asked` do not count.
  void start(std::uint64_t asked, std::uint64_t arrived) {
    *this = {};
    running_ = true;
    asked_ = asked;
    arrived_ = arrived;
  }
  void stop() { *this = {}; }
  bool running() const { return running_; }

  /// A question was answered on another rail. `asked`: the last one's number; `arrived`: packets that have come in on
  /// the silent rail. True when this ended a round.
  bool answer(std::uint64_t number, std::uint64_t asked, std::uint64_t arrived, std::int64_t now_ns) {
    if (!running_ || number <= asked_) return false;
    if (all_ == 0) first_ns_ = now_ns;
    if (all_ < most) ++all_;
    quiet_ = arrived != arrived_ ? 0 : quiet_ < enough ? quiet_ + 1 : enough;
    asked_ = asked;
    arrived_ = arrived;
    last_ns_ = now_ns;
    return true;
  }

  /// Whether that is enough to blame the silent rail. The first and the last answer are `tick_ns` apart at least.
  bool over(std::int64_t tick_ns) const { return answered() && last_ns_ - first_ns_ >= tick_ns; }

  /// When to ask for the next round; after an answer, and while it is not over.
  std::int64_t next_ns(std::int64_t tick_ns) const { return answered() ? first_ns_ + tick_ns : last_ns_; }

 private:
  bool answered() const { return quiet_ >= enough || all_ >= most; }

  bool running_ = false;
  unsigned quiet_ = 0;
  unsigned all_ = 0;
  std::uint64_t asked_ = 0;
  std::uint64_t arrived_ = 0;
  std::int64_t first_ns_ = 0;
  std::int64_t last_ns_ = 0;
};

}  // namespace holdfast::transport
