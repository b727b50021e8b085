#include "simulate/traffic/distance_order.h"

namespace holdfast::simulate {
namespace {

class Walk {
 public:
  Walk(const fabric::Fabric& fabric, const Hosts& hosts)
      : fabric_(fabric), at_switch_(fabric.nodes().size()), seen_(fabric.nodes().size(), 0) {
    for (std::uint32_t host = 0; host < hosts.count(); ++host) {
      const fabric::PortId peer = fabric.peer(hosts.ports[host]);
      if (peer == fabric::none)
        alone_.push_back(host);
      else
        at_switch_[fabric.port(peer).node].push_back(host);
    }
  }

  std::vector<std::uint32_t> order() {
    std::vector<std::uint32_t> order;
    for (fabric::NodeId first = 0; first < at_switch_.size(); ++first)
      for (fabric::NodeId at = first; at != fabric::none && !at_switch_[at].empty(); at = nearest(at)) {
        order.insert(order.end(), at_switch_[at].begin(), at_switch_[at].end());
        at_switch_[at].clear();
      }
    order.insert(order.end(), alone_.begin(), alone_.end());
    return order;
  }

 private:
  /// The nearest node with hosts that are not in the order yet; `none` when none can be reached.
  fabric::NodeId nearest(fabric::NodeId from) {
    ++round_;
    seen_[from] = round_;
    level_.assign(1, from);
    while (!level_.empty()) {
      next_.clear();
      fabric::NodeId best = fabric::none;
      for (const fabric::NodeId node : level_) visit_neighbours(node, best);
      if (best != fabric::none) return best;
      level_.swap(next_);
    }
    return fabric::none;
  }

  void visit_neighbours(fabric::NodeId node, fabric::NodeId& best) {
    for (std::uint8_t number = 1; number <= fabric_.node(node).port_count; ++number) {
      const fabric::PortId peer = fabric_.peer(fabric_.port_of(node, number));
      if (peer == fabric::none) continue;
      const fabric::NodeId other = fabric_.port(peer).node;
      if (seen_[other] == round_ || !fabric_.is_switch(other)) continue;
      seen_[other] = round_;
      next_.push_back(other);
      if (!at_switch_[other].empty() && (best == fabric::none || other < best)) best = other;
    }
  }

  const fabric::Fabric& fabric_;
  std::vector<std::vector<std::uint32_t>> at_switch_;
  std::vector<std::uint32_t> alone_;
  std::vector<std::uint32_t> seen_;
  std::uint32_t round_ = 0;
  std::vector<fabric::NodeId> level_, next_;
};

}  // namespace

std::vector<std::uint32_t> distance_order(const fabric::Fabric& fabric, const Hosts& hosts) {
  return Walk(fabric, hosts).order();
}

}  // namespace holdfast::simulate
