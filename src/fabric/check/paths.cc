#include "fabric/check/paths.h"

#include <algorithm>
#include <cmath>

#include "core/parallel/parallel_for.h"
#include "fabric/check/cabling.h"
#include "fabric/tables/columns.h"

namespace holdfast::fabric {
namespace {

constexpr std::size_t example_limit = 8;

// What is known of a row on the way to one destination: hops >= 0, or why there are none.
constexpr std::int32_t unknown = -1;
constexpr std::int32_t on_the_way = -2;
constexpr std::int32_t first_loss = -3;  // first_loss - LossReason

constexpr std::int32_t lost_by(LossReason loss) {
  return first_loss - static_cast<std::int32_t>(loss);
}

/// The ways of all switches to one LID.
class Walker {
 public:
  Walker(const Cabling& cabling, const Forwarding& tables)
      : cabling_(cabling), columns_(tables), hops_(cabling.rows()), next_(cabling.rows()), through_(cabling.rows()) {
    settled_.reserve(cabling.rows());
  }

  /// `port` is the adapter port that owns the LID; `none` for a switch's LID, whose row is `home`.
  void walk(Lid lid, PortId port, std::uint32_t home) {
    out_ = columns_.of(lid);
    std::fill(hops_.begin(), hops_.end(), unknown);
    settled_.clear();
    for (std::uint32_t row = 0; row < cabling_.rows(); ++row) {
      if (hops_[row] == unknown && !settle_by_next(row)) settle(row, port, home);
    }
  }
  /// The port by which a row sends to the LID.
  std::uint8_t out(std::uint32_t row) const { return out_[row]; }
  std::int32_t hops(std::uint32_t row) const { return hops_[row]; }
  /// The row that a row with a route sends to, but for the last one of each route.
  std::uint32_t next(std::uint32_t row) const { return next_[row]; }
  /// Rows with a route, each after the one that it leads to.
  const std::vector<std::uint32_t>& settled() const { return settled_; }
  std::vector<std::uint32_t>& through() { return through_; }

 private:
  /// Most rows send to one that is settled already.
  bool settle_by_next(std::uint32_t row) {
    if (out_[row] >= cabling_.stride()) return false;
    const std::uint32_t next = cabling_.next_row(cabling_.channel(row, out_[row]));
    if (next == none || hops_[next] < 0) return false;
    hops_[row] = hops_[next] + 1;
    next_[row] = next;
    settled_.push_back(row);
    return true;
  }

  void settle(std::uint32_t row, PortId port, std::uint32_t home) {
    way_.clear();
    std::int32_t end = 0;
    while (true) {
      if (hops_[row] != unknown) {
        end = hops_[row] == on_the_way ? lost_by(LossReason::looping) : hops_[row];
        break;
      }
      const std::uint8_t out = out_[row];
      if (port == none && row == home) {
        hops_[row] = out == 0 ? 0 : lost_by(LossReason::dropped);
        end = hops_[row];
        if (end >= 0) settled_.push_back(row);
        break;
      }
      const bool there = out != Forwarding::no_port && out < cabling_.stride();
      const std::uint32_t channel = there ? cabling_.channel(row, out) : 0;
      if (!there || cabling_.port(channel) == none) {
        end = hops_[row] = lost_by(LossReason::dropped);
        break;
      }
      if (port != none && cabling_.delivers(channel, port)) {
        end = hops_[row] = 0;
        settled_.push_back(row);
        break;
      }
      const std::uint32_t next = cabling_.next_row(channel);
      if (next == none) {
        const bool wrong = out == 0 || !cabling_.delivers(channel, none);
        end = hops_[row] = lost_by(wrong ? LossReason::misdelivered : LossReason::dropped);
        break;
      }
      hops_[row] = on_the_way;
      next_[row] = next;
      way_.push_back(row);
      row = next;
    }
    for (auto back = way_.rbegin(); back != way_.rend(); ++back) {
      if (end >= 0) {
        ++end;
        settled_.push_back(*back);
      }
      hops_[*back] = end;
    }
  }

