// Who is let in, who is not, and what strangers cost.
#include "replicate/launch/supervise/membership_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <ctime>
#include <fstream>
#include <optional>
#include <semaphore>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/scratch/scratch_folder.h"
#include "core/secret/secret_file.h"
#include "replicate/engine/membership_reader.h"
#include "replicate/engine/membership_seal.h"

namespace holdfast::launch {
namespace {

using replicate::MembershipMessage;
using replicate::MembershipSeal;
using Kind = MembershipMessage::Kind;

/// One end of a connection, as a process of the job or a stranger has it.
class Visitor {
 public:
  explicit Visitor(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), port_(port) {}
  ~Visitor() { ::close(socket_); }
  Visitor(const Visitor&) = delete;
  Visitor& operator=(const Visitor&) = delete;

  void connect() const {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port_));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    const timeval time{60, 0};  // a defect ends the test, and a slow machine does not
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
  }
  void say(const std::string& text) const { (void)::send(socket_, text.data(), text.size(), MSG_NOSIGNAL); }
  /// The next message; nothing when the other side has closed.
  std::optional<MembershipMessage> hear() {
    while (true) {
      if (auto message = reader_.next()) return message;
      char bytes[512];
      const ssize_t got = ::recv(socket_, bytes, sizeof bytes, 0);
      timed_out_ = got < 0;
      if (got <= 0) return std::nullopt;
      heard_.append(bytes, static_cast<std::size_t>(got));
      reader_.push({bytes, static_cast<std::size_t>(got)});
    }
  }
  bool was_closed() {
    while (hear()) {
    }
    return !timed_out_;
  }
  MembershipMessage join(const secret::Key& key, int rank, int replica) {
    connect();
    challenge_ = hear()->nonce;
    MembershipMessage join{Kind::join, rank, replica, replicate::nonce_from(secret::new_key()), {}};
    join.proof = membership_proof(key, join, challenge_, Kind::join);
    say(format_membership_message(join));
    return join;
  }
  /// Joins, hears that it is believed, and from then on expects tags.
  void be_believed(const secret::Key& key, int rank, int replica) {
    const MembershipMessage words = join(key, rank, replica);
    const auto welcome = hear();
    ASSERT_TRUE(welcome && welcome->kind == Kind::welcome);
    reader_.expect({key, words, challenge_, MembershipSeal::From::run});
    seal_.emplace(key, words, challenge_, MembershipSeal::From::process);
  }
  void say_sealed(const MembershipMessage& message) { say(seal_->line(message)); }
  const std::string& challenge() const { return challenge_; }
  const std::string& heard() const { return heard_; }

 private:
  int socket_;
  int port_;
  replicate::MembershipReader reader_;
  std::optional<MembershipSeal> seal_;
  std::string challenge_;
  std::string heard_;
  bool timed_out_ = false;
};

