#include "fabric/check/credit_loops.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>

#include "core/parallel/parallel_for.h"
#include "fabric/check/cabling.h"
#include "fabric/tables/columns.h"

namespace holdfast::fabric {
namespace {

using Word = std::uint64_t;

/// The service levels that packets between adapters have, a bit each.
unsigned levels_in(const Cabling& cabling, const Forwarding& tables) {
  unsigned levels_seen = 0;
  for (std::uint32_t row = 0; row < cabling.rows(); ++row) {
    for (const std::uint32_t source : cabling.endpoints_at(row)) {
      for (Lid lid = 0; lid < tables.lids(); ++lid) {
        const std::uint8_t level = tables.service_level(row, cabling.endpoints()[source].lid, lid);
        if (level < 16) levels_seen |= 1U << level;
      }
      if (!tables.distinguishes_sources()) break;  // all adapters of a switch have the same
    }
  }
  return levels_seen;
}

/// The largest lane that these tables can put a packet of these levels on, plus 1.
unsigned lanes_in(const Cabling& cabling, const Forwarding& tables, unsigned levels_seen) {
  if (!tables.has_lane_maps()) return levels_seen == 0 ? 1 : static_cast<unsigned>(std::bit_width(levels_seen));
  unsigned top = 0;
  for (std::uint32_t row = 0; row < cabling.rows(); ++row) {
    for (std::uint32_t in = 0; in < cabling.stride(); ++in) {
      if (cabling.port(cabling.channel(row, static_cast<std::uint8_t>(in))) == none) continue;
      for (std::uint32_t out = 1; out < cabling.stride(); ++out) {
        if (cabling.next_row(cabling.channel(row, static_cast<std::uint8_t>(out))) == none) continue;
        for (unsigned level = 0; level < 16; ++level) {
          if ((levels_seen >> level & 1U) == 0) continue;
          top = std::max<unsigned>(top, tables.lane(row, static_cast<std::uint8_t>(in), static_cast<std::uint8_t>(out),
                                                    static_cast<std::uint8_t>(level)));
        }
      }
    }
  }
  return top + 1;
}

/// The dependency graph: vertex = channel * lanes + lane; one bit for each port (and lane, where SL to VL tables can
/// change it) that packets may want next.
class DependencyGraph {
 public:
  DependencyGraph(const Cabling& cabling, const Forwarding& tables)
      : cabling_(cabling),
        tables_(tables),
        levels_(levels_in(cabling, tables)),
        level_count_(static_cast<unsigned>(std::bit_width(levels_))),
        lanes_(lanes_in(cabling, tables, levels_)),
        lane_choices_(tables.has_lane_maps() ? lanes_ : 1),
        words_((cabling.stride() * lane_choices_ + 63) / 64),
        bits_(static_cast<std::size_t>(cabling.channels()) * lanes_ * words_) {}

  std::uint32_t vertices() const { return cabling_.channels() * lanes_; }

  /// What a thread that adds routes needs for itself.
  struct Scratch {
    explicit Scratch(const Forwarding& tables) : columns(tables) {}
    Columns columns;
    const std::uint8_t* out = nullptr;  // by row, to the LID at hand
    std::vector<std::uint16_t> seen;    // by row * levels + level: bits by lane
  };

  /// Adds the dependencies of all routes to one destination.
  void add_routes_to(const Cabling::Endpoint& home, Lid lid, Scratch& scratch) {
    scratch.seen.assign(std::size_t{cabling_.rows()} * level_count_, 0);
    scratch.out = scratch.columns.of(lid);
    for (std::uint32_t row = 0; row < cabling_.rows(); ++row) {
      for (const std::uint32_t source : cabling_.endpoints_at(row)) {
        const Cabling::Endpoint& from = cabling_.endpoints()[source];
        if (from.port == home.port) continue;
        const std::uint8_t level = tables_.service_level(row, from.lid, lid);
        if (level < 16) follow(from, level, scratch);
        if (!tables_.distinguishes_sources() && !tables_.has_lane_maps()) break;  // the others go the same way
      }
    }
  }

