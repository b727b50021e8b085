#include "record/mpi/recorder.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "core/output/size_signal.h"
#include "next_functions.h"
#include "record/mpi/real_clock.h"

extern char** environ;

namespace holdfast::record {
namespace {

/// A variable as the launcher set it: with replicas, getenv() is the replication library's.
std::string_view variable(std::string_view name) {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (text.size() > name.size() && text.starts_with(name) && text[name.size()] == '=')
      return text.substr(name.size() + 1);
  }
  return {};
}

void complain(const std::string& what) {
  const std::string line = "holdfast: recording: " + what + "\n";
  (void)!syscall(SYS_write, 2, line.data(), line.size());
}

/// Whether a list like "0-3,7" holds the number; an empty list holds all.
bool holds(std::string_view list, long number) {
  if (list.empty()) return true;
  while (!list.empty()) {
    const std::string part(list.substr(0, list.find(',')));
    list.remove_prefix(std::min(part.size() + 1, list.size()));
    char* end = nullptr;
    const long first = std::strtol(part.c_str(), &end, 10);
    const long last = *end == '-' ? std::strtol(end + 1, nullptr, 10) : first;
    if (first <= number && number <= last) return true;
  }
  return false;
}

/// The number of this process in the job, as its launcher says; 0 where nobody says.
long process_number() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
    if (const std::string_view text = variable(name); !text.empty()) return std::strtol(text.data(), nullptr, 10);
  return 0;
}

/// By system calls: with replicas, open() and write() are the replication library's, which compares what is written.
void write_block(int descriptor, std::string_view bytes) {
  const output::NoSizeSignal quiet;  // a limit of file size ends the recording, not the program
  while (!bytes.empty()) {
    const long written = syscall(SYS_write, descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      recording_on.store(false);
      complain(std::string("writing the trace: ") + std::strerror(errno) + ": it ends here");
      return;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::vector<std::int64_t> ranks_in_world(const Next& mpi, MPI_Group group, MPI_Group world) {
  int size = 0;
  mpi.Group_size(group, &size);
  std::vector<int> own(static_cast<std::size_t>(size)), there(own.size());
  for (int i = 0; i < size; ++i) own[static_cast<std::size_t>(i)] = i;
  mpi.Group_translate_ranks(group, size, own.data(), world, there.data());
  std::vector<std::int64_t> ranks;
  ranks.reserve(own.size());
  for (const int rank : there) ranks.push_back(rank == MPI_UNDEFINED ? std::int64_t{outside} : rank);
  return ranks;
}

std::shared_ptr<KnownCommunicator> describe(MPI_Comm comm, MPI_Group world) {
  const Next& mpi = next_library();
  auto made = std::make_shared<KnownCommunicator>();
  MPI_Group group = MPI_GROUP_NULL;
  mpi.Comm_rank(comm, &made->rank);
  mpi.Comm_group(comm, &group);
  made->members.members = ranks_in_world(mpi, group, world);
  mpi.Group_free(&group);
  int inter = 0;
  mpi.Comm_test_inter(comm, &inter);
  made->inter = inter != 0;
  if (inter) {
    mpi.Comm_remote_group(comm, &group);
    made->members.remote = ranks_in_world(mpi, group, world);
    mpi.Group_free(&group);
  }
  return made;
}

/// A child that is forked shares the file, and is no rank.
void stop_in_child() {
  recording_on.store(false);
}

[[gnu::destructor]] void leave() {
  end_recording(Ending::left);
}

}  // namespace

Recorder& recorder() {
  static auto* state = new Recorder();  // lives until the process ends: exit handlers call MPI
  return *state;
}

std::shared_ptr<KnownCommunicator> Recorder::communicator(MPI_Comm comm) {
  const std::uint64_t handle = number_of(comm);
  if (last_communicator && last_communicator_handle == handle) return last_communicator;
  auto found = communicators.find(handle);
  if (found == communicators.end()) {
    learn(comm);
    found = communicators.find(handle);
  }
  last_communicator_handle = handle;
  last_communicator = found->second;
  return found->second;
}

void Recorder::learn(MPI_Comm comm) {
  auto made = describe(comm, world);
  made->number = static_cast<std::int64_t>(writer->define(made->members));
  communicators[number_of(comm)] = std::move(made);
  last_communicator.reset();
}

void Recorder::forget_communicator(MPI_Comm comm) {
  communicators.erase(number_of(comm));
  last_communicator.reset();
}

void Recorder::hand_over_counts() {
  for (std::uint32_t function = 0; function < function_count; ++function)
    if (tallies[function].load(std::memory_order_relaxed) > 0)
      writer->count(function, is_local(function), tallies[function].exchange(0, std::memory_order_relaxed));
}

void begin_recording(MPI_Group world) {
  const std::string_view folder = variable("HOLDFAST_RECORD_FOLDER");
  if (folder.empty() || !holds(variable("HOLDFAST_RECORD_PROCESSES"), process_number())) return;
  Recorder& state = recorder();
  if (state.writer) return;
  const Next& mpi = next_library();
  int rank = 0;
  int ranks = 1;
  mpi.Group_rank(world, &rank);
  mpi.Group_size(world, &ranks);
  std::array<char, 32> name{};
  std::snprintf(name.data(), name.size(), "/rank-%06d.rec", rank);
  const std::string path = std::string(folder) + name.data();
  const long opened = syscall(SYS_openat, AT_FDCWD, path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (opened < 0) return complain("opening " + path + ": " + std::strerror(errno));
  state.descriptor = static_cast<int>(opened);
  state.world = world;
  utsname machine{};  // by a system call: with replicas, uname() is the replication library's
  syscall(SYS_uname, &machine);
  const Head head{static_cast<std::uint64_t>(rank),
                  static_cast<std::uint64_t>(ranks),
                  std::string(variable("HOLDFAST_RUN_JOB")),
                  HOLDFAST_MPI_FLAVOUR,
                  machine.nodename,
                  date_now_ns()};
  const int descriptor = state.descriptor;
  state.writer = std::make_unique<EventWriter>(
      head, [](std::uint32_t function) { return std::string_view(function_name(function)); },
      [descriptor](std::string_view block) { write_block(descriptor, block); });
  // A two-hundredth of the time that passes at least between two questions.
  state.asks_cpu_after_ns = 200 * cost_of_thread_clock_ns();
  state.began_ns = wall_now_ns();
  thread_state.left_at_ns = state.began_ns;
  thread_state.asked_at_ns = state.began_ns;
  thread_state.cpu_ns = thread_cpu_now_ns();
  pthread_atfork(nullptr, nullptr, stop_in_child);
  recording_on.store(true);
}

void end_recording(Ending ending) {
  if (!recording_on.exchange(false)) return;
  Recorder& state = recorder();
  const std::unique_lock<std::mutex> held(state.lock, std::try_to_lock);
  if (!held) return;  // another thread is inside a call and never comes back
  state.hand_over_counts();
  state.writer->end(ending);
  syscall(SYS_close, state.descriptor);
}

void fail_unseen() {
  complain("MPI is loaded where this library cannot see it: start the program itself with holdfast run, and say --mpi");
  _exit(7);
}

}  // namespace holdfast::record
