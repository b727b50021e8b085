#include "fabric/formats/drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <map>
#include <numbers>
#include <optional>
#include <vector>

#include "fabric/formats/node_name.h"
#include "fabric/topology/hosts.h"
#include "fabric/topology/levels.h"

namespace holdfast::fabric {

namespace {

struct Point {
  double x = 0;
  double y = 0;
};

/// Where every switch lies, by NodeId, in units of a box's height; adapters are not drawn by themselves.
using Layout = std::vector<Point>;

constexpr double box_width = 3.2;
constexpr double box_height = 1.0;
constexpr std::size_t most_letters = 18;    // in a box
constexpr std::uint32_t most_named = 1000;  // of more switches boxes alone are drawn

Point on_circle(double radius, double turn) {
  const double angle = 2 * std::numbers::pi * turn - std::numbers::pi / 2;
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

/// Levels from the bottom up, switches of a level spread over the width of the widest one. A level too wide to be read
/// goes on in further lines above it.
Layout in_levels(const Fabric& fabric, const std::vector<std::uint32_t>& levels) {
  std::vector<std::vector<NodeId>> rows;
  for (NodeId id = 0; id < fabric.nodes().size(); ++id) {
    if (!fabric.is_switch(id)) continue;
    if (rows.size() <= levels[id]) rows.resize(levels[id] + 1);
    rows[levels[id]].push_back(id);
  }
  if (fabric.structure().shape == Shape::unknown) {  // files list switches as they were met
    for (auto& row : rows)
      std::ranges::stable_sort(row, [&fabric](NodeId one, NodeId other) {
        return strverscmp(fabric.node(one).name.c_str(), fabric.node(other).name.c_str()) < 0;
      });
  }
  std::size_t largest = 1;
  for (const auto& row : rows) largest = std::max(largest, row.size());
  const std::size_t in_line =
      std::max<std::size_t>(24, static_cast<std::size_t>(std::sqrt(4.0 * static_cast<double>(largest))));
  const double width = static_cast<double>(std::min(largest, in_line)) * (box_width + 0.4);
  const double gap = std::clamp(width / 5, 5.0, 60.0);
  const double line_height = box_height + 0.6;
  Layout layout(fabric.nodes().size());
  double bottom = 0;
  for (const std::vector<NodeId>& row : rows) {
    const std::size_t lines = std::max<std::size_t>(1, (row.size() + in_line - 1) / in_line);
    const std::size_t even = (row.size() + lines - 1) / lines;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::size_t line = i / even;
      const std::size_t here = std::min(even, row.size() - line * even);
      const double x = (static_cast<double>(i % even) + 0.5) / static_cast<double>(here);
      layout[row[i]] = {x * width, bottom - static_cast<double>(line) * line_height};
    }
    bottom -= gap + static_cast<double>(lines - 1) * line_height;
  }
  return layout;
}

/// The last dimension to the right, the one before down, the one before that in panels; further ones in panels of
/// panels.
Layout in_grid(const Fabric& fabric) {
  const Structure& structure = fabric.structure();
  const std::size_t n = structure.extent.size();
  std::vector<Point> step(n);
  double right = box_width + 2;
  double down = box_height + 2.5;
  for (std::size_t d = n; d > 0;) {
    --d;
    const bool across = (n - d) % 2 == 1;
    double& size = across ? right : down;
    step[d] = across ? Point{size, 0} : Point{0, size};
    size = size * structure.extent[d] + 3;
  }
  Layout layout(fabric.nodes().size());
  for (NodeId id = 0; id < fabric.switch_count(); ++id) {
    for (std::size_t d = 0; d < n; ++d) {
      layout[id].x += step[d].x * structure.at(id)[d];
      layout[id].y += step[d].y * structure.at(id)[d];
    }
  }
  return layout;
}

Layout in_rings(const Fabric& fabric) {
  const Structure& structure = fabric.structure();
  const std::uint32_t groups = structure.extent[0];
  const std::uint32_t routers = structure.extent[1];
  const double small = std::max(3.0, routers * (box_width + 0.6) / (2 * std::numbers::pi));
  const double large =
      groups == 1 ? 0 : std::max(2.5 * small, groups * (2 * small + box_width + 2) / (2 * std::numbers::pi));
  Layout layout(fabric.nodes().size());
  for (NodeId id = 0; id < fabric.switch_count(); ++id) {
    const Point group = on_circle(large, static_cast<double>(structure.at(id)[0]) / groups);
    const Point router = on_circle(small, static_cast<double>(structure.at(id)[1]) / routers);
    layout[id] = {group.x + router.x, group.y + router.y};
  }
  return layout;
}

Layout in_one_ring(const Fabric& fabric) {
  Layout layout(fabric.nodes().size());
  const double count = std::max(1U, fabric.switch_count());
  const double radius = std::max(5.0, count * (box_width + 0.6) / (2 * std::numbers::pi));
  double turn = 0;
  for (NodeId id = 0; id < fabric.nodes().size(); ++id) {
    if (fabric.is_switch(id)) layout[id] = on_circle(radius, turn++ / count);
  }
  return layout;
}

Layout lay_out(const Fabric& fabric) {
  switch (fabric.structure().shape) {
    case Shape::mesh:
    case Shape::torus:
    case Shape::hyperx:
      return in_grid(fabric);
    case Shape::dragonfly:
      return in_rings(fabric);
    default:
      break;
  }
  if (fabric.structure().shape == Shape::tree) {
    std::vector<std::uint32_t> levels(fabric.nodes().size());
    for (NodeId id = 0; id < fabric.switch_count(); ++id) levels[id] = fabric.structure().at(id)[0];
    return in_levels(fabric, levels);
  }
  if (const auto levels = tree_levels(fabric)) return in_levels(fabric, *levels);
  return in_one_ring(fabric);
}

/// Columns of a terminal: an approximation of how wide letters are beside one another.
std::size_t columns(std::string_view text) {
  std::size_t sum = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = std::max<std::size_t>(letter_length(text.substr(at)), 1);
    sum += length >= 3 ? 2 : 1;  // East Asian letters are wide
    at += length;
  }
  return sum;
}

/// As many of the last letters as fit.
std::string tail(const std::string& text, std::size_t most_columns) {
  std::size_t at = 0;
  while (columns(std::string_view(text).substr(at)) > most_columns)
    at += std::max<std::size_t>(letter_length(std::string_view(text).substr(at)), 1);
  return text.substr(at);
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" ,;:/", at), text.size());
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

