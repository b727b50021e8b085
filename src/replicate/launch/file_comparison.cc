#include "replicate/launch/file_comparison.h"

#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <span>

#include "core/integrity/digester.h"
#include "replicate/engine/file_view.h"
#include "replicate/launch/summary.h"

namespace holdfast::launch {
namespace {

using replicate::FilePlace;
using replicate::FileView;

/// What is found at a path: nothing, a directory, a symbolic link with its text, or a file with its contents.
struct State {
  mode_t type = 0;
  std::uint64_t bytes = 0;
  integrity::Digest digest;
  std::string text;
  friend bool operator==(const State&, const State&) = default;
};

using Stream = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

Stream open_to_read(const std::string& path) {
  return {std::fopen(path.c_str(), "rb"), &std::fclose};
}

State state_of(const FilePlace& place, integrity::Digester& digester) {
  State state;
  if (!place.exists()) return state;
  state.type = place.status.st_mode & S_IFMT;
  if (place.is(S_IFLNK)) {
    std::error_code ignored;
    state.text = std::filesystem::read_symlink(place.path, ignored).string();
  }
  if (!place.is(S_IFREG)) return state;
  digester.init(integrity::Algorithm::xxh3_128);
  const Stream file = open_to_read(place.path);
  if (!file) {
    state.text = std::strerror(errno);
    return state;
  }
  std::vector<std::byte> block(1 << 20);
  while (const std::size_t n = std::fread(block.data(), 1, block.size(), file.get())) {
    digester.update(std::span(block).first(n));
    state.bytes += n;
  }
  state.digest = digester.finish();
  return state;
}

std::int64_t first_difference(const FilePlace& one, const FilePlace& other) {
  if (!one.is(S_IFREG) || !other.is(S_IFREG)) return -1;
  const Stream a = open_to_read(one.path);
  const Stream b = open_to_read(other.path);
  if (!a || !b) return -1;
  std::vector<char> left(1 << 20);
  std::vector<char> right(1 << 20);
  for (std::int64_t at = 0;;) {
    const std::size_t n = std::fread(left.data(), 1, left.size(), a.get());
    const std::size_t m = std::fread(right.data(), 1, right.size(), b.get());
    const std::size_t both = std::min(n, m);
    const auto end = left.begin() + static_cast<std::ptrdiff_t>(both);
    const auto found = std::mismatch(left.begin(), end, right.begin()).first;
    if (found != end || n != m) return at + (found - left.begin());
    if (both == 0) return -1;
    at += static_cast<std::int64_t>(both);
  }
}

bool may_differ(const std::string& path, const std::string& patterns) {
  const std::string name = path.substr(path.rfind('/') + 1);
  for (std::size_t at = 0; at < patterns.size();) {
    const std::size_t end = std::min(patterns.find(':', at), patterns.size());
    const std::string pattern = patterns.substr(at, end - at);
    if (::fnmatch(pattern.c_str(), path.c_str(), 0) == 0 || ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0)
      return true;
    at = end + 1;
  }
  return false;
}

/// The replica whose state more than half share; -1 without one.
int majority(const std::vector<State>& states) {
  for (std::size_t k = 0; k < states.size(); ++k) {
    const auto alike = std::count(states.begin(), states.end(), states[k]);
    if (2 * static_cast<std::size_t>(alike) > states.size()) return static_cast<int>(k);
  }
  return -1;
}

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
    std::vector<FilePlace> places;
    std::vector<State> states;
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
    if (may_differ(path, patterns)) {
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

  static FileDifference judge(const std::vector<State>& states, const std::vector<FilePlace>& places) {
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

  integrity::Digester& digester() { return digester_; }

 private:
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

/// Standard output of the replicas that wrote it to files: all but 0, or all. Standard error has what MPI libraries say,
/// with process ids in it.
void compare_output(const std::string& run_directory, int ranks, const std::vector<int>& replicas,
                    const std::string& patterns, Comparison& comparison, FileComparison& found) {
  for (int rank = 0; rank < ranks; ++rank) {
    std::vector<FilePlace> places;
    std::vector<State> states;
    for (const int k : replicas) {
      FilePlace place;
      place.path = run_directory + "/rank-" + std::to_string(rank) + ".replica-" + std::to_string(k) + ".out";
      if (::lstat(place.path.c_str(), &place.status) != 0)
        continue;  // made at its start by every replica that there is
      place.layer = FilePlace::Layer::real;
      states.push_back(state_of(place, comparison.digester()));
      places.push_back(place);
    }
    if (states.empty()) continue;
    if (std::count(states.begin(), states.end(), states[0]) == static_cast<std::ptrdiff_t>(states.size())) continue;
    if (may_differ(places[0].path, patterns)) {
      ++found.tolerated;
      continue;
    }
    FileDifference difference = Comparison::judge(states, places);
    for (int& index : difference.replicas) index = replicas[static_cast<std::size_t>(index)];
    difference.path = places[0].path;
    found.differences.push_back(std::move(difference));
  }
}

/// Whether replica 0, too, wrote to files, from which its output was shown.
bool relayed_output(const std::string& run_directory) {
  return ::access((run_directory + "/rank-0.replica-0.out").c_str(), F_OK) == 0;
}

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

FileComparison compare_files(const std::string& run_directory, int ranks, const std::vector<int>& replicas,
                             int complete, const std::string& patterns) {
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
  std::vector<int> writers = replicas;
  if (!relayed_output(folder)) std::erase(writers, 0);
  if (writers.size() > 1) compare_output(folder, ranks, writers, patterns, comparison, found);
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
  std::string line = grouped(comparison.paths) + (comparison.paths == 1 ? " path (" : " paths (") +
                     byte_size(comparison.bytes) + ") that the replicas wrote compared, " +
                     grouped(comparison.differences.size()) + " different";
  if (comparison.tolerated > 0) line += ", " + grouped(comparison.tolerated) + " where they may be";
  return line;
}

bool shadows_left(const std::string& run_directory, int degree) {
  for (int k = 1; k < degree; ++k) {
    if (!FileView(run_directory, k).changed().empty()) return true;
  }
  return false;
}

}  // namespace holdfast::launch
