#include "replicate/launch/supervise/membership_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <vector>

#include "core/secret/secret_file.h"
#include "replicate/engine/membership_reader.h"
#include "replicate/engine/membership_seal.h"

namespace holdfast::launch {

using replicate::format_membership_message;
using replicate::MembershipMessage;
using replicate::MembershipReader;
using replicate::MembershipSeal;

namespace {

using Clock = std::chrono::steady_clock;

/// Without a file for another connection.
constexpr std::chrono::milliseconds back_off{100};
constexpr std::size_t most_at_once = 64;

void set(int socket, int level, int option, int value) {
  setsockopt(socket, level, option, &value, sizeof value);
}

constexpr int look_ms = 250;  ///< between looks for those who do not come to MPI_Init

/// A host that is gone says nothing: after 30 s of silence it is asked, every 10 s, three times.
void keep_alive(int socket) {
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
}

/// One connection a process: as many as the hard limit allows.
void raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

std::string host_name() {
  std::array<char, 256> text{};
  gethostname(text.data(), text.size() - 1);
  return text.data();
}

Status write_place(const std::string& path, const std::string& host, int port) {
  const std::string text = host + " " + std::to_string(port) + "\n";
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const bool written = file >= 0 && ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  if (file >= 0) ::close(file);
  if (written) return {};
  return {Code::unavailable, "writing " + path, std::strerror(error), "choose another --output folder"};
}

}  // namespace

/// The sockets.
class MembershipServer::Desk {
 public:
  explicit Desk(JobMembership& membership) : membership_(membership) {}
  ~Desk() {
    for (const auto& guest : guests_) ::close(guest.socket);
    if (listening_ >= 0) ::close(listening_);
    ::close(order_);
  }
  Desk(const Desk&) = delete;
  Desk& operator=(const Desk&) = delete;

  Status open(const Place& place) {
    raise_file_limit();
    secret_ = place.secret;
    patience_ = place.patience;
    listening_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(place.one_host ? INADDR_LOOPBACK : INADDR_ANY);
    socklen_t length = sizeof address;
    auto* any = reinterpret_cast<sockaddr*>(&address);
    if (listening_ < 0 || ::bind(listening_, any, length) != 0 || ::listen(listening_, SOMAXCONN) != 0 ||
        ::getsockname(listening_, any, &length) != 0)
      return {Code::unavailable, "listening for the processes of the job", std::strerror(errno),
              "see that TCP sockets can be opened here"};
    return write_place(place.run_directory + "/membership", place.one_host ? "127.0.0.1" : host_name(),
                       ntohs(address.sin_port));
  }

  double seconds() const { return std::chrono::duration<double>(Clock::now() - started_).count(); }

  /// Waits for something to happen and takes it; false when `stop` is readable.
  bool serve_once(int stop, int milliseconds) {
    const bool shut = Clock::now() < shut_until_;
    std::vector<pollfd> waits{{stop, POLLIN, 0}, {shut ? -1 : listening_, POLLIN, 0}};
    for (const Guest& guest : guests_) waits.push_back({guest.socket, POLLIN, 0});
    ::poll(waits.data(), waits.size(), until_next(milliseconds));
    take_in_order();
    for (std::size_t i = guests_.size(); i-- > 0;)
      if (guests_[i].is_stranger() && guests_[i].came + patience_ <= Clock::now()) leave(i);
    if (waits[1].revents != 0) welcome();
    deliver();
    return waits[0].revents == 0;
  }

 private:
  struct Guest {
    int socket;
    std::string nonce;
    Clock::time_point came = Clock::now();
    int member = -1;
    bool believed = false;  ///< has shown that it has the job's secret
    MembershipReader reader{};
    std::optional<MembershipSeal> seal{};  ///< of what is said to it, once it is believed

    bool is_stranger() const { return !believed; }
  };

  /// How long to sleep for: until the next stranger has been here for long enough, or the door opens again.
  int until_next(int most_ms) const {
    Clock::time_point next = Clock::time_point::max();
    const Clock::time_point now = Clock::now();
    if (shut_until_ > now) next = shut_until_;
    for (const Guest& guest : guests_)
      if (guest.is_stranger()) next = std::min(next, guest.came + patience_);
    if (next == Clock::time_point::max()) return most_ms;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - now).count();
    const int wait = static_cast<int>(std::clamp<decltype(left)>(left, 0, 60'000));
    return most_ms < 0 ? wait : std::min(wait, most_ms);
  }

  void welcome() {
    for (std::size_t i = 0; i < most_at_once; ++i) {
      const int socket = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (socket < 0) {
        // What is left waits in the kernel's queue, which would else wake this thread again at once and for ever.
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
          drop_oldest_stranger();
          shut_until_ = Clock::now() + back_off;
        }
        return;
      }
      keep_alive(socket);
      if (strangers() >= membership_.size() + spare_strangers) drop_oldest_stranger();
      MembershipMessage challenge;
      challenge.kind = MembershipMessage::Kind::challenge;
      challenge.nonce = replicate::nonce_from(secret::new_key());
      guests_.push_back({socket, challenge.nonce});
      watch(socket);
      say(guests_.back(), challenge);
    }
  }

