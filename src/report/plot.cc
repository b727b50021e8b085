#include "report/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/markup.h"

namespace holdfast::report {
namespace {

// Told apart without colour vision too: M. Okabe and K. Ito, "Color Universal Design", 2002; shapes differ besides.
constexpr std::array<const char*, 8> colours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                "#e69f00", "#56b4e9", "#333333", "#8c6d1f"};

constexpr double width = 860, height = 400, left = 78, right = 20, top = 54, bottom = 62;

struct Frame {
  Axis x, y;
  double at_x(double value) const { return left + x.place(value) * (width - left - right); }
  double at_y(double value) const { return height - bottom - y.place(value) * (height - top - bottom); }
};

std::string colour(std::size_t series) {
  return series_colour(series);
}

/// One of eight shapes about a point.
std::string mark(std::size_t series, double x, double y, double r, const std::string& words) {
  const std::string title = words.empty() ? "" : "<title>" + escaped(words) + "</title>";
  const auto path = [&](const std::string& d, bool filled) {
    return fmt::format("<path d=\"{}\" {}=\"{}\"{}>{}</path>\n", d, filled ? "fill" : "fill=\"none\" stroke",
                       colour(series), filled ? " fill-opacity=\".75\"" : " stroke-width=\"1.6\"", title);
  };
  const auto at = [&](const char* shape) { return fmt::format(fmt::runtime(shape), x, y, r, 2 * r); };
  switch (series % 8) {
    case 0:
      return fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"{}\" fill-opacity=\".75\">{}</circle>\n", x, y, r,
          colour(series), title);
    case 1:
      return path(at("M{0:.1f} {1:.1f}m-{2:.1f} -{2:.1f}h{3:.1f}v{3:.1f}h-{3:.1f}z"), true);
    case 2:
      return path(at("M{0:.1f} {1:.1f}m0 -{2:.1f}l{2:.1f} {3:.1f}h-{3:.1f}z"), true);
    case 3:
      return path(at("M{0:.1f} {1:.1f}m0 -{2:.1f}l{2:.1f} {2:.1f}l-{2:.1f} {2:.1f}l-{2:.1f} -{2:.1f}z"), true);
    case 4:
      return path(at("M{0:.1f} {1:.1f}m-{2:.1f} -{2:.1f}l{3:.1f} {3:.1f}m0 -{3:.1f}l-{3:.1f} {3:.1f}"), false);
    case 5:
      return path(at("M{0:.1f} {1:.1f}m0 {2:.1f}l{2:.1f} -{3:.1f}h-{3:.1f}z"), true);
    case 6:
      return path(at("M{0:.1f} {1:.1f}m-{2:.1f} 0h{3:.1f}m-{2:.1f} -{2:.1f}v{3:.1f}"), false);
    default:
      return path(at("M{0:.1f} {1:.1f}m-{2:.1f} -{2:.1f}h{3:.1f}v{3:.1f}h-{3:.1f}z"), false);
  }
}

std::string text_at(double x, double y, const char* anchor, const std::string& text, const char* more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, more,
                     escaped(text));
}

std::string open_svg(const std::string& title) {
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{0}\" viewBox=\"0 0 {1} {2}\" "
             "width=\"{1}\" height=\"{2}\" font-family=\"system-ui, 'DejaVu Sans', sans-serif\" font-size=\"12\" "
             "fill=\"#1a2027\">\n<rect width=\"{1}\" height=\"{2}\" fill=\"#ffffff\"/>\n",
             escaped(title), width, height) +
         text_at(left, 18, "start", title, " font-size=\"14\" font-weight=\"600\"");
}

std::string line(double x1, double y1, double x2, double y2, const std::string& stroke, const char* more = "") {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"{}/>\n", x1, y1, x2,
                     y2, stroke, more);
}

std::string y_axis(const Frame& frame, const std::string& name) {
  std::string svg;
  for (const double tick : frame.y.ticks) {
    const double y = frame.at_y(tick);
    svg += line(left, y, width - right, y, "#e3e7eb");
    svg += text_at(left - 8, y + 4, "end", tick_text(tick));
  }
  const double middle = (top + height - bottom) / 2;
  svg += fmt::format("<text transform=\"translate(18 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n", middle,
                     escaped(name));
  return svg + line(left, height - bottom, width - right, height - bottom, "#5b6672");
}