  const Cabling& cabling_;
  Columns columns_;
  const std::uint8_t* out_ = nullptr;  // by row, of the LID at hand
  std::vector<std::int32_t> hops_;
  std::vector<std::uint32_t> next_;
  std::vector<std::uint32_t> settled_;
  std::vector<std::uint32_t> way_;
  std::vector<std::uint32_t> through_;
};

/// Sums over destinations of one thread.
struct Sums {
  std::uint64_t routed = 0;
  std::uint64_t disconnected = 0;
  std::uint64_t lost[4] = {};
  std::uint64_t switches_lost = 0;
  std::vector<std::uint64_t> hops;
  std::vector<std::uint64_t> channel_routes;
  std::vector<std::uint64_t> switch_routes;
  std::vector<LostPair> examples;
};

class PathCheck {
 public:
  PathCheck(const Fabric& fabric, const Forwarding& tables) : fabric_(fabric), tables_(tables), cabling_(fabric) {
    const std::size_t count = cabling_.endpoints().size();
    for (std::uint32_t i = 0; i < count; ++i) {
      for (std::uint32_t offset = 0; offset < cabling_.endpoints()[i].lids; ++offset) {
        destinations_.push_back({cabling_.endpoints()[i].lid + offset, i});
      }
    }
  }

  PathReport run(unsigned threads) {
    for (std::uint32_t row = 0; row < cabling_.rows(); ++row) {
      if (!cabling_.endpoints_at(row).empty()) senders_.push_back(row);
    }
    const unsigned workers = parallel::thread_count(threads);
    std::vector<Sums> sums(workers);
    for (Sums& sum : sums) {
      sum.channel_routes.assign(cabling_.channels(), 0);
      sum.switch_routes.assign(cabling_.rows(), 0);
    }
    parallel::parallel_for(destinations_.size(), 64, workers, [&](unsigned worker, std::size_t begin, std::size_t end) {
      Walker walker(cabling_, tables_);
      for (std::size_t i = begin; i < end; ++i) judge(walker, destinations_[i], sums[worker]);
    });
    parallel::parallel_for(cabling_.rows(), 64, workers, [&](unsigned worker, std::size_t begin, std::size_t end) {
      Walker walker(cabling_, tables_);
      for (std::size_t row = begin; row < end; ++row) {
        judge_switch(walker, static_cast<std::uint32_t>(row), sums[worker]);
      }
    });
    return report(sums);
  }

 private:
  struct Destination {
    Lid lid;
    std::uint32_t endpoint;
  };

  void lose(LossReason loss, std::uint64_t pairs, const Cabling::Endpoint& source, Lid lid, Sums& sums) const {
    sums.lost[static_cast<int>(loss)] += pairs;
    sums.examples.push_back({source.port, lid, loss, none});
    if (sums.examples.size() < 4 * example_limit) return;
    keep_first(sums.examples);
  }

  static void keep_first(std::vector<LostPair>& examples) {
    std::sort(examples.begin(), examples.end(), [](const LostPair& a, const LostPair& b) {
      return a.destination != b.destination ? a.destination < b.destination : a.source < b.source;
    });
    examples.resize(std::min(examples.size(), example_limit));
  }

  void judge(Walker& walker, const Destination& destination, Sums& sums) const {
    const Cabling::Endpoint& home = cabling_.endpoints()[destination.endpoint];
    walker.walk(destination.lid, home.port, home.row);
    std::vector<std::uint32_t>& through = walker.through();
    std::fill(through.begin(), through.end(), 0U);
    for (const std::uint32_t row : senders_) {
      const std::int32_t hops = walker.hops(row);
      const auto& here = cabling_.endpoints_at(row);
      const std::uint64_t others = here.size() - (row == home.row ? 1 : 0);
      if (others == 0) continue;
      if (cabling_.part(row) != cabling_.part(home.row)) {
        sums.disconnected += others;
        continue;
      }
      for (const std::uint32_t source : here) {
        if (source == destination.endpoint) continue;
        const Cabling::Endpoint& from = cabling_.endpoints()[source];
        const bool all_alike = hops < 0 || !tables_.distinguishes_sources();
        const std::uint64_t pairs = all_alike ? others : 1;
        if (hops < 0) {
          lose(static_cast<LossReason>(first_loss - hops), pairs, from, destination.lid, sums);
        } else if (tables_.service_level(row, from.lid, destination.lid) == Forwarding::no_path) {
          lose(LossReason::no_level, pairs, from, destination.lid, sums);
        } else {
          through[row] += static_cast<std::uint32_t>(pairs);
        }
        if (all_alike) break;
      }
      if (through[row] == 0) continue;
      const auto length = static_cast<std::size_t>(hops);
      if (sums.hops.size() <= length) sums.hops.resize(length + 1);
      sums.hops[length] += through[row];
      sums.routed += through[row];
    }
    for (auto row = walker.settled().rbegin(); row != walker.settled().rend(); ++row) {
      if (through[*row] == 0) continue;
      const std::uint32_t channel = cabling_.channel(*row, walker.out(*row));
      sums.switch_routes[*row] += through[*row];
      if (*row == home.row) continue;
      sums.channel_routes[channel] += through[*row];
      through[walker.next(*row)] += through[*row];
    }
  }

