#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::replicate {

/// Where one replica finds what a path names.
struct FilePlace {
  enum class Layer {
    none,    ///< nothing there
    shadow,  ///< this replica wrote it
    kept,    ///< the leader changed it since; this is how it was before the job
    real,    ///< untouched, or the leader's own
  };
  Layer layer = Layer::none;
  std::string path;       ///< the file on disk; where it would be, with none
  struct stat status {};  ///< of the file itself, not of what a symbolic link names

  bool exists() const { return layer != Layer::none; }
  bool is(mode_t type) const { return exists() && (status.st_mode & S_IFMT) == type; }
};

/// What is about to happen to a path.
enum class Change {
  contents,  ///< written in place
  emptied,   ///< truncated to nothing while it is opened
  name,      ///< created or replaced
  removal,   ///< removed, or renamed
};

/// Where to make a change that was prepared.
struct Prepared {
  std::string path;
  bool replaced = false;   ///< the leader's file is a new one since now
  bool marked = false;     ///< what is made at this path from now on, the leader's ranks aside, is an outsider's
  bool made = false;       ///< what was there was made by the leader, in a directory that it had made
  bool outsiders = false;  ///< what was there was one's already: see made_outside()
};

/// The file system as one replica sees it (docs/design/files.md): as it was when the job began, and this replica's own
/// changes on top. Replica 0, the leader, changes the real files, and keeps what was there before; the others change a
/// shadow of theirs, shared by all ranks of the replica. Below <run directory>/holdfast-files:
///
///   base/kept/<path>       how a path was that the leader changed
///   base/new/<path>        a directory with a mark in it: the leader made this path, for the first time or again
///   base/made/<path>       a file or a directory: the leader made this path in a directory that it had made
///   base/generation        grows by a byte when another path may be an outsider's from then on
///   base/removed/<path>    a directory with a mark in it: the leader removed this path, and has not made it again
///   base/alone/<path>      a directory with a mark in it: the leader changed it where replicas do not agree on calls
///   replica-<k>/shadow/<path>, replica-<k>/gone/<path>   what replica k wrote, and what it removed
///   replica-<k>/common/<path>   MPI-IO has used this path, and what is there is there for all replicas: a directory
///   with
///                          a mark in it, of replica k and of the leader. The leader's is gone when it changes the path
///                          by other means, and keeps it as it was then
///   replica-<k>/locks/<path>   a copy of a file from before the job, which ranks of replica k lock
///   replica-<k>/stand-ins/<n>/<path>   an empty directory, for those who open one that only the leader sees
///   lock                   held while a path is changed for the first time
///
/// Paths are absolute. Errors are those of errno(3), 0 for none, because programs get them as they are. Any thread, any
/// process; system calls only, so the caller sees to it that they are not taken for the program's.
class FileView {
 public:
  FileView(const std::string& run_directory, int replica);

  int replica() const { return replica_; }
  bool leader() const { return replica_ == 0; }
  const std::string& root() const { return root_; }

  /// The path as the program names it: what is in a shadow, what the leader kept, and what stands in for a directory
  /// are what they are of.
  std::string program_path(const std::string& path) const;

  /// Follows the symbolic links in an absolute path as this replica sees them, the last one only with `follow`. What it
  /// comes to need not exist, but its parent must: ENOENT, ENOTDIR, ELOOP.
  int resolve(const std::string& path, bool follow, std::string& resolved) const;
  /// What a resolved path names.
  FilePlace find(const std::string& path) const;
  /// The same before the job began.
  FilePlace find_before(const std::string& path) const;
  /// Names in a directory, without . and .., and the run directory.
  std::set<std::string> list(const std::string& path) const;
  /// Whether this replica may see something else in a directory than what is in it on disk. To be asked after that was
  /// read: what the leader does to it meanwhile is told.
  bool differs_from_disk(const std::string& path) const;
  /// An empty directory for a program that opens one which only the leader sees. Not for the leader.
  int make_stand_in(const std::string& path, std::string& folder) const;