template <class List>
std::string legend(const List& list) {
  std::string svg;
  double x = left;
  for (std::size_t i = 0; i < list.size(); ++i) {
    svg += mark(i, x + 5, 36, 4, "") + text_at(x + 14, 40, "start", list[i].name);
    x += 34 + 6.8 * static_cast<double>(list[i].name.size());
  }
  return svg;
}

/// The segment inside the frame's y range; regressions may leave it.
std::optional<PlotSeries::Segment> clipped(const PlotSeries::Segment& given, const Axis& y) {
  PlotSeries::Segment s = given;
  if (!std::isfinite(s.y1) || !std::isfinite(s.y2)) return std::nullopt;
  const auto cut = [&](double bound, bool below) {
    const auto outside = [&](double v) { return below ? v < bound : v > bound; };
    if (outside(s.y1) && outside(s.y2)) return false;
    if (!outside(s.y1) && !outside(s.y2)) return true;
    const double x = s.x1 + (bound - s.y1) / (s.y2 - s.y1) * (s.x2 - s.x1);
    (outside(s.y1) ? s.x1 : s.x2) = x;
    (outside(s.y1) ? s.y1 : s.y2) = bound;
    return true;
  };
  if (!cut(y.low, true) || !cut(y.high, false)) return std::nullopt;
  return s;
}

std::string series_svg(const PlotSeries& series, std::size_t index, const Frame& frame, const ScatterPlot& plot) {
  std::string svg;
  if (series.line) {
    if (const auto s = clipped(*series.line, frame.y))
      svg += line(frame.at_x(s->x1), frame.at_y(s->y1), frame.at_x(s->x2), frame.at_y(s->y2), colour(index),
                  " stroke-width=\"1.5\" stroke-dasharray=\"6 3\"");
  }
  if (series.joined && series.marks.size() > 1) {
    std::string points;
    for (const PlotSeries::Mark& each : series.marks)
      points += fmt::format("{:.1f},{:.1f} ", frame.at_x(each.x), frame.at_y(each.y));
    svg += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"/>\n", points,
                       colour(index));
  }
  for (const PlotSeries::Mark& each : series.marks) {
    const double x = frame.at_x(each.x);
    if (each.low && each.high) {
      const double low = frame.at_y(*each.low), high = frame.at_y(*each.high);
      svg += line(x, low, x, high, colour(index)) + line(x - 3, low, x + 3, low, colour(index)) +
             line(x - 3, high, x + 3, high, colour(index));
    }
    svg += mark(
        index, x, frame.at_y(each.y), 3.5,
        fmt::format("{}: {} {}, {} {}", series.name, plot.x_name, tick_text(each.x), plot.y_name, tick_text(each.y)));
  }
  return svg;
}

std::string box_svg(const WhiskerPlot::Box& box, std::size_t index, double x, double w, const Frame& frame,
                    const std::string& words) {
  const double q1 = frame.at_y(box.lower), q3 = frame.at_y(box.upper), mid = x + w / 2;
  const std::string stroke = colour(index);
  std::string svg = "<g><title>" +
                    escaped(fmt::format("{}: {} runs, least {}, quartiles {} {} {}, greatest {}", words, box.count,
                                        tick_text(box.least), tick_text(box.lower), tick_text(box.median),
                                        tick_text(box.upper), tick_text(box.greatest))) +
                    "</title>\n";
  svg += line(mid, frame.at_y(box.least), mid, frame.at_y(box.greatest), stroke);
  for (const double end : {box.least, box.greatest})
    svg += line(x + w / 4, frame.at_y(end), x + w * 3 / 4, frame.at_y(end), stroke);
  svg += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\" fill-opacity=\".3\" "
      "stroke=\"{}\"/>\n",
      x, q3, w, std::max(q1 - q3, 0.5), stroke, stroke);
  return svg + line(x, frame.at_y(box.median), x + w, frame.at_y(box.median), stroke, " stroke-width=\"2.5\"") +
         "</g>\n";
}

Axis logarithmic_axis(double low, double high) {
  Axis axis;
  axis.logarithmic = true;
  axis.low = std::pow(10, std::floor(std::log10(low) - 1e-9));
  axis.high = std::pow(10, std::ceil(std::log10(high) + 1e-9));
  for (double tick = axis.low; tick <= axis.high * 1.0001; tick *= 10) axis.ticks.push_back(tick);
  return axis;
}

}  // namespace

