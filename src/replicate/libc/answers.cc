#include "replicate/libc/answers.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <span>
#include <unordered_map>

#include "core/integrity/digest.h"
#include "replicate/engine/mix.h"
#include "replicate/mpi/context/comms.h"
#include "replicate/process/call_site.h"
#include "replicate/process/first_told.h"
#include "replicate/process/job.h"
#include "replicate/process/streams.h"

namespace holdfast::replicate {

namespace {

/// Of a program that asks on and on, until it likes the answer, each replica goes by its own in the end.
constexpr int most_answers = 1000;

/// What this process was started as; alike in all replicas.
std::uint64_t command_line() {
  std::array<char, 4096> text{};
  const int file = ::open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  const ssize_t length = file < 0 ? 0 : ::read(file, text.data(), text.size());
  if (file >= 0) ::close(file);
  const auto bytes = std::as_bytes(std::span(text.data(), static_cast<std::size_t>(length > 0 ? length : 0)));
  return integrity::digest(integrity::Algorithm::crc32c, bytes).low;
}

/// The answers of one process while its replicas cannot talk, on its first thread: which files they are in.
class StandingAnswers {
 public:
  StandingAnswers() {
    const char* const directory = run_directory();
    const std::optional<Place> place = launched_place();
    if (!directory || !place) return;
    // A script may start a command several times: it is the same one that comes as many times before in each replica.
    const std::string command = std::to_string(command_line());
    const std::string folder = std::string(directory) + "/holdfast-answers";
    (void)::mkdir(folder.c_str(), 0700);  // another process may have made it
    const std::string start = folder + "/rank-" + std::to_string(place->rank) + ".";
    const long before = count_in_file(start + std::to_string(place->replica) + "." + command + ".starts");
    if (before < 0) return;
    rank_ = start + command + "." + std::to_string(before) + ".";
    replica_ = std::to_string(place->replica);
  }

  void take(std::uint32_t subject, std::string& value) {
    const bool late = init_has_been_called();
    if (rank_.empty() || ++answers_[late] > most_answers) return;
    const int times = asked_[late][subject]++;
    const std::string path =
        rank_ + (late ? "late." : "early.") + std::to_string(subject) + "." + std::to_string(times);
    value = first_told(path, path + ".draft." + replica_, value);
  }

 private:
  std::string rank_;     ///< what the names of the rank's files begin with; empty where there are none
  std::string replica_;  ///< what this replica's drafts end with
  int answers_[2] = {};
  std::unordered_map<std::uint32_t, int> asked_[2];  ///< by subject
};

StandingAnswers& standing_answers() {
  static auto* const answers = new StandingAnswers;  // kept for exit handlers
  return *answers;
}

std::uint32_t subject_of(SystemAnswer what, std::uint64_t which) {
  const std::uint64_t mixed = mix(mix(static_cast<std::uint64_t>(what), which), call_site());
  return static_cast<std::uint32_t>(mixed ^ (mixed >> 32));
}

}  // namespace

bool agree_on_bytes(SystemAnswer what, std::uint64_t which, bool talking, std::string& value) {
  const int before = errno;  // of a call that has succeeded
  const std::uint32_t subject = subject_of(what, which);
  bool agreed = true;
  if (talking) {
    agreed = agree_on_answer(subject, value);
  } else {
    standing_answers().take(subject, value);
  }
  errno = before;
  return agreed;
}

}  // namespace holdfast::replicate
