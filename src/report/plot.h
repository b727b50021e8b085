#pragma once

#include <optional>
#include <string>
#include <vector>

/// Plots as SVG texts that need nothing from outside: no script, no font, no style sheet.
namespace holdfast::report {

/// Where numbers lie on an axis, and the round numbers to mark on it.
struct Axis {
  double low = 0, high = 1;
  bool logarithmic = false;
  std::vector<double> ticks;
  /// 0 at `low`, 1 at `high`.
  double place(double value) const;
};
/// An axis that holds all values, with 4 to 8 ticks at 1, 2 or 5 times a power of ten; from 0 on when they are all
/// positive and not far from it. Logarithmic: at powers of ten; values must be above 0. Numbers that are not finite are
/// left out.
Axis make_axis(const std::vector<double>& values, bool logarithmic = false);
/// The shortest text: "0.5", "20", "1.2e+06".
std::string tick_text(double value);

/// The colour of a series by its place: 8, told apart without colour vision too.
const char* series_colour(std::size_t series);

struct PlotSeries {
  std::string name;
  struct Mark {
    double x = 0, y = 0;
    std::optional<double> low{}, high{};  ///< an error bar
  };
  std::vector<Mark> marks;
  bool joined = false;  ///< marks are connected in their order
  struct Segment {
    double x1, y1, x2, y2;
  };
  std::optional<Segment> line{};  ///< a regression
};

/// Marks over two axes, with a legend; a series keeps its colour and shape by its place, in up to 8 of each.
struct ScatterPlot {
  std::string title, x_name, y_name;
  bool x_logarithmic = false, y_logarithmic = false;
  std::vector<PlotSeries> series;
};
std::string svg(const ScatterPlot& plot);

/// Boxes from the lower to the upper quartile with a line at the median and whiskers to the least and greatest, side by
/// side for each category.
struct WhiskerPlot {
  struct Box {
    double least, lower, median, upper, greatest;
    std::size_t count = 0;
  };
  struct Group {
    std::string name;
    std::vector<std::optional<Box>> boxes;  ///< one a category
  };
  std::string title, x_name, y_name;
  std::vector<std::string> categories;
  std::vector<Group> groups;
};
std::string svg(const WhiskerPlot& plot);

}  // namespace holdfast::report
