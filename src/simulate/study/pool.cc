#include "simulate/study/pool.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "core/integrity/digest.h"
#include "core/integrity/xxh3.h"
#include "core/time/clock.h"
#include "simulate/study/channel.h"

namespace holdfast::simulate::study {
namespace {

constexpr int most_attempts = 3;
constexpr std::int64_t second_ns = 1'000'000'000;

volatile sig_atomic_t caught = 0;
extern "C" void catch_signal(int signal) {
  caught = signal;
}

/// Signals that end the pool arrive while it waits, and nowhere else.
class Signals {
 public:
  Signals() {
    caught = 0;
    sigset_t ours;
    sigemptyset(&ours);
    struct sigaction action {};
    action.sa_handler = catch_signal;
    for (std::size_t i = 0; i < std::size(numbers); ++i) {
      sigaddset(&ours, numbers[i]);
      sigaction(numbers[i], &action, &before_[i]);
    }
    sigprocmask(SIG_BLOCK, &ours, &mask_);
  }
  ~Signals() {
    for (std::size_t i = 0; i < std::size(numbers); ++i) sigaction(numbers[i], &before_[i], nullptr);
    sigprocmask(SIG_SETMASK, &mask_, nullptr);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  /// To be in force while waiting.
  const sigset_t* open() const { return &mask_; }

 private:
  static constexpr int numbers[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction before_[std::size(numbers)] = {};
  sigset_t mask_{};
};

/// What a forked worker does first: keeps one descriptor, leaves the terminal's signals to the coordinator, dies with
/// it.
void become_worker(pid_t parent, int keep) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  signal(SIGINT, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  signal(SIGTERM, SIG_IGN);  // it comes to the whole group; the coordinator ends its workers
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (keep > 3) ::close_range(3, static_cast<unsigned>(keep) - 1, 0);
  ::close_range(static_cast<unsigned>(keep) + 1, ~0U, 0);
}

/// Runs what it is told until it is told to end. True: that happened.
bool work(Channel& channel, const Study& study) {
  while (true) {
    auto message = channel.receive();
    if (!message.ok()) return false;
    const Json& asked = message.value();
    if (!asked.is_object() || !asked.contains("run")) return asked.is_object() && asked.contains("end");
    if (!asked["run"].is_number_unsigned() || asked["run"].get<std::size_t>() >= study.points.size()) return false;
    const auto index = asked["run"].get<std::size_t>();
    if (!channel.send(to_message(index, study.run(index))).ok()) return false;
  }
}

/// Two processes agree on a study when they agree on all keys.
std::string digest_of(const Study& study) {
  std::string keys;
  for (const Point& point : study.points) keys += point.key + "\n";
  const integrity::Digest digest = integrity::xxh3_128(std::as_bytes(std::span(keys)));
  return std::to_string(digest.high) + ":" + std::to_string(digest.low);
}

std::string random_token() {
  unsigned char bytes[16] = {};
  if (::getrandom(bytes, sizeof bytes, 0) != sizeof bytes) std::abort();
  std::string text;
  for (const unsigned char byte : bytes) text += {"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
  return text;
}

std::vector<std::string> own_addresses() {
  std::vector<std::string> addresses;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return addresses;
  std::string loopback;
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET) continue;
    char text[INET_ADDRSTRLEN] = {};
    const auto* address = reinterpret_cast<const sockaddr_in*>(each->ifa_addr);
    ::inet_ntop(AF_INET, &address->sin_addr, text, sizeof text);
    if (std::string_view(text).starts_with("127."))
      loopback = text;
    else
      addresses.emplace_back(text);
  }
  ::freeifaddrs(all);
  if (!loopback.empty()) addresses.push_back(loopback);  // last: elsewhere it is another machine
  return addresses;
}

/// So that a machine that vanished is noticed within half a minute.
void keep_alive(int descriptor) {
  const int on = 1, idle_s = 10, interval_s = 5, probes = 4;
  ::setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Status system_error(const std::string& doing) {
  return {Code::io, doing, std::strerror(errno), "check the system's limits"};
}

/// The coordinator's open door: a TCP port, and the file that says where it is and what to say there.
class Door {
 public:
  ~Door() {
    if (listener_ >= 0) ::close(listener_);
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  Door() = default;
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  Status open(const std::string& path) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_ANY);
    socklen_t length = sizeof address;
    if (listener_ < 0 || ::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(listener_, SOMAXCONN) != 0 ||
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length) != 0)
      return system_error("listening for workers");
    token_ = random_token();
    const Json text = {{"addresses", own_addresses()}, {"port", ntohs(address.sin_port)}, {"token", token_}};
    const std::string fresh = path + ".new";
    const int file = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const std::string written = text.dump();
    const bool good =
        file >= 0 && ::write(file, written.data(), written.size()) == static_cast<ssize_t>(written.size());
    if (file >= 0) ::close(file);
    if (!good || ::rename(fresh.c_str(), path.c_str()) != 0) return system_error("writing " + path);
    path_ = path;
    return {};
  }

