#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace holdfast::launch {

/// A path that the replicas of a job left in different states.
struct FileDifference {
  std::string path;
  std::vector<int> replicas;           ///< those that differ from the majority; all of them where there is none
  std::int64_t first_difference = -1;  ///< byte from 0; -1 where one of them is no file
  bool settled = false;                ///< a majority's state is what is there now
  bool replaced = false;               ///< it is not what replica 0 had left
  std::string problem;                 ///< why the majority's file could not be put there
};

struct FileComparison {
  std::uint64_t paths = 0;  ///< that any replica created, changed or removed
  std::uint64_t bytes = 0;  ///< of the files among them, once each
  std::uint64_t tolerated = 0;
  std::vector<FileDifference> differences;

  bool settled() const;
  /// For the record: {paths, bytes, tolerated, differences: [{path, replicas, first_difference, corrected, problem}]}.
  nlohmann::ordered_json record() const;
};

/// Compares what the replicas of a job that has ended did to files (docs/design/files.md): every path that one of them
/// created, changed or removed is looked at as each of them sees it. Where more than half agree and replica 0 is not
/// among them, theirs takes the place of its file. `patterns`: of files that may differ, as fnmatch(3) has them, for
/// names or whole paths, with ':' between them. Shadows are removed unless there is a difference without a majority.
///
/// `complete`: how many replicas every rank has, whose files are compared; those of a replica that some ranks lack are
/// not.
///
/// `replicas`: those that are left, ascending. Where replica 0 is not among them, the first one's files, or the
/// majority's, take the place of what it left.
FileComparison compare_files(const std::string& run_directory, const std::vector<int>& replicas, int complete,
                             const std::string& patterns);

/// "the replicas left /data/restart.dat in different states from byte 17 on: replica 1 differs, the others' is kept".
std::string difference_line(const FileDifference& difference);

/// "12 files and directories (1.2 MB) compared, 1 differs".
std::string comparison_line(const FileComparison& comparison);

/// True when a run directory holds files that replicas other than 0 wrote.
bool shadows_left(const std::string& run_directory, int degree);

}  // namespace holdfast::launch
