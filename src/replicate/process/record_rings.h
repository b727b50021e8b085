#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace holdfast::replicate {

/// Messages of a few cache lines between the processes of a host, in memory that they share: for each sender and
/// receiver a ring of its own, so that a process that dies in the middle of a message holds up nobody, and for each
/// receiver a bit for each sender, so that looking for messages costs a few loads however many senders there are.
///
/// What another process has written there is input: lengths and places are checked. One thread at a time in each
/// process.
class RecordRings {
 public:
  static constexpr std::size_t most_bytes = 256;  ///< of a message

  /// How large the memory is that so many processes share. A page of it is in use only once something went through it.
  static std::size_t bytes(int processes);

  /// `memory`: bytes(processes) at a cache line's boundary, zeros before the first of them comes; it must stay.
  /// `self`: which of them this process is.
  RecordRings(std::byte* memory, int processes, int self);

  /// Sends a message of at most most_bytes. False when the receiver has too many before it, or one that went another
  /// way is not taken yet: then this one has to go that way, too, and detour() to be called.
  bool put(int to, std::span<const std::byte> message);
  /// A message for `to` goes another way. Those that were put before it are to be taken before it: they are all there
  /// for next() once it has come.
  void detour(int to) { ++detoured_[static_cast<std::size_t>(to)]; }
  /// It has come from there and was taken.
  void take_detour(int from);

  struct Arrived {
    int from;
    std::span<std::byte> bytes;  ///< empty: what the sender wrote is no message; the rest of its ring is dropped
  };
  /// The next message, in the order of sending per sender, in memory of this process, which is good until the next
  /// call. Nothing: none is there now.
  std::optional<Arrived> next();

 private:
  struct Ring;
  Ring ring(int from, int to) const;
  std::optional<Arrived> next_from(int from);
  bool gather();

  std::byte* memory_;
  std::size_t processes_;
  int self_;
  std::vector<std::uint32_t> put_;       ///< cells, by receiver
  std::vector<std::uint32_t> seen_;      ///< how far a receiver had come, when it was last looked at
  std::vector<std::uint32_t> detoured_;  ///< messages that went another way, by receiver
  std::vector<std::uint32_t> taken_;     ///< cells, by sender
  std::vector<std::uint64_t> pending_;   ///< bits of senders that may have more
  int turn_ = 0;                         ///< the sender to look at first
  std::array<std::byte, most_bytes> message_{};
};

}  // namespace holdfast::replicate
