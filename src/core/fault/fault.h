#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

/// What can go wrong, where and when: the one description of faults that the injector of `run`, the faulty rail, the
/// fabric's fault generator and the simulator all take. docs/spec/faults.md is its grammar.
namespace holdfast::fault {

enum class Kind : std::uint8_t {
  flip,            ///< one bit of a message's bytes, in the sender's memory
  drop,            ///< the message or packet vanishes
  duplicate,       ///< it arrives twice
  reorder,         ///< it arrives after the one that follows it
  delay,           ///< it arrives later by Fault::delay_ns
  corrupt_header,  ///< one bit of its header
  kill_rail,       ///< a rail of a process stops carrying anything
  narrow_rail,     ///< a rail of a process loses every packet that is longer than Fault::longest_bytes
  kill_process,    ///< a process dies
  fail_link,       ///< a link of the fabric is down
  fail_switch,     ///< a switch of the fabric is down
  fail_port,       ///< one port of a switch or adapter is down
  fail_hca,        ///< a host's adapter is down
  noisy_link,      ///< each bit on a link is damaged with the chance Fault::bit_errors
  slow_link,       ///< a link carries the part Fault::rate_left of its rate
};

/// Whether it strikes packets on a rail of a process: the transport, and not the application or the fabric.
bool strikes_packets(Kind kind);

/// An exact probability or part: numerator out of denominator, both above 0, at most 1.
struct Ratio {
  std::uint64_t numerator = 0;
  std::uint64_t denominator = 1;
  bool operator==(const Ratio&) const = default;
};

/// A link by its own name (`b` empty) or by the names of its two ends, in either order.
struct Link {
  std::string a;
  std::string b;
  bool operator==(const Link&) const = default;
};

/// Where a fault strikes: everywhere that all given members fit. Empty: anywhere.
struct Place {
  std::optional<std::uint32_t> rank;     ///< the sender's rank of the application; for kill_*, the process's
  std::optional<std::uint32_t> replica;  ///< its replica, from 0
  std::optional<std::uint32_t> peer;     ///< the receiver's rank
  std::optional<std::uint32_t> rail;     ///< from 0
  std::optional<std::uint32_t> port;     ///< of `switch_name` or `hca`, as the fabric numbers them
  std::optional<Link> link;
  std::string switch_name;
  std::string hca;
  bool operator==(const Place&) const = default;
};

/// When a fault strikes. Messages are counted at the place, which is each sender's own count where the place is any.
struct AtOnce {  ///< from the start on
  bool operator==(const AtOnce&) const = default;
};
struct Rate {  ///< each message by itself with this probability
  Ratio chance;
  bool operator==(const Rate&) const = default;
};
struct Mean {  ///< at moments with exponentially distributed distances of this mean; above 0
  std::int64_t interval_ns = 0;
  bool operator==(const Mean&) const = default;
};
struct Message {  ///< at the number-th message, counted from 1; once
  std::uint64_t number = 0;
  bool operator==(const Message&) const = default;
};
struct Time {  ///< at this time after the start, or the first message after it; once
  std::int64_t after_ns = 0;
  bool operator==(const Time&) const = default;
};
struct Share {  ///< this part of all things of the kind, chosen at random; the denominator is a power of ten >= 100
  Ratio part;
  bool operator==(const Share&) const = default;
};
using When = std::variant<AtOnce, Rate, Mean, Message, Time, Share>;

struct Fault {
  Kind kind = Kind::flip;
  Place place;
  When when;
  std::optional<std::uint64_t> bit;  ///< flip, corrupt_header: which bit from the start (bit 0 is the first byte's
                                     ///< least significant); none: a random one
  std::int64_t delay_ns = 0;         ///< delay: by how much
  std::uint64_t longest_bytes = 0;   ///< narrow_rail: what still passes; above 0
  std::int64_t lasts_ns = 0;         ///< fail_*, noisy_link, slow_link: it is over after this long; 0: it stays
  Ratio bit_errors{};                ///< noisy_link
  Ratio rate_left{};                 ///< slow_link; below 1
  bool operator==(const Fault&) const = default;
};

/// "flip", "corrupt-header", ...
std::string_view name(Kind kind);

/// The fault in the grammar's words; parse() reads it back as an equal Fault.
std::string format(const Fault& fault);

}  // namespace holdfast::fault