  void judge_switch(Walker& walker, std::uint32_t home, Sums& sums) const {
    const Lid lid = fabric_.port(fabric_.port_of(tables_.switch_at(home), 0)).lid;
    if (lid == 0) return;
    walker.walk(lid, none, home);
    for (std::uint32_t row = 0; row < cabling_.rows(); ++row) {
      if (walker.hops(row) >= 0 || cabling_.part(row) != cabling_.part(home)) continue;
      sums.switches_lost += cabling_.endpoints_at(row).size();
    }
  }

  /// Follows one lost pair to where it ends.
  NodeId end_of(const LostPair& pair) const {
    const PortId far = fabric_.peer(pair.source);
    std::uint32_t row = tables_.row_of(fabric_.port(far).node);
    for (std::uint32_t steps = 0; steps <= cabling_.rows(); ++steps) {
      const std::uint8_t out = tables_.out_port(row, pair.destination);
      if (out == Forwarding::no_port || out >= cabling_.stride()) break;
      const std::uint32_t next = cabling_.next_row(cabling_.channel(row, out));
      if (next == none) break;
      row = next;
    }
    return tables_.switch_at(row);
  }

  PathReport report(std::vector<Sums>& sums) const {
    PathReport report;
    report.endpoints = cabling_.endpoints().size();
    report.unplugged = cabling_.unplugged();
    report.pairs = destinations_.size() * (report.endpoints - (report.endpoints == 0 ? 0 : 1));
    report.port_routes.assign(fabric_.ports().size(), 0);
    report.switch_routes.assign(cabling_.rows(), 0);
    for (Sums& sum : sums) {
      report.routed += sum.routed;
      report.disconnected += sum.disconnected;
      report.switches_lost += sum.switches_lost;
      for (int loss = 0; loss < 4; ++loss) report.lost[loss] += sum.lost[loss];
      if (report.hops.size() < sum.hops.size()) report.hops.resize(sum.hops.size());
      for (std::size_t i = 0; i < sum.hops.size(); ++i) report.hops[i] += sum.hops[i];
      for (std::uint32_t row = 0; row < cabling_.rows(); ++row) report.switch_routes[row] += sum.switch_routes[row];
      report.examples.insert(report.examples.end(), sum.examples.begin(), sum.examples.end());
      for (std::uint32_t channel = 0; channel < cabling_.channels(); ++channel) {
        if (sum.channel_routes[channel] != 0) report.port_routes[cabling_.port(channel)] += sum.channel_routes[channel];
      }
    }
    std::vector<std::uint64_t> loads;
    for (std::uint32_t channel = 0; channel < cabling_.channels(); ++channel) {
      if (cabling_.next_row(channel) != none) loads.push_back(report.port_routes[cabling_.port(channel)]);
    }
    report.index = spread_of(loads);
    keep_first(report.examples);
    for (LostPair& pair : report.examples) pair.at = end_of(pair);
    return report;
  }

