#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::report {

/// Horizontal bars from 0 on, grouped by category, a colour a series; as tall as there are bars.
struct BarPlot {
  struct Bar {
    std::size_t series = 0;
    std::optional<double> value{};        ///< none: `words` alone are shown
    std::optional<double> low{}, high{};  ///< an interval
    std::string words;                    ///< behind the bar
  };
  struct Category {
    std::string name;
    std::vector<Bar> bars;
  };
  std::string title, x_name;
  std::vector<std::string> series;
  std::vector<Category> categories;
};

/// SVG without anything from outside. Names that are too long for a line of their place take several.
std::string svg(const BarPlot& plot);

}  // namespace holdfast::report
