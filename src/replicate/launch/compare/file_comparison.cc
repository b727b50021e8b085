#include "replicate/launch/compare/file_comparison.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>

#include "core/integrity/digester.h"
#include "core/output/amounts.h"
#include "replicate/engine/file_patterns.h"
#include "replicate/launch/compare/file_state.h"
#include "replicate/shadow/file_view.h"

namespace holdfast::launch {
namespace {

using replicate::FilePlace;
using replicate::FileView;

/// Puts the state at `place` where replica 0 left another.
std::string put(const FilePlace& place, const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code failed;
  const bool directory = fs::is_directory(fs::symlink_status(path, failed));
  if (place.is(S_IFDIR)) {
    if (!directory) fs::remove(path, failed);
    fs::create_directories(path, failed);
  } else if (!place.exists() || directory) {
    fs::remove(path, failed);
  }
  if (place.is(S_IFREG)) {
    const int error = replicate::copy_file(place.path, path);
    return error != 0 ? std::strerror(error) : "";
  }
  if (place.is(S_IFLNK)) {
    fs::remove(path, failed);
    fs::copy_symlink(place.path, path, failed);
  }
  return failed ? failed.message() : "";
}

class Comparison {
 public:
  Comparison(const std::vector<FileView>& views, std::vector<int> replicas, std::string folder)
      : views_(views), replicas_(std::move(replicas)), folder_(std::move(folder)) {}

  void look_at(const std::string& path, const std::string& patterns, FileComparison& found) {
    if (is_outsiders(path)) return;
    std::vector<FilePlace> places;
    std::vector<FileState> states;
    for (const FileView& view : views_) {
      places.push_back(view.find(path));
      states.push_back(state_of(places.back(), digester_));
    }
    const bool alike =
        std::count(states.begin(), states.end(), states[0]) == static_cast<std::ptrdiff_t>(states.size());
    if (alike && !views_[0].leader()) {  // replica 0 is gone: what it left is not what there is to be
      const FilePlace left = FileView(folder_, 0).find(path);
      if (state_of(left, digester_) != states[0]) inherit(path, places[0], found);
    }
    if (alike && places[0].is(S_IFDIR) && views_[0].find_before(path).is(S_IFDIR)) return;  // on the way to others
    ++found.paths;
    found.bytes += states[0].bytes;
    if (alike) return;
    if (replicate::fits_a_pattern(path, patterns)) {
      ++found.tolerated;
      return;
    }
    FileDifference difference = judge(states, places);
    difference.path = path;
    const int right = majority(states);
    for (int& index : difference.replicas) index = replicas_[static_cast<std::size_t>(index)];
    const bool in_place = views_[0].leader() && right >= 0 && states[0] == states[static_cast<std::size_t>(right)];
    if (difference.settled && !in_place) {
      difference.problem = put(places[static_cast<std::size_t>(right)], path);
      difference.replaced = difference.problem.empty();
      difference.settled = difference.replaced;
    }
    found.differences.push_back(std::move(difference));
  }

  static FileDifference judge(const std::vector<FileState>& states, const std::vector<FilePlace>& places) {
    FileDifference difference;
    const int right = majority(states);
    const std::size_t against = right < 0 ? 0 : static_cast<std::size_t>(right);
    difference.settled = right >= 0;
    for (std::size_t k = 0; k < states.size(); ++k) {
      if (right >= 0 && states[k] == states[against]) continue;
      difference.replicas.push_back(static_cast<int>(k));
      if (states[k] == states[against]) continue;
      const std::int64_t at = first_difference(places[against], places[k]);
      if (difference.first_difference < 0 || (at >= 0 && at < difference.first_difference))
        difference.first_difference = at;
    }
    return difference;
  }

 private:
  /// What is there now, or is not, is the work of somebody outside: no replica has made it, or all have and none has
  /// removed it.
  bool is_outsiders(const std::string& path) const {
    if (!views_[0].leader()) return false;
    const auto sees_it = [&path](const FileView& view) { return view.find(path).exists(); };
    return (views_[0].made_outside(path) && std::none_of(views_.begin() + 1, views_.end(), sees_it)) ||
           (views_[0].removed_outside(path) && std::all_of(views_.begin() + 1, views_.end(), sees_it));
  }

  /// Puts the state that all have in place of what replica 0 left.
  static void inherit(const std::string& path, const FilePlace& place, FileComparison& found) {
    FileDifference problem;
    problem.problem = put(place, path);
    if (problem.problem.empty()) return;
    problem.path = path;
    found.differences.push_back(std::move(problem));
  }

  const std::vector<FileView>& views_;
  std::vector<int> replicas_;
  std::string folder_;
  integrity::Digester digester_{integrity::Algorithm::xxh3_128};
};

/// What no two replicas disagree about needs no shadow any more.
void remove_shadows(const std::vector<FileView>& views) {
  std::error_code ignored;
  std::filesystem::remove_all(views[0].root(), ignored);
}

}  // namespace

bool FileComparison::settled() const {
  return std::all_of(differences.begin(), differences.end(), [](const FileDifference& d) { return d.settled; });
}

nlohmann::ordered_json FileComparison::record() const {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const FileDifference& difference : differences) {
    nlohmann::ordered_json entry = {{"path", difference.path},
                                    {"replicas", difference.replicas},
                                    {"first_difference", difference.first_difference},
                                    {"corrected", difference.settled}};
    if (!difference.problem.empty()) entry["problem"] = difference.problem;
    list.push_back(std::move(entry));
  }
  return {{"paths", paths}, {"bytes", bytes}, {"tolerated", tolerated}, {"differences", list}};
}

FileComparison compare_files(const std::string& run_directory, const std::vector<int>& replicas, int complete,
                             const std::string& patterns) {
  FileComparison found;
  char whole[4096];
  const std::string folder = ::realpath(run_directory.c_str(), whole) ? whole : run_directory;
  std::vector<FileView> views;
  for (const int k : replicas) {
    if (k < complete) views.emplace_back(folder, k);
  }
  std::set<std::string> paths;
  for (const FileView& view : views) paths.merge(view.changed());
  Comparison comparison(views, replicas, folder);
  if (complete < 2) paths.clear();
  for (const std::string& path : paths) comparison.look_at(path, patterns, found);
  if (found.settled()) remove_shadows(views);
  return found;
}

std::string difference_line(const FileDifference& difference) {
  std::string who;
  for (const int replica : difference.replicas) who += (who.empty() ? "" : ", ") + std::to_string(replica);
  std::string line = "the replicas left " + difference.path + " in different states";
  if (difference.first_difference >= 0) line += ", from byte " + std::to_string(difference.first_difference) + " on";
  if (!difference.problem.empty()) return line + ": the majority's could not take its place: " + difference.problem;
  if (!difference.settled) return line + ": no majority among replicas " + who;
  line += ": replica " + who + " differs from the majority";
  return difference.replaced ? line + ", whose file took the place of replica 0's" : line;
}

std::string comparison_line(const FileComparison& comparison) {
  std::string line = output::grouped(comparison.paths) + (comparison.paths == 1 ? " path (" : " paths (") +
                     output::byte_size(comparison.bytes) + ") that the replicas wrote compared, " +
                     output::grouped(comparison.differences.size()) + " different";
  if (comparison.tolerated > 0) line += ", " + output::grouped(comparison.tolerated) + " where they may be";
  return line;
}

bool shadows_left(const std::string& run_directory, int degree) {
  for (int k = 1; k < degree; ++k) {
    if (!FileView(run_directory, k).changed().empty()) return true;
  }
  return false;
}

}  // namespace holdfast::launch
