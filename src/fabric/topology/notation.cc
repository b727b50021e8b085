#include "fabric/topology/notation.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "core/status/hint.h"
#include "fabric/topology/presets.h"

namespace holdfast::fabric {

namespace {

constexpr std::array<FamilyRow, 18> rows{{
    {Family::mesh, "mesh", "(d1,d2,...)", "n-dimensional mesh of these sizes"},
    {Family::torus, "torus", "(d1,d2,...)", "n-dimensional torus; a dimension of size 2 has one link, as in a mesh"},
    {Family::tree, "tree", "(k,n)", "k-ary n-tree: n levels of switches, k hosts a leaf"},
    {Family::xgft, "xgft", "(h;m1,...,mh;w1,...,wh)",
     "extended generalized fat tree; level 0 are hosts, or, with hosts=, switches with hosts below them"},
    {Family::dragonfly, "dragonfly", "(a,p,h,g)",
     "g groups of a routers, each with p hosts and h links to other groups"},
    {Family::dragonfly_plus, "dragonfly-plus", "(l,s,p,h,g)",
     "Dragonfly+ (Megafly): g groups of l leaves, each with p hosts, and s spines, each with h links to other groups"},
    {Family::kautz, "kautz", "(d,k)", "Kautz graph of words of k letters, degree 2d, without directions"},
    {Family::random, "random", "(switches,degree)", "random regular graph, Jellyfish; seed= says which"},
    {Family::hyperx, "hyperx", "(s1,s2,...) or (s1,s2,...;k1,k2,...)",
     "every switch linked to all others in its line of every dimension, by k parallel links"},
    {Family::slimfly, "slimfly", "(q)", "Slim Fly of 2q^2 switches, diameter 2; q is a power of a prime"},
    {Family::xpander, "xpander", "(d,k)",
     "Xpander: d+1 groups of k switches, every two groups linked by a random matching; seed= says which"},
    {Family::rails, "rails", "(r,n,u,s) or (r,n,u,s;p,c)",
     "rail-optimized tree: u units of n hosts with r adapters, a leaf for each rail of a unit, s spines over all; or p "
     "pods of it with s spines a rail, over s groups of c cores"},
    {Family::tsubame2, "tsubame2", "", "one rail of TSUBAME2.0, rebuilt from its published numbers"},
    {Family::deimos, "deimos", "", "the Deimos cluster, rebuilt from its published numbers"},
    {Family::frontera, "frontera", "", "Frontera's compute nodes, rebuilt from its user guide"},
    {Family::summit, "summit", "", "Summit's compute nodes, rebuilt from published descriptions"},
    {Family::sierra, "sierra", "", "Sierra's compute nodes, rebuilt from published descriptions"},
    {Family::abci, "abci", "", "ABCI 1.0's compute nodes, rebuilt from published descriptions"},
}};

/// How many lists of how many numbers a family takes.
struct Form {
  std::size_t least_lists, most_lists;
  std::size_t least_numbers, most_numbers;  ///< of each list
};
Form form_of(Family family) {
  constexpr std::size_t many = 16;
  switch (family) {
    case Family::mesh:
    case Family::torus:
      return {1, 1, 1, many};
    case Family::hyperx:
      return {1, 2, 1, many};
    case Family::xgft:
      return {3, 3, 1, many};
    case Family::tree:
    case Family::kautz:
    case Family::random:
    case Family::xpander:
      return {1, 1, 2, 2};
    case Family::dragonfly:
      return {1, 1, 4, 4};
    case Family::dragonfly_plus:
      return {1, 1, 5, 5};
    case Family::rails:
      return {1, 2, 2, 4};
    case Family::slimfly:
      return {1, 1, 1, 1};
    case Family::tsubame2:
    case Family::deimos:
    case Family::frontera:
    case Family::summit:
    case Family::sierra:
    case Family::abci:
      return {0, 0, 0, 0};
  }
  return {};
}

constexpr std::array<std::string_view, 3> placements = {"spread", "packed", "random"};
constexpr std::array<std::string_view, 11> keys = {
    "links", "hosts", "hosts-per-switch", "ports", "seed", "placement", "rate", "host-rate", "planes", "length", "lmc"};

constexpr std::uint64_t largest_number = 1'000'000'000;

bool is_blank(char letter) {
  return letter == ' ' || letter == '\t';
}

bool is_word(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
         letter == '-' || letter == '_' || letter == '.';
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<Topology> read() {
    Status status = read_name();
    while (status.ok() && skip_blanks()) status = read_option();
    if (!status.ok()) return status;
    return topology_;
  }

 private:
  Status wrong(std::size_t at, std::string what, std::string remedy) const {
    return {Code::bad_input,
            "reading the topology '" + std::string(text_.substr(0, 200)) + "' column " + std::to_string(at + 1),
            std::move(what), std::move(remedy)};
  }

  /// True when something follows.
  bool skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    return at_ < text_.size();
  }
  bool take(char letter) {
    if (!skip_blanks() || text_[at_] != letter) return false;
    ++at_;
    return true;
  }
  std::string_view word() {
    skip_blanks();
    const std::size_t from = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    return text_.substr(from, at_ - from);
  }