  /// By edges: a level keeps the place in the queue of a connection that was heard before, ahead of others' news.
  void watch(int socket, int operation = EPOLL_CTL_ADD) {
    epoll_event event{};
    event.events = EPOLLIN | EPOLLET;
    event.data.fd = socket;
    ::epoll_ctl(order_, operation, socket, &event);
  }

  /// In the order in which it happened, which epoll keeps: when a launcher ends all after the first death, the first
  /// connection that ended is that of who died, however late this thread comes to it. A connection keeps the place of
  /// its first news, though, and may have ended since: so ends come behind all that was said before the last of them.
  void take_in_order() {
    std::vector<int> ended;
    for (std::size_t known = ended.size();; known = ended.size()) {
      std::vector<epoll_event> events(guests_.size() + 1);
      const int ready = ::epoll_wait(order_, events.data(), static_cast<int>(events.size()), 0);
      for (int n = 0; n < ready; ++n)
        if (const int socket = events[static_cast<std::size_t>(n)].data.fd; take_words(socket)) ended.push_back(socket);
      if (ended.size() == known) break;
    }
    for (const int socket : ended)
      if (const auto guest = guest_on(socket); guest != guests_.end())
        leave(static_cast<std::size_t>(guest - guests_.begin()));
  }

  std::vector<Guest>::iterator guest_on(int socket) {
    return std::find_if(guests_.begin(), guests_.end(), [&](const Guest& guest) { return guest.socket == socket; });
  }

  /// What has come on one connection; whether it has ended behind it.
  bool take_words(int socket) {
    constexpr int most_in_turn = 64;  // then others have a turn
    for (int i = 0; i < most_in_turn; ++i) {
      char next = 0;
      const auto found = guest_on(socket);
      if (found == guests_.end()) return false;
      const ssize_t got = ::recv(socket, &next, 1, MSG_PEEK | MSG_DONTWAIT);
      if (got <= 0) return got == 0 || (errno != EAGAIN && errno != EINTR);
      take(static_cast<std::size_t>(found - guests_.begin()));
    }
    watch(socket, EPOLL_CTL_MOD);  // there may be more
    return false;
  }

  std::size_t strangers() const {
    return static_cast<std::size_t>(
        std::count_if(guests_.begin(), guests_.end(), [](const Guest& guest) { return guest.is_stranger(); }));
  }

  /// Guests are in the order in which they came.
  void drop_oldest_stranger() {
    const auto oldest =
        std::find_if(guests_.begin(), guests_.end(), [](const Guest& guest) { return guest.is_stranger(); });
    if (oldest != guests_.end()) leave(static_cast<std::size_t>(oldest - guests_.begin()));
  }

