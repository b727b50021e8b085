#include "replicate/process/liveness.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "core/secret/secret_file.h"
#include "replicate/engine/membership_reader.h"
#include "replicate/engine/membership_seal.h"
#include "replicate/process/depth.h"
#include "replicate/process/job.h"
#include "replicate/process/program.h"
#include "replicate/process/streams.h"

namespace holdfast::replicate {

namespace {

constexpr std::size_t most_replicas = 1024;

constexpr int answer_seconds = 30;  // of `holdfast run`, on a busy machine

/// The connection, and whose it is.
struct Line {
  int socket = -1;
  pid_t process = 0;  ///< a child of it has the copy of a descriptor, and nothing to say
  int replica = -1;
  std::optional<MembershipSeal> seal;  ///< once `holdfast run` believes us
  pthread_mutex_t speaking = PTHREAD_MUTEX_INITIALIZER;
  /// Of the thread that attends: how deep it is in calls, and to how many agreed points it has come.
  const int* depth = nullptr;
  const std::uint64_t* points = nullptr;
};
constinit Line line_to_run;

/// What came by it.
struct News {
  std::atomic<std::size_t> gone_count{0};
  std::array<std::atomic<int>, most_replicas> gone_order;
  std::atomic<bool> all_started{false};
  std::atomic<Ending> ending{Ending::unknown};
  std::atomic<bool> working{false};  ///< those for whom this process waits
};
constinit News news;

struct MembershipServer {
  std::string host;
  std::string port;
  secret::Key secret{};
};

std::optional<MembershipServer> announced_server() {
  const char* directory = run_directory();
  if (!directory) return std::nullopt;
  std::ifstream file(std::string(directory) + "/membership");
  MembershipServer server;
  if (!(file >> server.host >> server.port)) return std::nullopt;
  if (auto key = secret::read_key(std::string(directory) + "/secret"); key.ok()) server.secret = key.value();
  return server;  // without the secret nobody there believes us, which is said where it is found out
}

int connect_to(const MembershipServer& server) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(server.host.c_str(), server.port.c_str(), &hints, &found) != 0) return -1;
  int connected = -1;
  for (const addrinfo* at = found; at && connected < 0; at = at->ai_next) {
    const int socket = ::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
    if (socket < 0) continue;
    if (::connect(socket, at->ai_addr, at->ai_addrlen) == 0)
      connected = ::fcntl(socket, F_DUPFD_CLOEXEC, lowest_descriptor);
    ::close(socket);
  }
  ::freeaddrinfo(found);
  const int at_once = 1;
  if (connected >= 0) ::setsockopt(connected, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
  return connected;
}

void send_line(const std::string& line) {
  (void)::send(line_to_run.socket, line.data(), line.size(),
               MSG_NOSIGNAL);  // one write: the line is shorter than any buffer
}

/// Signals wait meanwhile: their handlers may end the program, and say so.
void say(const MembershipMessage& message) {
  if (!liveness_is_watched() || !line_to_run.seal) return;
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  pthread_mutex_lock(&line_to_run.speaking);  // lines are numbered in the order in which they are sent
  send_line(line_to_run.seal->line(message));
  pthread_mutex_unlock(&line_to_run.speaking);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

/// The next line of a connection on which the other side has something to say; nothing when it has ended, or is silent.
std::optional<MembershipMessage> hear_next(MembershipReader& heard) {
  std::array<char, 512> buffer;
  while (true) {
    if (auto message = heard.next()) return message;
    if (heard.spoilt()) return std::nullopt;
    const ssize_t got = ::recv(line_to_run.socket, buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    heard.push({buffer.data(), static_cast<std::size_t>(got)});
  }
}

void give_up_after(int seconds) {
  const timeval time{seconds, 0};
  ::setsockopt(line_to_run.socket, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
}

/// Says who this is, and that it has the job's secret. False when the other side does not show that it has it as well.
bool join_membership(const MembershipServer& server, const Place& place, MembershipReader& heard) {
  give_up_after(answer_seconds);
  const std::optional<MembershipMessage> challenge = hear_next(heard);
  if (!challenge || challenge->kind != MembershipMessage::Kind::challenge) return false;
  MembershipMessage join;
  join.kind = MembershipMessage::Kind::join;
  join.rank = place.rank;
  join.number = place.replica;
  join.nonce = nonce_from(secret::new_key());
  join.proof = membership_proof(server.secret, join, challenge->nonce, MembershipMessage::Kind::join);
  send_line(format_membership_message(join));
  const std::optional<MembershipMessage> welcome = hear_next(heard);
  give_up_after(0);
  if (!welcome || welcome->kind != MembershipMessage::Kind::welcome ||
      !same_proof(welcome->proof,
                  membership_proof(server.secret, join, challenge->nonce, MembershipMessage::Kind::welcome)))
    return false;
  line_to_run.seal.emplace(server.secret, join, challenge->nonce, MembershipSeal::From::process);
  heard.expect({server.secret, join, challenge->nonce, MembershipSeal::From::run});
  return true;
}

/// Another thread's word, which it writes at any time: a value of the moment, good enough to see whether it changes.
template <class Word>
[[gnu::no_sanitize("thread", "address")]] Word peek(const Word* word) {
  return *static_cast<const volatile Word*>(word);
}

std::uint64_t processor_time_ms() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<std::uint64_t>(used.tv_sec) * 1000 + static_cast<std::uint64_t>(used.tv_nsec) / 1'000'000;
}

/// Where several threads call MPI, what the first one does says little of the others.
void say_what_it_does() {
  MembershipMessage message;
  message.kind = MembershipMessage::Kind::inside;
  if (!many_threads() && peek(line_to_run.depth) == 0) {
    message.kind = MembershipMessage::Kind::outside;
    message.used_ms = processor_time_ms();
    message.points = peek(line_to_run.points);
  }
  say(message);
}

void take(const MembershipMessage& message) {
  switch (message.kind) {
    case MembershipMessage::Kind::look:
      return say_what_it_does();
    case MembershipMessage::Kind::working:
      return news.working.store(true, std::memory_order_release);
    case MembershipMessage::Kind::idle:
      return news.working.store(false, std::memory_order_release);
    case MembershipMessage::Kind::gone: {
      if (message.number == line_to_run.replica) ::_exit(0);  // this replica's world is no longer whole
      const std::size_t n = news.gone_count.load(std::memory_order_relaxed);
      if (n == most_replicas) return;
      news.gone_order[n].store(message.number, std::memory_order_relaxed);
      news.gone_count.store(n + 1, std::memory_order_release);
      return;
    }
    case MembershipMessage::Kind::started:
      news.all_started.store(true, std::memory_order_release);
      return;
    case MembershipMessage::Kind::finalize:
      news.ending.store(Ending::finalize, std::memory_order_release);
      return;
    case MembershipMessage::Kind::leave:
      news.ending.store(Ending::leave, std::memory_order_release);
      return;
    default:
      return;
  }
}

void* listen_to_run(void* reader) {
  depth = 1;  // nothing that this thread does is the program's
  while (const auto message = hear_next(*static_cast<MembershipReader*>(reader))) take(*message);
  news.all_started.store(true, std::memory_order_release);
  return nullptr;
}

/// The child of a fork has a copy of the descriptor, which would outlive the death of its parent.
void close_in_child() {
  if (line_to_run.socket >= 0) ::close(line_to_run.socket);
  line_to_run.socket = -1;
}

bool start_listening(MembershipReader* heard) {
  sigset_t all;  // the program's signals are its own
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  pthread_t thread;
  const bool started = ::pthread_create(&thread, nullptr, listen_to_run, heard) == 0;
  if (started) ::pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

}  // namespace

bool begin_liveness() {
  record_streams();
  if (liveness_is_watched()) return true;
  const Depth inside;
  const std::optional<Place> place = launched_place();
  const std::optional<MembershipServer> server = place ? announced_server() : std::nullopt;
  if (!server) return true;
  line_to_run.socket = connect_to(*server);
  if (line_to_run.socket < 0) return false;
  line_to_run.process = real_process_id();
  line_to_run.depth = &depth;
  line_to_run.points = &asking.points;
  line_to_run.replica = place->replica;
  ::pthread_atfork(nullptr, nullptr, close_in_child);
  auto heard = std::make_unique<MembershipReader>();
  if (!join_membership(*server, *place, *heard)) {
    close_in_child();
    return false;
  }
  return start_listening(heard.release());  // the thread's, which nobody ends
}

void begin_liveness_of_program() {
  if (program_asks() && program_is_named()) (void)begin_liveness();
}

bool liveness_is_watched() {
  return line_to_run.socket >= 0 && line_to_run.process == real_process_id();
}

void say_starting() {
  say({MembershipMessage::Kind::starting});
}
void say_ready() {
  say({MembershipMessage::Kind::ready});
}
void say_finishing() {
  say({MembershipMessage::Kind::finishing});
}
void say_finished() {
  say({MembershipMessage::Kind::finished});
}
void say_diverged(int replica) {
  MembershipMessage message;
  message.kind = MembershipMessage::Kind::accuse;
  message.number = replica;
  say(message);
}
void say_failed() {
  say({MembershipMessage::Kind::failed});
}
void say_exit(int status) {
  MembershipMessage message;
  message.kind = MembershipMessage::Kind::exit;
  message.number = status & 0xff;
  say(message);
}

void say_waits(int rank, int replica) {
  news.working.store(false, std::memory_order_release);
  MembershipMessage message;
  message.kind = MembershipMessage::Kind::waits;
  message.rank = rank;
  message.number = rank < 0 ? -1 : replica;
  say(message);
}

bool told_working() {
  return news.working.load(std::memory_order_acquire);
}

std::size_t departures() {
  return news.gone_count.load(std::memory_order_acquire);
}

int departed(std::size_t n) {
  return news.gone_order[n].load(std::memory_order_relaxed);
}

bool told_started() {
  return news.all_started.load(std::memory_order_acquire);
}

Ending told_ending() {
  return news.ending.load(std::memory_order_acquire);
}

}  // namespace holdfast::replicate
