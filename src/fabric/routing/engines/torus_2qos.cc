#include <algorithm>
#include <utility>

#include "fabric/routing/engines/balance.h"
#include "fabric/routing/engines/lane_loops.h"
#include "fabric/routing/engines/lanes.h"
#include "fabric/routing/engines/native_engines.h"
#include "fabric/routing/graph/grid.h"

// The routing that OpenSM's torus-2QoS(8) describes: dimension order, where the service level says which datelines a
// path crosses, so that each ring is used by two lanes of which neither closes it. A ring with one broken link is gone
// round the other way. A failed switch in the corner of a path is avoided by turning one switch earlier; the hop after
// the turn back, which dimension order would not allow, is on a lane of its own. Service levels are those of the whole
// torus, so that a failure changes none. One level of quality of service; the second would take lanes 4 to 7.

namespace holdfast::fabric {
namespace {

constexpr std::string_view engine = "torus-2qos";

class TorusRouter {
 public:
  TorusRouter(const Fabric& fabric, const SwitchGraph& graph, const Grid& grid)
      : fabric_(fabric), graph_(graph), grid_(grid), balance_(graph), tables_(graph.local_tables(fabric, 1)) {
    const std::uint32_t dimensions = grid.dimensions();
    step_.assign(graph.rows() * dimensions * 2, none);
    level_bit_.assign(dimensions, none);
    std::uint32_t places = 1;
    for (std::uint32_t d = 0; d < dimensions; ++d) {
      if (grid.wraps[d] != 0) level_bit_[d] = level_bits_++;
      stride_.push_back(places);
      places *= grid.size[d];
    }
    row_at_.assign(places, none);
    for (std::uint32_t row = 0; row < graph.rows(); ++row) {
      std::uint32_t place = 0;
      for (std::uint32_t d = 0; d < dimensions; ++d) place += grid.at(row, d) * stride_[d];
      row_at_[place] = row;
    }
    for (std::uint32_t id = 0; id < graph.arcs().size(); ++id) {
      const SwitchGraph::Arc& arc = graph.arc(id);
      const std::uint32_t d = dimension_of(arc);
      const bool forward = (grid.at(arc.from, d) + 1) % grid.size[d] == grid.at(arc.to, d);
      step_[(arc.from * dimensions + d) * 2 + (forward ? 0 : 1)] = id;
      if (grid.size[d] == 2) step_[(arc.from * dimensions + d) * 2 + (forward ? 1 : 0)] = id;
    }
  }

  Result<Forwarding> run(unsigned lanes, unsigned threads) {
    if (level_bits_ > 4)
      return refusal("it has " + std::to_string(level_bits_) + " dimensions of rings, and a service level 4 bits");
    const unsigned needed = lanes_needed();
    if (needed > lanes) return lanes_exhausted(engine, needed, lanes);
    damaged_ = is_damaged();
    const std::uint32_t variants = has_even_ring() ? 2 : 1;
    for (std::uint32_t row = 0; row < graph_.rows(); ++row) {
      for (std::uint32_t variant = 0; variant < variants; ++variant) {
        if (!gather(row, variant)) return refusal(trouble_);
        lay(row, variant, variants);
      }
    }
    set_lanes();
    tables_.lanes_used = static_cast<std::uint8_t>(needed);
    if (damaged_) {  // its rules hold for one failed switch, or several in a line of the last dimension
      const std::vector<LaneOfArc> loop = find_lane_loop(fabric_, graph_, tables_, threads);
      if (!loop.empty())
        return refusal("too much has failed for it: there would be a credit loop, " + text_of(fabric_, graph_, loop));
    }
    return std::move(tables_);
  }

 private:
  Status refusal(const std::string& why) const {
    return {Code::bad_input, "routing with torus-2qos", why, "try nue or updn, which route any fabric"};
  }
  std::uint32_t dimension_of(const SwitchGraph::Arc& arc) const {
    std::uint32_t d = 0;
    while (grid_.at(arc.from, d) == grid_.at(arc.to, d)) ++d;
    return d;
  }
  unsigned lanes_needed() const {
    bool dead = false;
    for (const std::uint32_t row : row_at_) dead = dead || is_dead(row);
    const unsigned straight = level_bits_ == 0 ? 1 : 2;
    return dead ? 2 * straight : straight;
  }
  bool is_dead(std::uint32_t row) const { return row == none || graph_.arcs_of(row).empty(); }

  bool is_damaged() const {
    for (std::uint32_t row = 0; row < graph_.rows(); ++row) {
      for (std::uint32_t d = 0; d < grid_.dimensions(); ++d) {
        const bool inner = grid_.at(row, d) + 1 < grid_.size[d];
        if ((inner || grid_.wraps[d] != 0) && step_[(row * grid_.dimensions() + d) * 2] == none) return true;
      }
    }
    return false;
  }

  /// Only there are two ways round as long, and the variants differ.
  bool has_even_ring() const {
    for (std::uint32_t d = 0; d < grid_.dimensions(); ++d) {
      if (grid_.wraps[d] != 0 && grid_.size[d] % 2 == 0) return true;
    }
    return false;
  }

