#pragma once

#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/status/status.h"

/// Studies: many independent runs that a file declares as the product of lists, kept in one database, and resumed.
namespace holdfast::simulate::study {

using Json = nlohmann::ordered_json;

inline constexpr std::size_t most_points = 1'000'000;  ///< of a study, whose points are all in memory

/// One run of a study. The parameters say everything that its result depends on, with the contents of files and the
/// version of what computes it (provenance.h); `key` is their text, and two points with one key are one run.
struct Point {
  std::string group;
  Json parameters;
  std::string key;
};

/// What became of a run. An engine that refuses or a deadlock is an outcome like any other.
struct Finished {
  std::string outcome;  ///< "measured", or why there is no measurement
  Json result;
  double cpu_s = 0;  ///< spent on it; what it shares with earlier runs of the same process was spent on those
};

/// A study of any kind. Const members may be called from any number of processes that forked off, one thread each.
class Study {
 public:
  virtual ~Study() = default;

  std::string name;
  std::string kind;   ///< one of kind_names
  std::string title;  ///< one line
  std::string text;   ///< the file
  std::vector<Point> points;

  /// Runs points[index]. Depends on nothing but its parameters. Errors are those of the installation or of files that
  /// the study names: they end the study.
  virtual Result<Finished> run(std::size_t index) const = 0;
};

inline constexpr std::string_view kind_names[] = {"throughput", "collectives", "prediction"};

/// What kind of study the text says that it is, "throughput" where it says nothing. Error (bad_input): it is no TOML.
Result<std::string> kind_of(std::string_view text, std::string_view name);

/// Reads a study of throughput or of collectives, as its [study] says (docs/spec/study.md); predictions are read by
/// simulate/predict. `name` says in messages where the text is
/// from. Errors (bad_input): one line with the place and a hint.
Result<std::unique_ptr<Study>> read_any_study(std::string_view text, std::string_view name);

/// The two kinds (throughput_study.cc, collective_study.cc).
Result<std::unique_ptr<Study>> read_throughput_study(std::string_view text, std::string_view name);
Result<std::unique_ptr<Study>> read_collective_study(std::string_view text, std::string_view name);

/// CPU time of this thread and of the children that it has waited for, in seconds.
double cpu_seconds();

}  // namespace holdfast::simulate::study
