#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::replicate {

/// What a process of a job and `holdfast run` say to each other over the connection whose end tells of the process's
/// death (docs/design/dead-replicas.md). One line a message:
///
///   join TOKEN RANK REPLICA   the first word of a process, before MPI_Init where it can
///   starting                  it enters MPI_Init, which it does not leave before all have entered it
///   ready                     MPI_Init is over
///   finishing                 the process has reached MPI_Finalize and owes nobody anything
///   finished                  it is past it
///   exit STATUS               it is about to end with this status
///   failed                    it found what the job cannot go on with; an incident file says what
///   gone REPLICA              a process of that replica died: the replica is taken out
///   finalize                  to all: everybody is finishing and nobody died: MPI's own end may be waited for
///   leave                     to all: somebody died: MPI's own end would wait for the dead
struct RollCall {
  enum class Kind : std::uint8_t { join, ready, finishing, finished, exit, failed, gone, finalize, leave, starting };
  Kind kind = Kind::ready;
  std::uint64_t token = 0;  ///< join
  int rank = -1;            ///< join
  int number = -1;          ///< join and gone: the replica; exit: the status

  friend bool operator==(const RollCall&, const RollCall&) = default;
};

/// The longest line, without its end.
inline constexpr std::size_t longest_roll_call = 80;

/// The message in a line without its end; nothing where it is none.
std::optional<RollCall> parse_roll_call(std::string_view line);

/// The line, with its end.
std::string format_roll_call(const RollCall& message);

/// Cuts a stream of bytes into messages. A line that is too long or says nothing ends it: nothing after it is believed.
class RollCallReader {
 public:
  void push(std::string_view bytes) { held_ += bytes; }
  /// The next message; nothing when none is complete, or the stream is spoilt.
  std::optional<RollCall> next();
  bool spoilt() const { return spoilt_; }

 private:
  std::string held_;
  bool spoilt_ = false;
};

}  // namespace holdfast::replicate
