#include "replicate/launch/plan/run_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string_view>
#include <vector>

namespace holdfast::launch {
namespace {

namespace fs = std::filesystem;

constexpr const char* mark = ".holdfast-run";
constexpr std::string_view mark_text =
    "Holdfast keeps the files of a run in this folder, and removes them at the next.\n";

bool is_output(std::string_view base) {
  return base.starts_with("rank-") && (base.ends_with(".out") || base.ends_with(".err"));
}

bool is_result(std::string_view base) {
  return is_output(base) || base.starts_with("incident-") || base.starts_with("status-") ||
         base.starts_with("finished-") || base.starts_with("launched-") || base.starts_with("evidence-") ||
         base.starts_with("counted-") || base.starts_with("record.") || base == "launcher.err";
}

bool is_plumbing(std::string_view base) {
  return base == "hosts" || base == "stdin" || base == "stdin.spool" || base == "membership" ||
         base == secret_file_name || base.starts_with("stdin.replica-");
}

template <class Choice>
void remove_files(const std::string& folder, Choice chosen) {
  std::error_code ignored;
  std::vector<fs::path> doomed;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (chosen(entry.path().filename().string())) doomed.push_back(entry.path());
  for (const fs::path& path : doomed) fs::remove(path, ignored);
}

std::string time_stamp() {
  std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S", &parts);
  return text.data();
}

}  // namespace

bool takes_no_more(const std::string& path) {
  const std::string probe = path + "/record.probe";
  const int file = ::open(probe.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return errno == ENOSPC || errno == EDQUOT;
  const std::array<char, 4096> block{};  // as much as a record takes
  const bool full = ::write(file, block.data(), block.size()) != static_cast<ssize_t>(block.size()) &&
                    (errno == ENOSPC || errno == EDQUOT);
  ::close(file);
  ::unlink(probe.c_str());
  return full;
}

std::string RunDirectory::plan(const std::optional<std::string>& output) {
  fs::path path =
      output ? fs::path(*output) : fs::path("holdfast-run-" + time_stamp() + "-" + std::to_string(getpid()));
  std::error_code failed;
  fs::path whole = fs::absolute(path, failed);
  return (failed ? path : whole).lexically_normal().string();
}

namespace {

Status cannot_make(const std::string& path, const std::string& why) {
  return {Code::io, "creating the run directory " + path, why, "choose another with --output"};
}

Status not_taken(const std::string& path, const std::string& why, const std::string& remedy) {
  return {Code::bad_input, "taking " + path + " for the run directory", why, remedy};
}

/// A folder that is there and unmarked may be taken only when there is nothing in it.
Status require_empty(const std::string& path) {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(path, failed)) {
    const std::string base = entry.path().filename().string();
    if (base != mark)  // that of a job that comes at the same time
      return not_taken(path, "it holds files of others (" + base + ")",
                       "name an empty folder or a new one with --output");
  }
  if (failed) return cannot_make(path, failed.message());
  return {};
}

/// Of a folder its owner could take away and replace every file, the secret and the verdict among them. What root is
/// given by another user is root's to judge: in containers everything may be another's.
bool is_anothers(const std::string& path) {
  struct stat status {};
  return ::geteuid() != 0 && ::stat(path.c_str(), &status) == 0 && status.st_uid != ::geteuid();
}

/// Whether what was opened is still what the name stands for: the job before may have removed its folder meanwhile.
bool still_named(int file, const std::string& path) {
  struct stat opened {};
  struct stat named {};
  return fstat(file, &opened) == 0 && lstat(path.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
         opened.st_ino == named.st_ino;
}

bool is_mark(int file) {
  struct stat status {};
  std::array<char, mark_text.size()> text{};
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return false;
  if (status.st_size == 0) return true;  // another process has just made it
  const ssize_t got = pread(file, text.data(), text.size(), 0);
  return got == static_cast<ssize_t>(text.size()) && std::string_view(text.data(), text.size()) == mark_text;
}

/// The locked mark of the folder. What else is in the folder is looked at under the lock, so that of two jobs that come
/// at once one finds the other's mark.
Result<int> take_mark(const std::string& path) {
  const std::string name = path + "/" + mark;
  int file = ::open(name.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (file < 0 && errno == ENOENT) {
    if (Status empty = require_empty(path); !empty.ok()) return empty;
    file = ::open(name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  }
  if (file < 0) return cannot_make(path, std::string(mark) + " in it: " + std::strerror(errno));
  Status wrong;
  if (!is_mark(file))
    wrong = not_taken(path, std::string(mark) + " in it is not the mark of a run", "name another folder with --output");
  else if (::flock(file, LOCK_EX | LOCK_NB) != 0)
    wrong = errno == EWOULDBLOCK ? not_taken(path, "another job is running in it", "name another folder with --output")
                                 : cannot_make(path, "it cannot be locked: " + std::string(std::strerror(errno)));
  else if (::pwrite(file, mark_text.data(), mark_text.size(), 0) != static_cast<ssize_t>(mark_text.size()))
    wrong = cannot_make(path, std::strerror(errno));
  if (wrong.ok()) return file;
  ::close(file);
  return wrong;
}

}  // namespace

Result<RunDirectory> RunDirectory::create(const std::string& path, bool keep) {
  if (path.empty()) return not_taken("''", "the name is empty", "name a folder with --output");
  constexpr int tries = 100;  // each but the last has met a job that ended and took the folder along
  for (int i = 0; i < tries; ++i) {
    std::error_code failed;
    const fs::path parent = fs::path(path).parent_path();
    if (!parent.empty()) fs::create_directories(parent, failed);
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
      return cannot_make(path, failed ? failed.message() : std::strerror(errno));
    if (!fs::is_directory(path, failed)) return not_taken(path, "it is not a folder", "name one with --output");
    if (is_anothers(path)) return not_taken(path, "it is another user's", "name a folder of your own with --output");
    if (access(path.c_str(), W_OK | X_OK) != 0) return cannot_make(path, "it may not be written to");
    auto file = take_mark(path);
    if (!file.ok()) {
      if (!fs::exists(path, failed)) continue;
      return file.status();
    }
    RunDirectory taken(path, keep, file.value());
    if (!still_named(file.value(), path + "/" + mark)) continue;
    remove_files(path, [](std::string_view base) { return is_result(base) || is_plumbing(base); });
    for (const char* const folder : {"holdfast-files", "holdfast-answers"})
      fs::remove_all(fs::path(path) / folder, failed);
    return taken;
  }
  return cannot_make(path, "it comes and goes");
}

RunDirectory::~RunDirectory() {
  if (lock_ >= 0) ::close(lock_);
}

bool RunDirectory::conclude(bool success) {
  std::error_code ignored;
  remove_files(path_, is_plumbing);
  fs::remove_all(fs::path(path_) / "holdfast-answers", ignored);
  if (!success || keep_) return true;
  fs::remove_all(path_, ignored);
  return false;
}

namespace {

template <class IsOne>
bool has_any(const std::string& run_directory, IsOne is_one) {
  std::error_code ignored;
  const fs::directory_iterator files(run_directory, ignored);
  return std::any_of(begin(files), end(files),
                     [&](const fs::directory_entry& file) { return is_one(file.path().filename().string()); });
}

}  // namespace

bool any_replica_began(const std::string& run_directory) {
  return has_any(run_directory, is_output);
}

bool any_left_a_record(const std::string& run_directory) {
  return has_any(run_directory,
                 [](const std::string& base) { return base.starts_with("finished-") || base.starts_with("record."); });
}

}  // namespace holdfast::launch