/// The words of a long name that few switches have: left out are those of more than half of them, and where that is not
/// enough, of more than a quarter, then an eighth. Of what is still too long the end.
std::string rare_words(const std::string& name, const std::map<std::string, std::uint32_t>& uses,
                       std::uint32_t switches) {
  std::string kept = name;
  for (std::uint32_t part = 2; part <= 8 && columns(kept) > most_letters; part *= 2) {
    kept.clear();
    for (const std::string& word : words_of(name)) {
      if (part * uses.at(word) > switches || word.starts_with("0x") || word.starts_with("GUID=")) continue;
      kept += (kept.empty() ? "" : " ") + word;
    }
  }
  return columns(kept) > most_letters ? "~" + tail(kept, most_letters - 1) : kept;
}

/// What a box has room for, by NodeId: names, of long ones the words that others have not, and where these are several
/// switches' the end of the GUID.
std::vector<std::string> short_names(const Fabric& fabric) {
  std::map<std::string, std::uint32_t> uses;
  for (const Node& node : fabric.nodes()) {
    if (node.kind != NodeKind::switch_) continue;
    std::vector<std::string> words = words_of(node.name);
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    for (const std::string& word : words) ++uses[word];
  }
  std::vector<std::string> names(fabric.nodes().size());
  std::map<std::string, std::uint32_t> taken;
  for (NodeId id = 0; id < fabric.nodes().size(); ++id) {
    if (!fabric.is_switch(id)) continue;
    names[id] = rare_words(fabric.node(id).name, uses, fabric.switch_count());
    ++taken[names[id]];
  }
  for (NodeId id = 0; id < fabric.nodes().size(); ++id) {
    if (!fabric.is_switch(id) || (taken[names[id]] == 1 && !names[id].empty())) continue;
    const std::string guid = fmt::format("{:08x}", fabric.node(id).guid & 0xFFFFFFFF);
    names[id] = columns(names[id]) + 6 <= most_letters && !names[id].empty() ? names[id] + " " + guid.substr(4) : guid;
  }
  return names;
}

