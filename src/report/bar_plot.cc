#include "report/bar_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "report/markup.h"
#include "report/plot.h"

namespace holdfast::report {
namespace {

constexpr double width = 860, left = 250, right = 130, top = 58, bar_height = 15, bar_gap = 4, group_gap = 12,
                 line_height = 14, bottom = 46;
constexpr std::size_t longest_line = 36;

std::string text_at(double x, double y, const char* anchor, const std::string& text, const char* more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, more,
                     escaped(text));
}

/// Where a line of at most `longest_line` bytes ends: at a blank, else in the middle of no character.
std::size_t end_of_line(std::string_view text) {
  if (text.size() <= longest_line) return text.size();
  const std::size_t blank = text.rfind(' ', longest_line);
  if (blank != std::string_view::npos && blank > 0) return blank;
  std::size_t end = longest_line;
  while (end > 1 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
  return end;
}

std::vector<std::string> lines_of(std::string_view name) {
  std::vector<std::string> lines;
  do {
    const std::size_t end = end_of_line(name);
    lines.emplace_back(name.substr(0, end));
    name.remove_prefix(end);
    if (name.starts_with(' ')) name.remove_prefix(1);
  } while (!name.empty());
  return lines;
}

/// As tall as its bars, or as its name where that takes more.
double height_of(const BarPlot::Category& category) {
  return std::max(static_cast<double>(category.bars.size()) * (bar_height + bar_gap),
                  static_cast<double>(lines_of(category.name).size()) * line_height);
}

std::string name_at(double x, double middle, const std::string& name) {
  const std::vector<std::string> lines = lines_of(name);
  double y = middle - (static_cast<double>(lines.size()) - 1) * line_height / 2 + 2;
  std::string svg;
  for (const std::string& line : lines) {
    svg += text_at(x, y, "end", line);
    y += line_height;
  }
  return svg;
}

class Drawing {
 public:
  explicit Drawing(const BarPlot& plot) : plot_(plot) {
    std::vector<double> values{0};
    double below = top;
    for (const BarPlot::Category& category : plot.categories) {
      below += group_gap + height_of(category);
      for (const BarPlot::Bar& bar : category.bars)
        if (bar.value) values.push_back(bar.high.value_or(*bar.value));
    }
    axis_ = make_axis(values);
    end_ = below + group_gap;
  }

  std::string draw() {
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{0}\" viewBox=\"0 0 {1} {2}\" "
        "width=\"{1}\" height=\"{2}\" font-family=\"system-ui, 'DejaVu Sans', sans-serif\" font-size=\"12\" "
        "fill=\"#1a2027\">\n<rect width=\"{1}\" height=\"{2}\" fill=\"#ffffff\"/>\n",
        escaped(plot_.title), width, end_ + bottom);
    svg += text_at(10, 18, "start", plot_.title, " font-size=\"14\" font-weight=\"600\"");
    svg += legend() + grid();
    double y = top + group_gap;
    for (const BarPlot::Category& category : plot_.categories) {
      const double tall = height_of(category);
      svg += name_at(left - 10, y + tall / 2, category.name);
      double of_bar = y + (tall - static_cast<double>(category.bars.size()) * (bar_height + bar_gap)) / 2;
      for (const BarPlot::Bar& bar : category.bars) {
        svg += bar_svg(bar, of_bar, category.name);
        of_bar += bar_height + bar_gap;
      }
      y += tall + group_gap;
    }
    return svg + "</svg>\n";
  }

 private:
  double at(double value) const { return left + axis_.place(value) * (width - left - right); }

  std::string legend() const {
    std::string svg;
    double x = left;
    for (std::size_t i = 0; i < plot_.series.size(); ++i) {
      svg += fmt::format("<rect x=\"{:.1f}\" y=\"31\" width=\"10\" height=\"10\" fill=\"{}\"/>\n", x, series_colour(i));
      svg += text_at(x + 15, 40, "start", plot_.series[i]);
      x += 36 + 6.8 * static_cast<double>(plot_.series[i].size());
    }
    return svg;
  }

  std::string grid() const {
    std::string svg;
    for (const double tick : axis_.ticks) {
      svg += fmt::format("<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"{3}\"/>\n",
                         at(tick), top, end_, tick == 0 ? "#5b6672" : "#e3e7eb");
      svg += text_at(at(tick), end_ + 16, "middle", tick_text(tick));
    }
    return svg + text_at((left + width - right) / 2, end_ + 36, "middle", plot_.x_name);
  }

  std::string bar_svg(const BarPlot::Bar& bar, double y, const std::string& category) const {
    const double middle = y + bar_height / 2;
    double behind = left;
    std::string svg;
    if (bar.value) {
      const std::string series = bar.series < plot_.series.size() ? plot_.series[bar.series] : "";
      svg += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\" fill-opacity=\".85\">"
          "<title>{}</title></rect>\n",
          left, y, at(*bar.value) - left, bar_height, series_colour(bar.series),
          escaped(category + ", " + series + ": " + bar.words));
      behind = at(*bar.value);
    }
    if (bar.value && bar.low && bar.high) {
      const double from = at(std::max(0.0, *bar.low)), to = at(*bar.high);
      svg += fmt::format(
          "<path d=\"M{0:.1f} {1:.1f}H{2:.1f}M{0:.1f} {3:.1f}v8M{2:.1f} {3:.1f}v8\" stroke=\"#1a2027\" "
          "stroke-width=\"1.4\" fill=\"none\"/>\n",
          from, middle, to, middle - 4);
      behind = std::max(behind, to);
    }
    return svg + text_at(behind + 6, middle + 4, "start", bar.words, " font-size=\"11\"");
  }

  const BarPlot& plot_;
  Axis axis_;
  double end_ = 0;
};

}  // namespace

std::string svg(const BarPlot& plot) {
  return Drawing(plot).draw();
}

}  // namespace holdfast::report
