#include "simulate/job/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <unordered_map>

#include "core/input/text_file.h"
#include "core/output/amounts.h"
#include "core/random/stream.h"
#include "fabric/topology/hosts.h"
#include "simulate/packet/hosts.h"

namespace holdfast::simulate::job {
namespace {

constexpr std::size_t longest_host_name = 255;  ///< of the Domain Name System (RFC 1035), and more than Slurm takes

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::string padded(std::uint64_t number, std::size_t digits) {
  std::string text = std::to_string(number);
  if (text.size() < digits) text.insert(0, digits - text.size(), '0');
  return text;
}

std::size_t longest(const std::vector<std::string>& texts) {
  std::size_t letters = 0;
  for (const std::string& text : texts) letters = std::max(letters, text.size());
  return letters;
}

/// Reads a node list, from left to right.
class NodeList {
 public:
  NodeList(std::string_view text, std::string_view name, std::size_t most) : text_(text), name_(name), most_(most) {}

  Result<std::vector<NamedHost>> read() {
    while (status_.ok() && at_ < text_.size()) {
      std::vector<std::string> names{""};
      while (status_.ok() && at_ < text_.size() && text_[at_] != ',')
        text_[at_] == '[' ? take_bracket(names) : take_word(names);
      ++at_;
      for (std::string& one : names) {
        if (one.empty()) return wrong("a name is empty");
        hosts_.push_back({std::move(one), 0});
      }
      if (hosts_.size() > most_) return too_many();
    }
    if (!status_.ok()) return status_;
    if (hosts_.empty()) return wrong("it names no host");
    return std::move(hosts_);
  }

 private:
  Status wrong(const std::string& what) const {
    return {Code::bad_input, "reading " + std::string(name_), what, "write it as Slurm does: node[01-16,20],gpu3"};
  }

  Status too_many() const { return wrong("it names more than " + output::grouped(most_) + " hosts"); }

  void take_word(std::vector<std::string>& names) {
    const std::size_t end = std::min(text_.find_first_of("[,]", at_), text_.size());
    if (end == at_) {
      status_ = wrong("']' without '['");
      return;
    }
    if (longest(names) + end - at_ > longest_host_name) {
      status_ = wrong("a name has more than 255 letters");
      return;
    }
    for (std::string& one : names) one += text_.substr(at_, end - at_);
    at_ = end;
  }

  void take_bracket(std::vector<std::string>& names) {
    const std::size_t end = text_.find(']', at_);
    if (end == std::string_view::npos) {
      status_ = wrong("'[' without ']'");
      return;
    }
    std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    std::vector<std::string> parts;
    while (status_.ok()) {
      const std::size_t comma = std::min(inside.find(','), inside.size());
      take_range(inside.substr(0, comma), parts);
      if (comma == inside.size()) break;
      inside.remove_prefix(comma + 1);
    }
    if (status_.ok() && parts.size() * names.size() > most_) status_ = too_many();
    if (!status_.ok()) return;
    if (longest(names) + longest(parts) > longest_host_name) {
      status_ = wrong("a name has more than 255 letters");
      return;
    }
    std::vector<std::string> longer;
    for (const std::string& one : names)
      for (const std::string& part : parts) longer.push_back(one + part);
    names = std::move(longer);
  }

  void take_range(std::string_view range, std::vector<std::string>& parts) {
    const std::size_t dash = range.find('-');
    const std::string_view low = range.substr(0, dash);
    const auto first = whole_number(low);
    const auto last = dash == std::string_view::npos ? first : whole_number(range.substr(dash + 1));
    if (!first || !last || *last < *first || *last - *first >= most_ || parts.size() > most_ ||
        low.size() > longest_host_name) {
      status_ = wrong("'" + std::string(range) + "' is no range");
      return;
    }
    for (std::uint64_t more = 0; more <= *last - *first; ++more) parts.push_back(padded(*first + more, low.size()));
  }

