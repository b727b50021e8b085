#include "replicate/mpi/collective/schedule.h"

#include "real_functions.h"
#include "replicate/mpi/agree/progress.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/mpi/intercept/operators.h"
#include "replicate/mpi/pointtopoint/cross_world_send.h"
#include "replicate/mpi/pointtopoint/post_receive.h"
#include "replicate/mpi/pointtopoint/receive.h"
#include "replicate/mpi/pointtopoint/send.h"
#include "replicate/mpi/verify/type_contents.h"

namespace holdfast::replicate {

namespace {
constexpr std::uint64_t every_tag = 32768;  // which any MPI has (MPI 4.0, section 9.1.2)
}  // namespace

Schedule::Schedule(Comm& comm, Life life) : comm_(&comm), life_(life) {
  const std::uint64_t tags_in_turn = comm.schedules_done.size();
  if (life == Life::persistent) {
    tag_ = static_cast<int>(tags_in_turn + comm.persistent_schedules++ % (every_tag - tags_in_turn));
    return;
  }
  tag_ = static_cast<int>(comm.schedules % tags_in_turn);
  turn_ = comm.schedules++ / tags_in_turn;
}

Schedule::~Schedule() {
  for (MPI_Datatype& type : kept_) free_type(type);
  for (MPI_Op op : operators_) leave_operator(op);
}

MPI_Datatype Schedule::keep(MPI_Datatype type) {
  if (life_ == Life::call || predefined(type)) return type;
  MPI_Datatype copy = MPI_DATATYPE_NULL;
  real().Type_dup(type, &copy);
  kept_.push_back(copy);
  return copy;
}

void Schedule::keep_operator(MPI_Op op) {
  if (life_ == Life::call || predefined_operator(op)) return;
  use_operator(op);
  operators_.push_back(op);
}

void Schedule::send(const void* buffer, int count, MPI_Datatype type, int to) {
  steps_.push_back({.kind = Step::Kind::send, .in = buffer, .count = count, .type = keep(type), .peer = to});
}

void Schedule::receive(void* buffer, int count, MPI_Datatype type, int from) {
  steps_.push_back({.kind = Step::Kind::receive, .out = buffer, .count = count, .type = keep(type), .peer = from});
}

void Schedule::copy(const void* from, int from_count, MPI_Datatype from_type, void* to, int to_count,
                    MPI_Datatype to_type) {
  steps_.push_back({.kind = Step::Kind::copy,
                    .in = from,
                    .out = to,
                    .count = from_count,
                    .out_count = to_count,
                    .type = keep(from_type),
                    .out_type = keep(to_type)});
}

void Schedule::combine(const void* left, void* right, int count, MPI_Datatype type, MPI_Op op) {
  keep_operator(op);
  steps_.push_back(
      {.kind = Step::Kind::combine, .in = left, .out = right, .count = count, .type = keep(type), .op = op});
}

void Schedule::next_round() {
  steps_.push_back({.kind = Step::Kind::next_round});
}

void* Schedule::scratch(int count, MPI_Datatype type) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  MPI_Aint true_lower = 0;
  MPI_Aint true_extent = 0;
  real().Type_get_extent(type, &lower, &extent);
  real().Type_get_true_extent(type, &true_lower, &true_extent);
  // A negative extent puts later elements before the first.
  const MPI_Aint reach = count > 1 ? (count - 1) * extent : 0;
  const MPI_Aint space = true_extent + (reach < 0 ? -reach : reach);
  memory_.push_back(std::make_unique<std::byte[]>(static_cast<std::size_t>(space) + 1));
  return memory_.back().get() - true_lower - (reach < 0 ? reach : 0);
}

void Schedule::note(int code) {
  if (code_ == MPI_SUCCESS) code_ = code;
}

void Schedule::begin_send(const Step& step) {
  Comm& shadow = *comm_->shadow;
  if (runtime().partial) {
    note(start_in_worlds(real().Isend, step.in, step.count, step.type, step.peer, tag_, shadow, sends_));
  } else {
    sends_.emplace_back();
    note(real().Isend(step.in, step.count, step.type, step.peer, tag_, shadow.handle, &sends_.back()));
  }
  announce(Region::borrow(step.in, static_cast<std::uint64_t>(step.count), step.type), step.peer, tag_, shadow);
}

void Schedule::begin(const Step& step) {
  switch (step.kind) {
    case Step::Kind::send:
      begin_send(step);
      break;
    case Step::Kind::receive: {
      Operation& op = runtime().requests.make();
      post_receive(op, step.out, step.count, step.type, step.peer, tag_, *comm_->shadow);
      receives_.push_back(&op);
      break;
    }
    case Step::Kind::copy:
      note(real().Sendrecv(step.in, step.count, step.type, 0, 0, step.out, step.out_count, step.out_type, 0, 0,
                           MPI_COMM_SELF, MPI_STATUS_IGNORE));
      break;
    case Step::Kind::combine:
      note(real().Reduce_local(step.in, step.out, step.count, step.type, step.op));
      break;
    case Step::Kind::next_round:
      break;
  }
}

bool Schedule::round_done() {
  std::erase_if(receives_, [&](Operation* op) {
    if (!advance_receive(*op)) return false;
    note(finish_receive(*op, MPI_STATUS_IGNORE));
    runtime().requests.drop(*op);
    return true;
  });
  std::erase_if(sends_, [&](MPI_Request& request) {
    int done = 0;
    note(real().Test(&request, &done, MPI_STATUS_IGNORE));
    return done != 0;
  });
  return receives_.empty() && sends_.empty();
}

void Schedule::restart() {
  next_ = 0;
  complete_ = false;
  code_ = MPI_SUCCESS;
}

bool Schedule::advance() {
  if (complete_) return true;
  const auto tag = static_cast<std::size_t>(tag_);
  if (life_ != Life::persistent && comm_->schedules_done[tag] != turn_) return false;
  while (round_done()) {
    if (next_ == steps_.size()) {
      if (life_ != Life::persistent) ++comm_->schedules_done[tag];
      complete_ = true;
      return true;
    }
    while (next_ < steps_.size()) {
      const Step& step = steps_[next_++];
      if (step.kind == Step::Kind::next_round) break;
      begin(step);
    }
  }
  return false;
}

}  // namespace holdfast::replicate