  std::uint64_t dependencies() const {
    std::uint64_t count = 0;
    for (const Word word : bits_) count += static_cast<unsigned>(std::popcount(word));
    return count;
  }
  /// Fills in how many vertices have edges, and how many lanes packets are on.
  void count_vertices(CreditLoopReport& report) const {
    std::vector<bool> used(vertices());
    for (std::uint32_t vertex = 0; vertex < vertices(); ++vertex) {
      for (std::uint32_t bit = next_bit(vertex, 0); bit != none; bit = next_bit(vertex, bit + 1)) {
        used[vertex] = used[target(vertex, bit)] = true;
      }
    }
    for (std::uint32_t vertex = 0; vertex < vertices(); ++vertex) {
      if (!used[vertex]) continue;
      ++report.channels;
    }
    report.lanes = static_cast<unsigned>(std::popcount(on_lanes_));
  }

  /// The first successor bit of a vertex from `bit` on; `none` at the end.
  std::uint32_t next_bit(std::uint32_t vertex, std::uint32_t bit) const {
    const Word* words = bits_.data() + static_cast<std::size_t>(vertex) * words_;
    for (std::uint32_t at = bit / 64; at < words_; ++at) {
      const Word rest = at == bit / 64 ? words[at] >> (bit % 64) << (bit % 64) : words[at];
      if (rest != 0) return at * 64 + static_cast<std::uint32_t>(std::countr_zero(rest));
    }
    return none;
  }
  std::uint32_t target(std::uint32_t vertex, std::uint32_t bit) const {
    const std::uint32_t row = cabling_.next_row(vertex / lanes_);
    const std::uint32_t lane = lane_choices_ == 1 ? vertex % lanes_ : bit % lane_choices_;
    return cabling_.channel(row, static_cast<std::uint8_t>(bit / lane_choices_)) * lanes_ + lane;
  }
  LaneOfChannel name(std::uint32_t vertex) const {
    return {cabling_.port(vertex / lanes_), static_cast<std::uint8_t>(vertex % lanes_)};
  }

 private:
  /// The channel to the next switch; `none` where the way ends.
  std::uint32_t next_channel(std::uint32_t row, const Scratch& scratch) const {
    const std::uint8_t out = scratch.out[row];
    if (out == Forwarding::no_port || out == 0 || out >= cabling_.stride()) return none;
    const std::uint32_t channel = cabling_.channel(row, out);
    return cabling_.next_row(channel) == none ? none : channel;
  }

  void follow(const Cabling::Endpoint& from, std::uint8_t level, Scratch& scratch) {
    std::uint32_t channel = next_channel(from.row, scratch);
    if (channel == none) return;
    std::uint8_t out = static_cast<std::uint8_t>(channel % cabling_.stride());
    std::uint8_t lane = tables_.lane(from.row, from.out, out, level);
    std::uint32_t row = from.row;
    while (true) {
      if (lane < lanes_) note_lane(lane);
      std::uint16_t& done = scratch.seen[std::size_t{row} * level_count_ + level];
      if (lane >= lanes_ || (done >> lane & 1U) != 0) return;
      done = static_cast<std::uint16_t>(done | 1U << lane);
      row = cabling_.next_row(channel);
      const std::uint32_t next = next_channel(row, scratch);
      if (next == none) return;
      out = static_cast<std::uint8_t>(next % cabling_.stride());
      const std::uint8_t next_lane = tables_.lane(row, cabling_.in_port(channel), out, level);
      if (next_lane >= lanes_) return;
      set(channel * lanes_ + lane, out * lane_choices_ + (lane_choices_ == 1 ? 0U : next_lane));
      channel = next;
      lane = next_lane;
    }
  }

