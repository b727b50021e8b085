#include "fabric/check/cabling.h"

#include <algorithm>

namespace holdfast::fabric {

Cabling::Cabling(const Fabric& fabric) {
  std::vector<std::uint32_t> row_of(fabric.nodes().size(), none);
  std::vector<NodeId> switches;
  for (NodeId node = 0; node < fabric.nodes().size(); ++node) {
    if (!fabric.is_switch(node)) continue;
    row_of[node] = rows_++;
    switches.push_back(node);
    stride_ = std::max<std::uint32_t>(stride_, fabric.node(node).port_count + 1U);
  }
  next_row_.assign(channels(), none);
  in_port_.assign(channels(), 0);
  port_.assign(channels(), none);
  adapter_.assign(channels(), none);
  at_row_.resize(rows_);
  for (std::uint32_t row = 0; row < rows_; ++row) {
    const Node& node = fabric.node(switches[row]);
    for (std::uint32_t number = 0; number <= node.port_count; ++number) {
      const std::uint32_t out = row * stride_ + number;
      port_[out] = node.first_port + number;
      const PortId far = number == 0 ? none : fabric.peer(port_[out]);
      if (far == none) continue;
      next_row_[out] = row_of[fabric.port(far).node];
      in_port_[out] = fabric.number_of(far);
      if (next_row_[out] == none) adapter_[out] = far;
    }
  }
  for (NodeId node = 0; node < fabric.nodes().size(); ++node) {
    if (fabric.is_switch(node)) continue;
    for (std::uint32_t number = 1; number <= fabric.node(node).port_count; ++number) {
      add_endpoint(fabric, row_of, fabric.node(node).first_port + number);
    }
  }
  find_parts();
}

void Cabling::add_endpoint(const Fabric& fabric, const std::vector<std::uint32_t>& row_of, PortId port) {
  const Port& here = fabric.port(port);
  if (here.lid == 0) return;
  const PortId far = fabric.peer(port);
  if (far == none || !fabric.is_switch(fabric.port(far).node)) {
    ++unplugged_;
    return;
  }
  Endpoint endpoint;
  endpoint.port = port;
  endpoint.lid = here.lid;
  endpoint.lids = 1U << here.lmc;
  endpoint.row = row_of[fabric.port(far).node];
  endpoint.out = fabric.number_of(far);
  at_row_[endpoint.row].push_back(static_cast<std::uint32_t>(endpoints_.size()));
  endpoints_.push_back(endpoint);
}

void Cabling::find_parts() {
  part_.assign(rows_, none);
  std::vector<std::uint32_t> open;
  for (std::uint32_t start = 0; start < rows_; ++start) {
    if (part_[start] != none) continue;
    part_[start] = parts_;
    open.push_back(start);
    while (!open.empty()) {
      const std::uint32_t row = open.back();
      open.pop_back();
      for (std::uint32_t out = row * stride_; out < (row + 1) * stride_; ++out) {
        const std::uint32_t next = next_row_[out];
        if (next == none || part_[next] != none) continue;
        part_[next] = parts_;
        open.push_back(next);
      }
    }
    ++parts_;
  }
}

}  // namespace holdfast::fabric
