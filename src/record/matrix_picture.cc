#include "record/matrix_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace holdfast::record {
namespace {

constexpr std::uint64_t most_cells = 256;  ///< a side
constexpr double side = 560, left = 70, top = 50;

std::string amount(double bytes) {
  const char* const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  for (; bytes >= 1000 && unit < 5; ++unit) bytes /= 1000;
  return fmt::format("{:.3g} {}", bytes, units[unit]);
}

}  // namespace

std::string matrix_picture(const std::vector<RankTotals>& ranks) {
  const std::uint64_t per_cell = (ranks.size() + most_cells - 1) / most_cells;
  const std::uint64_t cells =
      std::max<std::uint64_t>(1, (ranks.size() + per_cell - 1) / std::max<std::uint64_t>(1, per_cell));
  std::vector<double> bytes(cells * cells, 0);
  auto add = [&](std::uint64_t from, std::int64_t to, const Flow& flow) {
    if (to < 0 || static_cast<std::uint64_t>(to) >= ranks.size()) return;
    // An empty message is a message: it shows.
    bytes[from / per_cell * cells + static_cast<std::uint64_t>(to) / per_cell] +=
        static_cast<double>(std::max<std::uint64_t>(flow.bytes, flow.messages));
  };
  for (std::uint64_t rank = 0; rank < ranks.size(); ++rank) {
    for (const auto& [to, flow] : ranks[rank].sent) add(rank, to, flow);
    for (const auto& [to, flow] : ranks[rank].put) add(rank, to, flow);
    for (const auto& [from, flow] : ranks[rank].got)
      if (from >= 0 && static_cast<std::uint64_t>(from) < ranks.size())
        add(static_cast<std::uint64_t>(from), static_cast<std::int64_t>(rank), flow);
  }
  const double most = *std::max_element(bytes.begin(), bytes.end());
  double least = most;
  for (const double value : bytes)
    if (value > 0) least = std::min(least, value);
  const double cell = side / static_cast<double>(cells);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" font-family=\"sans-serif\" "
      "font-size=\"13\">\n<title>Bytes between ranks</title>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"{:.0f}\" y=\"22\">to rank 0 ... {} (columns), from rank (rows){}</text>\n"
      "<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" fill=\"none\" stroke=\"#888\"/>\n",
      left + side + 20, top + side + 60, left, ranks.size() - 1,
      per_cell > 1 ? fmt::format(", {} ranks a cell", per_cell) : "", left, top, side, side);
  for (std::uint64_t from = 0; from < cells; ++from)
    for (std::uint64_t to = 0; to < cells; ++to) {
      const double value = bytes[from * cells + to];
      if (value <= 0) continue;
      const double dark = most > least ? 0.15 + 0.85 * std::log(value / least) / std::log(most / least) : 1;
      svg += fmt::format(
          "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"#0b3d91\" fill-opacity=\"{:.3f}\">"
          "<title>{} to {}: {}</title></rect>\n",
          left + static_cast<double>(to) * cell, top + static_cast<double>(from) * cell, cell, cell, dark,
          from * per_cell, to * per_cell, amount(value));
    }
  for (std::uint64_t i = 0; i < cells; i += std::max<std::uint64_t>(1, cells / 8))
    svg += fmt::format(
        "<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n"
        "<text x=\"{:.1f}\" y=\"{:.0f}\" text-anchor=\"middle\">{}</text>\n",
        left - 6, top + (static_cast<double>(i) + 0.5) * cell + 4, i * per_cell,
        left + (static_cast<double>(i) + 0.5) * cell, top - 6, i * per_cell);
  svg += fmt::format(
      "<text x=\"{:.0f}\" y=\"{:.0f}\">{}</text>\n</svg>\n", left, top + side + 32,
      most > 0 ? fmt::format("lightest {}, darkest {}", amount(least), amount(most)) : std::string("no messages"));
  return svg;
}

}  // namespace holdfast::record
