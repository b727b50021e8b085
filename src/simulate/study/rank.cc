#include "simulate/study/rank.h"

#include <poll.h>
#include <signal.h>

#include <deque>
#include <iterator>
#include <string>

#include "core/time/clock.h"
#include "simulate/study/worker.h"

namespace holdfast::simulate::study {
namespace {

constexpr int most_deaths = 30;
constexpr int busy_ms = 100;  // between looks at MPI while a run goes on
constexpr int idle_ms = 1;

/// The terminal's and the launcher's signals are for rank 0, which says when it is over.
class Deaf {
 public:
  Deaf() {
    for (std::size_t i = 0; i < std::size(numbers); ++i) before_[i] = ::signal(numbers[i], SIG_IGN);
  }
  ~Deaf() {
    for (std::size_t i = 0; i < std::size(numbers); ++i) ::signal(numbers[i], before_[i]);
  }
  Deaf(const Deaf&) = delete;
  Deaf& operator=(const Deaf&) = delete;

 private:
  static constexpr int numbers[] = {SIGINT, SIGTERM, SIGHUP};
  void (*before_[std::size(numbers)])(int) = {};
};

class Rank {
 public:
  Rank(const Study& study, Messages& messages, std::int64_t silence_ns)
      : study_(study), messages_(messages), silence_ns_(silence_ns) {}
  ~Rank() { end_worker(worker_); }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  Status serve() {
    const Deaf deaf;
    if (Status status = replace_worker(); !status.ok()) return status;
    if (Status status = messages_.begin(); !status.ok()) return status;
    heard_ns_ = time::steady_now_ns();
    Status status = tell({{"hello", digest_of(study_)}});
    while (status.ok() && !over_) {
      wait_for_worker(status);
      if (status.ok()) hear_coordinator(status);
      const std::int64_t now = time::steady_now_ns();
      if (status.ok() && now - told_ns_ > silence_ns_ / 10) status = tell({{"beat", true}});
      if (status.ok() && !over_ && now - heard_ns_ > silence_ns_) status = gone("it has said nothing for too long");
    }
    end_worker(worker_);
    messages_.end(all_alive_);
    return status;
  }

 private:
  Status gone(const std::string& wrong) const {
    return {Code::unavailable, "working for the study's rank 0", wrong,
            "the same command goes on with what is missing"};
  }

  Status tell(const Json& message) {
    told_ns_ = time::steady_now_ns();
    return messages_.send(0, message);
  }

  Status replace_worker() {
    end_worker(worker_);
    auto started = start_worker(study_);
    if (!started.ok()) return started.status();
    worker_ = std::move(started).value();
    for (const std::size_t run : runs_) (void)worker_.channel.send({{"run", run}}).ok();  // its death will tell
    return {};
  }

  void wait_for_worker(Status& status) {
    pollfd waited = {worker_.process > 0 ? worker_.channel.descriptor() : -1, POLLIN, 0};
    if (::poll(&waited, 1, runs_.empty() ? idle_ms : busy_ms) <= 0) return;
    bool alive = worker_.channel.fill();
    while (status.ok() && alive) {
      auto message = worker_.channel.next();
      if (!message) return;
      const auto answer = message->is_discarded() ? std::nullopt : read_answer(*message);
      alive = answer && !runs_.empty() && answer->run == runs_.front();
      if (!alive) break;
      runs_.pop_front();
      status = tell(*message);
    }
    if (status.ok()) worker_died(status);
  }

  void worker_died(Status& status) {
    if (++deaths_ == most_deaths) {
      status = {Code::internal, "working for the study's rank 0", "30 workers of this rank died",
                "see what rank 0 says of its runs"};
      return;
    }
    if (!runs_.empty()) {
      status = tell({{"died", runs_.front()}});
      runs_.pop_front();
    }
    if (status.ok()) status = replace_worker();
  }

  void hear_coordinator(Status& status) {
    while (!over_) {
      auto message = messages_.receive(0);
      if (!message.ok()) {
        status = message.status();
        return;
      }
      if (!message.value()) return;
      heard_ns_ = time::steady_now_ns();
      const Json& asked = *message.value();
      if (!asked.is_object()) continue;
      if (asked.contains("end")) {
        end_worker(worker_);
        runs_.clear();
        status = tell({{"bye", true}});
        if (!status.ok()) return;
      } else if (asked.contains("leave")) {
        over_ = true;
        all_alive_ = asked.value("all_alive", false);
      } else if (asked.contains("run") && asked["run"].is_number_unsigned() && worker_.process > 0) {
        runs_.push_back(asked["run"].get<std::size_t>());
        (void)worker_.channel.send(asked).ok();
      }
    }
  }

  const Study& study_;
  Messages& messages_;
  std::int64_t silence_ns_;
  Worker worker_;
  std::deque<std::size_t> runs_;  // asked for and not answered; more than one after rank 0 had given this one up
  int deaths_ = 0;
  bool over_ = false;
  bool all_alive_ = false;
  std::int64_t heard_ns_ = 0;
  std::int64_t told_ns_ = 0;
};

}  // namespace

Status serve_rank(const Study& study, Messages& messages, std::int64_t silence_ns) {
  return Rank(study, messages, silence_ns).serve();
}

}  // namespace holdfast::simulate::study
