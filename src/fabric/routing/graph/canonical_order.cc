#include "fabric/routing/graph/canonical_order.h"

#include <algorithm>
#include <array>
#include <deque>
#include <iterator>
#include <limits>
#include <numeric>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "fabric/routing/graph/choices.h"

namespace holdfast::fabric {
namespace {

std::uint64_t mix(std::uint64_t word) {  // the finalizer of splitmix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014)
  word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9U;
  word = (word ^ (word >> 27)) * 0x94D049BB133111EBU;
  return word ^ (word >> 31);
}

/// The rows in parts that lie one behind the other. A part is named by the place where it begins.
class Partition {
 public:
  explicit Partition(const SwitchGraph& graph)
      : graph_(&graph),
        rows_(graph.rows()),
        place_(graph.rows()),
        part_of_(graph.rows(), 0),
        end_(graph.rows(), 0),
        queued_(graph.rows(), 0),
        cables_(graph.rows(), 0) {
    std::iota(rows_.begin(), rows_.end(), 0U);
    const std::vector<std::uint32_t> level = levels_above_adapters(graph);
    std::vector<std::array<std::uint64_t, 4>> look;
    for (std::uint32_t row = 0; row < graph.rows(); ++row) {
      std::uint64_t cables = 0;
      for (const SwitchGraph::Arc& arc : graph.arcs_of(row)) cables += arc.channels;
      look.push_back({level[row] == none ? none : none - 1 - level[row], graph.terminals_at(row).size(),
                      graph.sources_at(row), cables});
    }
    std::stable_sort(rows_.begin(), rows_.end(), [&](std::uint32_t a, std::uint32_t b) { return look[a] < look[b]; });
    std::uint32_t begin = 0;
    for (std::uint32_t at = 0; at < rows_.size(); ++at) {
      if (look[rows_[at]] != look[rows_[begin]]) begin = at;
      place_[rows_[at]] = at;
      part_of_[rows_[at]] = begin;
      end_[begin] = at + 1;
      if (begin == at) enqueue(begin);
    }
    refine();
  }

  const std::vector<std::uint32_t>& rows() const { return rows_; }

  /// The first place from here on of a part with several rows; `none` when there is none.
  std::uint32_t first_shared(std::uint32_t from) const {
    std::uint32_t part = from;
    while (part < rows_.size() && end_[part] == part + 1) ++part;
    return part < rows_.size() ? part : none;
  }
  std::uint32_t size_of(std::uint32_t part) const { return end_[part] - part; }
  std::uint32_t row_at(std::uint32_t place) const { return rows_[place]; }

  /// Makes the row a part of its own, before the rest of its part, and refines.
  void set_apart(std::uint32_t row) {
    const std::uint32_t part = part_of_[row];
    swap_places(place_[row], part);
    const std::uint32_t rest = part + 1;
    end_[rest] = end_[part];
    end_[part] = rest;
    for (std::uint32_t at = rest; at < end_[rest]; ++at) part_of_[rows_[at]] = rest;
    enqueue(part);
    refine();
  }

  /// The same for two partitions that differ in numbers alone.
  std::uint64_t fingerprint() const {
    std::uint64_t sum = 0;
    for (const SwitchGraph::Arc& arc : graph_->arcs()) {
      sum += mix((std::uint64_t{part_of_[arc.from]} << 40) ^ (std::uint64_t{part_of_[arc.to]} << 16) ^ arc.channels);
    }
    for (const std::uint32_t row : rows_) sum += mix(~std::uint64_t{part_of_[row]});
    return sum;
  }

 private:
  void enqueue(std::uint32_t part) {
    if (queued_[part] != 0) return;
    queued_[part] = 1;
    queue_.push_back(part);
  }

  void swap_places(std::uint32_t a, std::uint32_t b) {
    std::swap(rows_[a], rows_[b]);
    place_[rows_[a]] = a;
    place_[rows_[b]] = b;
  }

  void refine() {
    while (!queue_.empty()) {
      const std::uint32_t part = queue_.front();
      queue_.pop_front();
      queued_[part] = 0;
      part_others_by(part);
    }
  }

