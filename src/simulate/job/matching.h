#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace holdfast::simulate::job {

/// What messages and receives are matched by: a context (a communicator, and whether a collective), the sender's rank
/// and a tag.
struct Envelope {
  static constexpr std::uint32_t any_source = 0xffffffff;
  static constexpr std::int64_t any_tag = -1;
  std::uint32_t context = 0;
  std::uint32_t source = 0;
  std::int64_t tag = 0;

  bool is_exact() const { return source != any_source && tag != any_tag; }
  /// Whether a receive of this envelope takes a message of that one.
  bool takes(const Envelope& message) const {
    return context == message.context && (source == any_source || source == message.source) &&
           (tag == any_tag || tag == message.tag);
  }
  bool operator==(const Envelope&) const = default;
  auto operator<=>(const Envelope&) const = default;
};

/// Messages, or receives, that wait: a line for each envelope, in the order of coming. All lines stand in one array and
/// all that waits in another, whose places are used again: no allocation once they have grown to the most that ever
/// waited.
class WaitingLines {
 public:
  static constexpr std::uint32_t none = 0xffffffff;
  struct Kept {
    std::uint64_t order = 0;
    std::uint32_t value = 0;
    std::uint32_t next = none;  ///< in its line, or among the free places
  };

  /// The line of this envelope; none: nothing of it waits.
  std::uint32_t find(const Envelope& envelope) const {
    std::uint32_t line = heads_[place_of(envelope)];
    while (line != none && lines_[line].envelope != envelope) line = lines_[line].next;
    return line;
  }
  /// Who came first in a line.
  const Kept& first(std::uint32_t line) const { return kept_[lines_[line].first]; }
  /// Takes it off: its value.
  std::uint32_t take(std::uint32_t line);
  /// To the end of its line. `order` is above all before.
  void push(const Envelope& envelope, std::uint64_t order, std::uint32_t value);
  /// Calls with the number and the envelope of every line, in no order.
  template <class Visit>
  void visit(const Visit& line_of) const {
    for (std::uint32_t line : heads_)
      for (; line != none; line = lines_[line].next) line_of(line, lines_[line].envelope);
  }
  /// The envelopes of all that waits, in the order of coming.
  std::map<std::uint64_t, Envelope> in_order() const;

 private:
  struct Line {
    Envelope envelope;
    std::uint32_t first = none, last = none;  ///< in kept_
    std::uint32_t next = none;                ///< of the same head, or among the free lines
  };
  std::size_t place_of(const Envelope& of) const {
    const std::uint64_t mixed =
        (std::uint64_t{of.context} * 0x9e3779b97f4a7c15ULL + of.source) * 0xbf58476d1ce4e5b9ULL +
        static_cast<std::uint64_t>(of.tag) * 0x94d049bb133111ebULL;
    return static_cast<std::size_t>(mixed ^ (mixed >> 31)) & (heads_.size() - 1);
  }
  std::uint32_t open(const Envelope& envelope);
  void close(std::uint32_t line);
  void grow();

  std::vector<std::uint32_t> heads_ = std::vector<std::uint32_t>(8, none);  ///< lines by hash: a power of two
  std::vector<Line> lines_;
  std::vector<Kept> kept_;
  std::uint32_t open_ = 0;  ///< lines
  std::uint32_t free_line_ = none, free_kept_ = none;
};

/// The receives that one rank has posted and the messages that came before their receives, as MPI matches them
/// (MPI 4.0, section 3.5): messages of one sender in the order in which they were sent, receives in the order of
/// posting. Values are the caller's numbers. Exact envelopes cost O(1), wildcards what waits.
class Matching {
 public:
  /// A message has come: the receive that gets it, or it is kept.
  std::optional<std::uint32_t> arrive(const Envelope& message, std::uint32_t value);
  /// A receive is posted: the message that it gets, or it is kept.
  std::optional<std::uint32_t> post(const Envelope& receive, std::uint32_t value);
  /// The first message that such a receive would get; it stays.
  std::optional<std::uint32_t> probe(const Envelope& receive) const;

  /// The envelopes of what waits, in the order of coming: of messages, or of receives.
  std::map<std::uint64_t, Envelope> waiting_messages() const { return messages_.in_order(); }
  std::map<std::uint64_t, Envelope> waiting_receives() const;

 private:
  std::uint32_t first_taken_by(const Envelope& receive) const;

  WaitingLines messages_, receives_;
  std::map<std::uint64_t, std::pair<Envelope, std::uint32_t>> wildcards_;  ///< receives, by order
  std::uint64_t next_ = 0;
};

}  // namespace holdfast::simulate::job
