#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>

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
  std::map<std::uint64_t, Envelope> waiting_messages() const { return in_order(messages_); }
  std::map<std::uint64_t, Envelope> waiting_receives() const;

 private:
  struct Kept {
    std::uint64_t order;
    std::uint32_t value;
  };
  struct Hash {
    std::size_t operator()(const Envelope& of) const {
      const std::uint64_t mixed =
          (std::uint64_t{of.context} * 0x9e3779b97f4a7c15ULL + of.source) * 0xbf58476d1ce4e5b9ULL +
          static_cast<std::uint64_t>(of.tag) * 0x94d049bb133111ebULL;
      return static_cast<std::size_t>(mixed ^ (mixed >> 31));
    }
  };
  using Exact = std::unordered_map<Envelope, std::deque<Kept>, Hash>;
  static std::map<std::uint64_t, Envelope> in_order(const Exact& exact);
  static std::uint32_t take(Exact& from, Exact::iterator at);
  Exact::const_iterator first_taken_by(const Envelope& receive) const;

  Exact messages_, receives_;
  std::map<std::uint64_t, std::pair<Envelope, std::uint32_t>> wildcards_;  ///< receives, by order
  std::uint64_t next_ = 0;
};

}  // namespace holdfast::simulate::job