struct Bundle {
  std::uint32_t up = 0;
  std::uint32_t down = 0;
  double busy = 0;  ///< of the fullest
  std::vector<LinkId> loaded;
};

/// Sequential colours that also differ in lightness (ColorBrewer's YlOrRd), by the share of time above which they
/// begin.
struct Colour {
  double from;
  const char* name;
  const char* code;
};
constexpr std::array<Colour, 6> colours{{{0.5, "b5", "#800026"},
                                         {0.25, "b4", "#e31a1c"},
                                         {0.1, "b3", "#fc6a1c"},
                                         {0.01, "b2", "#feb24c"},
                                         {0, "b1", "#d8c97a"},
                                         {-1, "b0", "#c3cbd3"}}};

const char* colour_of(double busy) {
  return std::ranges::find_if(colours, [busy](const Colour& colour) { return busy > colour.from; })->name;
}

constexpr std::size_t most_titled_links = 8;

/// A line for each parallel link that carries something, the fullest first.
std::string loads_title(const Fabric& fabric, Bundle bundle, std::span<const double> busy) {
  std::stable_sort(bundle.loaded.begin(), bundle.loaded.end(),
                   [&](LinkId one, LinkId other) { return busy[one] > busy[other]; });
  std::string title;
  for (std::size_t i = 0; i < bundle.loaded.size(); ++i) {
    if (i == most_titled_links) return title + fmt::format("\n{} more", bundle.loaded.size() - i);
    const Link& link = fabric.link(bundle.loaded[i]);
    const auto end = [&](PortId port) {
      return xml_name(fabric.node(fabric.port(port).node).name) + fmt::format("/{}", fabric.number_of(port));
    };
    title += fmt::format("\n{} - {}: {:.2f} % busy", end(link.a), end(link.b), 100 * busy[bundle.loaded[i]]);
  }
  return title;
}

/// Links between two switches that lie in a line with others between them would hide behind those: they are bent.
void draw_bundle(fmt::memory_buffer& text, Point a, Point b, const Bundle& bundle, const std::string& kind,
                 const std::string& title, bool bent) {
  const double width = 0.06 * std::sqrt(static_cast<double>(std::max(1U, bundle.up)));
  const double length = std::hypot(b.x - a.x, b.y - a.y);
  const double bend = bent ? std::min(0.18 * length, 2.2) : 0;
  const Point middle{(a.x + b.x) / 2 + (length == 0 ? 0 : bend * (b.y - a.y) / length),
                     (a.y + b.y) / 2 - (length == 0 ? 0 : bend * (b.x - a.x) / length)};
  fmt::format_to(std::back_inserter(text),
                 "<path class=\"{}\" stroke-width=\"{:.3f}\" d=\"M{:.2f} {:.2f}Q{:.2f} {:.2f} {:.2f} {:.2f}\"><title>{}"
                 "</title></path>\n",
                 kind, width, a.x, a.y, middle.x, middle.y, b.x, b.y, title);
}

/// `busy`: none where the drawing shows no load.
void draw_links(fmt::memory_buffer& text, const Fabric& fabric, const Layout& layout,
                const std::optional<std::span<const double>>& busy) {
  std::map<std::pair<NodeId, NodeId>, Bundle> bundles;
  for (LinkId id = 0; id < fabric.links().size(); ++id) {
    const Link& link = fabric.link(id);
    const NodeId a = fabric.port(link.a).node;
    const NodeId b = fabric.port(link.b).node;
    if (!fabric.is_switch(a) || !fabric.is_switch(b)) continue;
    Bundle& bundle = bundles[std::minmax(a, b)];
    ++(link.up ? bundle.up : bundle.down);
    const double load = busy && id < busy->size() ? (*busy)[id] : 0;
    if (load <= 0) continue;
    bundle.busy = std::max(bundle.busy, load);
    bundle.loaded.push_back(id);
  }
  const bool grid = fabric.structure().shape == Shape::torus || fabric.structure().shape == Shape::hyperx;
  for (int pass = 0; pass < 2; ++pass) {  // what failed lies above
    for (const auto& [ends, bundle] : bundles) {
      if ((bundle.down > 0) != (pass == 1)) continue;
      const Point a = layout[ends.first];
      const Point b = layout[ends.second];
      const bool far = std::abs(a.x - b.x) > 1.5 * (box_width + 2) || std::abs(a.y - b.y) > 1.5 * (box_height + 2.5);
      std::string title = fmt::format("{} - {}: {} links", xml_name(fabric.node(ends.first).name),
                                      xml_name(fabric.node(ends.second).name), bundle.up + bundle.down);
      if (bundle.down > 0) title += fmt::format(", {} down", bundle.down);
      std::string kind = bundle.up == 0 ? "dead" : bundle.down > 0 ? "hurt" : "good";
      if (busy) {
        title += loads_title(fabric, bundle, *busy);
        if (bundle.up > 0) kind = fmt::format("{}{}", colour_of(bundle.busy), bundle.down > 0 ? " part" : "");
      }
      draw_bundle(text, a, b, bundle, kind, title, grid && far);
    }
  }
}

