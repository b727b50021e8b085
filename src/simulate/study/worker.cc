#include "simulate/study/worker.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "core/integrity/digest.h"
#include "core/integrity/xxh3.h"
#include "core/time/clock.h"

namespace holdfast::simulate::study {
namespace {

void become_worker(pid_t parent, int keep) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  signal(SIGINT, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  signal(SIGTERM, SIG_IGN);  // it comes to the whole group; the parent ends its workers
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (keep > 3) ::close_range(3, static_cast<unsigned>(keep) - 1, 0);
  ::close_range(static_cast<unsigned>(keep) + 1, ~0U, 0);
}

/// True: it was told to end.
bool work(Channel& channel, const Study& study) {
  while (true) {
    const std::int64_t since_ns = time::steady_now_ns();
    auto message = channel.receive();
    if (!message.ok()) return false;
    const std::int64_t waited_ns = time::steady_now_ns() - since_ns;
    const Json& asked = message.value();
    if (!asked.is_object() || !asked.contains("run")) return asked.is_object() && asked.contains("end");
    if (!asked["run"].is_number_unsigned() || asked["run"].get<std::size_t>() >= study.points.size()) return false;
    const auto index = asked["run"].get<std::size_t>();
    Json answer = to_message(index, study.run(index));
    answer["waited_ns"] = waited_ns;
    if (!channel.send(answer).ok()) return false;
  }
}

Status no_worker() {
  return {Code::io, "starting a worker", std::strerror(errno), "check the system's limits"};
}

}  // namespace

Result<Worker> start_worker(const Study& study) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return no_worker();
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  if (process == 0) {
    become_worker(parent, ends[1]);
    Channel channel(ends[1]);
    ::_exit(work(channel, study) ? 0 : 1);
  }
  ::close(ends[1]);
  Channel channel(ends[0]);
  if (process < 0) return no_worker();
  return Worker{std::move(channel), process};
}

void end_worker(Worker& worker) {
  if (worker.process <= 0) return;
  ::kill(worker.process, SIGKILL);
  while (::waitpid(worker.process, nullptr, 0) < 0 && errno == EINTR) {
  }
  worker.process = -1;
}

std::string digest_of(const Study& study) {
  std::string keys;
  for (const Point& point : study.points) keys += point.key + "\n";
  const integrity::Digest digest = integrity::xxh3_128(std::as_bytes(std::span(keys)));
  return std::to_string(digest.high) + ":" + std::to_string(digest.low);
}

}  // namespace holdfast::simulate::study
