#include "simulate/study/pool.h"

#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "core/time/clock.h"
#include "simulate/study/worker.h"

namespace holdfast::simulate::study {
namespace {

constexpr int most_attempts = 3;
constexpr std::int64_t shown_every_ns = 200'000'000;
constexpr std::int64_t local_wait_ns = 200'000'000;  // sockets wake this process up at once,
constexpr std::int64_t job_wait_ns = 1'000'000;      // MPI's messages do not

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

class Coordinator {
 public:
  Coordinator(const Study& study, const std::vector<std::size_t>& todo, const PoolOptions& options,
              const PoolEvents& events)
      : study_(study), options_(options), events_(events), queue_(todo.begin(), todo.end()), all_(todo.size()) {}

  ~Coordinator() {
    for (Local& each : workers_) end_worker(each.worker);
  }
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  PoolEnd run() {
    const Signals signals;
    keep_local_workers();
    if (status_.ok() && options_.messages != nullptr) meet_ranks();
    show();
    while (status_.ok() && caught == 0 && !over()) {
      hand_out();
      wait(signals);
      if (status_.ok()) keep_local_workers();
    }
    for (const Local& each : workers_)
      if (each.runs.empty()) waited_ns_ += time::steady_now_ns() - each.idle_since_ns;
    dismiss_ranks();
    if (caught != 0) return {{}, caught, waited_ns_};
    return {status_, 0, waited_ns_};
  }

 private:
  struct Local {
    Worker worker;
    std::deque<std::size_t> runs{};  ///< that it was told, without those it answered; it is at the first
    std::int64_t idle_since_ns = 0;  ///< while there are none
  };
  struct Rank {
    std::optional<std::size_t> run{};
    std::int64_t heard_ns = 0;
    bool known = false;   ///< it has said hello, and reads the same study
    bool bye = false;     ///< it knows that all is over
    bool silent = false;  ///< for so long that its run was given to another
    bool gone = false;    ///< MPI says so
  };

  /// All runs have ended, and every rank that lives has been met.
  bool over() const {
    if (done_ < all_) return false;
    for (std::size_t rank = 1; rank < ranks_.size(); ++rank)
      if (!ranks_[rank].known && !ranks_[rank].silent && !ranks_[rank].gone) return false;
    return true;
  }

  void keep_local_workers() {
    const std::size_t wanted = std::min<std::size_t>(options_.workers, all_ - done_);
    while (workers_.size() < wanted && status_.ok()) {
      auto started = start_worker(study_);
      if (started.ok())
        workers_.push_back({std::move(started).value(), {}, time::steady_now_ns()});
      else
        status_ = started.status();
    }
  }

  void wait(const Signals& signals) {
    std::vector<pollfd> waited;
    for (const Local& each : workers_) waited.push_back({each.worker.channel.descriptor(), POLLIN, 0});
    const timespec patience = {0, ranks_.empty() ? local_wait_ns : job_wait_ns};
    if (::ppoll(waited.data(), waited.size(), &patience, signals.open()) < 0) {
      if (errno != EINTR)
        status_ = {Code::io, "waiting for workers", std::strerror(errno), "check the system's limits"};
      return;
    }
    for (std::size_t i = workers_.size(); i-- > 0;)
      if (waited[i].revents != 0) hear(i);
    for (std::size_t rank = 1; rank < ranks_.size() && status_.ok(); ++rank) hear_rank(rank);
    show();
  }

  // workers of this process

  /// Takes what a worker sent; a worker that is gone, or talks nonsense, is dropped.
  void hear(std::size_t index) {
    Local& local = workers_[index];
    bool alive = local.worker.channel.fill();
    while (status_.ok() && alive) {
      auto message = local.worker.channel.next();
      if (!message) return;
      alive = !message->is_discarded() && take(local, *message);
    }
    if (alive) return;
    Local lost = std::move(workers_[index]);
    workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(index));
    end_worker(lost.worker);
    if (lost.runs.empty()) return;
    queue_.insert(queue_.begin(), lost.runs.begin() + 1, lost.runs.end());  // it had not begun them
    repeat(lost.runs.front(), "a worker died");
  }

  /// An answer to what was asked for; false when it is none.
  bool take(Local& local, const Json& message) {
    const auto answer = read_answer(message);
    if (!answer || local.runs.empty() || answer->run != local.runs.front()) return false;
    local.runs.pop_front();
    if (local.runs.empty()) local.idle_since_ns = time::steady_now_ns();
    waited_ns_ += answer->waited_ns;
    end(*answer);
    return true;
  }
  void take(Rank& rank, const Json& message) {
    const auto answer = read_answer(message);
    if (!answer || !rank.run || answer->run != *rank.run) return;
    rank.run.reset();
    end(*answer);
  }
  void end(const Answer& answer) {
    if (answer.finished.ok())
      end_run(answer.run, answer.finished.value());
    else
      status_ = answer.finished.status();
  }

  // other ranks

  void meet_ranks() {
    status_ = options_.messages->begin();
    if (!status_.ok()) return;
    ranks_.resize(options_.messages->size());
    beat_ns_ = time::steady_now_ns();
    for (Rank& rank : ranks_) rank.heard_ns = beat_ns_;
  }

  void hear_rank(std::size_t number) {
    Rank& rank = ranks_[number];
    bool heard = false;
    while (!rank.gone) {
      auto message = options_.messages->receive(number);
      if (!message.ok()) {
        rank.gone = true;
        give_up(number, "is gone");
        return;
      }
      if (!message.value()) break;
      heard = true;
      rank.heard_ns = time::steady_now_ns();
      rank.silent = false;
      take_from_rank(number, *message.value());
    }
    if (!heard && !rank.gone && !rank.silent && time::steady_now_ns() - rank.heard_ns > options_.silence_ns) {
      rank.silent = true;
      give_up(number, "is silent");
    }
  }

