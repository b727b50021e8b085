#include "replicate/libc/files.h"

#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include "core/config/environment.h"
#include "core/config/settings.h"
#include "core/integrity/digest.h"
#include "replicate/engine/file_patterns.h"
#include "replicate/mpi/agree/agreeing_thread.h"
#include "replicate/mpi/agree/catch_up.h"
#include "replicate/mpi/agree/decide.h"
#include "replicate/mpi/agree/progress.h"
#include "replicate/mpi/context/failure.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/mpi/io/common_file.h"
#include "replicate/mpi/io/file.h"
#include "replicate/process/job.h"
#include "replicate/process/real_clock.h"
#include "replicate/process/streams.h"

namespace holdfast::replicate {

namespace {

/// Made once and never gone: programs write files in exit handlers.
struct Watched {
  FileView view;
  std::string run_directory;
  int rank = 0;
  std::string may_differ;
  bool several_hosts = false;
  pid_t process = 0;
};
std::atomic<const Watched*> watched{nullptr};

int number(const char* name) {
  const char* text = std::getenv(name);
  return text ? std::atoi(text) : -1;
}

std::string read_patterns() {
  config::Settings<Options> settings(options_table());
  (void)config::read_environment(settings, environ);
  return settings.options().files_may_differ;
}

/// The kernel's number, whatever the program is told.
pid_t own_process() {
  return static_cast<pid_t>(::syscall(SYS_getpid));
}

int processes() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"}) {
    if (const int all = number(name); all > 0) return all;
  }
  return 1;
}

bool several_hosts(int all) {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}) {
    if (const int here = number(name); here > 0) return here < all;
  }
  return std::getenv("SLURM_NNODES") && number("SLURM_NNODES") > 1;
}

/// File systems that one host alone has, by their numbers in statfs(2).
bool on_one_host(const std::string& path) {
  constexpr std::uint32_t local[] = {0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1, 0xf2f52010};
  struct statfs status {};
  for (std::string at = path; ::statfs(at.c_str(), &status) != 0 && at.size() > 1;) {
    at.erase(std::max<std::size_t>(at.rfind('/'), 1));
  }
  return std::count(std::begin(local), std::end(local), static_cast<std::uint32_t>(status.f_type)) > 0;
}

bool below(const char* path, std::string_view folder) {
  return std::strncmp(path, folder.data(), folder.size()) == 0 &&
         (path[folder.size()] == '/' || path[folder.size()] == '\0');
}

/// In memory, and the program's as any other file: not Holdfast's own (launch/plan/shared_memory_folders.h).
bool in_memory(const char* path) {
  constexpr std::string_view inside = "/dev/shm/";
  constexpr std::string_view own = "/dev/shm/holdfast-";
  if (std::strncmp(path, inside.data(), inside.size()) != 0) return false;
  return std::strncmp(path, own.data(), own.size()) != 0 || path[own.size()] < '0' || path[own.size()] > '9';
}

/// Without taking memory: signal handlers come by here.
bool passes(const char* path, const Watched& state) {
  if (in_memory(path)) return false;
  for (const char* folder : {"/dev", "/proc", "/sys", "/run"}) {
    if (below(path, folder)) return true;
  }
  if (!below(path, state.run_directory) || path[state.run_directory.size()] == '\0') return false;
  const char* name =
      path + state.run_directory.size() + 1;  // Holdfast's own, and no more: the folder may be the user's
  for (const char* own : {"rank-", "incident-", "transport-", "record.json", "hosts", "stdin"}) {
    if (std::strncmp(name, own, std::strlen(own)) == 0 && !std::strchr(name, '/')) return true;
  }
  return false;
}

/// Of an open directory, or the working directory. One that has been removed keeps its name: the leader may have done
/// so while another replica is still to come to it.
std::string folder_path(int folder) {
  char text[PATH_MAX];
  if (folder == AT_FDCWD && ::getcwd(text, sizeof text)) return text;
  const std::string link = folder == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/" + std::to_string(folder);
  const ssize_t length = ::readlink(link.c_str(), text, sizeof text);
  if (length <= 0) return "";
  std::string path(text, static_cast<std::size_t>(length));
  constexpr std::string_view removed = " (deleted)";
  struct stat status {};
  if (path.ends_with(removed) && ::stat(link.c_str(), &status) == 0 && status.st_nlink == 0)
    path.resize(path.size() - removed.size());
  return path;
}