  int listener() const { return listener_; }
  const std::string& token() const { return token_; }

 private:
  int listener_ = -1;
  std::string token_;
  std::string path_;
};

class Coordinator {
 public:
  Coordinator(const Study& study, const std::vector<std::size_t>& todo, const PoolOptions& options,
              const PoolEvents& events)
      : study_(study), options_(options), events_(events), queue_(todo.begin(), todo.end()), all_(todo.size()) {}

  ~Coordinator() {
    for (Worker& worker : workers_) end_process(worker);
  }
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  PoolEnd run() {
    const Signals signals;
    if (options_.ranks > 1) {
      if (Status status = door_.open(options_.meeting); !status.ok()) return {status, 0};
    }
    show();
    while (!over()) {
      keep_local_workers();
      if (!status_.ok()) return {status_, 0};
      wait(signals);
      if (caught != 0) return {{}, caught};
      if (!status_.ok()) return {status_, 0};
      hand_out();
    }
    for (Worker& worker : workers_)
      if (worker.known) (void)worker.channel.send({{"end", true}}).ok();
    return {};
  }

 private:
  struct Worker {
    Channel channel;
    pid_t process = -1;  ///< -1: of another machine or rank
    bool known = false;  ///< it is a worker, and has what it needs
    std::optional<std::size_t> run{};
    std::size_t rank = 0;
  };

  /// All runs have ended, and every rank has been met or has had its time to come.
  bool over() {
    if (done_ < all_) return false;
    if (met_.size() + 1 >= options_.ranks) return true;
    const std::int64_t now = time::steady_now_ns();
    if (done_at_ns_ == 0) done_at_ns_ = now;
    return now - done_at_ns_ > 10 * second_ns;
  }

  void keep_local_workers() {
    std::size_t local = 0;
    for (const Worker& worker : workers_) local += worker.process > 0 ? 1 : 0;
    const std::size_t wanted = std::min<std::size_t>(options_.workers, all_ - done_);
    for (; local < wanted && status_.ok(); ++local) start_worker();
  }

  void start_worker() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      status_ = system_error("starting a worker");
      return;
    }
    const pid_t parent = ::getpid();
    const pid_t process = ::fork();
    if (process == 0) {
      become_worker(parent, ends[1]);
      Channel channel(ends[1]);
      ::_exit(work(channel, study_) ? 0 : 1);
    }
    ::close(ends[1]);
    if (process < 0) {
      ::close(ends[0]);
      status_ = system_error("starting a worker");
      return;
    }
    workers_.push_back({Channel(ends[0]), process, true});
    hand_out();
  }

  void wait(const Signals& signals) {
    std::vector<pollfd> waited;
    for (const Worker& worker : workers_) waited.push_back({worker.channel.descriptor(), POLLIN, 0});
    if (door_.listener() >= 0) waited.push_back({door_.listener(), POLLIN, 0});
    const timespec patience = {0, 200'000'000};
    if (::ppoll(waited.data(), waited.size(), &patience, signals.open()) < 0) {
      if (errno != EINTR) status_ = system_error("waiting for workers");
      return;
    }
    for (std::size_t i = workers_.size(); i-- > 0;)
      if (waited[i].revents != 0) hear(i);
    if (door_.listener() >= 0 && waited.back().revents != 0) welcome();
    show();
  }

