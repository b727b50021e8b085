#include "replicate/mpi/collective/collective.h"

#include <algorithm>
#include <utility>

#include "real_functions.h"
#include "replicate/mpi/agree/agreeing_thread.h"
#include "replicate/mpi/agree/answers.h"
#include "replicate/mpi/agree/decide.h"
#include "replicate/mpi/context/comms.h"
#include "replicate/mpi/context/failure.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/mpi/intercept/guard.h"
#include "replicate/mpi/pointtopoint/completion.h"
#include "replicate/mpi/pointtopoint/cross_world_send.h"
#include "replicate/process/program_signals.h"
#include "replicate/process/real_clock.h"

namespace holdfast::replicate {

namespace {

void cast_ballot(Operation& op) {
  op.own = ballot_of_all(op.outputs);
  runtime().engine->offer(op.identity, op.own, static_cast<std::uint16_t>(op.function), op.what, op.signal);
  op.stage = Operation::Stage::comparing;
}

/// Threads that came in one order here and in another there access different things under one name.
void require_same_access(const Operation& op, const Poll& poll) {
  const Runtime& state = runtime();
  for (int k = 0; k < state.degree; ++k)
    if (state.here(k) && poll.whats[static_cast<std::size_t>(k)] != op.what) refuse(op.function, threads_have_no_order);
}

bool count_ballots(Operation& op) {
  Runtime& state = runtime();
  const std::optional<Poll> poll = state.engine->take_poll(op.identity);
  if (!poll) {
    set_awaited({Awaited::What::verdict, state.rank, -1});
    return false;
  }
  if (many_threads()) require_same_access(op, *poll);
  op.signal = poll->signals[static_cast<std::size_t>(state.leading)];
  state.engine->settle(op, poll->ballots);
  ++state.counters[Count::collectives];
  return true;
}

void prepare(Operation& op, Function function, Comm& comm, std::vector<Region> outputs) {
  op.kind = Operation::Kind::collective;
  op.advance = advance_collective;
  op.function = function;
  op.comm = &comm;
  op.outputs = std::move(outputs);
  op.identity = {{comm.id, -1, -1}, comm.collectives++};
}

}  // namespace

Collective::Collective(Function function, MPI_Comm comm, Kind kind)
    : function_(function), kind_(kind), comm_(&runtime().comms.find(comm)) {
  note_call(function, *comm_, -1, 0, 0);
}

bool Collective::selects_memory(std::uint64_t count, MPI_Datatype type) {
  const bool possible = count <= no_count / 2 && type != MPI_DATATYPE_NULL;
  sound_ = sound_ && possible;
  return possible && count > 0;
}

void Collective::input(const void* buffer, std::uint64_t count, MPI_Datatype type) {
  if (buffer == MPI_IN_PLACE) return within_one_group();
  if (!selects_memory(count, type)) return;
  if (kind_ == Kind::persistent) {
    inputs_.push_back(Region::keep(buffer, count, type));
    return;
  }
  inject(Region::borrow(buffer, count, type), -1);
}

void Collective::operand(const void* send_buffer, void* receive_buffer, std::uint64_t count, MPI_Datatype type) {
  in_place_ = send_buffer == MPI_IN_PLACE;
  const void* from = in_place_ ? receive_buffer : send_buffer;
  input(from, count, type);
  if (correctable() && selects_memory(count, type)) operand_ = Region::borrow(from, count, type);
}

bool Collective::correctable() const {
  const Runtime& state = runtime();
  return state.verifying && sound_ && !state.partial && state.degree > 2;  // not how many are left: others may not know
}

void Collective::keep_operand() {
  repeatable_ = true;
  if (in_place_) operand_.gather(operand_.bytes(), kept_);
}

void Collective::put_operand_back() {
  if (in_place_) operand_.scatter(kept_);
}

/// In the application's memory: there it has been changed, or this replica would have the same as the others.
void Collective::compare_operand() {
  repeatable_ = false;
  if (operand_.bytes() == 0) return;
  std::vector<Region> regions;
  regions.push_back(std::move(operand_));
  compare_in_team(function_, {comm_->id, comm_->collectives++}, std::move(regions));
}

void Collective::output(void* buffer, std::uint64_t count, MPI_Datatype type, std::uint64_t blocks) {
  blocks_ = blocks;
  if (buffer == MPI_IN_PLACE || !selects_memory(count, type) || !runtime().verifying) return;
  Region region = Region::keep(buffer, count, type);
  if (region.bytes() > 0) outputs_.push_back(std::move(region));
}

void Collective::outputs(void* buffer, const int* counts, const int* displacements, MPI_Datatype type, int blocks) {
  if (!runtime().verifying || buffer == MPI_IN_PLACE) return;
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  real().Type_get_extent(type, &lower, &extent);
  for (int i = 0; i < blocks; ++i) {
    output(static_cast<std::byte*>(buffer) + displacements[i] * extent, static_cast<std::uint64_t>(counts[i]), type);
  }
}

int Collective::perform(Schedule& schedule) {
  wait_until([&] { return schedule.advance(); });
  if (schedule.code() == MPI_SUCCESS) {
    verify_now();
  } else {
    real().Comm_call_errhandler(comm_->handle, schedule.code());
  }
  return schedule.code();
}

void Collective::begin(std::shared_ptr<Schedule> schedule, MPI_Request* request) {
  Operation& op = runtime().requests.make();
  prepare(op, function_, *comm_, std::move(outputs_));
  op.blocks = blocks_;
  ++comm_->pending;
  op.schedule = std::move(schedule);
  op.stage = Operation::Stage::native;
  runtime().requests.file(op);
  *request = op.visible;
  watch_in_background(op);
  advance_collective(op);
}

int Collective::start_in_turn(MPI_Request* request, std::shared_ptr<InTurn> queue, bool at_once, Begin begin,
                              std::function<void()> when_done) {
  MPI_Request native = MPI_REQUEST_NULL;
  MPI_Request companion = MPI_REQUEST_NULL;
  const bool now = at_once || queue->empty();
  const int code = now ? begin(&native, &companion) : MPI_SUCCESS;
  if (code != MPI_SUCCESS) return code;
  Operation& op = runtime().requests.make();
  prepare(op, function_, *comm_, {});
  ++comm_->pending;
  op.native = native;
  op.companion = companion;
  op.end = Operation::End::tested;
  if (!now) op.begin = [&op, begin = std::move(begin)] { begin(&op.native, &op.companion); };
  op.when_done = std::move(when_done);
  queue->push_back(&op);
  op.queue = std::move(queue);
  runtime().requests.give_placeholder(op);
  runtime().requests.file(op);
  *request = op.visible;
  watch_in_background(op);
  return code;
}

void let_copies_end() {
  constexpr std::int64_t longest_ns = 5'000'000'000;
  const Runtime& state = runtime();
  if (!state.verifying || !state.comms.any_being_copied()) return;
  const std::int64_t begun = monotonic_now_ns();
  wait_until([&] {
    set_awaited({});
    return !state.comms.any_being_copied() || monotonic_now_ns() - begun > longest_ns;
  });
}

bool Collective::passed_on_whole(std::uint64_t count, MPI_Datatype type) {
  constexpr std::uint64_t limit = std::uint64_t{1} << 16;
  if (!selects_memory(count, type)) return true;
  int size = 0;
  real().Type_size(type, &size);
  return size >= 0 && count < limit && count * static_cast<std::uint64_t>(size) < limit;
}

bool Collective::polled() const {
  const Runtime& state = runtime();
  if (!state.verifying || state.options.collective_entry == CollectiveEntry::direct) return false;
  return state.options.collective_entry == CollectiveEntry::polled || state.crowded || state.threaded ||
         state.must_answer();
}

bool Collective::polled_without_meeting() const {
  return polled() && !runtime().partial && !comm_->inter;
}

int Collective::poll(MPI_Request* native) {
  int code = MPI_SUCCESS;
  wait_until([&] {
    int done = 0;
    code = real().Test(native, &done, MPI_STATUS_IGNORE);
    if (!done) set_awaited({});
    return done != 0 || code != MPI_SUCCESS;
  });
  return code;
}

void Collective::let_copies_of_comm_end() {
  wait_until([&] {
    set_awaited({});
    return !comm_->being_copied();
  });
}

void Collective::enter() {
  if (!runtime().verifying) return;
  let_copies_of_comm_end();
  if (!polled()) return say_point();
  std::vector<MPI_Request> arrived(1 + comm_->other_worlds.size());
  real().Ibarrier(comm_->handle, &arrived[0]);
  for (std::size_t i = 0; i < comm_->other_worlds.size(); ++i)
    real().Ibarrier(comm_->other_worlds[i].handle, &arrived[i + 1]);
  wait_until([&] {
    set_awaited({});
    return all_done(arrived);
  });
}

bool Collective::verify_now() {
  if (outputs_.empty()) return true;
  Operation op;
  prepare(op, function_, *comm_, std::move(outputs_));
  op.blocks = blocks_;
  if (repeatable_) op.reduction = comm_->reductions++;
  if (runtime().leader() && agreeing_thread()) op.signal = take_waiting_signal();
  cast_ballot(op);
  wait_until([&] { return advance_collective(op); });
  if (op.signal != 0) call_handler_after_call(op.signal);
  outputs_ = std::move(op.outputs);
  return op.stage != Operation::Stage::repeated;
}

void Collective::follow(MPI_Request* request) {
  if (!runtime().verifying) return;
  Operation& op = runtime().requests.make();
  prepare(op, function_, *comm_, std::move(outputs_));
  op.blocks = blocks_;
  ++comm_->pending;
  op.native = *request;
  runtime().requests.file(op);
  *request = op.visible;
  watch_in_background(op);
}

void Collective::stand_in(MPI_Request* request) {
  real().Recv_init(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, comm_->handle, request);
}

void Collective::file_persistent(MPI_Request* request, std::shared_ptr<Schedule> schedule) {
  Operation& op = runtime().requests.make();
  op.kind = Operation::Kind::collective;
  op.advance = advance_collective;
  op.function = function_;
  op.use = Operation::Use::inactive;
  op.start = start_persistent;

  op.native = *request;
  op.comm = comm_;
  op.inputs = std::move(inputs_);
  op.outputs = std::move(outputs_);
  op.blocks = blocks_;
  op.schedule = std::move(schedule);
  runtime().requests.hold_comm(op);
  runtime().requests.file(op);
  *request = op.visible;
}

int start_persistent(Operation& op) {
  note_call(op.function, *op.comm, -1, 0, 0);
  for (const Region& input : op.inputs) inject(input, -1);
  if (op.schedule) op.schedule->restart();
  const int code = op.schedule ? MPI_SUCCESS : real().Start(&op.native);
  if (code != MPI_SUCCESS || !runtime().verifying) return code;
  op.identity = {{op.comm->id, -1, -1}, op.comm->collectives++};
  op.use = Operation::Use::active;
  op.stage = Operation::Stage::native;
  ++op.comm->pending;
  watch_in_background(op);
  advance_collective(op);
  return code;
}

namespace {

bool run_out_in_turn(Operation& op) {
  InTurn& queue = *op.queue;
  while (std::find(queue.begin(), queue.end(), &op) != queue.end()) {
    Operation& oldest = *queue.front();
    if (oldest.begin) std::exchange(oldest.begin, nullptr)();
    int done = 0;
    int companion_done = 0;
    real().Test(&oldest.native, &done, &oldest.status);
    real().Test(&oldest.companion, &companion_done, MPI_STATUS_IGNORE);
    if (!done || !companion_done) {
      set_awaited({});
      return false;
    }
    queue.pop_front();
  }
  return true;
}

/// Whether the collective itself is over, by MPI or by its schedule; its result is then to be compared.
bool run_out(Operation& op) {
  if (op.queue) return run_out_in_turn(op);
  if (op.schedule) {
    if (!op.schedule->advance()) return false;
    op.schedule_code = op.schedule->code();
    return true;
  }
  int done = 0;
  if (op.end != Operation::End::looked_at) {
    real().Test(&op.native, &done, &op.status);
  } else {
    real().Request_get_status(op.native, &done, &op.status);
  }
  if (!done) set_awaited({});
  return done != 0;
}

}  // namespace

namespace {

/// The leader's copy, put in place; false while it has not come.
bool take_copy(const Operation& op) {
  const Copy copy = runtime().engine->take_copy(op.identity);
  if (copy) op.put(*copy);
  return copy != nullptr;
}

void describe(Operation& op, Function function, const Comparison& name, std::vector<Region> regions) {
  op.kind = Operation::Kind::collective;
  op.advance = advance_collective;
  op.function = function;
  op.outputs = std::move(regions);
  op.identity = {{name.id, -1, -1}, name.number};
  op.what = name.what;
}

}  // namespace

void compare_in_team(Function function, const Comparison& name, std::vector<Region> regions) {
  if (!runtime().verifying) return;
  Operation op;
  describe(op, function, name, std::move(regions));
  cast_ballot(op);
  wait_until([&] { return advance_collective(op); });
}

bool same_in_team(const Comparison& name, const std::vector<Region>& regions) {
  Runtime& state = runtime();
  if (!state.verifying) return true;
  const MessageId result{{name.id, -1, -1}, name.number};
  state.engine->offer(result, ballot_of_all(regions), 0, name.what);
  std::optional<Poll> poll;
  wait_until([&] {
    set_awaited({Awaited::What::verdict, state.rank, -1});
    if (!poll) poll = state.engine->take_poll(result);
    return poll.has_value();
  });
  return state.engine->alike_in_those_left(poll->ballots);
}

void copy_from_leader(Function function, const Comparison& name, std::vector<Region> regions) {
  Runtime& state = runtime();
  if (!state.verifying) return;
  Operation op;
  describe(op, function, name, std::move(regions));
  if (state.leader()) {
    state.engine->supply_all(op);
    return;
  }
  wait_until([&] {
    set_awaited({Awaited::What::decision, state.rank, state.leading});
    if (state.leader()) fail(Incident::diverged, "the leader died before it had said what it has: the job ends");
    return take_copy(op);
  });
}

void follow_file(Function function, const Comparison& name, MPI_Request* request, std::vector<Region> outputs,
                 std::shared_ptr<InTurn> queue) {
  Runtime& state = runtime();
  Operation& op = state.requests.make();
  describe(op, function, name, std::move(outputs));
  op.comm = &state.comms.find(state.world);
  ++op.comm->pending;
  op.native = *request;
  op.end = Operation::End::tested;
  state.requests.give_placeholder(op);
  state.requests.file(op);
  *request = op.visible;
  if (queue && op.native != MPI_REQUEST_NULL) {
    queue->push_back(&op);
    op.queue = std::move(queue);
  } else {
    watch_in_background(op);
  }
}

namespace {

/// What replica 0 alone does: it gives its outcome to the others when MPI is done with it.
bool advance_from_leader(Operation& op) {
  if (op.stage == Operation::Stage::complete) return true;
  if (!runtime().leader()) {
    set_awaited({Awaited::What::decision, runtime().rank, 0});
    if (!take_copy(op)) return false;
  } else {
    if (!run_out(op)) return false;
    MPI_Count bytes = 0;
    real().Get_elements_x(&op.status, MPI_BYTE, &bytes);
    *static_cast<std::int64_t*>(op.keepalive.get()) = bytes;
    runtime().engine->supply_all(op);
  }
  const auto bytes = *static_cast<const std::int64_t*>(op.keepalive.get());
  real().Status_set_elements_x(&op.status, MPI_BYTE, bytes);
  op.stage = Operation::Stage::complete;
  return true;
}

}  // namespace

void follow_leader(Function function, const Comparison& name, MPI_Request* request, std::vector<Region> outputs,
                   std::shared_ptr<InTurn> queue) {
  const auto bytes = std::make_shared<std::int64_t>(0);
  outputs.push_back(Region::borrow(bytes.get(), sizeof *bytes, MPI_BYTE));
  if (!runtime().leader()) *request = MPI_REQUEST_NULL;
  follow_file(function, name, request, std::move(outputs), std::move(queue));
  Operation& op = *runtime().requests.find(*request);
  op.keepalive = bytes;
  op.end = Operation::End::from_leader;
}

bool advance_collective(Operation& op) {
  if (op.end == Operation::End::from_leader) return advance_from_leader(op);
  if (op.stage == Operation::Stage::native) {
    if (!run_out(op)) return false;
    if (op.outputs.empty()) {
      op.stage = Operation::Stage::complete;
      return true;
    }
    cast_ballot(op);
    if (op.queue) watch_in_background(op);  // other replicas may need this one's copy
  }
  if (op.stage == Operation::Stage::comparing && !count_ballots(op)) return false;
  if (op.stage == Operation::Stage::unsettled && !runtime().engine->take_repeat(op)) {
    set_awaited({Awaited::What::verdict, -1, -1});
    return false;
  }
  if (op.stage == Operation::Stage::contested && !runtime().engine->take_contest(op)) {
    set_awaited({Awaited::What::correction, runtime().rank, -1});
    return false;
  }
  if (op.stage == Operation::Stage::disputed && !runtime().engine->take_correction(op)) {
    set_awaited({Awaited::What::correction, runtime().rank, -1});
    return false;
  }
  return op.finished();
}

}  // namespace holdfast::replicate
