#include "simulate/traffic/pattern.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "core/arithmetic/checked.h"
#include "core/random/stream.h"
#include "core/status/hint.h"
#include "simulate/kernel/prefetch.h"
#include "simulate/packet/hosts.h"
#include "simulate/traffic/distance_order.h"

namespace holdfast::simulate {
namespace {

constexpr std::array<std::string_view, 9> names{"uniform",    "exchange",   "linear-exchange",
                                                "all-to-all", "neighbours", "permutation",
                                                "tornado",    "bisection",  "hotspot"};
/// Messages of a host that an endless run needs until its state is steady, and some more.
constexpr double least_messages = 4096;

/// Messages of a host; 0: without end.
std::uint64_t quota_of(const TrafficSpec& spec, std::uint32_t hosts) {
  if (spec.messages != 0) return spec.messages;
  switch (spec.pattern) {
    case Pattern::exchange:
    case Pattern::linear_exchange:
    case Pattern::all_to_all:
      return hosts - 1;
    default:
      return 0;
  }
}

/// Between two messages at this load: the time of one on the host's cable with its headers, stretched. Picoseconds; the
/// message has at most 2^40 bytes, so that its packets' headers still fit.
double mean_gap(const TrafficSpec& spec, Pace pace, const Parameters& parameters) {
  const std::uint64_t packets = (spec.size + parameters.mtu - 1) / parameters.mtu;
  return static_cast<double>(pace.of(spec.size + packets * header_bytes)) / spec.load;
}

constexpr std::array<std::string_view, 8> keys{"size",  "messages", "load",  "arrivals",
                                               "order", "reach",    "share", "target"};

Status bad(std::string wrong, std::string remedy) {
  return {Code::bad_input, "reading the traffic", std::move(wrong), std::move(remedy)};
}

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Sets one key. False when the value is none.
bool set_key(TrafficSpec& spec, std::string_view key, std::string_view value) {
  auto natural = [&](std::uint64_t least, std::uint64_t most) -> std::optional<std::uint64_t> {
    const auto read = number<std::uint64_t>(value);
    return read && *read >= least && *read <= most ? read : std::nullopt;
  };
  auto ratio = [&]() -> std::optional<double> {
    const auto read = number<double>(value);
    return read && *read > 0 && *read <= 1 ? read : std::nullopt;
  };
  if (key == "size") {
    const auto read = natural(1, std::uint64_t{1} << 40);
    if (read) spec.size = *read;
    return read.has_value();
  }
  if (key == "messages") {
    const auto read = natural(1, std::uint64_t{1} << 40);
    if (read) spec.messages = *read;
    return read.has_value();
  }
  if (key == "reach" || key == "target") {
    const auto read = natural(key == "reach" ? 1 : 0, 0xfffffff);
    if (read) (key == "reach" ? spec.reach : spec.target) = static_cast<std::uint32_t>(*read);
    return read.has_value();
  }
  if (key == "load" || key == "share") {
    const auto read = ratio();
    if (read) (key == "load" ? spec.load : spec.share) = *read;
    return read.has_value();
  }
  if (key == "arrivals") {
    spec.even = value == "even";
    return value == "even" || value == "poisson";
  }
  spec.by_lid = value == "lid";
  return value == "lid" || value == "distance";
}

std::string_view next_word(std::string_view& text) {
  const std::size_t from = std::min(text.find_first_not_of(" \t"), text.size());
  const std::size_t to = std::min(text.find_first_of(" \t", from), text.size());
  const std::string_view word = text.substr(from, to - from);
  text.remove_prefix(to);
  return word;
}

/// A random order of 0 ... count - 1 without memory: a Feistel network over the next power of four, walked until it
/// lands inside (J. Black and P. Rogaway, "Ciphers with Arbitrary Finite Domains", CT-RSA 2002, cycle walking).
class Shuffle {
 public:
  Shuffle(std::uint64_t count, std::uint64_t key) : count_(count), key_(key) {
    while ((std::uint64_t{1} << (2 * half_)) < count) ++half_;
  }
  std::uint64_t operator()(std::uint64_t at) const {
    do {
      at = pass(at);
    } while (at >= count_);
    return at;
  }

