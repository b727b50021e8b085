#include "fabric/opensm/keeper.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace holdfast::fabric::opensm {
namespace {

constexpr std::size_t longest_request = 64 * 1024;
constexpr int most_words = 256;
constexpr int most_programs = 8;

/// What goes to the keeper: this, then for `start` the words and variables, each ended by NUL, with four descriptors.
struct Request {
  enum class Kind : std::int32_t { start, signal, keep_folder };
  Kind kind = Kind::start;
  std::int32_t words = 0;
  std::int32_t variables = 0;
  std::int32_t program = 0;
  std::int32_t number = 0;
};

/// What comes back for `start`: the process, or -errno.
using Answer = std::int32_t;

// The keeper's side. It is a fork of a program that may have threads, and never runs another: from here on only
// async-signal-safe calls, no allocation.

struct Charge {
  int control;
  const char* folder;
  bool keep_folder = false;
  pid_t programs[most_programs] = {};
  int count = 0;
};

[[noreturn]] void become(char** words, char** variables, const char* folder, const int* descriptors, pid_t keeper) {
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != keeper || chdir(folder) != 0) _exit(126);
  const int empty = ::open("/dev/null", O_RDWR);
  int high[4];  // above 0 to 3, so that no dup2 overwrites what a later one needs
  for (int i = 0; i < 4; ++i) high[i] = fcntl(descriptors[i] >= 0 ? descriptors[i] : empty, F_DUPFD, 16);
  for (int i = 0; i < 4; ++i) dup2(high[i], i);
  close_range(4, ~0U, 0);
  execve(words[0], words, variables);
  _exit(127);
}

/// Sets each pointer to the next of the NUL-terminated strings; the array ends with null.
char* point_at(char** pointers, int count, char* text) {
  for (int i = 0; i < count; ++i) {
    pointers[i] = text;
    text += strlen(text) + 1;
  }
  pointers[count] = nullptr;
  return text;
}

Answer start_program(Charge& charge, const Request& request, char* text, const int* descriptors) {
  if (charge.count == most_programs) return -EAGAIN;
  char* words[most_words + 1];
  char* variables[most_words + 1];
  point_at(variables, request.variables, point_at(words, request.words, text));
  const pid_t keeper = getpid();
  const pid_t child = fork();
  if (child == 0) become(words, variables, charge.folder, descriptors, keeper);
  if (child < 0) return -errno;
  charge.programs[charge.count++] = child;
  return child;
}

/// Takes one request; false when the other side has closed or gone.
bool serve_one(Charge& charge) {
  alignas(Request) static char buffer[longest_request];
  alignas(cmsghdr) char ancillary[CMSG_SPACE(4 * sizeof(int))];
  iovec bytes = {buffer, sizeof buffer};
  msghdr message = {};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = ancillary;
  message.msg_controllen = sizeof ancillary;
  const ssize_t size = recvmsg(charge.control, &message, 0);
  if (size < 0 && errno == EINTR) return true;
  if (size < static_cast<ssize_t>(sizeof(Request))) return false;
  int descriptors[4] = {-1, -1, -1, -1};
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part))
    if (part->cmsg_type == SCM_RIGHTS) memcpy(descriptors, CMSG_DATA(part), sizeof descriptors);
  Request request;
  memcpy(&request, buffer, sizeof request);
  if (request.kind == Request::Kind::keep_folder) charge.keep_folder = true;
  if (request.kind == Request::Kind::signal) kill(request.program, request.number);  // unreaped: the pid is not reused
  if (request.kind == Request::Kind::start) {
    const Answer answer = start_program(charge, request, buffer + sizeof request, descriptors);
    if (send(charge.control, &answer, sizeof answer, MSG_NOSIGNAL) < 0) return false;
  }
  for (const int descriptor : descriptors)
    if (descriptor >= 0) close(descriptor);
  return true;
}

[[noreturn]] void keep(int control, const char* folder) {
  setpgid(0, 0);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP}) ::signal(number, SIG_IGN);
  ::signal(SIGCHLD, SIG_DFL);
  const int held = dup2(control, 3);
  const int empty = ::open("/dev/null", O_RDWR);
  for (int i = 0; i < 3; ++i) dup2(empty, i);
  close_range(4, ~0U, 0);
  if (chdir("/") != 0) _exit(126);
  Charge charge = {.control = held, .folder = folder};
  const Answer made = mkdir(folder, 0700) == 0 ? 0 : errno;
  const int own = made == 0 ? ::open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
  if (own >= 0) flock(own, LOCK_EX | LOCK_NB);  // says that somebody will remove it (remove_left_folders())
  if (send(held, &made, sizeof made, MSG_NOSIGNAL) > 0 && made == 0)
    while (serve_one(charge)) continue;
  for (int i = 0; i < charge.count; ++i) kill(charge.programs[i], SIGKILL);
  for (int i = 0; i < charge.count; ++i) waitpid(charge.programs[i], nullptr, 0);
  if (made == 0 && !charge.keep_folder) execl("/bin/rm", "rm", "-rf", "--", folder, static_cast<char*>(nullptr));
  _exit(0);
}

