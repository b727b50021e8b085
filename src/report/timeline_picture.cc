#include "report/timeline_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/markup.h"
#include "report/plot.h"

namespace holdfast::report {
namespace {

constexpr double width = 860, left = 78, right = 20, top = 54, bottom = 46;

struct Part {
  const char* name;
  const char* colour;
  const std::vector<std::string>* rows;
};

double ninths(const Part& part, std::size_t row, std::size_t bin) {
  if (row >= part.rows->size() || bin >= (*part.rows)[row].size()) return 0;
  const char digit = (*part.rows)[row][bin];
  return digit >= '0' && digit <= '9' ? digit - '0' : 0;
}

/// Neighbours that are alike become one rectangle.
std::string row_path(const std::array<Part, 3>& parts, std::size_t which, std::size_t row, std::size_t bins, double y,
                     double tall) {
  const double step = (width - left - right) / static_cast<double>(bins);
  std::string path;
  const auto span = [&](std::size_t bin) {
    double low = 0;
    for (std::size_t i = 0; i < which; ++i) low += ninths(parts[i], row, bin);
    const double high = std::min(9.0, low + ninths(parts[which], row, bin));
    return std::pair{std::min(9.0, low), high};
  };
  for (std::size_t bin = 0; bin < bins;) {
    std::size_t end = bin + 1;
    while (end < bins && span(end) == span(bin)) ++end;
    const auto [low, high] = span(bin);
    if (high > low)
      path += fmt::format("M{:.1f} {:.1f}h{:.1f}v{:.1f}h-{:.1f}z", left + step * static_cast<double>(bin),
                          y + tall * (9 - high) / 9, step * static_cast<double>(end - bin), tall * (high - low) / 9,
                          step * static_cast<double>(end - bin));
    bin = end;
  }
  return path;
}

}  // namespace

std::string timeline_picture(const std::string& title, const simulate::predict::RunTimeline& timeline) {
  const std::array<Part, 3> parts{{{"computing", "#56b4e9", &timeline.computing},
                                   {"in calls for messages", "#e69f00", &timeline.message},
                                   {"in collectives", "#cc79a7", &timeline.collective}}};
  const std::size_t rows = timeline.ranks.size();
  std::size_t bins = 0;  // up to the last in which somebody does something
  for (const Part& part : parts)
    for (const std::string& row : *part.rows) {
      const std::size_t last = row.find_last_not_of('0');
      if (last != std::string::npos) bins = std::max(bins, last + 1);
    }
  const double row_height = rows > 16 ? 12 : 20, end = top + static_cast<double>(rows) * row_height;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{0}\" viewBox=\"0 0 {1} {2}\" "
      "width=\"{1}\" height=\"{2}\" font-family=\"system-ui, 'DejaVu Sans', sans-serif\" font-size=\"11\" "
      "fill=\"#1a2027\">\n<rect width=\"{1}\" height=\"{2}\" fill=\"#ffffff\"/>\n"
      "<text x=\"10\" y=\"18\" font-size=\"14\" font-weight=\"600\">{0}</text>\n",
      escaped(title), width, end + bottom);
  double x = left;
  for (const Part& part : parts) {
    svg += fmt::format(
        "<rect x=\"{0:.1f}\" y=\"31\" width=\"10\" height=\"10\" fill=\"{1}\"/><text x=\"{2:.1f}\" y=\"40\" "
        "font-size=\"12\">{3}</text>\n",
        x, part.colour, x + 15, part.name);
    x += 36 + 6.8 * static_cast<double>(std::string_view(part.name).size());
  }
  if (bins == 0) return svg + "</svg>\n";
  for (std::size_t row = 0; row < rows; ++row) {
    const double y = top + static_cast<double>(row) * row_height;
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">rank {}</text>\n", left - 8,
                       y + row_height - 4, timeline.ranks[row]);
    for (std::size_t which = 0; which < parts.size(); ++which)
      if (const std::string path = row_path(parts, which, row, bins, y, row_height - 2); !path.empty())
        svg += fmt::format("<path d=\"{}\" fill=\"{}\" shape-rendering=\"crispEdges\"/>\n", path, parts[which].colour);
  }
  const double length = timeline.bin_s * static_cast<double>(bins);
  const Axis axis = make_axis({0, length});
  for (const double tick : axis.ticks) {
    if (tick > length) continue;
    const double at = left + tick / length * (width - left - right);
    svg += fmt::format("<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"#5b6672\"/>\n", at,
                       end, end + 4);
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", at, end + 17,
                       tick_text(tick));
  }
  return svg + fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">time, s</text>\n</svg>\n",
                           (left + width - right) / 2, end + 36);
}

}  // namespace holdfast::report