const char* words(FileCall call) {
  switch (call) {
    case FileCall::open:
      return "opens";
    case FileCall::look:
      return "looks at";
    case FileCall::list:
      return "lists";
    case FileCall::enter:
      return "enters";
    case FileCall::remove:
      return "removes";
    case FileCall::rename:
      return "renames";
    case FileCall::make_directory:
      return "makes the directory";
    case FileCall::make_node:
      return "makes the special file";
    case FileCall::link:
      return "makes a link at";
    case FileCall::change:
      return "changes";
  }
  return "uses";
}

[[noreturn]] void went_another_way(FileCall call, const std::string& name, const std::string& but) {
  const Runtime& state = runtime();
  fail(Incident::diverged, "replicas diverged: rank " + std::to_string(state.rank) + " replica " +
                               std::to_string(state.replica) + " " + words(call) + " " + name + but);
}

/// Another rank of this replica may still be about to do what makes it succeed. ENXIO: nobody reads the pipe yet.
bool may_change(int error) {
  return error == ENOENT || error == EEXIST || error == ENOTEMPTY || error == ENOTDIR || error == ENXIO;
}

/// For people who look for the cause: no rank may ever do so, where somebody outside did it for the leader.
void say_what_is_missing(const std::string& name) {
  const Runtime& state = runtime();
  say("rank " + std::to_string(state.rank) + " replica " + std::to_string(state.replica) + " still waits for " + name +
      " to be as replica 0 found it: some rank of this replica must make or remove it. What a program outside the job "
      "makes in the place of a file that the job removed, or in a directory that the job made, is not seen by all "
      "replicas if it is larger than 64 KiB");
}

/// For people who wonder why nobody answers any more.
void say_who_does_not_see() {
  if (file_view().leader() || !answers_taken()) return;
  say("rank " + std::to_string(runtime().rank) +
      ": replica 0 has died, and other programs see what the job does to files only when it has ended: if it waits for "
      "their answers, it waits for ever; --on-failure abort would have ended it");
}

void repeat(FileCall call, const std::string& name, const std::function<bool(Manner)>& act) {
  constexpr std::int64_t long_ns = 5'000'000'000;
  const std::int64_t begun = monotonic_now_ns();
  bool done = false;
  bool told = false;
  wait_until([&] {
    set_awaited({Awaited::What::decision, runtime().rank, 0});
    done = act(Manner::repeat);
    if (done || !may_change(errno)) return true;
    const int error = errno;
    const bool late = monotonic_now_ns() - begun > long_ns;
    if (late && !std::exchange(told, true)) say_what_is_missing(name);
    errno = error;
    return false;
  });
  if (!done)
    went_another_way(call, name, std::string(", which replica 0 could and this one cannot: ") + std::strerror(errno));
}

/// A path that begins at a directory. No symbolic link is in the directory's own, so what is above it is known by its
/// name, also where it has been removed.
std::string path_from(std::string folder, std::string_view path) {
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, end);
    if (part == "..")
      folder = normal_path(folder + "/..");
    else if (part != "." && !part.empty())
      return folder + "/" + std::string(path);
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return folder;
}

/// The path as the program knows it, absolute where that can be told.
std::string program_name(const Watched& state, int folder, const char* path) {
  if (path[0] == '/') return state.view.program_path(path);
  const std::string in = folder_path(folder);
  return in.empty() ? path : path_from(state.view.program_path(in), path);
}

/// Names of files that the leader made under another one (agree_on_new_file()).
struct OtherNames {
  std::atomic<bool> any{false};
  std::mutex mutex;
  std::unordered_map<std::string, std::string> leaders;  ///< by this replica's own
};
OtherNames& other_names() {
  static auto* all = new OtherNames();
  return *all;
}

std::string name_in_all(std::string name) {
  if (!other_names().any) return name;
  const std::lock_guard hold(other_names().mutex);
  const auto other = other_names().leaders.find(name);
  return other == other_names().leaders.end() ? name : other->second;
}

/// Addresses have at least as many digits, decimal or hexadecimal; counters that tell files apart have not.
std::string without_long_numbers(const std::string& name) {
  constexpr std::size_t fewest_digits = 9;
  constexpr const char* digits = "0123456789abcdef";
  std::string text;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t end = std::min(name.find_first_not_of(digits, at), name.size());
    if (end - at >= fewest_digits) {
      text += '#';
    } else {
      text.append(name, at, end - at);
    }
    if (end < name.size()) text += name[end];
    at = end + 1;
  }
  return text;
}

