#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "fabric/tables/forwarding.h"
#include "fabric/topology/fabric.h"

/// How few entries tables can change after failures, worked out in the plainest way on the fabric itself. For tests
/// only.
namespace holdfast::fabric::naive {

/// What new tables must keep.
enum class Keeps {
  ways,      ///< every switch that cables join to a LID has a way to it
  shortest,  ///< switches with adapters have shortest ways
  up_down,   ///< switches with adapters have ways that go up and then down, on a fabric that lies in levels
};

/// A lower bound. Entries that lead into dead cables must change. Where the next switch is one that no tables that keep
/// this can lead on by, a switch with adapters must change its entry; one without, that or the entries of all who send
/// to it, whichever is less. For switches' own LIDs and Keeps::ways: entries into dead cables, and one more for each
/// whose neighbours all came by it.
class LeastChanges {
 public:
  LeastChanges(const Fabric& fabric, const Forwarding& before, Keeps keeps)
      : fabric_(fabric), before_(before), keeps_(keeps), neighbours_(before.rows()), sends_(before.rows(), false) {
    for (std::uint32_t row = 0; row < before.rows(); ++row) {
      const Node& node = fabric.node(before.switch_at(row));
      for (std::uint32_t number = 1; number <= node.port_count; ++number) {
        const PortId far = fabric.peer(node.first_port + number);
        if (far == none) continue;
        const bool adapter = !fabric.is_switch(fabric.port(far).node);
        if (adapter) sends_[row] = true;
        if (!adapter) neighbours_[row].push_back(before.row_of(fabric.port(far).node));
      }
    }
    levels_ = hops(sends_);
  }

  /// Over the LIDs of adapters, or over those of switches.
  std::uint64_t count(bool adapters) const {
    std::uint64_t sum = 0;
    for (PortId port = 0; port < fabric_.ports().size(); ++port) {
      const Lid lid = fabric_.port(port).lid;
      const NodeId node = fabric_.port(port).node;
      if (lid == 0 || fabric_.is_switch(node) == adapters) continue;
      if (!adapters && fabric_.number_of(port) != 0) continue;
      const PortId far = fabric_.peer(port);
      std::uint32_t to = none;
      if (fabric_.is_switch(node)) to = before_.row_of(node);
      if (!fabric_.is_switch(node) && far != none) to = before_.row_of(fabric_.port(far).node);
      for (Lid one = lid; one < lid + (1U << fabric_.port(port).lmc); ++one)
        sum += of(one, to, !fabric_.is_switch(node));
    }
    return sum;
  }

 private:
  using Rows = std::vector<bool>;

  /// Hops from the nearest of these.
  std::vector<std::uint32_t> hops(const Rows& from) const {
    std::vector<std::uint32_t> result(neighbours_.size(), none);
    std::deque<std::uint32_t> queue;
    for (std::uint32_t row = 0; row < from.size(); ++row) {
      if (!from[row]) continue;
      result[row] = 0;
      queue.push_back(row);
    }
    for (; !queue.empty(); queue.pop_front()) {
      for (const std::uint32_t next : neighbours_[queue.front()]) {
        if (result[next] != none) continue;
        result[next] = result[queue.front()] + 1;
        queue.push_back(next);
      }
    }
    return result;
  }

  /// The next switch by the old tables; `none` without a cable that works.
  std::uint32_t next(std::uint32_t row, Lid lid) const {
    const Node& node = fabric_.node(before_.switch_at(row));
    const std::uint8_t out = before_.out_port(row, lid);
    if (out == 0 || out > node.port_count) return none;
    const PortId far = fabric_.peer(node.first_port + out);
    return far == none || !fabric_.is_switch(fabric_.port(far).node) ? none : before_.row_of(fabric_.port(far).node);
  }
  bool is_dead(std::uint32_t row, Lid lid) const {
    const std::uint8_t out = before_.out_port(row, lid);
    if (out == 0 || out == Forwarding::no_port) return false;
    const Node& node = fabric_.node(before_.switch_at(row));
    return out > node.port_count || fabric_.peer(node.first_port + out) == none;
  }

