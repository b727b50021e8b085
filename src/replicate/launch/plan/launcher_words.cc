#include "replicate/launch/plan/launcher_words.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

namespace holdfast::launch {
namespace {

constexpr std::size_t least_rule = 70;  ///< dashes of the lines around Open MPI's messages (opal/util/show_help.c: 74)
constexpr int most_block_lines = 80;
constexpr int moment_ms = 50;
constexpr std::size_t most_said = 1 << 16;

/// How Open MPI's messages about jobs begin (help-orterun.txt, help-errmgr-base.txt, help-mpi-api.txt; from 5.0 on
/// those of PRRTE: help-prun.txt, help-errmgr-base.txt).
constexpr std::array<std::string_view, 20> beginnings{"mpirun ",
                                                      "mpirun.",
                                                      "mpiexec ",
                                                      "mpiexec.",
                                                      "orterun ",
                                                      "prterun ",
                                                      "Primary job ",
                                                      "Child job ",
                                                      "MPI_ABORT was",
                                                      "ORTE ",
                                                      "An ORTE ",
                                                      "PRTE ",
                                                      "An PRTE ",
                                                      "A daemon ",
                                                      "There are not ",
                                                      "All nodes ",
                                                      "The OMPI_COMM",
                                                      "A process or daemon ",
                                                      "An MPI communication peer",
                                                      "A call to "};

bool begins(std::string_view line, std::string_view with) {
  return line.substr(0, with.size()) == with;
}

bool is_rule(std::string_view line) {
  if (!line.empty() && line.back() == '\n') line.remove_suffix(1);
  return line.size() >= least_rule && line.find_first_not_of('-') == std::string_view::npos;
}

/// "[host:1234] " in front; what follows it.
std::string_view after_host(std::string_view line) {
  const std::size_t end = line.find("] ");
  const std::size_t colon = line.substr(0, end).rfind(':');
  if (!begins(line, "[") || end == std::string_view::npos || colon == std::string_view::npos || colon + 1 == end)
    return {};
  const std::string_view pid = line.substr(colon + 1, end - colon - 1);
  return pid.find_first_not_of("0123456789") == std::string_view::npos ? line.substr(end + 2) : std::string_view();
}

/// "[host][[job,1],rank][file.c:266:function] ": what a part of Open MPI says of a connection (BTL_ERROR).
bool is_of_a_connection(std::string_view line) {
  const std::size_t process = line.find("][[");
  if (!begins(line, "[") || process == std::string_view::npos) return false;
  const std::size_t end = line.find_first_not_of("0123456789,]", process + 3);
  return end != std::string_view::npos && line[end] == '[' && line.find(".c:", end) < line.find("] ", end);
}

bool is_launchers(std::string_view line) {
  const std::string_view said = after_host(line);
  const bool openmpi = begins(said, "PMIX ERROR") || begins(said, "Set MCA parameter \"orte_base_help") ||
                       said.find(" more process") < 8 || begins(said, "ORTE_ERROR_LOG");
  return openmpi || is_of_a_connection(line) || begins(line, "[proxy:") || begins(line, "[mpiexec@") ||
         begins(line, "srun: ") || begins(line, "slurmstepd: ");
}

/// Whether a line that begins so may still turn out to be the launcher's.
bool may_be_launchers(std::string_view part) {
  return part.front() == '-' || part.front() == '[' || begins("srun: ", part.substr(0, 6)) ||
         begins("slurmstepd: ", part.substr(0, 12));
}

void write_all(int to, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(to, text.data(), text.size());
    if (put < 0 && errno != EINTR) return;
    if (put > 0) text.remove_prefix(static_cast<std::size_t>(put));
  }
}

}  // namespace

void LauncherWords::take_line(const std::string& line, std::string& shown, std::string& kept) {
  if (in_block_) {
    kept += line;
    in_block_ = !is_rule(line) && ++block_lines_ < most_block_lines;
    return;
  }
  if (!rule_.empty()) {
    in_block_ = std::any_of(beginnings.begin(), beginnings.end(), [&](std::string_view b) { return begins(line, b); });
    block_lines_ = 0;
    (in_block_ ? kept : shown) += rule_;
    rule_.clear();
    if (in_block_) {
      kept += line;
      return;
    }
  }
  if (is_rule(line))
    rule_ = line;
  else
    (is_launchers(line) ? kept : shown) += line;
}

void LauncherWords::take(std::string_view bytes, std::string& shown, std::string& kept) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end == std::string_view::npos ? end : end + 1);
    bytes.remove_prefix(part.size());
    if (passing_) {
      shown += part;
    } else {
      partial_ += part;
      if (end != std::string_view::npos) {
        take_line(std::exchange(partial_, {}), shown, kept);
      } else if (!in_block_ && rule_.empty() && !may_be_launchers(partial_)) {
        shown += std::exchange(partial_, {});
        passing_ = true;
      }
    }
    if (end != std::string_view::npos) passing_ = false;
  }
}

void LauncherWords::flush(std::string& shown, std::string& kept) {
  shown += std::exchange(rule_, {});
  if (partial_.empty()) return;
  (in_block_ ? kept : shown) += partial_;
  passing_ = !in_block_;
  partial_.clear();
}

Result<std::unique_ptr<LauncherErrors>> LauncherErrors::start(const std::string& path) {
  std::unique_ptr<LauncherErrors> errors(new LauncherErrors());
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return Status(Code::io, "making a pipe for the launcher's messages", std::strerror(errno));
  errors->read_ = ends[0];
  errors->write_ = ends[1];
  errors->stop_ = ::eventfd(0, EFD_CLOEXEC);
  ::fcntl(errors->read_, F_SETFL, O_NONBLOCK);
  sigset_t all;  // signals belong to the main thread
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  errors->thread_ = std::thread([here = errors.get(), path] { here->run(path); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return errors;
}

void LauncherErrors::pass_on(const std::string& shown, const std::string& kept, const std::string& path) {
  write_all(STDERR_FILENO, shown);
  if (kept.empty()) return;
  if (file_ < 0) file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
  write_all(file_ >= 0 ? file_ : STDERR_FILENO, kept);  // better shown than lost
}

void LauncherErrors::run(const std::string& path) {
  LauncherWords words;
  std::array<char, 65536> block;
  while (true) {
    std::array<pollfd, 2> waits{{{read_, POLLIN, 0}, {stop_, POLLIN, 0}}};
    const int ready = ::poll(waits.data(), waits.size(), moment_ms);
    std::string shown;
    std::string kept;
    const ssize_t got = waits[0].revents != 0 && ready > 0 ? ::read(read_, block.data(), block.size()) : -1;
    if (got > 0) words.take({block.data(), static_cast<std::size_t>(got)}, shown, kept);
    if (ready == 0) words.flush(shown, kept);
    const bool over = ready > 0 && waits[1].revents != 0 && got <= 0;
    if (over) words.flush(shown, kept);
    pass_on(shown, kept, path);
    if (over) return;
  }
}

LauncherErrors::~LauncherErrors() {
  if (write_ >= 0) ::close(write_);
  const std::uint64_t one = 1;
  while (thread_.joinable() && ::write(stop_, &one, sizeof one) < 0 && errno == EINTR) {
  }
  if (thread_.joinable()) thread_.join();
  for (const int descriptor : {read_, stop_, file_})
    if (descriptor >= 0) ::close(descriptor);
}

std::string launcher_said(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(most_said, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  return text;
}

}  // namespace holdfast::launch
