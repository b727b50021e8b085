#pragma once

#include <cmath>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace holdfast::plan {

/// A number on the page, for people and for programs.
struct Cell {
  std::string text;
  double value = std::numeric_limits<double>::quiet_NaN();  ///< NaN where the text is all there is
};

/// One line of what a recommendation rests on.
struct Fact {
  std::string name;
  Cell cell;
  std::string unit;    ///< of the value: "s", "1/s", "bytes", "bit/s", "share", or empty
  std::string source;  ///< the machine file's line, a paper's section, a model, or "default"
};

struct Table {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;  ///< each as long as columns
};

/// Horizontal bars, each stacked of one value a series.
struct Bars {
  std::string title;
  std::vector<std::string> series;
  struct Bar {
    std::string label;
    std::vector<double> values;  ///< as many as series, >= 0
  };
  std::vector<Bar> bars;
};

struct Section {
  std::string id;  ///< a word for programs: "job", "corruption", "transport", "collective", "fabric"
  std::string title;
  std::vector<std::string> advice;  ///< what to do, one sentence each
  std::vector<Table> tables;
  std::vector<Bars> charts;
  std::vector<Fact> facts;
  std::vector<std::string> notes;  ///< what the numbers leave out
};

/// What `holdfast plan` has to say. A plain value, owned by the caller.
struct Plan {
  std::string title;
  std::string about;
  std::vector<Section> sections;
};

/// A record of the kind holdfast.plan, version 1: docs/spec/plan.md. Infinite values become null.
nlohmann::ordered_json plan_json(const Plan& plan);
/// Plain text for a terminal, at most `width` columns but for words that are longer.
std::string plan_text(const Plan& plan, std::size_t width = 100);
/// One self-contained page, no scripts, nothing loaded.
std::string plan_html(const Plan& plan);

}  // namespace holdfast::plan