  void welcome() {
    const int descriptor = ::accept4(door_.listener(), nullptr, nullptr, SOCK_CLOEXEC);
    if (descriptor < 0) return;
    keep_alive(descriptor);
    workers_.push_back({Channel(descriptor)});
    workers_.back().channel.limit(4096);  // until it has shown the token
  }

  /// Takes what a worker sent; a worker that is gone, or talks nonsense, is dropped.
  void hear(std::size_t index) {
    bool alive = workers_[index].channel.fill();
    while (status_.ok()) {
      auto message = workers_[index].channel.next();
      if (!message) break;
      if (message->is_discarded() || !take(workers_[index], *message)) {
        alive = false;
        break;
      }
    }
    if (!alive) lose(index);
  }

  bool take(Worker& worker, const Json& message) {
    if (!worker.known) return introduce(worker, message);
    const auto answer = read_answer(message);
    if (!answer || !worker.run || answer->run != *worker.run) return false;
    worker.run.reset();
    if (!answer->finished.ok()) {
      status_ = answer->finished.status();
      return true;
    }
    end_run(answer->run, answer->finished.value());
    return true;
  }

  bool introduce(Worker& worker, const Json& message) {
    const bool good = message.is_object() && message.value("token", std::string()) == door_.token() &&
                      message.contains("rank") && message["rank"].is_number_unsigned();
    if (!good) {
      events_.trouble("a connection without the study's token was turned away");
      return false;
    }
    worker.known = true;
    worker.rank = message["rank"].get<std::size_t>();
    worker.channel.limit(Channel::longest_bytes);
    met_.insert(worker.rank);
    return worker.channel.send({{"study", study_.text}, {"name", options_.file_name}, {"digest", digest_of(study_)}})
        .ok();
  }

  void end_run(std::size_t run, const Finished& finished) {
    status_ = events_.finished(run, finished);
    ++done_;
    show(true);
  }

  void lose(std::size_t index) {
    Worker worker = std::move(workers_[index]);
    workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(index));
    end_process(worker);
    if (!worker.run) return;
    const std::size_t run = *worker.run;
    const std::string who = worker.process > 0 ? "a worker" : "the worker of rank " + std::to_string(worker.rank);
    if (++attempts_[run] < most_attempts) {
      queue_.push_front(run);
      events_.trouble(who + " died; its run goes to another: " + study_.points[run].key);
      return;
    }
    events_.trouble(who + " died, the third of this run, which is given up: " + study_.points[run].key);
    end_run(run, {"crashed", {{"reason", "it ended three workers"}}, 0});
  }

  static void end_process(Worker& worker) {
    if (worker.process <= 0) return;
    ::kill(worker.process, SIGKILL);
    while (::waitpid(worker.process, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  void hand_out() {
    for (Worker& worker : workers_) {
      if (queue_.empty()) return;
      if (!worker.known || worker.run) continue;
      worker.run = queue_.front();
      queue_.pop_front();
      (void)worker.channel.send({{"run", *worker.run}}).ok();  // when it is gone, waiting will tell
    }
  }

  void show(bool now = false) {
    const std::int64_t at = time::steady_now_ns();
    if (!now && at - shown_at_ns_ < second_ns / 5) return;
    shown_at_ns_ = at;
    events_.progress({done_, all_, workers_.size()});
  }

  const Study& study_;
  const PoolOptions& options_;
  const PoolEvents& events_;
  Door door_;
  std::vector<Worker> workers_;
  std::deque<std::size_t> queue_;
  std::map<std::size_t, int> attempts_;
  std::set<std::size_t> met_;
  std::size_t done_ = 0;
  std::size_t all_;
  std::int64_t done_at_ns_ = 0;
  std::int64_t shown_at_ns_ = 0;
  Status status_;
};

/// Connects to where the meeting file says; -1 when nobody is there.
int connect_to(const Json& place) {
  if (!place.is_object() || !place.contains("addresses") || !place["addresses"].is_array()) return -1;
  for (const Json& each : place["addresses"]) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(place.value("port", 0)));
    if (!each.is_string() || ::inet_pton(AF_INET, each.get<std::string>().c_str(), &address.sin_addr) != 1) continue;
    const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) continue;
    const timeval patience = {5, 0};  // for connect(); the data has no deadline
    ::setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (::connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
      keep_alive(descriptor);
      return descriptor;
    }
    ::close(descriptor);
  }
  return -1;
}