  void take_from_rank(std::size_t number, const Json& message) {
    Rank& rank = ranks_[number];
    if (!message.is_object()) return;
    if (message.contains("hello")) {
      rank.known = message["hello"] == digest_of(study_);
      if (!rank.known && status_.ok())
        status_ = {Code::diverged, "starting the study on rank " + std::to_string(number),
                   "it reads the study otherwise than rank 0", "run the same holdfast, and the same files, everywhere"};
    } else if (message.contains("bye")) {
      rank.bye = true;
    } else if (message.contains("died")) {
      if (!rank.run || message["died"] != *rank.run) return;
      repeat(*std::exchange(rank.run, {}), "the worker of rank " + std::to_string(number) + " died");
    } else {
      take(rank, message);  // what was given to another meanwhile is not counted twice
    }
  }

  void give_up(std::size_t number, const std::string& how) {
    Rank& rank = ranks_[number];
    const std::string who = "rank " + std::to_string(number) + " " + how;
    if (rank.run)
      repeat(*std::exchange(rank.run, {}), who);
    else
      events_.trouble(who);
  }

  void tell_rank(std::size_t number, const Json& message) {
    if (ranks_[number].gone || options_.messages->send(number, message).ok()) return;
    ranks_[number].gone = true;
    give_up(number, "is gone");
  }

  /// All that live leave together; MPI would wait for ever for one that does not, so they are asked first.
  void dismiss_ranks() {
    if (ranks_.empty()) return;
    for (Rank& rank : ranks_) rank.run.reset();
    const std::int64_t since = time::steady_now_ns();
    for (std::size_t number = 1; number < ranks_.size(); ++number) tell_rank(number, {{"end", true}});
    const auto awaited = [](const Rank& rank) { return !rank.bye && !rank.silent && !rank.gone; };
    while (std::any_of(ranks_.begin() + 1, ranks_.end(), awaited)) {
      for (std::size_t number = 1; number < ranks_.size(); ++number) hear_rank(number);
      if (time::steady_now_ns() - since > options_.silence_ns) break;
      const timespec patience = {0, job_wait_ns};
      ::nanosleep(&patience, nullptr);
    }
    const bool all_alive = std::all_of(ranks_.begin() + 1, ranks_.end(), [](const Rank& rank) { return rank.bye; });
    const Json leave = {{"leave", true}, {"all_alive", all_alive}};
    for (std::size_t number = 1; number < ranks_.size(); ++number)
      if (!ranks_[number].gone) (void)options_.messages->send(number, leave).ok();
    options_.messages->end(all_alive);
  }

  // runs

  void end_run(std::size_t run, const Finished& finished) {
    status_ = events_.finished(run, finished);
    ++done_;
    show(true);
  }

  void repeat(std::size_t run, const std::string& why) {
    if (++attempts_[run] < most_attempts) {
      queue_.push_front(run);
      events_.trouble(why + "; its run goes to another: " + study_.points[run].key);
      return;
    }
    events_.trouble(why + ", the third of this run, which is given up: " + study_.points[run].key);
    end_run(run, {"crashed", {{"reason", "it ended three workers"}}, 0});
  }

  void hand_out() {
    for (Local& each : workers_)
      if (each.runs.empty()) tell_next(each);
    for (std::size_t number = 1; number < ranks_.size(); ++number) {
      Rank& rank = ranks_[number];
      if (!rank.known || rank.silent || rank.gone || rank.run || queue_.empty()) continue;
      rank.run = take_next();
      tell_rank(number, {{"run", *rank.run}});
    }
    // A second run for each, so that none waits while this process writes; but not of the last, which others may want.
    for (Local& each : workers_)
      if (each.runs.size() == 1 && queue_.size() > workers_.size() + ranks_.size()) tell_next(each);
    const std::int64_t now = time::steady_now_ns();
    if (ranks_.empty() || now - beat_ns_ < options_.silence_ns / 10) return;
    beat_ns_ = now;
    for (std::size_t number = 1; number < ranks_.size(); ++number) tell_rank(number, {{"beat", true}});
  }

  void tell_next(Local& local) {
    if (queue_.empty()) return;
    local.runs.push_back(take_next());
    (void)local.worker.channel.send({{"run", local.runs.back()}}).ok();  // when it is gone, waiting will tell
  }

  std::size_t take_next() {
    const std::size_t run = queue_.front();
    queue_.pop_front();
    return run;
  }

  void show(bool now = false) {
    const std::int64_t at = time::steady_now_ns();
    if (!now && at - shown_at_ns_ < shown_every_ns) return;
    shown_at_ns_ = at;
    std::size_t working = workers_.size();
    for (const Rank& rank : ranks_) working += rank.known && !rank.silent && !rank.gone ? 1 : 0;
    events_.progress({done_, all_, working});
  }

  const Study& study_;
  const PoolOptions& options_;
  const PoolEvents& events_;
  std::vector<Local> workers_;
  std::vector<Rank> ranks_;  // by number; empty without a job
  std::deque<std::size_t> queue_;
  std::map<std::size_t, int> attempts_;
  std::size_t done_ = 0;
  std::size_t all_;
  std::int64_t waited_ns_ = 0;
  std::int64_t beat_ns_ = 0;
  std::int64_t shown_at_ns_ = 0;
  Status status_;
};

}  // namespace

PoolEnd run_pool(const Study& study, const std::vector<std::size_t>& todo, const PoolOptions& options,
                 const PoolEvents& events) {
  return Coordinator(study, todo, options, events).run();
}

}  // namespace holdfast::simulate::study