bool named_for_mpi(const char* path, std::string& name) {
  const Watched& state = *watched.load();
  if (path[0] == '\0' || passes(path, state)) return false;
  name = name_in_all(program_name(state, AT_FDCWD, path));
  return name[0] == '/' && !shared_by_all(normal_path(name));
}

bool may_differ(const std::string& name) {
  return fits_a_pattern(name, files_that_may_differ());
}

}  // namespace

void watch_files() {
  const Depth inside;
  const char* directory = run_directory();
  const std::optional<Place> place = launched_place();
  if (!directory || !place || !to_be_recorded()) return;
  if (::access(directory, W_OK | X_OK) != 0) {
    say(std::string("the run directory ") + directory +
        " is not on this host: files of the replicas here are neither kept apart nor compared: name a shared one with "
        "--output");
    return;
  }
  char whole[PATH_MAX];
  const std::string run_directory = ::realpath(directory, whole) ? whole : directory;
  watched = new Watched{FileView(run_directory, place->replica),
                        run_directory,
                        place->rank,
                        read_patterns(),
                        several_hosts(processes()),
                        own_process()};
  find_common_files_by({&file_view(), named_for_mpi, may_differ});
}

const FileView& file_view() {
  return watched.load()->view;
}

int file_rank() {
  return watched.load()->rank;
}

const std::string& files_that_may_differ() {
  return watched.load()->may_differ;
}

bool shared_by_all(const std::string& path) {
  const Watched& state = *watched.load();
  return passes(path.c_str(), state) || (state.several_hosts && on_one_host(path));
}

bool is_system_path(const char* path) {
  for (const char* folder : {"/usr/", "/lib", "/bin/", "/sbin/"}) {
    if (std::strncmp(path, folder, std::strlen(folder)) == 0) return true;
  }
  return false;
}

bool is_run_directory(int folder, const char* name) {
  const std::string& own = watched.load()->run_directory;
  const std::size_t slash = own.rfind('/');
  if (own.compare(slash + 1, std::string::npos, name) != 0) return false;
  struct stat here {};
  struct stat around {};
  const int before = errno;
  const Depth inside;
  const bool is = ::fstat(folder, &here) == 0 &&
                  ::stat(slash == 0 ? "/" : own.substr(0, slash).c_str(), &around) == 0 &&
                  here.st_dev == around.st_dev && here.st_ino == around.st_ino;
  errno = before;
  return is;
}

int prepare_change(const std::string& path, Change change, Manner manner, Prepared& prepared) {
  const FileView& view = file_view();
  const int error = view.prepare(path, change, prepared);
  return error != 0 || !view.leader() || manner != Manner::alone ? error : view.note_alone(path);
}

bool programs_own_call() {
  return depth == 0 && watched.load(std::memory_order_relaxed) != nullptr;
}

bool file_call(int folder, const char* path, std::string& name) {
  const Watched* state = watched.load(std::memory_order_relaxed);
  if (depth > 0 || !state || !path || path[0] == '\0' || passes(path, *state)) return false;
  const int before = errno;
  const Depth inside;
  name = name_in_all(program_name(*state, folder, path));
  errno = before;
  return name[0] == '/' && !shared_by_all(normal_path(name));
}