class MembershipDoor : public testing::Test {
 protected:
  void start(std::chrono::milliseconds patience = std::chrono::milliseconds(60'000), int ranks = 2) {
    auto started = MembershipServer::start({folder_.path(), true, key_, patience}, JobMembership(ranks, 2, true),
                                           [](const Death&) {});
    ASSERT_TRUE(started.ok());
    server_ = std::move(started).value();
    std::ifstream file(folder_.file("membership"));
    std::string host;
    ASSERT_TRUE(file >> host >> port_);
    std::string rest;
    EXPECT_FALSE(file >> rest) << "something secret is written where the port is";
  }

  scratch::ScratchFolder folder_;
  secret::Key key_ = secret::new_key();
  std::unique_ptr<MembershipServer> server_;
  int port_ = 0;
};

TEST_F(MembershipDoor, WhoHasTheSecretIsLetInAndToldSo) {
  start();
  Visitor one(port_);
  const MembershipMessage join = one.join(key_, 1, 0);
  const auto welcome = one.hear();
  ASSERT_TRUE(welcome);
  EXPECT_EQ(welcome->kind, Kind::welcome);
  EXPECT_EQ(welcome->proof, membership_proof(key_, join, one.challenge(), Kind::welcome));
}

TEST_F(MembershipDoor, WhoHasAnotherSecretOrNoneIsNot) {
  start();
  Visitor one(port_);
  one.join(secret::new_key(), 1, 0);
  EXPECT_TRUE(one.was_closed());
  for (const char* words : {"ready\n", "GET / HTTP/1.1\r\n\r\n", "exit 0\n", "failed\n"}) {
    Visitor other(port_);
    other.connect();
    other.say(words);
    EXPECT_TRUE(other.was_closed()) << words;
  }
  Visitor right(port_);
  right.join(key_, 1, 0);
  EXPECT_TRUE(right.hear()) << "the place of a process was taken by a stranger";
}

// The token that was in clear could be heard and said again.
TEST_F(MembershipDoor, WhatWasHeardOfOneConnectionIsOfNoUseOnAnother) {
  start();
  Visitor one(port_);
  const MembershipMessage join = one.join(key_, 1, 0);
  ASSERT_TRUE(one.hear());
  MembershipMessage elsewhere = join;
  elsewhere.rank = 0;
  for (const MembershipMessage& again : {join, elsewhere}) {
    Visitor other(port_);
    other.connect();
    ASSERT_TRUE(other.hear());
    other.say(format_membership_message(again));
    EXPECT_TRUE(other.was_closed());
  }
}

// Who sits on the way could speak in a process's name, or in that of `holdfast run`, once the process was believed.
TEST_F(MembershipDoor, NobodyElseSpeaksOnTheConnectionOfAProcess) {
  start(std::chrono::milliseconds(60'000), 1);
  Visitor process(port_);
  Visitor other(port_);
  process.be_believed(key_, 0, 0);
  other.be_believed(key_, 0, 1);
  for (Visitor* each : {&process, &other}) {
    each->say_sealed({Kind::starting});
    each->say_sealed({Kind::ready});
  }
  other.say("exit 0\n");
  EXPECT_TRUE(other.was_closed());
  EXPECT_EQ(server_->stop().deaths().size(), 1U) << "its end is a death that is seen";
}

TEST_F(MembershipDoor, AStrangerWhoSaysNothingIsSentAway) {
  start(std::chrono::milliseconds(50));
  Visitor process(port_);
  process.be_believed(key_, 0, 0);
  Visitor silent(port_);
  silent.connect();
  EXPECT_TRUE(silent.was_closed());
  server_->stop();
  process.say_sealed({Kind::finished});  // it was not sent away
  EXPECT_EQ(server_->stop().deaths().size(), 0U);
}

TEST_F(MembershipDoor, StrangersAreFewAtATimeAndTheOldestGoesFirst) {
  start();
  std::vector<std::unique_ptr<Visitor>> crowd;
  const std::size_t most = 4 + MembershipServer::spare_strangers;
  for (std::size_t i = 0; i < most + 20; ++i) {
    crowd.push_back(std::make_unique<Visitor>(port_));
    crowd.back()->connect();
    ASSERT_TRUE(crowd.back()->hear());
  }
  for (std::size_t i = 0; i < 20; ++i) EXPECT_TRUE(crowd[i]->was_closed()) << i;
  Visitor right(port_);
  right.join(key_, 1, 0);
  EXPECT_TRUE(right.hear());
}

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// The port of a server that writes it into this folder.
int port_in(const scratch::ScratchFolder& folder) {
  std::string host;
  int port = 0;
  std::ifstream(folder.file("membership")) >> host >> port;
  return port;
}

/// Deaths that a server tells of that is held while one process speaks, another says its status and ends, and then the
/// first ends, too, as a launcher ends all others.
std::vector<Death> deaths_behind_a_status() {
  const scratch::ScratchFolder folder;
  const secret::Key key = secret::new_key();
  std::binary_semaphore held(0), released(0);
  std::atomic<bool> hold = false;
  const auto living = [&]() -> std::optional<std::set<int>> {
    if (!hold.exchange(false)) return std::nullopt;
    held.release();
    released.acquire();
    return std::nullopt;
  };
  auto started = MembershipServer::start({folder.path(), true, key, std::chrono::milliseconds(60'000), living},
                                         JobMembership(2, 2, false), [](const Death&) {});
  EXPECT_TRUE(started.ok());
  const int port = port_in(folder);
  std::optional<Visitor> first(port), second(port);
  first->be_believed(key, 0, 0);
  second->be_believed(key, 1, 0);
  hold = true;
  first->say_sealed({Kind::ready, -1, 0, {}, {}});
  held.acquire();
  first->say_sealed({Kind::ready, -1, 0, {}, {}});
  second->say_sealed({Kind::exit, -1, 5, {}, {}});
  second.reset();
  first.reset();
  released.release();
  return started.value()->stop().deaths();
}

// Which of the two the kernel names first is not the same each time.
TEST(MembershipOrder, WhoEndsIsHeardBehindWhatWasSaidBefore) {
  for (int round = 0; round < 20; ++round) EXPECT_TRUE(deaths_behind_a_status().empty()) << round;
}

TEST(MembershipOrder, WhyMpiInitFailedIsKnownBeforeTheJobIsOver) {
  const scratch::ScratchFolder folder;
  const secret::Key key = secret::new_key();
  std::atomic<bool> lives = true;
  std::atomic<int> looks = 0;
  const auto living = [&] {
    ++looks;
    return std::optional(lives ? std::set<int>{0, 1} : std::set<int>{});
  };
  const auto is_heard = [&] {  // the first look may have begun before, the second is behind what came
    for (const int before = looks; looks < before + 3;) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  auto started = MembershipServer::start({folder.path(), true, key, std::chrono::milliseconds(60'000), living},
                                         JobMembership(2, 1, true), [](const Death&) {});
  ASSERT_TRUE(started.ok());
  const int port = port_in(folder);
  std::optional<Visitor> waits(port), shell(port);
  shell->be_believed(key, 1, 0);
  waits->be_believed(key, 0, 0);
  waits->say_sealed({Kind::starting});
  is_heard();
  shell.reset();
  is_heard();
  lives = false;
  waits.reset();
  pollfd over{started.value()->over_descriptor(), POLLIN, 0};
  ASSERT_EQ(::poll(&over, 1, 60'000), 1);
  EXPECT_TRUE(started.value()->stop().programs_doing());
}

// Before, the thread was woken again at once by the connection that it could not accept: a whole core until the job's
// end.
TEST_F(MembershipDoor, WithoutAFileForAnotherConnectionItWaits) {
  start();
  Visitor late(port_);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int free = ::dup(0);
  ASSERT_GE(free, 0);
  ::close(free);
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(free);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  late.connect();
  const double start_s = cpu_seconds();
  ::usleep(600'000);
  EXPECT_LT(cpu_seconds() - start_s, 0.2);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(late.hear()) << "it did not open its door again";
}

}  // namespace
}  // namespace holdfast::launch