  /// Gets ready for the first change of `path`, and says where to make it: the leader keeps what is there, another
  /// replica brings it into its shadow. EACCES and the like where the program may not make the change.
  int prepare(const std::string& path, Change change, Prepared& prepared) const;
  /// The change that prepare() was for did not come about: the leader's file is put back.
  void undo(const std::string& path, const Prepared& prepared) const;
  /// Removes a name from a shadow; what was there before the job is hidden from now on. Not for the leader.
  int hide(const std::string& path, bool directory) const;
  /// rename(2) in the shadow. Not for the leader.
  int move(const std::string& from, const std::string& to) const;

  /// MPI-IO uses this path from here on: what this replica had made of it is forgotten, and it sees what is there for
  /// all, as MPI-IO changes it, until the leader makes another change.
  int make_common(const std::string& path) const;
  /// Whether this replica has changed the path since the job began, or since it was made common.
  bool changed_here(const std::string& path) const;

  /// A copy of what is there, for this replica's ranks to lock: made once. Not for the leader.
  int copy_to_lock(const std::string& path, std::string& copy) const;
  /// Whether neither this replica nor MPI-IO has changed what this replica sees there: a change is an outsider's.
  bool as_before_job(const std::string& path) const;

  /// Whether somebody outside the job has made what is there now where only the leader sees it: after the leader had
  /// removed a file, as programs do that talk to each other, or in a directory that the leader had made.
  bool made_outside(const std::string& path) const;
  /// The same of what the leader has just found there, though it may be gone.
  bool is_outsiders(const std::string& path) const;
  /// Whether somebody outside the job has removed what the leader had made or changed there, which has made no change
  /// to it alone.
  bool removed_outside(const std::string& path) const;
  /// The leader changes a path, and no other replica compares that with what it does itself. 0 or errno.
  int note_alone(const std::string& path) const;
  /// Where another path may be an outsider's from now on, the number is another one; 0: none is. Quickly told.
  std::uint64_t outside_generation() const;
  /// Makes it another one: the leader is making a directory.
  void new_generation() const;
  /// What was made below `from` has been moved by the leader.
  void move_made(const std::string& from, const std::string& to) const;

  /// Every path that this replica created, changed or removed, as far as the folders show it; parents first.
  std::set<std::string> changed() const;

 private:
  struct Cursor;
  FilePlace step(Cursor& cursor, std::string_view name, bool own) const;
  FilePlace walk(const std::string& path, bool own) const;
  bool common(const std::string& path) const;
  bool kept_already(const std::string& path) const;
  void note_removal(const std::string& path, const FilePlace& now, Prepared& prepared) const;
  bool in_made_directory(const std::string& path) const;
  void note_made_again(const std::string& path) const;
  void note_made(const std::string& path) const;
  void note_below(const std::string& folder) const;
  int keep(const std::string& path, Change change, Prepared& prepared) const;
  int keep_common(const std::string& path, Change change) const;
  int keep_file(const std::string& path, const struct stat& status, Change change, Prepared& prepared) const;
  int keep_special(const std::string& path, const struct stat& status) const;
  int bring_up(const std::string& path, Change change) const;

  std::string run_directory_;
  std::string root_;
  std::string kept_;
  std::string new_;
  std::string made_;
  std::string removed_;
  std::string generation_;
  std::string alone_;
  std::string shadow_;
  std::string gone_;
  std::string common_;
  std::string leaders_common_;
  std::string stand_ins_;
  int replica_;
};

/// Without ., .., empty parts and a slash at the end. Absolute.
std::string normal_path(std::string_view path);

/// Copies a regular file with its permissions; `to` is whole or not there. 0 or errno.
int copy_file(const std::string& from, const std::string& to);

}  // namespace holdfast::replicate
