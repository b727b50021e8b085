// A master hands out tasks, workers answer in whatever order they finish: MPI_ANY_SOURCE and MPI_ANY_TAG with Iprobe,
// Testany and Waitsome, a round of each. The result does not depend on the order, unless --order-dependent asks for one
// that does: then only replicas that agree on every arrival print the same number.
#include <cmath>
#include <vector>

#include "program.h"

namespace {

long long tasks = 300, effort = 2000, order_dependent = 0;
constexpr int stop = 0;            // the tag that ends a round for a worker
constexpr int first_task_tag = 1;  // a task's number travels in its tag, cyclically
constexpr int task_tags = 97;

int tag_of(long long task) {
  return first_task_tag + static_cast<int>(task % task_tags);
}

double work(long long task) {
  const long long turns =
      effort / 2 + static_cast<long long>(scrambled(static_cast<uint64_t>(task)) % static_cast<uint64_t>(effort));
  double x = 1.0 + static_cast<double>(task) / 7;
  for (long long i = 0; i < turns; ++i) x = std::sqrt(x + static_cast<double>(i % 5));
  return x;
}

// What a worker sends back.
struct Answer {
  double task, value;
};

void serve_as_worker() {
  for (;;) {
    double task;
    MPI_Status status;
    MPI_Recv(&task, 1, MPI_DOUBLE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    if (status.MPI_TAG == stop) return;
    const Answer answer{task, work(static_cast<long long>(task))};
    MPI_Send(&answer, 2, MPI_DOUBLE, 0, status.MPI_TAG, MPI_COMM_WORLD);
  }
}

class Master {
 public:
  explicit Master(int workers) : workers_(workers) {}

  void round_by_iprobe() {
    begin_round();
    while (waiting_ > 0) {
      int there = 0;
      MPI_Status status;
      while (!there) MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
      Answer answer;
      MPI_Recv(&answer, 2, MPI_DOUBLE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &status);
      accept(answer, status);
    }
  }

  void round_by_testany() {
    begin_round();
    post_receives();
    while (waiting_ > 0) {
      int index, done = 0;
      MPI_Status status;
      while (!done) MPI_Testany(workers_, requests_.data(), &index, &done, &status);
      accept_and_repost(index, status);
    }
  }

  void round_by_waitsome() {
    begin_round();
    post_receives();
    std::vector<int> indices(static_cast<size_t>(workers_));
    std::vector<MPI_Status> statuses(static_cast<size_t>(workers_));
    while (waiting_ > 0) {
      int count;
      MPI_Waitsome(workers_, requests_.data(), &count, indices.data(), statuses.data());
      for (size_t i = 0; i < static_cast<size_t>(count); ++i) accept_and_repost(indices[i], statuses[i]);
    }
  }

  // Without workers the master does the tasks itself.
  void round_alone() {
    values_.assign(static_cast<size_t>(tasks), 0);
    for (long long task = 0; task < tasks; ++task) record({static_cast<double>(task), work(task)});
    close_round();
  }

  double sum() const { return sum_; }
  double by_arrival() const { return by_arrival_; }
  bool verified() const { return verified_; }

 private:
  void begin_round() {
    values_.assign(static_cast<size_t>(tasks), 0);
    answers_.resize(static_cast<size_t>(workers_));
    requests_.assign(static_cast<size_t>(workers_), MPI_REQUEST_NULL);
    next_ = 0;
    waiting_ = 0;
    for (int worker = 1; worker <= workers_; ++worker) hand_out(worker);
    if (waiting_ == 0) close_round();
  }

  void hand_out(int worker) {
    const bool more = next_ < tasks;
    const double task = static_cast<double>(next_);
    MPI_Send(&task, 1, MPI_DOUBLE, worker, more ? tag_of(next_) : stop, MPI_COMM_WORLD);
    if (!more) return;
    ++next_;
    ++waiting_;
  }

  void post_receives() {
    for (long long i = 0; i < waiting_; ++i) post(static_cast<int>(i));
  }
  void post(int index) {
    const size_t i = static_cast<size_t>(index);
    MPI_Irecv(&answers_[i], 2, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests_[i]);
  }

  void accept_and_repost(int index, const MPI_Status& status) {
    const long long before = next_;
    accept(answers_[static_cast<size_t>(index)], status);
    if (next_ > before) post(index);
  }

  void accept(const Answer& answer, const MPI_Status& status) {
    verified_ &= status.MPI_TAG == tag_of(static_cast<long long>(answer.task));
    record(answer);
    --waiting_;
    hand_out(status.MPI_SOURCE);
    if (waiting_ == 0) close_round();
  }

  void record(const Answer& answer) {
    const long long task = static_cast<long long>(answer.task);
    if (task < 0 || task >= tasks) {
      verified_ = false;
      return;
    }
    values_[static_cast<size_t>(task)] += answer.value;
    by_arrival_ = by_arrival_ * 0.999 + answer.value;
  }

  // The sum is taken in the tasks' order, so that arrival does not matter.
  void close_round() {
    for (long long task = 0; task < tasks; ++task) {
      sum_ += values_[static_cast<size_t>(task)];
      verified_ &= values_[static_cast<size_t>(task)] == work(task);
    }
  }

  int workers_;
  long long next_ = 0, waiting_ = 0;
  std::vector<double> values_;
  std::vector<Answer> answers_;
  std::vector<MPI_Request> requests_;
  double sum_ = 0, by_arrival_ = 0;
  bool verified_ = true;
};

int run_as_master(int ranks) {
  Master master(ranks - 1);
  if (ranks == 1) {
    for (int round = 0; round < 3; ++round) master.round_alone();
  } else {
    master.round_by_iprobe();
    master.round_by_testany();
    master.round_by_waitsome();
  }
  printf("task_farm: tasks %lld sum %.17g", tasks, master.sum());
  if (order_dependent) printf(" by arrival %.17g", master.by_arrival());
  printf(" %s\n", master.verified() ? "verified" : "WRONG");
  return master.verified() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const Option options[] = {
      {"tasks", &tasks, 0, 10000000, "tasks of each of the three rounds"},
      {"effort", &effort, 1, 1000000000, "square roots of a task, about"},
      {"order-dependent", &order_dependent, 0, 1, "1: also print a number that depends on the order of arrival"},
  };
  read_options(argc, argv, "Hands out tasks to whoever is free.", options, 3);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int code = 0;
  if (rank == 0)
    code = run_as_master(ranks);
  else
    for (int round = 0; round < 3; ++round) serve_as_worker();
  MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return code;
}