enum class Served : int { told_to_end = 0, lost = 10, another_version = 11, nobody = 12, broken_study = 13 };

/// One worker's life: connect, introduce itself, work.
Served serve_once(const std::string& meeting, std::size_t rank, std::int64_t patience_ns) {
  const std::int64_t until = time::steady_now_ns() + patience_ns;
  while (time::steady_now_ns() < until) {
    std::ifstream file(meeting);
    const Json place = Json::parse(file, nullptr, false);
    const int descriptor = place.is_discarded() ? -1 : connect_to(place);
    if (descriptor < 0) {
      ::usleep(100'000);
      continue;
    }
    Channel channel(descriptor);
    if (!channel.send({{"token", place.value("token", "")}, {"rank", rank}}).ok()) continue;
    auto welcome = channel.receive();
    if (!welcome.ok()) {  // a stale file, and somebody else's port
      ::usleep(100'000);
      continue;
    }
    if (welcome.value().contains("end")) return Served::told_to_end;
    auto study = read_any_study(welcome.value().value("study", ""), welcome.value().value("name", ""));
    if (!study.ok()) return Served::broken_study;
    if (digest_of(*study.value()) != welcome.value().value("digest", "")) return Served::another_version;
    return work(channel, *study.value()) ? Served::told_to_end : Served::lost;
  }
  return Served::nobody;
}

std::optional<std::size_t> number_of(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return std::nullopt;
  std::size_t value = 0;
  const char* end = text + std::strlen(text);
  const auto read = std::from_chars(text, end, value);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return value;
}

}  // namespace

PoolEnd run_pool(const Study& study, const std::vector<std::size_t>& todo, const PoolOptions& options,
                 const PoolEvents& events) {
  return Coordinator(study, todo, options, events).run();
}

Status serve_pool(const std::string& meeting, std::size_t rank, std::int64_t patience_ns) {
  const std::string doing = "working for the study as rank " + std::to_string(rank);
  bool met = false;
  for (int deaths = 0; deaths < most_attempts * 10;) {
    const pid_t parent = ::getpid();
    const pid_t process = ::fork();
    if (process == 0) {
      become_worker(parent, 2);
      ::_exit(static_cast<int>(serve_once(meeting, rank, met ? 15 * second_ns : patience_ns)));
    }
    if (process < 0) return system_error(doing);
    int ended = 0;
    while (::waitpid(process, &ended, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(ended)) {
      switch (static_cast<Served>(WEXITSTATUS(ended))) {
        case Served::told_to_end:
          return {};
        case Served::nobody:
          if (met) return {};  // it ended while this one was away
          return {Code::unavailable, doing, "no coordinator appeared at " + meeting,
                  "is the folder shared by all machines?"};
        case Served::another_version:
        case Served::broken_study:
          return {Code::diverged, doing, "the coordinator reads the study otherwise",
                  "run the same holdfast, and the same files, on all machines"};
        default:
          break;
      }
    }
    met = true;
    ++deaths;
  }
  return {Code::internal, doing, "30 workers of this rank died", "see what rank 0 says of its runs"};
}

JobPlace job_place() {
  constexpr std::pair<const char*, const char*> known[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                                           {"PMI_RANK", "PMI_SIZE"},
                                                           {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};
  for (const auto& [rank_name, size_name] : known) {
    const auto rank = number_of(rank_name), size = number_of(size_name);
    if (rank && size && *rank < *size) return {*rank, *size};
  }
  return {};
}

}  // namespace holdfast::simulate::study
