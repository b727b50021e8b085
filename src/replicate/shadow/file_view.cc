#include "replicate/shadow/file_view.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <functional>
#include <system_error>

namespace holdfast::replicate {

namespace {

/// The name of a mark. A directory of its own holds it, so that marks fit into a tree of the paths they are for.
constexpr const char* mark = "/.holdfast-mark";
constexpr int most_links = 40;  // path_resolution(7)

bool look(const std::string& path, struct stat& status) {
  return ::lstat(path.c_str(), &status) == 0;
}

bool there(const std::string& path) {
  struct stat status {};
  return look(path, status);
}

bool is_directory(const struct stat& status) {
  return S_ISDIR(status.st_mode);
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

std::string link_target(const std::string& path) {
  char text[PATH_MAX];
  const ssize_t length = ::readlink(path.c_str(), text, sizeof text);
  return length > 0 ? std::string(text, static_cast<std::size_t>(length)) : std::string();
}

int make_directories(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) == 0 || errno == EEXIST) return 0;
  if (errno != ENOENT || path.size() < 2) return errno;
  if (const int error = make_directories(parent_of(path))) return error;
  return ::mkdir(path.c_str(), 0777) == 0 || errno == EEXIST ? 0 : errno;
}

int make_parents(const std::string& path) {
  return make_directories(parent_of(path));
}

int set_mark(const std::string& folder) {
  if (const int error = make_directories(folder)) return error;
  const int file = ::open((folder + mark).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) return errno;
  ::close(file);
  return 0;
}

void for_each_name(const std::string& folder, const std::function<void(const std::string&)>& visit) {
  DIR* directory = ::opendir(folder.c_str());
  if (!directory) return;
  while (const dirent* entry = ::readdir(directory)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") visit(name);
  }
  ::closedir(directory);
}

void remove_tree(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

/// One process of the job at a time, on whichever host.
class Lock {
 public:
  explicit Lock(const std::string& root) {
    (void)make_directories(root);
    file_ = ::open((root + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    struct flock whole {};
    whole.l_type = F_WRLCK;
    while (file_ >= 0 && ::fcntl(file_, F_OFD_SETLKW, &whole) != 0 && errno == EINTR) {
    }
  }
  ~Lock() {
    if (file_ >= 0) ::close(file_);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int file_ = -1;
};

int copy_bytes(int from, int to) {
  for (bool by_kernel = true;;) {
    if (by_kernel) {
      const ssize_t moved = ::copy_file_range(from, nullptr, to, nullptr, std::size_t{1} << 30, 0);
      if (moved == 0) return 0;
      if (moved > 0) continue;
      by_kernel = false;  // not between these file systems
    }
    char block[1 << 16];
    const ssize_t read = ::read(from, block, sizeof block);
    if (read == 0) return 0;
    if (read < 0 && errno != EINTR) return errno;
    for (ssize_t written = 0; written < read;) {
      const ssize_t more = ::write(to, block + written, static_cast<std::size_t>(read - written));
      if (more < 0 && errno != EINTR) return errno;
      if (more > 0) written += more;
    }
  }
}

/// Extended attributes, access control lists among them, as far as the file system there takes them.
void copy_attributes(int from, int to) {
  const ssize_t room = ::flistxattr(from, nullptr, 0);
  if (room <= 0) return;
  std::string names(static_cast<std::size_t>(room), '\0');
  const ssize_t length = ::flistxattr(from, names.data(), names.size());
  names.resize(static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
  std::string value(XATTR_SIZE_MAX, '\0');
  for (std::size_t at = 0; at < names.size(); at += std::strlen(&names[at]) + 1) {
    const ssize_t size = ::fgetxattr(from, &names[at], value.data(), value.size());
    if (size >= 0) (void)::fsetxattr(to, &names[at], value.data(), static_cast<std::size_t>(size), 0);
  }
}

/// A file of the same owner, permissions and attributes beside `path`, or in another place, with or without the
/// contents.
int draft_of(const std::string& from, const std::string& draft, bool contents) {
  const int source = ::open(from.c_str(), O_RDONLY | O_CLOEXEC);
  if (source < 0) return errno;
  struct stat status {};
  int error = ::fstat(source, &status) == 0 ? 0 : errno;
  const int copy = error ? -1 : ::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (!error && copy < 0) error = errno;
  if (!error && contents) error = copy_bytes(source, copy);
  if (!error && (status.st_uid != ::geteuid() || status.st_gid != ::getegid()) &&
      ::fchown(copy, status.st_uid, status.st_gid) != 0) {
    error = errno;
  }
  if (!error && ::fchmod(copy, status.st_mode & 07777) != 0) error = errno;
  if (!error) copy_attributes(source, copy);
  if (copy >= 0 && ::close(copy) != 0 && !error) error = errno;
  ::close(source);
  if (error && copy >= 0) ::unlink(draft.c_str());
  return error;
}

int replace_with_copy(const std::string& from, const std::string& to, bool contents, const std::string& draft) {
  if (const int error = draft_of(from, draft, contents)) return error;
  if (::rename(draft.c_str(), to.c_str()) == 0) return 0;
  const int error = errno;
  ::unlink(draft.c_str());
  return error;
}

int copy_link(const std::string& from, const std::string& to) {
  return ::symlink(link_target(from).c_str(), to.c_str()) == 0 || errno == EEXIST ? 0 : errno;
}

/// A pipe, or the file of a socket, like that one.
int make_special(const std::string& path, const struct stat& status) {
  return ::mknod(path.c_str(), status.st_mode, status.st_rdev) == 0 || errno == EEXIST ? 0 : errno;
}

}  // namespace

/// Goes down a path, and knows which of the trees reach as far.
struct FileView::Cursor {
  std::string at;
  bool shadow_reaches = true;
  bool gone_reaches = true;
  bool gone = false;
  bool common_reaches = true;
  bool kept_reaches = true;
  bool new_reaches = true;
  bool made = false;  ///< by the leader
};

FileView::FileView(const std::string& run_directory, int replica)
    : run_directory_(run_directory),
      root_(run_directory + "/holdfast-files"),
      kept_(root_ + "/base/kept"),
      new_(root_ + "/base/new"),
      made_(root_ + "/base/made"),
      removed_(root_ + "/base/removed"),
      generation_(root_ + "/base/generation"),
      alone_(root_ + "/base/alone"),
      shadow_(root_ + "/replica-" + std::to_string(replica) + "/shadow"),
      gone_(root_ + "/replica-" + std::to_string(replica) + "/gone"),
      common_(root_ + "/replica-" + std::to_string(replica) + "/common"),
      leaders_common_(root_ + "/replica-0/common"),
      stand_ins_(root_ + "/replica-" + std::to_string(replica) + "/stand-ins"),
      replica_(replica) {}

std::string normal_path(std::string_view path) {
  std::string normal;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view part = path.substr(at, end - at);
    if (part == "..") {
      const std::size_t slash = normal.rfind('/');
      normal.erase(slash == std::string::npos ? 0 : slash);
    } else if (!part.empty() && part != ".") {
      normal += '/';
      normal += part;
    }
    at = end + 1;
  }
  return normal.empty() ? "/" : normal;
}

std::string FileView::program_path(const std::string& path) const {
  const auto below = [&](const std::string& tree) { return path == tree || path.starts_with(tree + "/"); };
  std::size_t end = 0;
  if (below(shadow_)) end = shadow_.size();
  if (below(kept_)) end = kept_.size();
  if (below(stand_ins_)) end = path.find('/', stand_ins_.size() + 1);
  return end >= path.size() ? "/" : path.substr(end);
}

FilePlace FileView::step(Cursor& cursor, std::string_view name, bool own) const {
  cursor.at += '/';
  cursor.at += name;
  const std::string& at = cursor.at;
  FilePlace place;
  if (own && leader()) {
    place.path = at;
    if (look(at, place.status)) place.layer = FilePlace::Layer::real;
    return place;
  }
  // The real file before what tells whether the leader changed it: who finds nothing told has seen it unchanged.
  struct stat real {};
  const bool real_there = look(at, real);
  if (own && cursor.shadow_reaches) {
    if (look(shadow_ + at, place.status)) {
      place.layer = FilePlace::Layer::shadow;
      place.path = shadow_ + at;
    }
    cursor.shadow_reaches = place.is(S_IFDIR);
  }
  bool gone_itself = false;
  if (own && cursor.gone_reaches) {
    cursor.gone_reaches = there(gone_ + at);
    gone_itself = cursor.gone_reaches && there(gone_ + at + mark);
    cursor.gone = cursor.gone || gone_itself;
  }
  bool common = false;
  if (cursor.common_reaches) {
    cursor.common_reaches = there(common_ + at);
    common = cursor.common_reaches && there(common_ + at + mark) && (leader() || there(leaders_common_ + at + mark));
  }
  struct stat kept {};
  cursor.kept_reaches = cursor.kept_reaches && look(kept_ + at, kept);
  if (cursor.new_reaches && !cursor.made) {
    cursor.new_reaches = there(new_ + at);
    cursor.made = cursor.new_reaches && there(new_ + at + mark);
  }
  if (place.exists() || gone_itself || (cursor.gone && !common)) return place;
  if (common) {
    if (real_there) place = {FilePlace::Layer::real, at, real};
  } else if (cursor.kept_reaches) {
    place = {FilePlace::Layer::kept, kept_ + at, kept};
    if (is_directory(kept) && real_there && is_directory(real)) place = {FilePlace::Layer::real, at, real};
  } else if (!cursor.made && real_there) {
    place = {FilePlace::Layer::real, at, real};
  }
  return place;
}

FilePlace FileView::walk(const std::string& path, bool own) const {
  if (path == "/") {
    FilePlace place{FilePlace::Layer::real, path, {}};
    (void)look(path, place.status);
    return place;
  }
  Cursor cursor;
  FilePlace place;
  for (std::size_t at = 1; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    place = step(cursor, std::string_view(path).substr(at, end - at), own);
    if (end < path.size() && !place.is(S_IFDIR)) return {};
    at = end + 1;
  }
  return place;
}

FilePlace FileView::find(const std::string& path) const {
  return walk(path, true);
}

FilePlace FileView::find_before(const std::string& path) const {
  return walk(path, false);
}

int FileView::resolve(const std::string& path, bool follow, std::string& resolved) const {
  std::vector<Cursor> above(1);  // the root, and each directory on the way
  std::string rest = path;
  int links = 0;
  bool found = true;
  bool directory = true;
  for (std::size_t at = 0; at < rest.size();) {
    const std::size_t end = std::min(rest.find('/', at), rest.size());
    const std::string name = rest.substr(at, end - at);
    const bool last = rest.find_first_not_of('/', end) == std::string::npos;
    at = end + 1;
    if (name.empty() || name == ".") continue;
    if (!found) return ENOENT;
    if (!directory) return ENOTDIR;
    if (name == "..") {
      if (above.size() > 1) above.pop_back();
      continue;
    }
    Cursor next = above.back();
    const FilePlace place = step(next, name, true);
    if (place.is(S_IFLNK) && (follow || !last)) {
      if (++links > most_links) return ELOOP;
      const std::string target = link_target(place.path);
      if (target.starts_with('/')) above.resize(1);
      rest = target + (last ? "" : "/" + rest.substr(std::min(at, rest.size())));
      at = 0;
      continue;
    }
    found = place.exists();
    directory = place.is(S_IFDIR);
    above.push_back(std::move(next));
  }
  resolved = above.back().at.empty() ? "/" : above.back().at;
  if (path.ends_with('/') && found && !directory) return ENOTDIR;
  return 0;
}

std::set<std::string> FileView::list(const std::string& path) const {
  std::set<std::string> names;
  const std::string folder = path == "/" ? "" : path;
  const auto consider = [&](const std::string& name) {
    const std::string at = folder + "/" + name;
    if (!names.contains(name) && at != run_directory_ && find(at).exists()) names.insert(name);
  };
  for_each_name(path, consider);
  if (leader()) return names;
  for_each_name(kept_ + folder, consider);
  for_each_name(shadow_ + folder, consider);
  return names;
}

bool FileView::differs_from_disk(const std::string& path) const {
  if (leader()) return false;
  return there(shadow_ + path) || there(gone_ + path) || there(kept_ + path) || there(new_ + path);
}

int FileView::make_stand_in(const std::string& path, std::string& folder) const {
  static std::atomic<unsigned> made{0};
  folder = stand_ins_ + "/" + std::to_string(::syscall(SYS_getpid)) + "-" + std::to_string(++made) + path;
  return make_directories(folder);
}

int FileView::prepare(const std::string& path, Change change, Prepared& prepared) const {
  prepared = {leader() ? path : shadow_ + path, false};
  const FilePlace now = find(path);
  const bool in_place = change == Change::contents || change == Change::emptied;
  if (now.is(S_IFREG) && in_place && ::access(now.path.c_str(), W_OK) != 0) return errno;
  if (now.exists() && !now.is(S_IFREG) && in_place) {  // directories, devices, pipes: as they are
    prepared.path = now.path;
    return 0;
  }
  if (!now.exists() || !in_place) {
    const FilePlace folder = find(parent_of(path));
    if (!folder.exists()) return ENOENT;
    if (!folder.is(S_IFDIR)) return ENOTDIR;
    if (::access(folder.path.c_str(), W_OK | X_OK) != 0) return errno;
  }
  if (!leader()) return bring_up(path, change);
  if (change == Change::removal) {
    note_removal(path, now, prepared);
  } else {
    if (there(removed_ + path)) note_made_again(path);
    if ((!now.exists() || !in_place) && in_made_directory(path)) note_made(path);
  }
  if (kept_already(path)) return 0;
  const Lock lock(root_);
  const int error = keep(path, in_place ? change : Change::name, prepared);
  if (error != 0) undo(path, prepared);
  return error;
}

/// What is there at that moment may be gone at the next, or come: marks and notes tell whose it is.
void FileView::note_removal(const std::string& path, const FilePlace& now, Prepared& prepared) const {
  prepared.outsiders = is_outsiders(path);
  prepared.made = ::remove((made_ + path).c_str()) == 0;
  prepared.marked = (now.exists() || prepared.outsiders) && set_mark(removed_ + path) == 0;
  if (prepared.made || prepared.marked) new_generation();
}

bool FileView::common(const std::string& path) const {
  return there(common_ + path + mark) && (leader() || there(leaders_common_ + path + mark));
}

bool FileView::changed_here(const std::string& path) const {
  return leader() ? kept_already(path) : there(shadow_ + path) || there(gone_ + path + mark);
}

int FileView::copy_to_lock(const std::string& path, std::string& copy) const {
  const std::string own = root_ + "/replica-" + std::to_string(replica_);
  copy = own + "/locks" + path;
  const Lock lock(own);
  if (there(copy)) return 0;
  if (const int error = make_parents(copy)) return error;
  return copy_file(find(path).path, copy);
}

bool FileView::made_outside(const std::string& path) const {
  return there(path) && is_outsiders(path);
}

bool FileView::is_outsiders(const std::string& path) const {
  if (common(path)) return false;
  return there(removed_ + path + mark) || (!there(made_ + path) && in_made_directory(path));
}

/// One that the leader has made, or moved; or that somebody outside has made where the leader had removed one.
bool FileView::in_made_directory(const std::string& path) const {
  for (const std::string& tree : {new_, removed_}) {
    for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
      const std::string folder = tree + path.substr(0, at);
      if (!there(folder)) break;
      if (there(folder + mark)) return true;
    }
  }
  return false;
}

/// In the place of what the leader had removed: if it is a directory, nothing in it is from before the job.
void FileView::note_made_again(const std::string& path) const {
  remove_tree(removed_ + path);
  (void)set_mark(new_ + path);
}

/// Best effort: what is not noted is compared less strictly where no other replica has it, and otherwise as ever.
void FileView::note_made(const std::string& path) const {
  const std::string note = made_ + path;
  const auto make = [&note] { return ::mknod(note.c_str(), S_IFREG | 0600, 0) == 0 || errno == EEXIST; };
  if (make()) return;
  for (std::size_t at = made_.size(); at != std::string::npos; at = note.find('/', at + 1)) {
    const std::string folder = note.substr(0, at);
    if (::mkdir(folder.c_str(), 0777) == 0 || errno != EEXIST) continue;
    struct stat status {};
    if (!look(folder, status) || is_directory(status)) continue;
    (void)::unlink(folder.c_str());  // it stood for a directory in which nothing had been made
    (void)::mkdir(folder.c_str(), 0777);
  }
  (void)make();
}

/// From before the job, and where it was moved to the job's.
void FileView::note_below(const std::string& folder) const {
  struct stat status {};
  if (!look(folder, status) || !is_directory(status)) return;
  for_each_name(folder, [&](const std::string& name) {
    note_made(folder + "/" + name);
    note_below(folder + "/" + name);
  });
}

void FileView::new_generation() const {
  (void)make_parents(generation_);
  const int file = ::open(generation_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return;
  (void)!::write(file, "+", 1);
  ::close(file);
}

void FileView::move_made(const std::string& from, const std::string& to) const {
  struct stat status {};
  if (look(to, status) && is_directory(status)) new_generation();
  if (!there(made_ + from)) return note_below(to);
  remove_tree(made_ + to);
  if (make_parents(made_ + to) == 0) (void)::rename((made_ + from).c_str(), (made_ + to).c_str());
}

bool FileView::removed_outside(const std::string& path) const {
  struct stat kept {};
  const bool changed = there(new_ + path + mark) || there(made_ + path) ||  // not what is above it alone
                       (look(kept_ + path, kept) && !is_directory(kept));
  return changed && !there(path) && !there(alone_ + path + mark) && !common(path);
}

int FileView::note_alone(const std::string& path) const {
  return there(alone_ + path + mark) ? 0 : set_mark(alone_ + path);
}

std::uint64_t FileView::outside_generation() const {
  struct stat status {};
  return look(generation_, status) ? static_cast<std::uint64_t>(status.st_size) : 0;
}

bool FileView::as_before_job(const std::string& path) const {
  if (common(path)) return false;
  return leader() ? !kept_already(path) : find(path).layer == FilePlace::Layer::real;
}

int FileView::make_common(const std::string& path) const {
  const Lock lock(leader() ? root_ : root_ + "/replica-" + std::to_string(replica_));
  if (!leader()) {
    struct stat status {};
    if (look(shadow_ + path, status) && !is_directory(status) && ::unlink((shadow_ + path).c_str()) != 0) return errno;
    if (::unlink((gone_ + path + mark).c_str()) != 0 && errno != ENOENT && errno != ENOTDIR) return errno;
  }
  return set_mark(common_ + path);
}

bool FileView::kept_already(const std::string& path) const {
  if (common(path)) return false;
  Cursor cursor;
  for (std::size_t at = 1; at <= path.size() && !cursor.made;) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    (void)step(cursor, std::string_view(path).substr(at, end - at), false);
    at = end + 1;
  }
  struct stat kept {};
  return cursor.made || (look(kept_ + path, kept) && !is_directory(kept));
}

int FileView::keep(const std::string& path, Change change, Prepared& prepared) const {
  if (path == run_directory_ || kept_already(path)) return 0;
  if (common(path)) return keep_common(path, change);
  struct stat status {};
  if (!look(path, status)) return errno == ENOENT ? set_mark(new_ + path) : errno;
  if (is_directory(status)) {
    int error = make_directories(kept_ + path);
    for_each_name(path, [&](const std::string& name) {
      if (!error) error = keep(path + "/" + name, Change::name, prepared);
    });
    return error;
  }
  if (const int error = make_parents(kept_ + path)) return error;
  if (S_ISLNK(status.st_mode)) return copy_link(path, kept_ + path);
  if (S_ISREG(status.st_mode)) return keep_file(path, status, change, prepared);
  return change == Change::name ? keep_special(path, status) : 0;
}

/// What followers are to see from now on in place of the common file. That stays where it is, since MPI may have it
/// open.
int FileView::keep_common(const std::string& path, Change change) const {
  const std::string kept = kept_ + path;
  (void)::unlink(kept.c_str());
  (void)::unlink((new_ + path + mark).c_str());
  struct stat status {};
  int error = 0;
  if (!look(path, status)) {
    error = errno == ENOENT ? set_mark(new_ + path) : errno;
  } else if (S_ISREG(status.st_mode)) {
    error = make_parents(kept);
    const bool linked = !error && change == Change::name && ::link(path.c_str(), kept.c_str()) == 0;
    if (!error && !linked) error = replace_with_copy(path, kept, true, root_ + "/draft-0");
  }
  if (!error && ::unlink((common_ + path + mark).c_str()) != 0) error = errno;
  return error;
}

/// A new file takes the place of one that is about to be written, so that whoever reads the old one goes on reading it.
/// A file with several names must stay the same for all of them; there the copy is what is kept.
int FileView::keep_file(const std::string& path, const struct stat& status, Change change, Prepared& prepared) const {
  const std::string kept = kept_ + path;
  const std::string draft = root_ + "/draft-0";
  if (change == Change::name && ::link(path.c_str(), kept.c_str()) == 0) return 0;
  if (change != Change::name && status.st_nlink == 1 && ::link(path.c_str(), kept.c_str()) == 0) {
    prepared.replaced = replace_with_copy(path, path, change == Change::contents, draft) == 0;
    if (prepared.replaced) return 0;
    ::unlink(kept.c_str());
  }
  return replace_with_copy(path, kept, true, draft);
}

/// Pipes and sockets: what matters to those who remove or rename them later is that they were there.
int FileView::keep_special(const std::string& path, const struct stat& status) const {
  const std::string kept = kept_ + path;
  return ::link(path.c_str(), kept.c_str()) == 0 ? 0 : make_special(kept, status);
}

void FileView::undo(const std::string& path, const Prepared& prepared) const {
  if (prepared.replaced) (void)::rename((kept_ + path).c_str(), path.c_str());
  if (prepared.marked && !prepared.outsiders) remove_tree(removed_ + path);
  if (prepared.made) note_made(path);
}

int FileView::bring_up(const std::string& path, Change change) const {
  const std::string shadow = shadow_ + path;
  if (there(shadow)) return 0;
  const std::string own = root_ + "/replica-" + std::to_string(replica_);
  const Lock lock(own);
  if (there(shadow)) return 0;
  if (const int error = make_parents(shadow)) return error;
  if (change == Change::name) return 0;
  if (!find(path).is(S_IFREG)) return 0;
  for (;;) {  // again, when the leader changes the file meanwhile; not from the copy that has been made by then
    const FilePlace before = find_before(path);
    const int error =
        before.is(S_IFREG) ? replace_with_copy(before.path, shadow, change == Change::contents, own + "/draft") : 0;
    if (find_before(path).path == before.path) return error;
  }
}

int FileView::hide(const std::string& path, bool directory) const {
  const Lock lock(root_ + "/replica-" + std::to_string(replica_));
  const FilePlace now = find(path);
  if (!now.exists()) return ENOENT;
  if (directory && !now.is(S_IFDIR)) return ENOTDIR;
  if (!directory && now.is(S_IFDIR)) return EISDIR;
  if (directory && !list(path).empty()) return ENOTEMPTY;
  if (find_before(path).exists()) {
    if (const int error = set_mark(gone_ + path)) return error;
  }
  const std::string shadow = shadow_ + path;
  const bool done = !there(shadow) || (directory ? ::rmdir(shadow.c_str()) : ::unlink(shadow.c_str())) == 0;
  return done ? 0 : errno;
}

int FileView::move(const std::string& from, const std::string& to) const {
  const FilePlace source = find(from);
  const FilePlace target = find(to);
  if (!source.exists()) return ENOENT;
  if (from == to) return 0;
  if (to.starts_with(from + "/")) return EINVAL;
  if (source.is(S_IFDIR)) {
    if (target.exists() && !target.is(S_IFDIR)) return ENOTDIR;
    if (target.exists() && !list(to).empty()) return ENOTEMPTY;
    if (const int error = make_directories(shadow_ + to)) return error;
    for (const std::string& name : list(from)) {
      if (const int error = move(from + "/" + name, to + "/" + name)) return error;
    }
    return hide(from, true);
  }
  if (target.is(S_IFDIR)) return EISDIR;
  int error = make_parents(shadow_ + to);
  if (!error && source.layer != FilePlace::Layer::shadow) {
    error = make_parents(shadow_ + from);
    if (!error && source.is(S_IFREG)) error = bring_up(from, Change::contents);
    if (!error && source.is(S_IFLNK)) error = copy_link(source.path, shadow_ + from);
    if (!error && !source.is(S_IFREG) && !source.is(S_IFLNK)) error = make_special(shadow_ + from, source.status);
  }
  if (error) return error;
  const bool before = find_before(from).exists();
  const Lock lock(root_ + "/replica-" + std::to_string(replica_));
  if (before) error = set_mark(gone_ + from);
  if (!error && ::rename((shadow_ + from).c_str(), (shadow_ + to).c_str()) != 0) error = errno;
  return error;
}

std::set<std::string> FileView::changed() const {
  std::set<std::string> paths;
  std::function<void(const std::string&, const std::string&, bool)> collect = [&](const std::string& tree,
                                                                                  const std::string& at, bool marks) {
    for_each_name(tree + at, [&](const std::string& name) {
      const std::string path = at + "/" + name;
      if ("/" + name == mark) {
        if (marks) paths.insert(at);
        return;
      }
      struct stat status {};
      if (!look(tree + path, status)) return;
      if (!marks) paths.insert(path);
      if (is_directory(status)) collect(tree, path, marks);
    });
  };
  if (!leader()) {
    collect(shadow_, "", false);
    collect(gone_, "", true);
    return paths;
  }
  collect(kept_, "", false);
  collect(new_, "", true);
  const std::set<std::string> made = paths;  // what is in a directory of the leader's bears no mark of its own
  for (const std::string& path : made) {
    struct stat status {};
    if (look(path, status) && is_directory(status) && there(new_ + path + mark)) collect("", path, false);
  }
  return paths;
}

int copy_file(const std::string& from, const std::string& to) {
  return replace_with_copy(from, to, true, to + ".holdfast-draft");
}

}  // namespace holdfast::replicate