  void note_lane(std::uint8_t lane) {
    const std::atomic_ref<std::uint32_t> lanes(on_lanes_);
    const std::uint32_t mask = std::uint32_t{1} << lane;
    if ((lanes.load(std::memory_order_relaxed) & mask) == 0) lanes.fetch_or(mask, std::memory_order_relaxed);
  }

  void set(std::uint32_t vertex, std::uint32_t bit) {
    const std::atomic_ref<Word> word(bits_[static_cast<std::size_t>(vertex) * words_ + bit / 64]);
    const Word mask = Word{1} << (bit % 64);
    if ((word.load(std::memory_order_relaxed) & mask) == 0) word.fetch_or(mask, std::memory_order_relaxed);
  }

  const Cabling& cabling_;
  const Forwarding& tables_;
  unsigned levels_;
  unsigned level_count_;
  unsigned lanes_;
  std::uint32_t lane_choices_;
  std::uint32_t words_;
  std::vector<Word> bits_;
  std::uint32_t on_lanes_ = 0;  // a bit for each lane that packets between switches are on
};

/// Strongly connected parts with more than one vertex (or a vertex that depends on itself), by Tarjan, with a stack of
/// its own.
class StrongParts {
 public:
  explicit StrongParts(const DependencyGraph& graph)
      : graph_(graph), index_(graph.vertices(), none), low_(graph.vertices()) {
    part.assign(graph.vertices(), none);
    for (std::uint32_t vertex = 0; vertex < graph.vertices(); ++vertex) {
      if (index_[vertex] == none && graph.next_bit(vertex, 0) != none) visit(vertex);
    }
  }

  std::vector<std::uint32_t> part;                  // by vertex; none: on no cycle
  std::vector<std::vector<std::uint32_t>> members;  // by part

 private:
  struct Frame {
    std::uint32_t vertex;
    std::uint32_t bit;
  };

  void enter(std::uint32_t vertex) {
    index_[vertex] = low_[vertex] = count_++;
    open_.push_back(vertex);
    frames_.push_back({vertex, graph_.next_bit(vertex, 0)});
  }

  void visit(std::uint32_t start) {
    enter(start);
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      const std::uint32_t vertex = frame.vertex;
      if (frame.bit != none) {
        const std::uint32_t next = graph_.target(vertex, frame.bit);
        frame.bit = graph_.next_bit(vertex, frame.bit + 1);
        if (index_[next] == none) {
          enter(next);
        } else if (index_[next] != closed) {
          low_[vertex] = std::min(low_[vertex], index_[next]);
        }
        continue;
      }
      frames_.pop_back();
      if (low_[vertex] == index_[vertex]) close(vertex);
      if (!frames_.empty()) {
        std::uint32_t& low = low_[frames_.back().vertex];
        low = std::min(low, low_[vertex]);
      }
    }
  }

  void close(std::uint32_t root) {
    std::vector<std::uint32_t> found;
    std::uint32_t vertex = none;
    while (vertex != root) {
      vertex = open_.back();
      open_.pop_back();
      index_[vertex] = closed;
      found.push_back(vertex);
    }
    if (found.size() == 1 && !depends_on_itself(root)) return;
    for (const std::uint32_t member : found) part[member] = static_cast<std::uint32_t>(members.size());
    std::sort(found.begin(), found.end());
    members.push_back(std::move(found));
  }

  bool depends_on_itself(std::uint32_t vertex) const {
    for (std::uint32_t bit = graph_.next_bit(vertex, 0); bit != none; bit = graph_.next_bit(vertex, bit + 1)) {
      if (graph_.target(vertex, bit) == vertex) return true;
    }
    return false;
  }