  /// Parts each part by how many cables lead from its rows to this one, the most first.
  void part_others_by(std::uint32_t splitter) {
    met_.clear();
    for (std::uint32_t at = splitter; at < end_[splitter]; ++at) {
      for (const SwitchGraph::Arc& arc : graph_->arcs_of(rows_[at])) {
        if (cables_[arc.to] == 0) met_.push_back(arc.to);
        cables_[arc.to] += arc.channels;
      }
    }
    std::sort(met_.begin(), met_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(part_of_[a], cables_[b], place_[a]) < std::tuple(part_of_[b], cables_[a], place_[b]);
    });
    for (std::size_t begin = 0; begin < met_.size();) {
      std::size_t end = begin;
      while (end < met_.size() && part_of_[met_[end]] == part_of_[met_[begin]]) ++end;
      split(begin, end);
      begin = end;
    }
    for (const std::uint32_t row : met_) cables_[row] = 0;
  }

  /// The rows met_[begin, end) are of one part, sorted by their cables; the rest of the part has none.
  void split(std::size_t begin, std::size_t end) {
    const std::uint32_t part = part_of_[met_[begin]];
    const std::uint32_t old_end = end_[part];
    const bool whole = end - begin == old_end - part;
    if (whole && cables_[met_[begin]] == cables_[met_[end - 1]]) return;
    begins_.clear();
    std::uint32_t at = part;
    for (std::size_t i = begin; i < end; ++i, ++at) {
      if (i == begin || cables_[met_[i]] != cables_[met_[i - 1]]) begins_.push_back(at);
      swap_places(place_[met_[i]], at);
    }
    if (!whole) begins_.push_back(at);
    std::size_t largest = 0;
    for (std::size_t i = 0; i < begins_.size(); ++i) {
      const std::uint32_t next = i + 1 < begins_.size() ? begins_[i + 1] : old_end;
      end_[begins_[i]] = next;
      if (i != 0) {
        for (std::uint32_t in = begins_[i]; in < next; ++in) part_of_[rows_[in]] = begins_[i];
      }
      if (size_of(begins_[i]) > size_of(begins_[largest])) largest = i;
    }
    const bool was_queued = queued_[part] != 0;
    for (std::size_t i = 0; i < begins_.size(); ++i) {
      if (was_queued || i != largest) enqueue(begins_[i]);
    }
  }

  const SwitchGraph* graph_;
  std::vector<std::uint32_t> rows_;     // by place
  std::vector<std::uint32_t> place_;    // by row
  std::vector<std::uint32_t> part_of_;  // by row
  std::vector<std::uint32_t> end_;      // by part
  std::deque<std::uint32_t> queue_;     // parts to look from
  std::vector<std::uint8_t> queued_;
  std::vector<std::uint32_t> cables_;  // by row: to the part looked from
  std::vector<std::uint32_t> met_;
  std::vector<std::uint32_t> begins_;
};

/// By row: the same for twins, rows that have as many cables to the same others.
std::vector<std::uint64_t> marks_of_twins(const SwitchGraph& graph) {
  std::vector<std::uint64_t> marks(graph.rows(), 0);
  for (const SwitchGraph::Arc& arc : graph.arcs()) marks[arc.from] += mix(std::uint64_t{arc.to} << 32 ^ arc.channels);
  return marks;
}

/// Of each set of twins in the part the first: an exchange of two of them turns the network into itself, so that it
/// does not matter which comes first.
std::vector<std::uint32_t> without_twins(const std::vector<std::uint64_t>& marks, const Partition& partition,
                                         std::uint32_t part) {
  std::unordered_set<std::uint64_t> known;
  std::vector<std::uint32_t> firsts;
  for (std::uint32_t at = part; at < part + partition.size_of(part); ++at) {
    const std::uint32_t row = partition.row_at(at);
    if (known.insert(marks[row]).second) firsts.push_back(row);
  }
  return firsts;
}

/// Those of the rows that have cables to the fewest others.
std::vector<std::uint32_t> with_fewest_neighbours(const SwitchGraph& graph, const std::vector<std::uint32_t>& rows) {
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  for (const std::uint32_t row : rows) fewest = std::min(fewest, graph.arcs_of(row).size());
  std::vector<std::uint32_t> chosen;
  std::ranges::copy_if(rows, std::back_inserter(chosen),
                       [&](std::uint32_t row) { return graph.arcs_of(row).size() == fewest; });
  return chosen;
}

/// With that of these rows set apart of which the partition has the least fingerprint.
Partition with_best_apart(const Partition& partition, const std::vector<std::uint32_t>& rows) {
  Partition best = partition;
  best.set_apart(rows.front());
  std::uint64_t least = best.fingerprint();
  for (std::size_t i = 1; i < rows.size(); ++i) {
    Partition tried = partition;
    tried.set_apart(rows[i]);
    const std::uint64_t fingerprint = tried.fingerprint();
    if (fingerprint >= least) continue;
    least = fingerprint;
    best = std::move(tried);
  }
  return best;
}

}  // namespace