  /// A full buffer is that of a process that has stopped reading: it is dying.
  static void say(Guest& guest, const MembershipMessage& message) {
    const std::string line = guest.seal ? guest.seal->line(message) : format_membership_message(message);
    (void)::send(guest.socket, line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  void take(std::size_t index) {
    Guest& guest = guests_[index];
    std::array<char, 4096> buffer;
    const ssize_t got = ::recv(guest.socket, buffer.data(), buffer.size(), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got > 0) {
      guest.reader.push({buffer.data(), static_cast<std::size_t>(got)});
      while (const auto message = guest.reader.next())
        if (!hear(guest, *message)) return leave(index);
      if (!guest.reader.spoilt()) return;
    }
    leave(index);
  }

  bool hear(Guest& guest, const MembershipMessage& message) {
    if (guest.member >= 0) {
      membership_.hear(guest.member, message, seconds());
      return true;
    }
    if (message.kind != MembershipMessage::Kind::join) return false;
    const auto proof = [&](MembershipMessage::Kind of) { return membership_proof(secret_, message, guest.nonce, of); };
    if (!replicate::same_proof(message.proof, proof(MembershipMessage::Kind::join))) return false;
    const int member = membership_.join(message.rank, message.number);
    if (member < 0) return false;
    for (Guest& other : guests_)
      if (other.member == member) other.member = -1;  // the shell that has started this one
    guest.member = member;
    guest.believed = true;
    MembershipMessage welcome;
    welcome.kind = MembershipMessage::Kind::welcome;
    welcome.proof = proof(MembershipMessage::Kind::welcome);
    say(guest, welcome);
    guest.seal.emplace(secret_, message, guest.nonce, MembershipSeal::From::run);
    guest.reader.expect({secret_, message, guest.nonce, MembershipSeal::From::process});
    return true;
  }

  void leave(std::size_t index) {
    const Guest guest = std::move(guests_[index]);
    guests_.erase(guests_.begin() + static_cast<std::ptrdiff_t>(index));
    ::close(guest.socket);
    const std::chrono::duration<double> since = Clock::now() - started_;
    if (guest.member >= 0) membership_.close(guest.member, since.count());
  }

  void deliver() {
    for (const JobMembership::Addressed& addressed : membership_.outgoing())
      for (Guest& guest : guests_)
        if (guest.member == addressed.member) say(guest, addressed.message);
    membership_.outgoing().clear();
  }

  JobMembership& membership_;
  secret::Key secret_{};
  std::chrono::milliseconds patience_{};
  Clock::time_point shut_until_{};
  Clock::time_point started_ = Clock::now();
  int listening_ = -1;
  int order_ = ::epoll_create1(EPOLL_CLOEXEC);
  std::vector<Guest> guests_;
};

MembershipServer::MembershipServer(Place place, JobMembership membership, std::function<void(const Death&)> tell)
    : place_(std::move(place)),
      membership_(std::move(membership)),
      tell_(std::move(tell)),
      desk_(std::make_unique<Desk>(membership_)),
      stop_(eventfd(0, EFD_CLOEXEC)),
      end_(eventfd(0, EFD_CLOEXEC)),
      over_(eventfd(0, EFD_CLOEXEC)) {}

Result<std::unique_ptr<MembershipServer>> MembershipServer::start(const Place& place, JobMembership membership,
                                                                  std::function<void(const Death&)> tell) {
  std::unique_ptr<MembershipServer> server(new MembershipServer(place, std::move(membership), std::move(tell)));
  Status ready = server->desk_->open(place);
  if (!ready.ok()) return ready;
  sigset_t all;  // signals belong to the main thread
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  server->thread_ = std::thread([&here = *server] { here.serve(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return server;
}

void MembershipServer::serve() {
  std::size_t told = 0;
  bool ended = false;
  bool over = false;
  bool seen = false;  // processes of the job, by looking for them
  const auto looks = [&] {
    return membership_.starting() || membership_.undecided() || (membership_.deserted() && !over);
  };
  while (desk_->serve_once(stop_, looks() ? look_ms : -1)) {
    const bool deserted = membership_.deserted();
    const auto living = !seen || deserted || membership_.starting() ? place_.living() : std::nullopt;
    seen = seen || (living && !living->empty());
    if (membership_.starting()) membership_.look(desk_->seconds(), living, place_.limit_s);
    if (membership_.undecided()) membership_.follow(desk_->seconds());
    // mpirun may wait for ever for processes that have all ended, when one of them had failed at the start.
    const bool nobody_lives = deserted && !membership_.failing() && seen && living && living->empty();
    leader_ = membership_.leader();
    for (; membership_.goes_on() && told < membership_.deaths().size(); ++told)
      if (membership_.deaths()[told].degree_left > 0 && membership_.verdict().empty())
        tell_(membership_.deaths()[told]);
    const std::uint64_t one = 1;
    if (!ended && !membership_.verdict().empty()) ended = ::write(end_, &one, sizeof one) == sizeof one;
    if (!over && (membership_.over() || nobody_lives)) over = ::write(over_, &one, sizeof one) == sizeof one;
  }
}

const JobMembership& MembershipServer::stop(bool launcher_lost) {
  if (!thread_.joinable()) return membership_;
  const std::uint64_t one = 1;
  while (::write(stop_, &one, sizeof one) < 0 && errno == EINTR) {
  }
  thread_.join();
  for (int i = 0; i < 64; ++i) desk_->serve_once(-1, 0);  // the last words of processes that have ended
  membership_.conclude(launcher_lost);
  return membership_;
}

MembershipServer::~MembershipServer() {
  stop();
  desk_.reset();
  ::close(stop_);
  ::close(end_);
  ::close(over_);
}

}  // namespace holdfast::launch