  /// Whether the old way of a switch leads by another.
  bool comes_by(std::uint32_t row, std::uint32_t other, Lid lid) const {
    for (std::size_t steps = 0; steps <= neighbours_.size() && row != none; ++steps) {
      if (row == other) return true;
      row = next(row, lid);
    }
    return false;
  }

  /// Who can go down to the destination, and who can go up and then down.
  void find_up_down(std::uint32_t to, Rows& down, Rows& any) const {
    down.assign(neighbours_.size(), false);
    down[to] = true;
    spread(down, [&](std::uint32_t row, std::uint32_t next) { return levels_[next] < levels_[row]; });
    any = down;
    spread(any, [&](std::uint32_t row, std::uint32_t next) { return levels_[next] > levels_[row]; });
  }
  template <class Allowed>
  void spread(Rows& reached, const Allowed& allowed) const {
    for (bool more = true; more;) {
      more = false;
      for (std::uint32_t row = 0; row < reached.size(); ++row) {
        if (reached[row]) continue;
        for (const std::uint32_t next : neighbours_[row]) {
          if (reached[next] && allowed(row, next)) reached[row] = more = true;
        }
      }
    }
  }

  std::uint64_t of(Lid lid, std::uint32_t to, bool adapter) const {
    std::vector<std::uint32_t> distance(neighbours_.size(), none);
    Rows down;
    Rows any;
    if (to != none) {
      Rows destination(neighbours_.size(), false);
      destination[to] = true;
      distance = hops(destination);
      if (keeps_ == Keeps::up_down) find_up_down(to, down, any);
    }
    std::uint64_t sum = 0;
    if (keeps_ == Keeps::ways || !adapter) {
      for (std::uint32_t row = 0; row < neighbours_.size(); ++row) {
        if (!is_dead(row, lid)) continue;
        ++sum;
        bool beside = row == to || distance[row] == none;
        for (const std::uint32_t one : neighbours_[row]) beside = beside || !comes_by(one, row, lid);
        if (!beside) ++sum;
      }
      return sum;
    }
    const auto good_step = [&](std::uint32_t row, std::uint32_t by) {
      if (keeps_ == Keeps::shortest) return distance[by] + 1 == distance[row];
      return levels_[by] < levels_[row] ? static_cast<bool>(down[by]) : static_cast<bool>(any[by]);
    };
    const auto has_other = [&](std::uint32_t row, std::uint32_t but) {
      for (const std::uint32_t by : neighbours_[row]) {
        if (by != but && good_step(row, by)) return true;
      }
      return false;
    };
    std::vector<std::vector<std::uint32_t>> sent_by(neighbours_.size());  // by row: whose good step leads to it
    for (std::uint32_t row = 0; row < neighbours_.size(); ++row) {
      const std::uint32_t by = next(row, lid);
      if (row != to && distance[row] != none && by != none && good_step(row, by)) sent_by[by].push_back(row);
    }
    // What those that send to a switch must change when it has no way: each itself, or all that send to it.
    const std::function<std::uint64_t(std::uint32_t)> without = [&](std::uint32_t row) {
      std::uint64_t changes = 0;
      for (const std::uint32_t from : sent_by[row]) {
        const std::uint64_t later = without(from);
        const bool other = has_other(from, row);
        changes += other && (sends_[from] || later > 1) ? 1 : later;
      }
      return changes;
    };
    for (std::uint32_t row = 0; row < neighbours_.size(); ++row) {
      if (is_dead(row, lid)) {
        ++sum;
        if (row != to && distance[row] != none && !has_other(row, none)) sum += without(row);
        continue;
      }
      const std::uint32_t by = row == to || distance[row] == none ? none : next(row, lid);
      if (by == none || good_step(row, by)) continue;
      const std::uint64_t later = without(row);
      const bool other = has_other(row, none);
      sum += other && (sends_[row] || later > 1) ? 1 : later;
    }
    return sum;
  }

  const Fabric& fabric_;
  const Forwarding& before_;
  Keeps keeps_;
  std::vector<std::vector<std::uint32_t>> neighbours_;  // by row
  Rows sends_;
  std::vector<std::uint32_t> levels_;
};

}  // namespace holdfast::fabric::naive