std::vector<std::uint32_t> canonical_rows(const SwitchGraph& graph) {
  std::uint64_t affordable = 1'000'000;  // looks at an arc: a few milliseconds
  const auto afford = [&affordable](std::uint64_t looks) {
    const bool enough = looks <= affordable;
    if (enough) affordable -= looks;
    return enough;
  };
  const std::vector<std::uint64_t> marks = marks_of_twins(graph);
  Partition partition(graph);
  for (std::uint32_t part = partition.first_shared(0); part != none; part = partition.first_shared(part)) {
    std::uint64_t arcs = 0;
    for (std::uint32_t at = part; at < part + partition.size_of(part); ++at)
      arcs += graph.arcs_of(partition.row_at(at)).size();
    std::vector<std::uint32_t> rows;
    if (afford(arcs)) rows = without_twins(marks, partition, part);
    const auto afford_trials = [&] { return afford(rows.size() * (graph.arcs().size() + graph.rows())); };
    if (rows.size() > 1 && !afford_trials()) {
      rows = with_fewest_neighbours(graph, rows);
      if (rows.size() == 1 || !afford_trials()) {
        partition.set_apart(rows.front());
        continue;
      }
    }
    if (rows.size() > 1) {
      partition = with_best_apart(partition, rows);
      continue;
    }
    // twins alone: nobody has more cables to one than to another, so that the rest of the part stays one
    const std::uint32_t alike = rows.size() == 1 ? partition.size_of(part) - 1 : 1;
    for (std::uint32_t i = 0; i < alike; ++i) partition.set_apart(partition.row_at(part + i));
  }
  return partition.rows();
}

Renumbering renumbering_by(const Fabric& fabric, const SwitchGraph& graph, const std::vector<std::uint32_t>& rows) {
  std::vector<std::uint32_t> place(fabric.nodes().size(), none);
  for (std::uint32_t at = 0; at < rows.size(); ++at) place[graph.switch_at(rows[at])] = at;
  RenumberingMaker maker(fabric);
  std::vector<std::uint8_t> ports;
  std::array<std::uint64_t, 256> key = {};
  for (const std::uint32_t row : rows) {
    const NodeId node = graph.switch_at(row);
    ports.resize(fabric.node(node).port_count);
    std::iota(ports.begin(), ports.end(), std::uint8_t{1});
    for (const std::uint8_t number : ports) {
      const PortId far = fabric.peer(fabric.port_of(node, number));
      const bool to_switch = far != none && fabric.is_switch(fabric.port(far).node);
      const std::uint64_t kind = far == none ? 2 : to_switch ? 1 : 0;
      const std::uint64_t rank = far == none ? 0 : to_switch ? place[fabric.port(far).node] : fabric.port(far).lid;
      key[number] = kind << 32 | rank;
    }
    std::stable_sort(ports.begin(), ports.end(), [&](std::uint8_t a, std::uint8_t b) { return key[a] < key[b]; });
    maker.add(node, ports);
  }
  for (NodeId node = 0; node < fabric.nodes().size(); ++node) {
    if (!fabric.is_switch(node)) maker.add(node);
  }
  return maker.take();
}

Renumbering canonical_renumbering(const Fabric& fabric, const SwitchGraph& graph) {
  return renumbering_by(fabric, graph, canonical_rows(graph));
}

}  // namespace holdfast::fabric