void draw_switches(fmt::memory_buffer& text, const Fabric& fabric, const Layout& layout) {
  const std::vector<std::string> names = short_names(fabric);
  std::vector<std::uint32_t> hosts(fabric.nodes().size());
  std::vector<bool> alive(fabric.nodes().size());
  for (const Link& link : fabric.links()) {
    const NodeId a = fabric.port(link.a).node;
    const NodeId b = fabric.port(link.b).node;
    if (!link.up) continue;
    alive[a] = alive[b] = true;
    if (fabric.is_switch(a) == fabric.is_switch(b)) continue;
    if (!is_aggregation_node(fabric.node(fabric.is_switch(a) ? b : a))) ++hosts[fabric.is_switch(a) ? a : b];
  }
  for (NodeId id = 0; id < fabric.nodes().size(); ++id) {
    if (!fabric.is_switch(id)) continue;
    const Point at = layout[id];
    const std::string title = xml_name(fabric.node(id).name) + fmt::format(", {} hosts", hosts[id]);
    fmt::format_to(std::back_inserter(text),
                   "<g><title>{}</title><rect class=\"{}\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{}\" height=\"{}\" "
                   "rx=\"0.15\"/>",
                   title,
                   !alive[id]      ? "gone"
                   : hosts[id] > 0 ? "leaf"
                                   : "inner",
                   at.x - box_width / 2, at.y - box_height / 2, box_width, box_height);
    if (fabric.switch_count() <= most_named) {
      // a letter of a sans-serif font is about 0.6 of its size wide
      const double size = std::min(0.5, 0.94 * box_width / (0.6 * static_cast<double>(columns(names[id]))));
      fmt::format_to(std::back_inserter(text), "<text style=\"font-size:{:.2f}px\" x=\"{:.2f}\" y=\"{:.2f}\">{}</text>",
                     size, at.x, at.y + (hosts[id] > 0 ? -0.02 : 0.16), xml_name(names[id]));
      if (hosts[id] > 0)
        fmt::format_to(std::back_inserter(text), "<text class=\"hosts\" x=\"{:.2f}\" y=\"{:.2f}\">{} hosts</text>",
                       at.x, at.y + 0.38, hosts[id]);
    }
    fmt::format_to(std::back_inserter(text), "</g>\n");
  }
}

/// What the colours of loads mean, in a line of at most this width.
void draw_legend(fmt::memory_buffer& text, Point at, double width) {
  constexpr std::array<const char*, 6> words{"> 50 %", "> 25 %", "> 10 %", "> 1 %", "> 0", "0"};
  const double unit = std::min(1.0, width / 28);
  const auto write = [&](double x, const std::string& word) {
    fmt::format_to(std::back_inserter(text),
                   "<text class=\"title\" style=\"font-size:{:.2f}px\" x=\"{:.2f}\" y=\"{:.2f}\">{}</text>\n",
                   0.8 * unit, x, at.y, xml_name(word));
  };
  write(at.x, "busy");
  for (std::size_t i = 0; i < colours.size(); ++i) {
    const double x = at.x + unit * (2.4 + 4.2 * static_cast<double>(i));
    fmt::format_to(std::back_inserter(text), "<path class=\"{}\" stroke-width=\"{:.2f}\" d=\"M{:.2f} {:.2f}h{:.2f}\"/>",
                   colours[colours.size() - 1 - i].name, 0.3 * unit, x, at.y - 0.25 * unit, unit);
    write(x + 1.2 * unit, words[words.size() - 1 - i]);
  }
}