  /// Whether the way along a dimension from coordinate a to b is forwards on the whole torus. Where both are as long,
  /// every second switch goes the other way, and the variants differ.
  bool forward(std::uint32_t d, std::uint32_t a, std::uint32_t b, std::uint32_t variant) const {
    if (grid_.wraps[d] == 0) return b > a;
    const std::uint32_t ahead = (b + grid_.size[d] - a) % grid_.size[d];
    if (2 * ahead == grid_.size[d]) return (a + variant) % 2 == 0;
    return 2 * ahead < grid_.size[d];
  }

  std::uint32_t moved(std::uint32_t row, std::uint32_t d, std::uint32_t coordinate) const {
    std::uint32_t place = 0;
    for (std::uint32_t i = 0; i < grid_.dimensions(); ++i)
      place += (i == d ? coordinate : grid_.at(row, i)) * stride_[i];
    return row_at_[place];
  }

  /// Hops along dimension d to the coordinate, or to the switch before it when that is dead; `none` when a break or the
  /// edge of a mesh is in the way.
  std::uint32_t open_way(std::uint32_t row, std::uint32_t d, std::uint32_t to, bool ahead) const {
    const bool stop_before = is_dead(moved(row, d, to));
    std::uint32_t hops = 0;
    for (std::uint32_t at = row; grid_.at(at, d) != to;) {
      const std::uint32_t coordinate = grid_.at(at, d);
      const std::uint32_t next =
          ahead ? (coordinate + 1) % grid_.size[d] : (coordinate + grid_.size[d] - 1) % grid_.size[d];
      if (stop_before && next == to) return hops;
      const std::uint32_t arc = step_[(at * grid_.dimensions() + d) * 2 + (ahead ? 0 : 1)];
      if (arc == none) return none;
      at = graph_.arc(arc).to;
      ++hops;
    }
    return hops;
  }

  /// The arc from a row towards the destination, `none` when there is no way by the rules.
  std::uint32_t step(std::uint32_t row, std::uint32_t destination, std::uint32_t variant) const {
    for (std::uint32_t d = 0; d < grid_.dimensions(); ++d) {
      const std::uint32_t to = grid_.at(destination, d);
      if (grid_.at(row, d) == to) continue;
      bool ahead = forward(d, grid_.at(row, d), to, variant);
      if (!damaged_) return step_[(row * grid_.dimensions() + d) * 2 + (ahead ? 0 : 1)];
      std::uint32_t hops = open_way(row, d, to, ahead);
      if (hops == none && grid_.wraps[d] != 0) {
        ahead = !ahead;
        hops = open_way(row, d, to, ahead);
      }
      if (hops == none) return none;
      if (hops != 0) return step_[(row * grid_.dimensions() + d) * 2 + (ahead ? 0 : 1)];
      // next to a failed switch in the corner: turn here
    }
    return none;
  }

  /// Fills one_arc_ with the arcs of all rows to the destination.
  bool gather(std::uint32_t destination, std::uint32_t variant) {
    arcs_.assign(graph_.rows(), none);
    first_from_.assign(graph_.rows(), none);
    next_from_.resize(graph_.rows());
    for (std::uint32_t row = 0; row < graph_.rows(); ++row) {
      if (row == destination || is_dead(row) || is_dead(destination)) continue;
      arcs_[row] = step(row, destination, variant);
      if (arcs_[row] == none) return blame(row, destination);
      std::uint32_t& first = first_from_[graph_.arc(arcs_[row]).to];
      next_from_[row] = std::exchange(first, row);
    }
    one_arc_.order.assign(1, destination);
    one_arc_.first.assign(2, 0);
    one_arc_.arcs.clear();
    for (std::size_t head = 0; head < one_arc_.order.size(); ++head) {
      for (std::uint32_t row = first_from_[one_arc_.order[head]]; row != none; row = next_from_[row]) {
        one_arc_.order.push_back(row);
        one_arc_.arcs.push_back(arcs_[row]);
        one_arc_.first.push_back(static_cast<std::uint32_t>(one_arc_.arcs.size()));
      }
    }
    for (std::uint32_t row = 0; damaged_ && row < graph_.rows(); ++row) {
      if (arcs_[row] != none && !leads_home(row, destination)) return blame(row, destination);
    }
    return true;
  }

  bool leads_home(std::uint32_t row, std::uint32_t destination) const {
    for (std::uint32_t hops = 0; hops <= graph_.rows(); ++hops) {
      if (row == destination) return true;
      row = graph_.arc(arcs_[row]).to;
    }
    return false;
  }

  bool blame(std::uint32_t row, std::uint32_t destination) {
    trouble_ = "too much has failed for it: no way by its rules leads from " + name(row) + " to " + name(destination);
    return false;
  }
  const std::string& name(std::uint32_t row) const { return fabric_.node(graph_.switch_at(row)).name; }

