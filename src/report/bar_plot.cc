#include "report/bar_plot.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/markup.h"
#include "report/plot.h"

namespace holdfast::report {
namespace {

constexpr double width = 860, left = 250, right = 130, top = 58, bar_height = 15, bar_gap = 4, group_gap = 12,
                 bottom = 46;
constexpr std::size_t longest_name = 36;

std::string text_at(double x, double y, const char* anchor, const std::string& text, const char* more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, more,
                     escaped(text));
}

/// Cut in the middle of no character.
std::string name_at(double x, double y, const std::string& name) {
  if (name.size() <= longest_name) return text_at(x, y, "end", name);
  std::size_t end = longest_name - 1;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0U) == 0x80U) --end;
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\"><title>{}</title>{}…</text>\n", x, y,
                     escaped(name), escaped(name.substr(0, end)));
}

class Drawing {
 public:
  explicit Drawing(const BarPlot& plot) : plot_(plot) {
    std::vector<double> values{0};
    double below = top;
    for (const BarPlot::Category& category : plot.categories) {
      below += group_gap + static_cast<double>(category.bars.size()) * (bar_height + bar_gap);
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
      const double tall = static_cast<double>(category.bars.size()) * (bar_height + bar_gap);
      svg += name_at(left - 10, y + tall / 2 + 2, category.name);
      for (const BarPlot::Bar& bar : category.bars) {
        svg += bar_svg(bar, y, category.name);
        y += bar_height + bar_gap;
      }
      y += group_gap;
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