std::string draw(const Fabric& fabric, const std::optional<std::span<const double>>& busy) {
  const Layout layout = lay_out(fabric);
  Point low{0, 0};
  Point high{0, 0};
  for (NodeId id = 0; id < fabric.nodes().size(); ++id) {
    if (!fabric.is_switch(id)) continue;
    low = {std::min(low.x, layout[id].x), std::min(low.y, layout[id].y)};
    high = {std::max(high.x, layout[id].x), std::max(high.y, layout[id].y)};
  }
  const double width = high.x - low.x + box_width + 4;
  const double height = high.y - low.y + box_height + 5;
  // Names are at least 6 pixels high, unless the picture would be larger than 8,000.
  const double largest = std::max(width, height);
  const double readable = fabric.switch_count() <= most_named ? std::min(14.0, 8000 / largest) : 2.0;
  std::string load_style = busy ? "svg.fabric .part{stroke-dasharray:.6 .15}" : "";
  for (const Colour& colour : colours)
    if (busy) load_style += fmt::format("svg.fabric path.{}{{stroke:{};stroke-opacity:1}}", colour.name, colour.code);
  const double scale = std::clamp(std::max(1600 / largest, readable), 2.0, 40.0);
  const double opacity = std::clamp(12 / std::sqrt(1.0 + static_cast<double>(fabric.links().size())), 0.2, 0.55);
  fmt::memory_buffer text;
  fmt::format_to(
      std::back_inserter(text),
      "<svg class=\"fabric\" xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0f}\" height=\"{:.0f}\" viewBox=\"{:.2f} "
      "{:.2f} {:.2f} {:.2f}\">\n<style>svg.fabric path{{fill:none;stroke:#5b6b7b;stroke-opacity:{:.2f}}}{}"
      "svg.fabric .hurt{{stroke:#e08a00;stroke-opacity:1}}svg.fabric "
      ".dead{{stroke:{};stroke-opacity:1;stroke-dasharray:.35 .2}}"
      "svg.fabric rect{{stroke:#22303c;stroke-width:.05}}.fabric .leaf{{fill:#d7e8f7}}.fabric .inner{{fill:#eef1e2}}"
      ".fabric .gone{{fill:#f6c9cd;stroke:#d01c2e}}svg.fabric text{{font:.5px sans-serif;text-anchor:middle;"
      "fill:#14202b}}svg.fabric .hosts{{font-size:.36px;fill:#47596b}}svg.fabric .title{{font-size:.8px;"
      "text-anchor:start}}</style>\n"
      "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" style=\"fill:#fff;stroke:none\"/>\n",
      width * scale, height * scale, low.x - box_width / 2 - 2, low.y - box_height / 2 - 3, width, height, opacity,
      load_style, busy ? "#000" : "#d01c2e", low.x - box_width / 2 - 2, low.y - box_height / 2 - 3, width, height);
  const auto down = std::ranges::count(fabric.links(), false, &Link::up);
  fmt::format_to(std::back_inserter(text),
                 "<text class=\"title\" x=\"{:.2f}\" y=\"{:.2f}\">{} switches, {} hosts, {} links{}"
                 "</text>\n",
                 low.x - box_width / 2 - 1, low.y - box_height / 2 - 1.6, fabric.switch_count(),
                 count_hosts(fabric).hosts, fabric.links().size(), down == 0 ? "" : fmt::format(", {} down", down));
  if (busy) draw_legend(text, {low.x - box_width / 2 - 1, low.y - box_height / 2 - 0.5}, width - 2);
  draw_links(text, fabric, layout, busy);
  draw_switches(text, fabric, layout);
  fmt::format_to(std::back_inserter(text), "</svg>\n");
  return fmt::to_string(text);
}

}  // namespace

std::string write_drawing(const Fabric& fabric) {
  return draw(fabric, std::nullopt);
}

std::string write_loaded_drawing(const Fabric& fabric, std::span<const double> busy) {
  return draw(fabric, busy);
}

}  // namespace holdfast::fabric
