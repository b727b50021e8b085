#pragma once

#include <optional>
#include <string>

#include "core/status/status.h"
#include "simulate/study/study.h"

namespace holdfast::simulate::study {

/// Messages between a coordinator and a worker over a stream socket: 4 bytes of length, least significant first, then
/// that much JSON. Owns the descriptor. One thread.
class Channel {
 public:
  explicit Channel(int descriptor) : descriptor_(descriptor) {}
  Channel(Channel&& other) noexcept;
  Channel& operator=(Channel&& other) noexcept;
  ~Channel();

  int descriptor() const { return descriptor_; }
  /// No message may be longer; a longer one ends the channel. 64 MiB.
  static constexpr std::size_t longest_bytes = std::size_t{64} << 20;

  /// Sends all of it. Error (io): the other end is gone.
  Status send(const Json& message) const;
  /// Reads what is there, once; false when the other end is gone or sends what is no message.
  bool fill();
  /// The next whole message that fill() has read, if any. Discarded JSON (is_discarded()) ends the channel.
  std::optional<Json> next();
  /// Waits for the next message. Error (io): the other end is gone.
  Result<Json> receive();

 private:
  int descriptor_;
  std::string read_;
};

/// A run's outcome, or the error that ended it, as a message and back.
Json to_message(std::size_t run, const Result<Finished>& finished);
struct Answer {
  std::size_t run = 0;
  Result<Finished> finished = Status{};
  std::int64_t waited_ns = 0;  ///< by the worker, for this run; 0 when it does not say
};
/// Nothing when it is no such message.
std::optional<Answer> read_answer(const Json& message);

}  // namespace holdfast::simulate::study