  Status read_name() {
    skip_blanks();
    const std::size_t from = at_;
    const std::string_view name = word();
    if (name.empty()) return wrong(from, "a topology begins with its name", "as in torus(5,5)");
    if (const Preset* preset = find_preset(name)) {
      Result<Topology> known = parse_topology(preset->notation);
      if (!known.ok()) return known.status();
      topology_ = known.value();
      return {};
    }
    for (const FamilyRow& row : rows) {
      if (row.name != name) continue;
      topology_.family = row.family;
      return read_arguments(row);
    }
    std::vector<std::string_view> names;
    for (const FamilyRow& row : rows) names.push_back(row.name);
    for (const Preset& preset : presets()) names.push_back(preset.name);
    return wrong(from, "there is no topology '" + std::string(name) + "'",
                 did_you_mean(name, names, "see holdfast fabric generate --help"));
  }

  Status read_arguments(const FamilyRow& row) {
    const Form form = form_of(row.family);
    const std::string usage = "write " + std::string(row.name) + std::string(row.arguments);
    const std::size_t from = at_;
    if (take('(')) {
      do {
        topology_.arguments.emplace_back();
        do {
          Result<std::uint64_t> number = read_number(usage, largest_number);
          if (!number.ok()) return number.status();
          topology_.arguments.back().push_back(static_cast<std::uint32_t>(number.value()));
        } while (take(','));
      } while (take(';'));
      if (!take(')')) return wrong(at_, "expected ',', ';' or ')'", usage);
    }
    const std::size_t lists = topology_.arguments.size();
    if (lists < form.least_lists || lists > form.most_lists)
      return wrong(from, std::string(row.name) + " does not take " + std::to_string(lists) + " lists of numbers",
                   usage);
    for (const auto& list : topology_.arguments) {
      if (list.size() < form.least_numbers || list.size() > form.most_numbers)
        return wrong(from, std::string(row.name) + " does not take " + std::to_string(list.size()) + " numbers", usage);
    }
    return {};
  }

  Result<std::uint64_t> read_number(const std::string& usage, std::uint64_t most) {
    skip_blanks();
    const std::size_t from = at_;
    const std::string_view digits = word();
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error == std::errc::result_out_of_range || (error == std::errc() && number > most))
      return wrong(from, "a number above " + std::to_string(most), usage);
    if (error != std::errc() || end != digits.data() + digits.size())
      return wrong(from, "expected a whole number", usage);
    return number;
  }

  Status read_count(std::string_view key, std::uint32_t least, std::uint32_t& count) {
    const std::size_t from = at_;
    Result<std::uint64_t> number = read_number("as in " + std::string(key) + "=6", largest_number);
    if (!number.ok()) return number.status();
    if (number.value() < least)
      return wrong(from, std::string(key) + " must be at least " + std::to_string(least), "give a larger number");
    count = static_cast<std::uint32_t>(number.value());
    return {};
  }

  Status read_option() {
    const std::size_t from = at_;
    const std::string_view key = word();
    if (std::ranges::find(keys, key) == keys.end())
      return wrong(
          from, key.empty() ? "expected an option" : "there is no option '" + std::string(key) + "'",
          did_you_mean(key, keys,
                       "take links, hosts, hosts-per-switch, ports, seed, placement, rate, host-rate, planes, length "
                       "or lmc"));
    if (std::exchange(given_[static_cast<std::size_t>(std::ranges::find(keys, key) - keys.begin())], true))
      return wrong(from, std::string(key) + " is given twice", "leave one of them out");
    if (!take('=')) return wrong(at_, "expected '=' after " + std::string(key), "as in links=6");
    return read_value(key, from);
  }