  void lay(std::uint32_t destination, std::uint32_t variant, std::uint32_t variants) {
    levels_.resize(graph_.rows());
    for (std::uint32_t row = 0; row < graph_.rows(); ++row) levels_[row] = crossings(row, destination, variant);
    if (variant == 0 && graph_.switch_lid(destination) != 0) {
      balance_.pick_in_turn(one_arc_, destination);
      balance_.enter(one_arc_, graph_.switch_lid(destination), tables_);
    }
    std::uint32_t turn = 0;
    for (const SwitchGraph::Terminal& terminal : graph_.terminals_at(destination)) {
      if (turn++ % variants != variant) continue;
      balance_.pick(one_arc_);
      balance_.enter(one_arc_, terminal.lid, tables_);
      for (std::uint32_t row = 0; row < graph_.rows(); ++row) {
        tables_.set_service_level(row, 0, terminal.lid, levels_[row]);
      }
    }
  }

  /// One bit for each dimension whose dateline, between the last coordinate and 0, the path crosses on the whole torus.
  std::uint8_t crossings(std::uint32_t row, std::uint32_t destination, std::uint32_t variant) const {
    unsigned level = 0;
    for (std::uint32_t d = 0; d < grid_.dimensions(); ++d) {
      const std::uint32_t a = grid_.at(row, d);
      const std::uint32_t b = grid_.at(destination, d);
      if (grid_.wraps[d] == 0 || a == b) continue;
      if (forward(d, a, b, variant) ? b < a : b > a) level |= 1U << level_bit_[d];
    }
    return static_cast<std::uint8_t>(level);
  }

  void set_lanes() {
    const std::uint32_t kinds = grid_.dimensions() + 1;  // of ports; the last has adapters
    std::vector<LaneMap> maps;
    for (std::uint32_t in = 0; in < kinds; ++in) {
      for (std::uint32_t out = 0; out < kinds; ++out)
        maps.push_back(lane_map(in + 1 == kinds ? none : in, out + 1 == kinds ? none : out));
    }
    for (std::uint32_t row = 0; row < graph_.rows(); ++row) {
      const std::uint32_t ports = fabric_.node(graph_.switch_at(row)).port_count;
      std::vector<std::uint32_t> dimension(ports + 1, kinds - 1);
      for (const SwitchGraph::Arc& arc : graph_.arcs_of(row)) {
        for (std::uint32_t i = 0; i < arc.channels; ++i) {
          dimension[graph_.channels()[arc.first_channel + i].port] = dimension_of(arc);
        }
      }
      for (std::uint32_t in = 0; in <= ports; ++in) {
        for (std::uint32_t out = 0; out <= ports; ++out) {
          tables_.set_lane_map(row, static_cast<std::uint8_t>(in), static_cast<std::uint8_t>(out),
                               maps[dimension[in] * kinds + dimension[out]]);
        }
      }
    }
  }

  /// From a port of one dimension to one of another; `none` is a port with an adapter.
  LaneMap lane_map(std::uint32_t in, std::uint32_t out) const {
    LaneMap map = {};
    if (out == none) return map;
    const bool back = in != none && in > out;
    for (unsigned level = 0; level < map.size(); ++level) {
      const unsigned crosses = grid_.wraps[out] != 0 ? level >> level_bit_[out] & 1U : 0U;
      map[level] = static_cast<std::uint8_t>(crosses + (!back ? 0U : level_bits_ == 0 ? 1U : 2U));
    }
    return map;
  }

  const Fabric& fabric_;
  const SwitchGraph& graph_;
  const Grid& grid_;
  Balance balance_;
  Forwarding tables_;
  std::vector<std::uint32_t> step_;       // by (row, dimension, direction): the arc; `none`: no working cable
  std::vector<std::uint32_t> stride_;     // by dimension
  std::vector<std::uint32_t> row_at_;     // by place
  std::vector<std::uint32_t> level_bit_;  // by dimension
  std::uint32_t level_bits_ = 0;
  bool damaged_ = false;
  std::vector<std::uint32_t> arcs_;        // by row
  std::vector<std::uint32_t> first_from_;  // by row: the first of those that come through it next
  std::vector<std::uint32_t> next_from_;   // by row: the next one that comes through the same
  std::vector<std::uint8_t> levels_;       // by row: service level towards the destination at hand
  Choices one_arc_;
  std::string trouble_;
};

}  // namespace

Result<Forwarding> route_torus_2qos(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options) {
  const std::optional<Grid> grid = options.grid ? options.grid : find_grid(fabric, graph);
  if (!grid) {
    return Status(Code::bad_input, "routing with torus-2qos", "the fabric is not a mesh or torus",
                  "try nue, updn or dfsssp, which route any fabric");
  }
  auto routed = TorusRouter(fabric, graph, *grid).run(options.lanes, options.threads);
  if (routed.ok() || options.grid) return routed;
  const Grid rings = with_rings_of_four(*grid);
  if (rings.dimensions() == grid->dimensions()) return routed;
  auto round = TorusRouter(fabric, graph, rings).run(options.lanes, options.threads);
  return round.ok() ? std::move(round) : std::move(routed);
}

}  // namespace holdfast::fabric