  std::string_view text_, name_;
  std::size_t most_;
  std::size_t at_ = 0;
  std::vector<NamedHost> hosts_;
  Status status_;
};

struct Places {
  std::uint32_t host, places;
};

std::string_view first_word(std::string_view text) {
  return text.substr(0, text.find_first_of(" \t"));
}

/// An adapter, and the number of its computer.
struct Adapter {
  std::uint32_t computer, number;
};

/// Whole descriptions before hosts, and those before first words; of several adapters of one name the first.
std::unordered_map<std::string, Adapter> adapters_by_name(const fabric::Fabric& fabric,
                                                          const std::vector<std::vector<std::uint32_t>>& computers) {
  constexpr std::array<std::string_view (*)(std::string_view), 3> names = {[](std::string_view name) { return name; },
                                                                           fabric::host_of, first_word};
  const Hosts adapters(fabric);
  std::unordered_map<std::string, Adapter> by_name;
  for (const auto name_of : names)
    for (std::uint32_t computer = 0; computer < computers.size(); ++computer)
      for (const std::uint32_t adapter : computers[computer]) {
        const std::string_view whole = fabric.node(fabric.port(adapters.ports[adapter]).node).name;
        by_name.try_emplace(std::string(name_of(whole)), Adapter{computer, adapter});
      }
  return by_name;
}

Result<std::vector<Places>> candidates(const PlacementRules& rules, const fabric::Fabric& fabric,
                                       const std::vector<bool>& taken) {
  std::vector<Places> found;
  const auto computers = computers_of(fabric);
  if (rules.hosts.empty()) {
    const Hosts adapters(fabric);
    const auto cannot_be_had = [&](std::uint32_t adapter) {
      return taken[adapter] || fabric::is_aggregation_node(fabric.node(fabric.port(adapters.ports[adapter]).node));
    };
    for (const std::vector<std::uint32_t>& own : computers)
      if (std::ranges::none_of(own, cannot_be_had)) found.push_back({own.front(), rules.ranks_per_host});
    return found;
  }
  const auto by_name = adapters_by_name(fabric, computers);
  std::unordered_map<std::uint32_t, std::uint32_t> speaks_by;  // an adapter, of computers that were named
  for (const NamedHost& wanted : rules.hosts) {
    const auto known = by_name.find(wanted.name);
    if (known == by_name.end())
      return Status(Code::bad_input, "placing ranks", "the fabric has no host '" + wanted.name + "'",
                    "holdfast fabric show lists its hosts");
    const auto [computer, adapter] = known->second;
    found.push_back({speaks_by.try_emplace(computer, adapter).first->second,
                     wanted.places == 0 ? rules.ranks_per_host : wanted.places});
  }
  return found;
}

}  // namespace

Result<Distribution> parse_distribution(std::string_view text) {
  if (text == "block") return Distribution::block;
  if (text == "round-robin") return Distribution::round_robin;
  if (text == "random") return Distribution::random;
  return Status(Code::bad_input, "reading --place", "'" + std::string(text) + "' is no way to place ranks",
                "take block, round-robin or random");
}

Result<std::vector<NamedHost>> parse_node_list(std::string_view text, std::string_view name, std::size_t most) {
  return NodeList(text, name, most).read();
}

Result<std::vector<NamedHost>> read_host_file(const std::string& path) {
  const auto text = input::read_text_file(path, "the host file");
  if (!text.ok()) return text.status();
  std::vector<NamedHost> hosts;
  std::string_view left = text.value();
  for (std::size_t line = 1; !left.empty(); ++line) {
    std::string_view words = left.substr(0, left.find('\n'));
    left.remove_prefix(std::min(words.size() + 1, left.size()));
    words = words.substr(0, words.find('#'));
    const auto next_word = [&words] {
      words.remove_prefix(std::min(words.find_first_not_of(" \t\r"), words.size()));
      const std::string_view word = words.substr(0, words.find_first_of(" \t\r"));
      words.remove_prefix(word.size());
      return word;
    };
    const std::string_view name = next_word();
    if (name.empty()) continue;
    NamedHost host{std::string(name), 0};
    const std::string_view slots = next_word();
    if (!slots.empty()) {
      const auto number = slots.starts_with("slots=") ? whole_number(slots.substr(6)) : std::nullopt;
      if (!number || *number == 0 || *number > most_hosts || !next_word().empty())
        return Status(Code::bad_input, "reading the host file " + path + " line " + std::to_string(line),
                      "'" + std::string(slots) + "' is not understood", "write a name, and 'slots=N' where needed");
      host.places = static_cast<std::uint32_t>(*number);
    }
    hosts.push_back(std::move(host));
  }
  if (hosts.empty())
    return Status(Code::bad_input, "reading the host file " + path, "it names no host", "write a host a line");
  return hosts;
}

std::uint64_t places_of(const PlacementRules& rules, const fabric::Fabric& fabric, const std::vector<bool>& taken) {
  const auto found = candidates(rules, fabric, taken);
  std::uint64_t places = 0;
  if (found.ok())
    for (const Places& one : found.value()) places += one.places;
  return std::min<std::uint64_t>(places, 0xffffffff);
}

Result<std::vector<std::uint32_t>> place(const PlacementRules& rules, std::uint32_t ranks, const fabric::Fabric& fabric,
                                         std::vector<bool>& taken) {
  auto found = candidates(rules, fabric, taken);
  if (!found.ok()) return found.status();
  std::vector<Places>& order = found.value();
  std::uint64_t places = 0;
  for (const Places& one : order) places += one.places;
  if (places < ranks)
    return Status(Code::bad_input, "placing ranks",
                  "there are " + std::to_string(ranks) + " ranks and " + std::to_string(places) + " places on " +
                      std::to_string(order.size()) + " hosts",
                  "give --ranks-per-host, more hosts or a larger fabric");
  if (rules.distribution == Distribution::random) {
    random::Stream draw = random::Stream(rules.seed).child("placement");
    for (std::size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[draw.below(left)]);
  }
  std::vector<std::uint32_t> placed;
  if (rules.distribution == Distribution::round_robin) {
    // As many hosts as are needed, in turn.
    std::size_t needed = 0;
    for (std::uint64_t room = 0; room < ranks; ++needed) room += order[needed].places;
    for (std::uint32_t round = 0; placed.size() < ranks; ++round)
      for (std::size_t i = 0; i < needed && placed.size() < ranks; ++i)
        if (order[i].places > round) placed.push_back(order[i].host);
  } else {
    for (const Places& one : order)
      for (std::uint32_t i = 0; i < one.places && placed.size() < ranks; ++i) placed.push_back(one.host);
  }
  for (const std::uint32_t host : placed) taken[host] = true;
  return placed;
}

std::string idle_adapters_in_words(const fabric::Fabric& fabric) {
  const auto computers = computers_of(fabric);
  const auto several = std::ranges::count_if(computers, [](const auto& own) { return own.size() > 1; });
  if (several == 0) return {};
  return fmt::format("plain connections leave a host by one of its adapters; {} hosts have more, which carry nothing",
                     several);
}

}  // namespace holdfast::simulate::job