 private:
  std::uint64_t pass(std::uint64_t at) const {
    const std::uint64_t mask = (std::uint64_t{1} << half_) - 1;
    std::uint64_t left = at >> half_;
    std::uint64_t right = at & mask;
    for (std::uint64_t round = 1; round <= 4; ++round) {
      std::uint64_t mixed = (right + key_ + round * 0x9e3779b97f4a7c15ULL) * 0xbf58476d1ce4e5b9ULL;
      mixed ^= mixed >> 29;
      mixed *= 0x94d049bb133111ebULL;
      mixed ^= mixed >> 32;
      const std::uint64_t next = left ^ (mixed & mask);
      left = right;
      right = next;
    }
    return left << half_ | right;
  }

  std::uint64_t count_;
  std::uint64_t key_;
  unsigned half_ = 1;
};

class PatternTraffic : public Traffic {
 public:
  PatternTraffic(const TrafficSpec& spec, const fabric::Fabric& fabric, const Parameters& parameters,
                 std::uint64_t seed)
      : spec_(spec), hosts_(fabric), sources_(hosts_.count()) {
    const random::Stream root = random::Stream(seed).child("traffic");
    if (spec.by_lid) {
      order_.resize(hosts_.count());
      std::iota(order_.begin(), order_.end(), 0U);
    } else {
      order_ = distance_order(fabric, hosts_);
    }
    place_.resize(order_.size());
    for (std::uint32_t at = 0; at < order_.size(); ++at) place_[order_[at]] = at;
    for (std::uint32_t host = 0; host < hosts_.count(); ++host) {
      Source& source = sources_[host];
      source.draw = root.child(host);
      source.key = source.draw.child("order").next64();
      const fabric::LinkId link = fabric.port(hosts_.ports[host]).link;
      if (link == fabric::none) continue;
      source.interval_ps = mean_gap(spec, parameters.link_pace(fabric.link(link).rate), parameters);
      if (spec.load < 1)
        source.due = arithmetic::add_or_never(Time{0}, spec.even ? source.draw.uniform() * source.interval_ps
                                                                 : source.draw.exponential(source.interval_ps));
    }
    if (spec.pattern == Pattern::permutation) draw_permutation(root.child("permutation"));
  }

  Answer next(std::uint32_t host, Time now, Message& message) override {
    Source& source = sources_[host];
    if (const std::uint64_t quota = own_quota(); quota != 0 && source.sent == quota) return Answer::none;
    if (source.due == never) return Answer::none;
    if (source.due > now) {
      message.created = source.due;
      return Answer::later;
    }
    message.destination = destination(host, source);
    if (message.destination == host) return Answer::none;
    message.bytes = spec_.size;
    message.tag = 0;
    message.created = spec_.load < 1 ? source.due : now;
    ++source.sent;
    if (spec_.load < 1)
      source.due = arithmetic::add_or_never(
          source.due, spec_.even ? source.interval_ps : source.draw.exponential(source.interval_ps));
    return Answer::send;
  }
  void prefetch(std::uint32_t host) const override {
    prefetch_line(&sources_[host]);
    prefetch_line(&sources_[host].key);
  }
  bool finite() const override { return own_quota() != 0; }
  std::uint64_t messages() const override {
    const std::uint64_t silent = spec_.pattern == Pattern::hotspot && spec_.share >= 1 ? 1 : 0;
    return arithmetic::checked_multiply(own_quota(), hosts_.count() - silent).value_or(0);
  }
  std::uint64_t packets(std::uint32_t mtu) const override {
    return arithmetic::checked_multiply(messages(), (spec_.size + mtu - 1) / mtu).value_or(0);
  }