// The caller's side.

Status io_error(const std::string& doing, int number) {
  return {Code::io, doing, std::strerror(number)};
}

/// Hands over the request with its strings; `descriptors` may be null, and -1 in it becomes /dev/null.
bool send_request(int control, const std::string& text, const int* descriptors) {
  iovec bytes = {const_cast<char*>(text.data()), text.size()};
  alignas(cmsghdr) char ancillary[CMSG_SPACE(4 * sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  if (descriptors != nullptr) {
    message.msg_control = ancillary;
    message.msg_controllen = sizeof ancillary;
    cmsghdr* part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(4 * sizeof(int));
    std::memcpy(CMSG_DATA(part), descriptors, 4 * sizeof(int));
  }
  return sendmsg(control, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

std::string bytes_of(const Request& request) {
  return {reinterpret_cast<const char*>(&request), sizeof request};
}

Result<Answer> receive_answer(int control, const std::string& doing) {
  Answer answer = 0;
  ssize_t size = 0;
  do {
    size = recv(control, &answer, sizeof answer, 0);
  } while (size < 0 && errno == EINTR);
  if (size != sizeof answer) return Status(Code::io, doing, "the keeper process is gone");
  return answer;
}

}  // namespace

Keeper& Keeper::operator=(Keeper&& other) noexcept {
  close();
  folder_ = std::move(other.folder_);
  keeper_ = std::exchange(other.keeper_, -1);
  control_ = std::exchange(other.control_, -1);
  return *this;
}

Result<Keeper> Keeper::open(const std::string& folder) {
  const std::string doing = "creating " + folder;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return io_error(doing, errno);
  Keeper keeper;
  keeper.folder_ = folder;
  const pid_t child = fork();
  if (child == 0) keep(ends[1], folder.c_str());
  const int number = errno;
  ::close(ends[1]);
  keeper.control_ = ends[0];
  keeper.keeper_ = child;
  if (child < 0) return io_error(doing, number);
  auto made = receive_answer(ends[0], doing);
  if (!made.ok()) return made.status();
  if (made.value() != 0) return io_error(doing, made.value());
  return keeper;
}

Result<pid_t> Keeper::start(const Program& program) {
  const std::string doing = "starting " + program.words.front();
  if (access(program.words.front().c_str(), X_OK) != 0) return io_error(doing, errno);
  if (program.words.size() > most_words || program.environment.size() > most_words) return io_error(doing, E2BIG);
  Request request;
  request.words = static_cast<std::int32_t>(program.words.size());
  request.variables = static_cast<std::int32_t>(program.environment.size());
  std::string text = bytes_of(request);
  for (const std::string& word : program.words) text.append(word.c_str(), word.size() + 1);
  for (const std::string& variable : program.environment) text.append(variable.c_str(), variable.size() + 1);
  if (text.size() > longest_request) return io_error(doing, E2BIG);
  const int empty = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  int descriptors[4] = {program.input, program.output, program.errors, program.third};
  for (int& descriptor : descriptors)
    if (descriptor < 0) descriptor = empty;
  const bool sent = send_request(control_, text, descriptors);
  const int number = errno;
  ::close(empty);
  if (!sent) return io_error(doing, number);
  auto answer = receive_answer(control_, doing);
  if (!answer.ok()) return answer.status();
  if (answer.value() < 0) return io_error(doing, -answer.value());
  return static_cast<pid_t>(answer.value());
}

void Keeper::signal(pid_t program, int number) {
  Request request;
  request.kind = Request::Kind::signal;
  request.program = program;
  request.number = number;
  send_request(control_, bytes_of(request), nullptr);
}

void Keeper::close(bool keep) {
  if (keep && control_ >= 0) {
    Request request;
    request.kind = Request::Kind::keep_folder;
    send_request(control_, bytes_of(request), nullptr);
  }
  if (control_ >= 0) ::close(control_);
  while (keeper_ > 0 && waitpid(keeper_, nullptr, 0) < 0 && errno == EINTR) continue;
  control_ = -1;
  keeper_ = -1;
}

}  // namespace holdfast::fabric::opensm