  Status read_value(std::string_view key, std::size_t from) {
    std::uint32_t count = 0;
    if (key == "links") return read_count(key, 1, topology_.links);
    if (key == "ports") return read_count(key, 1, topology_.ports);
    if (key == "rate") return read_rate(topology_.rate);
    if (key == "host-rate") return read_rate(topology_.host_rate.emplace());
    if (key == "planes") return read_count(key, 1, topology_.planes);
    if (key == "length") return read_length();
    if (key == "placement") return read_placement();
    if (key == "lmc") return read_lmc(from);
    if (key == "seed") {
      Result<std::uint64_t> number = read_number("as in seed=1", std::numeric_limits<std::uint64_t>::max());
      if (number.ok()) topology_.seed = number.value();
      return number.status();
    }
    if (Status status = read_count(key, 0, count); !status.ok()) return status;
    std::optional<std::uint32_t>& mine = key == "hosts" ? topology_.hosts : topology_.hosts_per_switch;
    std::optional<std::uint32_t>& other = key == "hosts" ? topology_.hosts_per_switch : topology_.hosts;
    if (hosts_given_) return wrong(from, "the number of hosts is given twice", "give hosts= or hosts-per-switch=");
    hosts_given_ = true;
    mine = count;
    other.reset();
    return {};
  }

  Status read_lmc(std::size_t from) {
    if (Status status = read_count("lmc", 0, topology_.lmc); !status.ok()) return status;
    return topology_.lmc <= 7 ? Status()
                              : wrong(from, "lmc must be at most 7", "give 0 to 7: an adapter has 2^lmc LIDs");
  }

  Status read_rate(LinkRate& into) {
    skip_blanks();
    const std::size_t from = at_;
    const std::optional<LinkRate> rate = find_rate(word());
    if (!rate) return wrong(from, "expected a width and a speed", "as in rate=4xQDR");
    into = *rate;
    return {};
  }

  Status read_length() {
    skip_blanks();
    const std::size_t from = at_;
    std::string_view digits = word();
    if (digits.ends_with('m')) digits.remove_suffix(1);
    double length = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
    if (error != std::errc() || end != digits.data() + digits.size() || !std::isfinite(length) || length < 0 ||
        length > 1e6)
      return wrong(from, "expected a length in metres", "as in length=7m");
    topology_.length_m = length;
    return {};
  }

  Status read_placement() {
    skip_blanks();
    const std::size_t from = at_;
    const std::string_view name = word();
    const auto found = std::ranges::find(placements, name);
    if (found == placements.end())
      return wrong(from, "there is no placement '" + std::string(name) + "'",
                   did_you_mean(name, placements, "take spread, packed or random"));
    topology_.placement = static_cast<Placement>(found - placements.begin());
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Topology topology_;
  std::array<bool, keys.size()> given_{};
  bool hosts_given_ = false;
};

std::string format_lists(const std::vector<std::vector<std::uint32_t>>& lists) {
  if (lists.empty()) return "";
  std::string text = "(";
  for (std::size_t i = 0; i < lists.size(); ++i) {
    if (i > 0) text += ';';
    for (std::size_t j = 0; j < lists[i].size(); ++j) text += (j > 0 ? "," : "") + std::to_string(lists[i][j]);
  }
  return text + ")";
}

std::string format_length(double length_m) {
  std::array<char, 64> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), length_m).ptr;
  return std::string(digits.data(), end) + "m";
}

}  // namespace

std::span<const FamilyRow> families() {
  return rows;
}

const FamilyRow& row_of(Family family) {
  return rows[static_cast<std::size_t>(family)];
}

Result<Topology> parse_topology(std::string_view text) {
  return Reader(text).read();
}

std::string format(const Topology& topology) {
  const Topology usual;
  std::string text(row_of(topology.family).name);
  text += format_lists(topology.arguments);
  if (topology.links != usual.links) text += " links=" + std::to_string(topology.links);
  if (topology.hosts) text += " hosts=" + std::to_string(*topology.hosts);
  if (topology.hosts_per_switch) text += " hosts-per-switch=" + std::to_string(*topology.hosts_per_switch);
  if (topology.ports != usual.ports) text += " ports=" + std::to_string(topology.ports);
  if (topology.seed != usual.seed) text += " seed=" + std::to_string(topology.seed);
  if (topology.placement != usual.placement)
    text += " placement=" + std::string(placements[static_cast<std::size_t>(topology.placement)]);
  if (topology.rate != usual.rate) text += " rate=" + format(topology.rate);
  if (topology.host_rate) text += " host-rate=" + format(*topology.host_rate);
  if (topology.planes != usual.planes) text += " planes=" + std::to_string(topology.planes);
  if (topology.length_m != usual.length_m) text += " length=" + format_length(topology.length_m);
  if (topology.lmc != usual.lmc) text += " lmc=" + std::to_string(topology.lmc);
  return text;
}

bool looks_like_topology(std::string_view text) {
  if (text.find('(') != std::string_view::npos) return true;
  const std::string_view first = text.substr(0, text.find_first_of(" \t"));
  if (find_preset(first) != nullptr) return true;
  return std::ranges::any_of(rows, [&](const FamilyRow& row) { return row.arguments.empty() && row.name == first; });
}

}  // namespace holdfast::fabric
