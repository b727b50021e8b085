#include "fabric/check/patterns.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/random/stream.h"
#include "fabric/check/cabling.h"

namespace holdfast::fabric {
namespace {

class Patterns {
 public:
  Patterns(const Fabric& fabric, const Forwarding& tables, const std::vector<PortId>& hosts)
      : fabric_(fabric), tables_(tables), cabling_(fabric), hosts_(hosts), load_(cabling_.channels(), 0) {
    for (const PortId host : hosts) row_.push_back(tables.row_of(fabric.port(fabric.peer(host)).node));
  }

  double exchange(std::uint32_t most_shifts) {
    const std::size_t all = hosts_.size() - 1;
    const std::size_t shifts = std::min<std::size_t>(all, most_shifts);
    double steps = 0;
    for (std::size_t i = 0; i < shifts; ++i) {
      const std::size_t shift = 1 + i * all / shifts;
      begin();
      for (std::size_t host = 0; host < hosts_.size(); ++host) send(host, (host + shift) % hosts_.size());
      std::uint32_t fullest = 1;
      for (const std::uint32_t channel : used_) fullest = std::max(fullest, load_[channel]);
      steps += fullest;
    }
    return static_cast<double>(shifts) / steps;
  }

  double bisection(std::uint32_t draws, std::uint64_t seed) {
    random::Stream draw = random::Stream(seed).child("bisection");
    std::vector<std::size_t> order(hosts_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    double sum = 0;
    std::uint64_t flows = 0;
    for (std::uint32_t i = 0; i < draws; ++i) {
      for (std::size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[draw.below(left)]);
      begin();
      for (std::size_t at = 0; at + 1 < order.size(); at += 2) {
        send(order[at], order[at + 1]);
        send(order[at + 1], order[at]);
      }
      for (const auto& [from, to] : sent_) {
        sum += share(from, to);
        ++flows;
      }
    }
    return flows == 0 ? 0 : sum / static_cast<double>(flows);
  }

 private:
  void begin() {
    for (const std::uint32_t channel : used_) load_[channel] = 0;
    used_.clear();
    sent_.clear();
  }

  /// The channels between switches that a packet takes; false when it is lost.
  bool walk(std::size_t from, std::size_t to) {
    way_.clear();
    const Lid lid = fabric_.port(hosts_[to]).lid;
    for (std::uint32_t row = row_[from]; way_.size() <= cabling_.rows();) {
      const std::uint8_t out = tables_.out_port(row, lid);
      if (out == Forwarding::no_port || out >= cabling_.stride()) return false;
      const std::uint32_t channel = cabling_.channel(row, out);
      if (cabling_.delivers(channel, hosts_[to])) return true;
      row = cabling_.next_row(channel);
      if (row == none) return false;
      way_.push_back(channel);
    }
    return false;
  }

  void send(std::size_t from, std::size_t to) {
    if (!walk(from, to)) return;
    sent_.emplace_back(from, to);
    for (const std::uint32_t channel : way_) {
      if (load_[channel]++ == 0) used_.push_back(channel);
    }
  }

  double share(std::size_t from, std::size_t to) {
    walk(from, to);
    std::uint32_t fullest = 1;
    for (const std::uint32_t channel : way_) fullest = std::max(fullest, load_[channel]);
    return 1.0 / fullest;
  }

  const Fabric& fabric_;
  const Forwarding& tables_;
  Cabling cabling_;
  const std::vector<PortId>& hosts_;
  std::vector<std::uint32_t> row_;   // by host: its switch
  std::vector<std::uint32_t> load_;  // by channel
  std::vector<std::uint32_t> used_;  // channels with loads
  std::vector<std::uint32_t> way_;
  std::vector<std::pair<std::size_t, std::size_t>> sent_;
};

}  // namespace

PatternShares measure_patterns(const Fabric& fabric, const Forwarding& tables, const std::vector<PortId>& hosts,
                               const PatternRules& rules) {
  if (hosts.size() < 2) return {};
  Patterns patterns(fabric, tables, hosts);
  PatternShares shares;
  shares.exchange = patterns.exchange(rules.most_shifts);
  shares.bisection = patterns.bisection(rules.bisections, rules.seed);
  return shares;
}

}  // namespace holdfast::fabric