  static constexpr std::uint32_t closed = none - 1;
  const DependencyGraph& graph_;
  std::vector<std::uint32_t> index_;
  std::vector<std::uint32_t> low_;
  std::vector<std::uint32_t> open_;
  std::vector<Frame> frames_;
  std::uint32_t count_ = 0;
};

/// The shortest cycle through a vertex, which is on one: breadth first inside its strongly connected part.
std::vector<std::uint32_t> shortest_cycle(const DependencyGraph& graph, const StrongParts& parts, std::uint32_t start,
                                          std::vector<std::uint32_t>& before) {
  std::vector<std::uint32_t> queue = {start};
  std::vector<std::uint32_t> cycle;
  for (std::size_t head = 0; head < queue.size() && cycle.empty(); ++head) {
    const std::uint32_t vertex = queue[head];
    for (std::uint32_t bit = graph.next_bit(vertex, 0); bit != none; bit = graph.next_bit(vertex, bit + 1)) {
      const std::uint32_t next = graph.target(vertex, bit);
      if (next == start) {
        for (std::uint32_t at = vertex; at != start; at = before[at]) cycle.push_back(at);
        cycle.push_back(start);
        break;
      }
      if (parts.part[next] != parts.part[start] || before[next] != none) continue;
      before[next] = vertex;
      queue.push_back(next);
    }
  }
  for (const std::uint32_t vertex : queue) before[vertex] = none;
  std::reverse(cycle.begin(), cycle.end());
  return cycle;
}

constexpr std::size_t starts_tried = 64;  // a large part may have a much shorter cycle elsewhere
constexpr std::size_t loops_told = 16;

}  // namespace

CreditLoopReport check_credit_loops(const Fabric& fabric, const Forwarding& tables, unsigned threads) {
  const Cabling cabling(fabric);
  DependencyGraph graph(cabling, tables);
  parallel::parallel_for(cabling.endpoints().size(), 64, threads, [&](unsigned, std::size_t begin, std::size_t end) {
    DependencyGraph::Scratch scratch(tables);
    for (std::size_t i = begin; i < end; ++i) {
      const Cabling::Endpoint& home = cabling.endpoints()[i];
      for (std::uint32_t offset = 0; offset < home.lids; ++offset)
        graph.add_routes_to(home, home.lid + offset, scratch);
    }
  });
  CreditLoopReport report;
  report.dependencies = graph.dependencies();
  graph.count_vertices(report);
  const StrongParts parts(graph);
  std::vector<std::uint32_t> before(graph.vertices(), none);
  for (const auto& members : parts.members) {
    if (report.loops.size() == loops_told) break;
    std::vector<std::uint32_t> best;
    for (std::size_t i = 0; i < std::min(members.size(), starts_tried); ++i) {
      std::vector<std::uint32_t> cycle = shortest_cycle(graph, parts, members[i], before);
      if (best.empty() || cycle.size() < best.size()) best = std::move(cycle);
    }
    CreditLoop loop;
    for (const std::uint32_t vertex : best) loop.push_back(graph.name(vertex));
    report.loops.push_back(std::move(loop));
  }
  std::sort(report.loops.begin(), report.loops.end(), [](const CreditLoop& a, const CreditLoop& b) {
    return a.size() != b.size() ? a.size() < b.size() : a.front().port < b.front().port;
  });
  return report;
}

std::string describe(const Fabric& fabric, const CreditLoop& loop) {
  if (loop.empty()) return "";
  const bool one_lane =
      std::all_of(loop.begin(), loop.end(), [&](const auto& at) { return at.lane == loop.front().lane; });
  std::string text = one_lane ? "lane " + std::to_string(loop.front().lane) + ": " : "";
  const auto name = [&](const LaneOfChannel& at) {
    std::string one =
        fabric.node(fabric.port(at.port).node).name + " port " + std::to_string(fabric.number_of(at.port));
    return one_lane ? one : one + " lane " + std::to_string(at.lane);
  };
  for (const LaneOfChannel& at : loop) text += name(at) + " -> ";
  return text + name(loop.front());
}

}  // namespace holdfast::fabric