  const Fabric& fabric_;
  const Forwarding& tables_;
  Cabling cabling_;
  std::vector<Destination> destinations_;
  std::vector<std::uint32_t> senders_;  // rows with adapters
};

}  // namespace

const char* name_of(LossReason loss) {
  switch (loss) {
    case LossReason::dropped:
      return "dropped";
    case LossReason::looping:
      return "looping";
    case LossReason::misdelivered:
      return "misdelivered";
    case LossReason::no_level:
      return "no service level";
  }
  return "";
}

Spread spread_of(const std::vector<std::uint64_t>& counts) {
  Spread spread;
  spread.count = counts.size();
  if (counts.empty()) return spread;
  const auto [low, high] = std::minmax_element(counts.begin(), counts.end());
  spread.min = *low;
  spread.max = *high;
  const auto size = static_cast<double>(counts.size());
  for (const std::uint64_t count : counts) spread.mean += static_cast<double>(count) / size;
  double squares = 0;
  for (const std::uint64_t count : counts) squares += std::pow(static_cast<double>(count) - spread.mean, 2);
  spread.deviation = std::sqrt(squares / size);
  return spread;
}

double PathReport::mean_hops() const {
  double sum = 0;
  for (std::size_t i = 0; i < hops.size(); ++i) sum += static_cast<double>(i) * static_cast<double>(hops[i]);
  return routed == 0 ? 0 : sum / static_cast<double>(routed);
}

PathReport check_paths(const Fabric& fabric, const Forwarding& tables, unsigned threads) {
  return PathCheck(fabric, tables).run(threads);
}

std::uint64_t count_unrouted(const Fabric& fabric, const Forwarding& tables) {
  const Cabling cabling(fabric);
  Walker walker(cabling, tables);
  std::uint64_t adapters = 0;
  std::uint64_t lids = 0;
  for (NodeId node = 0; node < fabric.nodes().size(); ++node) {
    if (fabric.is_switch(node)) continue;
    for (std::uint32_t number = 1; number <= fabric.node(node).port_count; ++number) {
      const Port& port = fabric.port(fabric.node(node).first_port + number);
      if (port.lid == 0) continue;
      ++adapters;
      lids += std::uint64_t{1} << port.lmc;
    }
  }
  std::uint64_t routed = 0;
  for (std::uint32_t i = 0; i < cabling.endpoints().size(); ++i) {
    const Cabling::Endpoint& home = cabling.endpoints()[i];
    for (std::uint32_t offset = 0; offset < home.lids; ++offset) {
      walker.walk(home.lid + offset, home.port, home.row);
      for (const std::uint32_t row : walker.settled()) {
        for (const std::uint32_t source : cabling.endpoints_at(row)) {
          const Cabling::Endpoint& from = cabling.endpoints()[source];
          if (source != i && tables.service_level(row, from.lid, home.lid + offset) != Forwarding::no_path) ++routed;
        }
      }
    }
  }
  return adapters == 0 ? 0 : lids * (adapters - 1) - routed;
}

std::vector<PortId> busiest_ports(const Fabric& fabric, const PathReport& report, std::size_t count) {
  std::vector<PortId> ports;
  for (PortId id = 0; id < report.port_routes.size(); ++id) {
    if (report.port_routes[id] != 0 && fabric.peer(id) != none) ports.push_back(id);
  }
  count = std::min(count, ports.size());
  std::partial_sort(ports.begin(), ports.begin() + static_cast<std::ptrdiff_t>(count), ports.end(),
                    [&](PortId a, PortId b) {
                      const auto& routes = report.port_routes;
                      return routes[a] != routes[b] ? routes[a] > routes[b] : a < b;
                    });
  ports.resize(count);
  return ports;
}

std::vector<NodeId> busiest_switches(const Forwarding& tables, const PathReport& report, std::size_t count) {
  std::vector<std::uint32_t> rows(report.switch_routes.size());
  for (std::uint32_t row = 0; row < rows.size(); ++row) rows[row] = row;
  count = std::min(count, rows.size());
  std::partial_sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(count), rows.end(),
                    [&](std::uint32_t a, std::uint32_t b) {
                      const auto& routes = report.switch_routes;
                      return routes[a] != routes[b] ? routes[a] > routes[b] : a < b;
                    });
  rows.resize(count);
  std::vector<NodeId> nodes;
  for (const std::uint32_t row : rows) nodes.push_back(tables.switch_at(row));
  return nodes;
}

}  // namespace holdfast::fabric