const char* series_colour(std::size_t series) {
  return colours[series % colours.size()];
}

double Axis::place(double value) const {
  if (logarithmic) return (std::log10(value) - std::log10(low)) / (std::log10(high) - std::log10(low));
  return (value - low) / (high - low);
}

Axis make_axis(const std::vector<double>& values, bool logarithmic) {
  double low = INFINITY, high = -INFINITY;
  for (const double value : values) {
    if (!std::isfinite(value) || (logarithmic && value <= 0)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (low > high) low = high = 1;
  if (logarithmic) return logarithmic_axis(low, high);
  if (low >= 0 && low < 0.7 * high) low = 0;
  if (low == high) {
    const double margin = low == 0 ? 1 : std::abs(low) / 2;
    low = low > 0 ? 0 : low - margin;
    high += margin;
  }
  double step = std::pow(10, std::floor(std::log10((high - low) / 4)));
  for (const double more : {2.0, 2.5, 2.0}) {
    if ((high - low) / step <= 8) break;
    step *= more;
  }
  Axis axis;
  axis.low = std::floor(low / step) * step;
  axis.high = std::ceil(high / step - 1e-9) * step;
  const auto count = static_cast<int>(std::lround((axis.high - axis.low) / step));
  for (int i = 0; i <= count; ++i) axis.ticks.push_back(axis.low + i * step);
  return axis;
}

std::string tick_text(double value) {
  if (std::abs(value) < 1e-12) return "0";
  return fmt::format("{:.4g}", value);
}

std::string svg(const ScatterPlot& plot) {
  std::vector<double> xs, ys;
  for (const PlotSeries& series : plot.series) {
    for (const PlotSeries::Mark& each : series.marks) {
      xs.push_back(each.x);
      ys.push_back(each.y);
      if (each.low) ys.push_back(*each.low);
      if (each.high) ys.push_back(*each.high);
    }
  }
  const Frame frame{make_axis(xs, plot.x_logarithmic), make_axis(ys, plot.y_logarithmic)};
  std::string svg = open_svg(plot.title) + y_axis(frame, plot.y_name);
  for (const double tick : frame.x.ticks) {
    svg += line(frame.at_x(tick), height - bottom, frame.at_x(tick), height - bottom + 5, "#5b6672");
    svg += text_at(frame.at_x(tick), height - bottom + 20, "middle", tick_text(tick));
  }
  svg += text_at((left + width - right) / 2, height - 18, "middle", plot.x_name) + legend(plot.series);
  for (std::size_t i = 0; i < plot.series.size(); ++i) svg += series_svg(plot.series[i], i, frame, plot);
  return svg + "</svg>\n";
}

std::string svg(const WhiskerPlot& plot) {
  std::vector<double> ys;
  for (const WhiskerPlot::Group& group : plot.groups)
    for (const auto& box : group.boxes)
      if (box) ys.insert(ys.end(), {box->least, box->greatest});
  Frame frame{{}, make_axis(ys)};
  std::string svg = open_svg(plot.title) + y_axis(frame, plot.y_name);
  const double slot = (width - left - right) / static_cast<double>(std::max<std::size_t>(plot.categories.size(), 1));
  const double w = std::min(34.0, slot * 0.8 / static_cast<double>(std::max<std::size_t>(plot.groups.size(), 1)));
  for (std::size_t c = 0; c < plot.categories.size(); ++c) {
    const double middle = left + slot * (static_cast<double>(c) + 0.5);
    svg += text_at(middle, height - bottom + 20, "middle", plot.categories[c]);
    if (c > 0)
      svg += line(left + slot * static_cast<double>(c), top, left + slot * static_cast<double>(c), height - bottom,
                  "#eef1f4");
    for (std::size_t g = 0; g < plot.groups.size(); ++g) {
      if (c >= plot.groups[g].boxes.size() || !plot.groups[g].boxes[c]) continue;
      const double x = middle + w * (static_cast<double>(g) - static_cast<double>(plot.groups.size()) / 2);
      svg += box_svg(*plot.groups[g].boxes[c], g, x + w * 0.08, w * 0.84, frame,
                     plot.groups[g].name + ", " + plot.categories[c]);
    }
  }
  svg += text_at((left + width - right) / 2, height - 18, "middle", plot.x_name) + legend(plot.groups);
  return svg + "</svg>\n";
}

}  // namespace holdfast::report
