#include "replicate/launch/plan/shared_memory_folders.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <mqueue.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <vector>

namespace holdfast::launch {

std::string shared_memory_folders(unsigned long job) {
  return fmt::format("/dev/shm/holdfast-{}-{:016x}", getuid(), job);
}

namespace {

namespace fs = std::filesystem;

constexpr std::string_view semaphore = "sem.";  ///< what the C library puts before a semaphore's name

std::vector<std::string> names_in(const std::string& folder) {
  std::error_code failed;
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(folder, failed)) found.push_back(entry.path().filename().string());
  return found;
}

/// What the links of a folder stand for. Segments that somebody is attached to stay.
void remove_linked(const std::string& folder) {
  const std::string queues = "/" + fs::path(folder).filename().string() + ".";
  for (const std::string& name : names_in(folder)) {
    std::error_code none;
    const std::string text = fs::read_symlink(folder + "/" + name, none).string();
    if (!none && name.starts_with("queue.") && text.starts_with(queues)) (void)::mq_unlink(text.c_str());
    int number = -1;
    if (none || std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc()) continue;
    shmid_ds segment{};
    if (name.starts_with("shm-") && ::shmctl(number, IPC_STAT, &segment) == 0 && segment.shm_nattch == 0)
      (void)::shmctl(number, IPC_RMID, nullptr);
    if (name.starts_with("sem-")) (void)::semctl(number, 0, IPC_RMID);
    if (name.starts_with("msg-")) (void)::msgctl(number, IPC_RMID, nullptr);
  }
}

void remove_semaphores(const std::string& place, const std::string& front) {
  for (const std::string& name : names_in(place))
    if (name.starts_with(front)) (void)::unlink((place + "/" + name).c_str());
}

}  // namespace

void remove_shared_memory_folders(const std::string& prefix, int replicas) {
  std::error_code gone;  // as it is where the job ended by itself, or had no window
  const std::size_t slash = prefix.rfind('/');
  for (int k = 0; k < replicas; ++k) {
    const std::string folder = fmt::format("{}-{}", prefix, k);
    remove_linked(folder);
    fs::remove_all(folder, gone);
  }
  remove_semaphores(prefix.substr(0, slash), std::string(semaphore) + prefix.substr(slash + 1) + "-");
}

namespace {

/// "holdfast-<uid>-<16 hexadecimal digits>-<replica>": the beginning that shared_memory_folders() made; empty for other
/// names.
std::string beginning_of(const std::string& base) {
  const std::string front = fmt::format("holdfast-{}-", getuid());
  constexpr std::size_t digits = 16;
  const std::size_t end = front.size() + digits;
  if (!base.starts_with(front) || base.size() < end + 2 || base[end] != '-') return "";
  const std::string_view job = std::string_view(base).substr(front.size(), digits);
  const std::string_view replica = std::string_view(base).substr(end + 1);
  const bool whole = job.find_first_not_of("0123456789abcdef") == std::string_view::npos &&
                     replica.find_first_not_of("0123456789") == std::string_view::npos;
  return whole ? base.substr(0, end) : "";
}

/// A process that has been told of the folders may be about to make one.
bool somebody_is_told(const std::string& beginning) {
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator("/proc", gone)) {
    std::ifstream file(entry.path() / "environ", std::ios::binary);
    const std::string environment{std::istreambuf_iterator<char>(file), {}};
    if (environment.find(beginning) != std::string::npos) return true;
  }
  return false;
}

bool is_own_file(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == getuid();
}

void remove_if_left(const std::string& path, const std::string& beginning) {
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return;
  struct stat status {};
  const bool own = ::fstat(folder, &status) == 0 && status.st_uid == getuid();
  std::error_code gone;
  if (own && ::flock(folder, LOCK_EX | LOCK_NB) == 0 && !somebody_is_told(beginning)) {
    remove_linked(path);
    fs::remove_all(path, gone);
  }
  ::close(folder);
}

}  // namespace

void remove_left_shared_memory_folders(const std::string& place) {
  for (const std::string& base : names_in(place)) {
    if (const std::string beginning = beginning_of(base); !beginning.empty())
      remove_if_left(place + "/" + base, beginning);
    if (!base.starts_with(semaphore)) continue;
    const std::string folder = base.substr(semaphore.size());
    const std::string beginning = beginning_of(folder.substr(0, folder.find('.')));
    if (!beginning.empty() && is_own_file(place + "/" + base) && !somebody_is_told(beginning))
      (void)::unlink((place + "/" + base).c_str());
  }
}

}  // namespace holdfast::launch
