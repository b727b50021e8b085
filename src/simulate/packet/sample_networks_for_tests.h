#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "core/random/stream.h"
#include "fabric/tables/forwarding.h"
#include "fabric/topology/fabric.h"
#include "simulate/packet/traffic.h"

/// Networks and traffic for the tests of this folder.
namespace holdfast::simulate::sample {

struct Net {
  fabric::Fabric fabric;
  fabric::Forwarding tables;
};

/// Shortest paths by breadth-first search from every destination, ties by `draw`.
inline void route_shortest(Net& net, random::Stream draw) {
  const fabric::Fabric& fabric = net.fabric;
  net.tables = fabric::Forwarding(fabric);
  for (fabric::NodeId target = 0; target < fabric.nodes().size(); ++target) {
    const fabric::Node& host = fabric.node(target);
    const fabric::PortId own = fabric.is_switch(target) ? host.first_port : host.first_port + 1;
    const fabric::Lid lid = fabric.port(own).lid;
    if (lid == 0) continue;
    std::vector<std::uint32_t> distance(fabric.nodes().size(), fabric::none);
    std::deque<fabric::NodeId> queue{target};
    distance[target] = 0;
    while (!queue.empty()) {
      const fabric::NodeId at = queue.front();
      queue.pop_front();
      if (at != target && !fabric.is_switch(at)) continue;
      for (std::uint8_t number = 1; number <= fabric.node(at).port_count; ++number) {
        const fabric::PortId peer = fabric.peer(fabric.port_of(at, number));
        if (peer == fabric::none || distance[fabric.port(peer).node] != fabric::none) continue;
        distance[fabric.port(peer).node] = distance[at] + 1;
        queue.push_back(fabric.port(peer).node);
      }
    }
    for (std::uint32_t row = 0; row < net.tables.rows(); ++row) {
      const fabric::NodeId at = net.tables.switch_at(row);
      if (at == target) {
        net.tables.set_out_port(row, lid, 0);
        continue;
      }
      std::vector<std::uint8_t> best;
      for (std::uint8_t number = 1; number <= fabric.node(at).port_count; ++number) {
        const fabric::PortId peer = fabric.peer(fabric.port_of(at, number));
        if (peer == fabric::none) continue;
        const fabric::NodeId next = fabric.port(peer).node;
        if (distance[next] != fabric::none && distance[next] + 1 == distance[at] &&
            (next == target || fabric.is_switch(next)))
          best.push_back(number);
      }
      if (!best.empty()) net.tables.set_out_port(row, lid, best[draw.below(best.size())]);
    }
  }
}

/// One switch with so many hosts.
inline Net crossbar(std::uint32_t hosts, fabric::LinkRate rate = {}) {
  Net net;
  const fabric::NodeId hub = net.fabric.add_node(fabric::NodeKind::switch_, static_cast<std::uint8_t>(hosts), "hub");
  for (std::uint32_t i = 0; i < hosts; ++i)
    net.fabric.connect(net.fabric.add_node(fabric::NodeKind::adapter, 1, "h" + std::to_string(i)), hub, rate);
  net.fabric.assign_lids();
  route_shortest(net, random::Stream(1));
  return net;
}

/// A row of switches with so many hosts each; closed to a ring on demand.
inline Net chain(std::uint32_t switches, std::uint32_t hosts, bool ring = false) {
  Net net;
  std::vector<fabric::NodeId> row;
  for (std::uint32_t i = 0; i < switches; ++i)
    row.push_back(net.fabric.add_node(fabric::NodeKind::switch_, 36, "s" + std::to_string(i)));
  for (std::uint32_t i = 0; i + (ring ? 0 : 1) < switches; ++i) net.fabric.connect(row[i], row[(i + 1) % switches]);
  for (std::uint32_t i = 0; i < switches * hosts; ++i)
    net.fabric.connect(net.fabric.add_node(fabric::NodeKind::adapter, 1, "h" + std::to_string(i)), row[i / hosts]);
  net.fabric.assign_lids();
  route_shortest(net, random::Stream(1));
  return net;
}

/// On a ring, everything clockwise: deadlocks on one lane as soon as every buffer fills.
inline void route_clockwise(Net& net) {
  route_shortest(net, random::Stream(1));
  for (std::uint32_t row = 0; row < net.tables.rows(); ++row) {
    const fabric::NodeId at = net.tables.switch_at(row);
    for (fabric::NodeId target = 0; target < net.fabric.nodes().size(); ++target) {
      if (net.fabric.is_switch(target)) continue;
      const fabric::PortId port = net.fabric.node(target).first_port + 1;
      if (net.fabric.port(net.fabric.peer(port)).node == at) continue;
      const fabric::NodeId next = (at + 1) % net.tables.rows();
      for (std::uint8_t number = 1; number <= 36; ++number) {
        const fabric::PortId peer = net.fabric.peer(net.fabric.port_of(at, number));
        if (peer != fabric::none && net.fabric.port(peer).node == next)
          net.tables.set_out_port(row, net.fabric.port(port).lid, number);
      }
    }
  }
}

/// A few switches joined at random, links of different rates and lengths, several lanes, service levels at random, and
/// now and then a table entry that is missing.
inline Net random_net(random::Stream draw, bool uneven, std::uint8_t lanes, bool holes) {
  Net net;
  const auto switches = static_cast<std::uint32_t>(1 + draw.below(5));
  auto rate = [&] {
    static constexpr fabric::LaneSpeed speeds[] = {
        fabric::LaneSpeed::sdr, fabric::LaneSpeed::ddr, fabric::LaneSpeed::qdr, fabric::LaneSpeed::fdr10,
        fabric::LaneSpeed::fdr, fabric::LaneSpeed::edr, fabric::LaneSpeed::hdr, fabric::LaneSpeed::ndr};
    static constexpr std::uint8_t widths[] = {1, 4, 8, 12};
    if (!uneven) return fabric::LinkRate{};
    return fabric::LinkRate{widths[draw.below(4)], speeds[draw.below(8)]};
  };
  std::vector<fabric::NodeId> row;
  for (std::uint32_t i = 0; i < switches; ++i)
    row.push_back(net.fabric.add_node(fabric::NodeKind::switch_, 36, "s" + std::to_string(i)));
  for (std::uint32_t i = 1; i < switches; ++i) net.fabric.connect(row[i], row[draw.below(i)], rate());
  for (std::uint64_t extra = switches == 1 ? 0 : draw.below(5); extra > 0; --extra) {
    const auto a = draw.below(switches);
    net.fabric.connect(row[a], row[(a + 1 + draw.below(switches - 1)) % switches], rate());
  }
  const auto hosts = static_cast<std::uint32_t>(2 + draw.below(8));
  for (std::uint32_t i = 0; i < hosts; ++i)
    net.fabric.connect(net.fabric.add_node(fabric::NodeKind::adapter, 1, "h" + std::to_string(i)),
                       row[draw.below(switches)], rate());
  for (fabric::LinkId link = 0; link < net.fabric.links().size(); ++link)
    net.fabric.mutable_link(link).length_m = static_cast<double>(draw.below(40));
  net.fabric.assign_lids();
  route_shortest(net, draw.child("ties"));
  net.tables.lanes_used = lanes;
  if (lanes > 1) {
    for (std::uint32_t from = 0; from < net.tables.rows(); ++from)
      for (fabric::Lid lid = 1; lid < net.tables.lids(); ++lid)
        net.tables.set_service_level(from, 0, lid, static_cast<std::uint8_t>(draw.below(lanes)));
    if (draw.below(2) == 0)
      for (std::uint32_t at = 0; at < net.tables.rows(); ++at)
        for (std::uint8_t in = 1; in <= 36; ++in)
          for (std::uint8_t out = 1; out <= 36; ++out) {
            fabric::LaneMap map{};
            for (std::uint8_t& lane : map) lane = static_cast<std::uint8_t>(draw.below(lanes));
            net.tables.set_lane_map(at, in, out, map);
          }
  }
  if (holes)
    net.tables.set_out_port(static_cast<std::uint32_t>(draw.below(net.tables.rows())),
                            static_cast<fabric::Lid>(1 + draw.below(net.tables.lids() - 1)),
                            fabric::Forwarding::no_port);
  return net;
}

/// What each host sends, given in advance.
class ListedTraffic : public Traffic {
 public:
  explicit ListedTraffic(std::uint32_t hosts) : lists_(hosts) {}
  void add(std::uint32_t host, const Message& message) { lists_[host].push_back(message); }
  Answer next(std::uint32_t host, Time now, Message& message) override {
    if (lists_[host].empty()) return Answer::none;
    message = lists_[host].front();
    if (message.created > now) return Answer::later;
    lists_[host].pop_front();
    return Answer::send;
  }
  bool finite() const override { return true; }

 private:
  std::vector<std::deque<Message>> lists_;
};

}  // namespace holdfast::simulate::sample