namespace {

using Share = std::function<void()>;

/// What else replicas tell each other about a call.
struct Sharing {
  Share before{};  ///< takes what the leader has, where it could do what it was to do, before the others do
  Share after{};   ///< the same when all have
  std::function<Shown()> show{};
  std::function<bool(bool, Shown)> open_shown{};
  MadeOutside made_outside{};
};

/// The number that the leader tells: a digest of the name, whether it is a file that was made outside, the call, what
/// is shown, errno.
constexpr std::uint64_t made_outside_bit = std::uint64_t{1} << 31;
constexpr int shown_bit = 14;
constexpr std::uint64_t error_bits = (1U << shown_bit) - 1;

/// `compared`: what replicas must have in common of the name.
bool agree(FileCall call, const std::string& compared, const std::string& name, const std::function<bool(Manner)>& act,
           const Sharing& sharing) {
  const bool together = agreed_clocks() && own_process() == watched.load()->process;
  const int errno_before = errno;
  const auto ended = [errno_before](int error) {
    if (error == 0)
      errno = errno_before;  // which differs between replicas by now, and may be looked at, or left on the stack
    return fails(error);
  };
  const Inside inside;
  if (!together) return act(Manner::alone);
  const integrity::Digest digest =
      integrity::digest(integrity::Algorithm::crc32c, std::as_bytes(std::span(compared.data(), compared.size())));
  const std::uint64_t what = (digest.low << 32) | (static_cast<std::uint64_t>(call) << 16);
  const std::optional<std::int64_t> told = leads() ? std::nullopt : follow_number();
  if (!told) {
    say_who_does_not_see();
    const bool done = act(Manner::own);
    const int error = done ? 0 : errno;
    const Shown shown = done && sharing.show ? sharing.show() : Shown::own;
    const bool outsiders = done && sharing.made_outside.is && sharing.made_outside.is();
    publish_number(static_cast<std::int64_t>(what | (outsiders ? made_outside_bit : 0) |
                                             static_cast<std::uint64_t>(shown) << shown_bit |
                                             (static_cast<std::uint64_t>(error) & error_bits)));
    if (shown == Shown::anew) tell_shown(name);
    if (outsiders && sharing.made_outside.share) sharing.made_outside.share();
    if (done && sharing.before) sharing.before();
    if (done && sharing.after) sharing.after();
    let_followers_catch_up();
    return ended(error);
  }
  const auto said = static_cast<std::uint64_t>(*told);
  if (((said & ~made_outside_bit) >> 16) != (what >> 16))
    went_another_way(call, name, " where replica 0 uses another file or uses it otherwise");
  const int error = static_cast<int>(said & error_bits);
  if (error != 0) return ended(error);
  if (sharing.before) sharing.before();
  const auto shown = static_cast<Shown>(said >> shown_bit & 3);
  bool done = shown != Shown::own && sharing.open_shown && sharing.open_shown(act(Manner::repeat), shown);
  if ((said & made_outside_bit) != 0 && sharing.made_outside.follow) {
    if (call == FileCall::remove || call == FileCall::rename) take_answer();
    if (sharing.made_outside.share) sharing.made_outside.share();
    done = sharing.made_outside.follow();
  }
  if (!done) repeat(call, name, act);
  if (sharing.after) sharing.after();
  return ended(0);
}

}  // namespace

bool agree_on_file(FileCall call, const std::string& name, const std::function<bool(Manner)>& act,
                   const std::function<void()>& share) {
  return agree(call, name, name, act, {.after = share});
}

bool agree_on_file(FileCall call, const std::string& name, const std::function<bool(Manner)>& act,
                   const MadeOutside& made_outside, const std::function<void()>& share) {
  return agree(call, name, name, act, {.after = share, .made_outside = made_outside});
}

bool agree_on_reading(const std::string& name, const std::function<bool(Manner)>& act,
                      const std::function<Shown()>& show,
                      const std::function<bool(bool opened, Shown shown)>& open_shown,
                      const MadeOutside& made_outside) {
  return agree(FileCall::open, name, name, act, {.show = show, .open_shown = open_shown, .made_outside = made_outside});
}

bool agree_on_new_file(std::string& name, const std::function<bool(Manner)>& act) {
  const std::string own = name;
  const auto take_name = [&] {
    take_leaders(name);
    if (name == own) return;
    if (without_long_numbers(name) != without_long_numbers(own))
      went_another_way(FileCall::open, own, ", where replica 0 makes " + name);
    const std::lock_guard hold(other_names().mutex);
    other_names().leaders[own] = name;
    other_names().any = true;
  };
  return agree(FileCall::open, without_long_numbers(own), name, act, {.before = take_name});
}

bool read_in_view(const std::string& name, bool follow, const std::function<bool(const char*)>& act,
                  const std::function<void()>& undo) {
  const FileView& view = file_view();
  if (view.leader()) return act(name.c_str());
  for (std::string tried;;) {
    std::string resolved;
    if (const int error = view.resolve(name, follow, resolved)) return fails(error);
    if (shared_by_all(resolved)) return act(name.c_str());
    const FilePlace place = view.find(resolved);
    if (!tried.empty() && place.path == tried) return true;
    if (!tried.empty()) undo();
    if (!place.exists()) return fails(ENOENT);
    if (!act(place.path.c_str())) {
      if (place.layer != FilePlace::Layer::real || view.find(resolved).path == place.path) return false;
      tried.clear();
      continue;
    }
    if (place.layer != FilePlace::Layer::real) return true;
    tried = place.path;
  }
}

}  // namespace holdfast::replicate