 private:
  struct Source {
    random::Stream draw{0};
    std::uint64_t sent = 0;
    Time due = 0;
    double interval_ps = 0;
    std::uint64_t key = 0;  ///< of its random order
  };

  std::uint64_t own_quota() const { return quota_of(spec_, hosts_.count()); }

  std::uint32_t shifted(std::uint32_t host, std::int64_t shift) const {
    const auto count = static_cast<std::int64_t>(order_.size());
    return order_[static_cast<std::size_t>(((place_[host] + shift) % count + count) % count)];
  }

  std::uint32_t other_at_random(std::uint32_t host, Source& source) const {
    const auto drawn = static_cast<std::uint32_t>(source.draw.below(hosts_.count() - 1));
    return drawn >= host ? drawn + 1 : drawn;
  }

  std::uint32_t destination(std::uint32_t host, Source& source) const {
    const std::uint64_t count = order_.size();
    const std::uint64_t round = source.sent % (count - 1);
    const auto step = static_cast<std::int64_t>(round / 2 + 1);
    switch (spec_.pattern) {
      case Pattern::uniform:
        return other_at_random(host, source);
      case Pattern::exchange:
        return shifted(host, round % 2 == 0 ? step : -step);
      case Pattern::linear_exchange:
        return shifted(host, static_cast<std::int64_t>(round + 1));
      case Pattern::all_to_all:
        return shifted(host, static_cast<std::int64_t>(Shuffle(count - 1, source.key)(round) + 1));
      case Pattern::neighbours: {
        const std::uint64_t turn = source.sent % (2 * std::uint64_t{spec_.reach});
        const auto far = static_cast<std::int64_t>(turn / 2 + 1);
        return shifted(host, turn % 2 == 0 ? far : -far);
      }
      case Pattern::permutation:
        return permuted_[host];
      case Pattern::tornado:
        return shifted(host, static_cast<std::int64_t>((count + 1) / 2) - 1);
      case Pattern::bisection:
        return shifted(host, place_[host] < count / 2 ? static_cast<std::int64_t>(count / 2)
                                                      : -static_cast<std::int64_t>(count / 2));
      case Pattern::hotspot:
        if (host == spec_.target) return spec_.share >= 1 ? host : other_at_random(host, source);
        return source.draw.uniform() < spec_.share ? spec_.target : other_at_random(host, source);
    }
    return host;
  }

  /// One circle through all hosts (S. Sattolo, "An algorithm to generate a random cyclic permutation", 1986).
  void draw_permutation(random::Stream draw) {
    permuted_.resize(hosts_.count());
    std::iota(permuted_.begin(), permuted_.end(), 0U);
    for (std::size_t last = permuted_.size() - 1; last > 0; --last)
      std::swap(permuted_[last], permuted_[draw.below(last)]);
  }

  TrafficSpec spec_;
  Hosts hosts_;
  std::vector<Source> sources_;
  std::vector<std::uint32_t> order_;  // hosts by place
  std::vector<std::uint32_t> place_;  // places by host
  std::vector<std::uint32_t> permuted_;
};

}  // namespace

std::vector<std::string_view> pattern_names() {
  return {names.begin(), names.end()};
}

Result<TrafficSpec> parse_traffic(std::string_view text) {
  TrafficSpec spec;
  std::string_view rest = text;
  const std::string_view name = next_word(rest);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    return bad("there is no pattern '" + std::string(name) + "'",
               did_you_mean(name, names,
                            "patterns are uniform, exchange, linear-exchange, all-to-all, neighbours, "
                            "permutation, tornado, bisection, hotspot"));
  spec.pattern = static_cast<Pattern>(found - names.begin());
  std::array<bool, keys.size()> given{};
  for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest)) {
    const std::size_t equals = word.find('=');
    const std::string_view key = word.substr(0, equals);
    const auto place = std::find(keys.begin(), keys.end(), key);
    if (equals == std::string_view::npos || place == keys.end())
      return bad("'" + std::string(word) + "' is no key=value",
                 did_you_mean(key, keys, "keys are size, messages, load, arrivals, order, reach, share, target"));
    if (std::exchange(given[static_cast<std::size_t>(place - keys.begin())], true))
      return bad("'" + std::string(key) + "' is given twice", "leave one of them out");
    if (!set_key(spec, key, word.substr(equals + 1)))
      return bad("'" + std::string(word) + "' has a value that does not fit",
                 "size and messages count from 1, load and share lie above 0 and up to 1, arrivals is poisson or even, "
                 "order is distance or lid");
  }
  return spec;
}

std::string format_traffic(const TrafficSpec& spec) {
  std::string text(names[static_cast<std::size_t>(spec.pattern)]);
  auto real = [](double value) {
    char digits[32];
    return std::string(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  };
  if (spec.size != 0) text += " size=" + std::to_string(spec.size);
  if (spec.messages != 0) text += " messages=" + std::to_string(spec.messages);
  if (spec.load != 1) text += " load=" + real(spec.load);
  if (spec.even) text += " arrivals=even";
  if (spec.by_lid) text += " order=lid";
  if (spec.reach != 1) text += " reach=" + std::to_string(spec.reach);
  if (spec.pattern == Pattern::hotspot) text += " share=" + real(spec.share) + " target=" + std::to_string(spec.target);
  return text;
}

namespace {

/// That what a host sends lies within the simulated clock, whose 63 bits of picoseconds are 106 days, with room for
/// what chance adds: a gap that is too long could only be a wrong one. `whole` has its size.
Status check_clock(const TrafficSpec& whole, const fabric::Fabric& fabric, const Parameters& parameters) {
  const Hosts hosts(fabric);
  double longest = 0;
  for (const fabric::PortId port : hosts.ports) {
    const fabric::LinkId link = fabric.port(port).link;
    if (link != fabric::none)
      longest = std::max(longest, mean_gap(whole, parameters.link_pace(fabric.link(link).rate), parameters));
  }
  const double quota = static_cast<double>(quota_of(whole, hosts.count()));
  const double messages = quota == 0 ? least_messages : whole.load < 1 ? 64 + 2 * quota : quota;
  if (longest * messages < static_cast<double>(never)) return {};
  const auto real = [](double value) {
    char digits[32];
    return std::string(digits, std::to_chars(digits, digits + sizeof digits, value, std::chars_format::general, 3).ptr);
  };
  return {Code::bad_input, "making the traffic",
          real(messages) + " messages of a host would take " + real(longest * messages / 1e12 / 86400) +
              " days, and the simulated clock ends after 106",
          whole.load < 1 ? "raise load, or lower size or messages" : "lower size or messages"};
}

}  // namespace

Result<std::unique_ptr<Traffic>> make_traffic(const TrafficSpec& spec, const fabric::Fabric& fabric,
                                              const Parameters& parameters, std::uint64_t seed) {
  const std::uint32_t hosts = Hosts(fabric).count();
  auto unfit = [](std::string wrong, std::string remedy) {
    return Status{Code::bad_input, "making the traffic", std::move(wrong), std::move(remedy)};
  };
  if (hosts < 2) return unfit("the fabric has " + std::to_string(hosts) + " hosts with a LID", "two are the least");
  if (spec.pattern == Pattern::hotspot && spec.target >= hosts)
    return unfit("there is no host " + std::to_string(spec.target), "hosts are 0 to " + std::to_string(hosts - 1));
  if (spec.pattern == Pattern::neighbours && spec.reach >= hosts)
    return unfit("reach=" + std::to_string(spec.reach) + " is further than there are hosts",
                 "at most " + std::to_string(hosts - 1));
  TrafficSpec whole = spec;
  if (whole.size == 0) whole.size = parameters.mtu;
  if (Status status = check_clock(whole, fabric, parameters); !status.ok()) return status;
  return std::unique_ptr<Traffic>(std::make_unique<PatternTraffic>(whole, fabric, parameters, seed));
}

}  // namespace holdfast::simulate
