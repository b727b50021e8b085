#include "record/mpi/observe.h"

#include <algorithm>

#include "record/mpi/real_clock.h"

namespace holdfast::record {
namespace {

constexpr std::int64_t longest_block_ns = 5'000'000'000;
std::atomic<std::uint32_t> threads{0};

}  // namespace

Observation::Observation(Function function) : state_(recorder()), function_(function), entered_ns_(wall_now_ns()) {
  ThreadState& thread = thread_state;
  ++thread.depth;
  if (!thread.known) {
    thread.known = true;
    thread.number = threads.fetch_add(1, std::memory_order_relaxed);
  }
  if (thread.left_at_ns == 0) thread.left_at_ns = entered_ns_;  // a thread's time before its first call is unknown
  const std::int64_t away = entered_ns_ - thread.left_at_ns;
  if (away < state_.asks_cpu_after_ns || thread.asked_at_ns == 0) return;
  // What passed since the last question and was no processor time is taken for time without a core in this long
  // stretch: in the short ones before it, no longer than the time between questions, there was none to speak of.
  const std::int64_t cpu_ns = thread_cpu_now_ns();
  const std::int64_t idle = (entered_ns_ - thread.asked_at_ns) - (cpu_ns - thread.cpu_ns);
  without_core_ns_ = std::clamp<std::int64_t>(idle, 0, away);
  thread.asked_at_ns = entered_ns_;
  thread.cpu_ns = cpu_ns;
}

bool Observation::over(int code) {
  left_ns_ = wall_now_ns();
  ThreadState& thread = thread_state;
  if (left_ns_ - thread.asked_at_ns >= state_.asks_cpu_after_ns) {
    thread.cpu_ns = thread_cpu_now_ns();
    thread.asked_at_ns = wall_now_ns();
  }
  state_.lock.lock();
  locked_ = true;
  state_.facts.clear();
  if (code == MPI_SUCCESS) return true;
  int error_class = MPI_ERR_UNKNOWN;
  next_library().Error_class(code, &error_class);
  add(Fact::error, error_class);
  return false;
}

Observation::~Observation() {
  ThreadState& thread = thread_state;
  if (locked_) {
    if (recording_on.load(std::memory_order_relaxed)) {
      const std::int64_t elapsed = left_ns_ - state_.began_ns;
      state_.writer->add(static_cast<std::uint32_t>(function_), thread.number, state_.facts,
                         entered_ns_ - thread.left_at_ns, without_core_ns_, left_ns_ - entered_ns_, elapsed);
      if (elapsed - state_.writer->flushed_at_ns() > longest_block_ns) {
        state_.hand_over_counts();
        state_.writer->flush();
      }
    }
    state_.lock.unlock();
  }
  --thread.depth;
  thread.left_at_ns = wall_now_ns();
}

MPI_Count Observation::size_of(MPI_Datatype datatype) {
  MPI_Count size = 0;
  next_library().Type_size_x(datatype, &size);
  return std::max<MPI_Count>(size, 0);
}

std::int64_t Observation::bytes_in(const MPI_Status& status) {
  MPI_Count count = 0;
  next_library().Get_elements_x(&status, MPI_BYTE, &count);
  return std::max<MPI_Count>(count, 0);
}

std::size_t Observation::members_of(Fact fact) const {
  if (neighbours_) return fact == Fact::bytes_to ? communicator_->to.size() : communicator_->from.size();
  return communicator_->others().size();
}

std::int64_t Observation::in_world(int rank, const KnownCommunicator& communicator) const {
  if (rank == MPI_PROC_NULL) return nobody;
  if (rank == MPI_ANY_SOURCE) return anybody;
  const auto& others = communicator.others();
  return rank >= 0 && static_cast<std::size_t>(rank) < others.size() ? others[static_cast<std::size_t>(rank)] : outside;
}

void Observation::communicator(MPI_Comm comm) {
  communicator_ = state_.communicator(comm);
  add(Fact::communicator, communicator_->number);
}

void Observation::place(Fact fact, int rank) {
  add(fact, communicator_ ? in_world(rank, *communicator_) : std::int64_t{outside});
}

void Observation::root(int rank) {
  add(Fact::root, rank == MPI_ROOT ? std::int64_t{this_group} : in_world(rank, *communicator_));
}

bool Observation::is_root(int rank) const {
  return rank == MPI_ROOT || (!communicator_->inter && rank == communicator_->rank);
}

void Observation::neighbours() {
  neighbours_ = true;
  for (const std::int64_t rank : communicator_->to) add(Fact::to, rank);
  for (const std::int64_t rank : communicator_->from) add(Fact::from, rank);
}

void Observation::members(MPI_Group group) {
  const Next& mpi = next_library();
  int size = 0;
  mpi.Group_size(group, &size);
  Several<int> own(size), there(size);
  for (int i = 0; i < size; ++i) own.data()[i] = i;
  mpi.Group_translate_ranks(group, size, own.data(), state_.world, there.data());
  for (int i = 0; i < size; ++i)
    add(Fact::peer, there.data()[i] == MPI_UNDEFINED ? std::int64_t{outside} : there.data()[i]);
}

void Observation::keep(const MPI_Request* request, bool persistent, const Receive* receive) {
  KnownRequest made;
  made.number = static_cast<std::int64_t>(state_.writer->new_request());
  made.receives = receive != nullptr && receive->source != MPI_PROC_NULL;
  made.any_source = receive != nullptr && receive->source == MPI_ANY_SOURCE;
  made.any_tag = receive != nullptr && receive->tag == MPI_ANY_TAG;
  made.persistent = persistent;
  made.active = !persistent;
  made.communicator = communicator_;
  add(Fact::request, made.number);
  state_.requests.emplace(number_of(*request), std::move(made));
}

KnownRequest* Observation::find(MPI_Request request) {
  const auto found = state_.requests.find(number_of(request));
  return found == state_.requests.end() ? nullptr : &found->second;
}

void Observation::erase(MPI_Request request) {
  if (const auto found = state_.requests.find(number_of(request)); found != state_.requests.end())
    state_.requests.erase(found);
}

void Observation::starts(MPI_Request request) {
  KnownRequest* known = find(request);
  if (known != nullptr) known->active = true;
  add(Fact::starts, known != nullptr ? known->number : unknown_request);
}

void Observation::concerns(MPI_Request request) {
  if (request == MPI_REQUEST_NULL) return;
  const KnownRequest* known = find(request);
  add(Fact::concerns, known != nullptr ? known->number : unknown_request);
}

void Observation::cancels(MPI_Request request) {
  KnownRequest* known = find(request);
  if (known != nullptr) known->cancelled = true;
  add(Fact::cancels, known != nullptr ? known->number : unknown_request);
}

void Observation::frees(MPI_Request request) {
  const KnownRequest* known = find(request);
  add(Fact::frees, known != nullptr ? known->number : unknown_request);
  erase(request);
}

void Observation::completed(MPI_Request request, const MPI_Status& status) {
  if (request == MPI_REQUEST_NULL) return;
  KnownRequest* known = find(request);
  if (known == nullptr) return add(Fact::completes, unknown_request);
  if (!known->active) return;
  add(Fact::completes, known->number);
  int cancelled = 0;
  if (known->cancelled) next_library().Test_cancelled(&status, &cancelled);
  if (cancelled != 0)
    add(Fact::cancelled, 1);
  else if (known->receives)
    found(known->any_source, known->any_tag, status, known->communicator.get());
  if (known->makes != nullptr) made_communicator(*known->makes);
  known->active = false;
  known->cancelled = false;
  if (!known->persistent) erase(request);
}

/// One of them stands for all: they cost nothing until one is complete.
void Observation::in_vain(const Handles& requests) {
  for (const MPI_Request request : requests.all()) {
    if (request == MPI_REQUEST_NULL) continue;
    concerns(request);
    break;
  }
  not_yet();
}

void Observation::ready(int first, int last) {
  add(Fact::ready_from, first);
  add(Fact::ready_to, last);
}

void Observation::found(bool from_any, bool of_any_tag, const MPI_Status& status,
                        const KnownCommunicator* communicator) {
  if (from_any && communicator != nullptr) add(Fact::source, in_world(status.MPI_SOURCE, *communicator));
  if (of_any_tag) add(Fact::source_tag, status.MPI_TAG);
  add(Fact::source_bytes, bytes_in(status));
}

void Observation::received(int source, int tag, const MPI_Status& status) {
  if (source == MPI_PROC_NULL) return;
  found(source == MPI_ANY_SOURCE, tag == MPI_ANY_TAG, status, communicator_.get());
}

void Observation::holds(const MPI_Message* message, const MPI_Status& status) {
  if (*message == MPI_MESSAGE_NULL || *message == MPI_MESSAGE_NO_PROC) return;
  state_.messages[number_of(*message)] = {communicator_, in_world(status.MPI_SOURCE, *communicator_), status.MPI_TAG,
                                          bytes_in(status)};
}

void Observation::matched(MPI_Message message, const MPI_Status& status) {
  const auto held = state_.messages.find(number_of(message));
  if (held == state_.messages.end()) return;
  communicator_ = held->second.communicator;
  add(Fact::communicator, communicator_->number);
  add(Fact::peer, held->second.source);
  add(Fact::tag, held->second.tag);
  add(Fact::source_bytes, bytes_in(status));
  state_.messages.erase(held);
}

void Observation::started_matched(MPI_Message message, const MPI_Request* request) {
  const Receive receive{0, 0};
  if (const auto held = state_.messages.find(number_of(message)); held != state_.messages.end()) {
    communicator_ = held->second.communicator;
    add(Fact::communicator, communicator_->number);
    add(Fact::peer, held->second.source);
    add(Fact::tag, held->second.tag);
    add(Fact::source_bytes, held->second.bytes);
    state_.messages.erase(held);
  }
  keep(request, false, &receive);
}

void Observation::made_communicator(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return;
  state_.learn(comm);
  const auto made = state_.communicator(comm);
  add(Fact::made, made->number);
  if (made->inter) return;
  const Next& mpi = next_library();
  int topology = MPI_UNDEFINED;
  mpi.Topo_test(comm, &topology);
  auto take = [&](std::vector<std::int64_t>& to, const int* ranks, int count) {
    for (int i = 0; i < count; ++i) to.push_back(in_world(ranks[i], *made));
  };
  if (topology == MPI_CART) {
    int dimensions = 0;
    mpi.Cartdim_get(comm, &dimensions);
    for (int d = 0; d < dimensions; ++d) {
      int ends[2] = {MPI_PROC_NULL, MPI_PROC_NULL};
      mpi.Cart_shift(comm, d, 1, &ends[0], &ends[1]);
      take(made->to, ends, 2);
    }
    made->from = made->to;
  } else if (topology == MPI_GRAPH) {
    int count = 0;
    mpi.Graph_neighbors_count(comm, made->rank, &count);
    Several<int> ranks(count);
    mpi.Graph_neighbors(comm, made->rank, count, ranks.data());
    take(made->to, ranks.data(), count);
    made->from = made->to;
  } else if (topology == MPI_DIST_GRAPH) {
    int in = 0;
    int out = 0;
    int weighted = 0;
    mpi.Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    Several<int> sources(in), destinations(out), of_in(in), of_out(out);
    mpi.Dist_graph_neighbors(comm, in, sources.data(), weighted != 0 ? of_in.data() : MPI_UNWEIGHTED, out,
                             destinations.data(), weighted != 0 ? of_out.data() : MPI_UNWEIGHTED);
    take(made->from, sources.data(), in);
    take(made->to, destinations.data(), out);
  }
}

void Observation::will_make(MPI_Comm* comm, const MPI_Request* request) {
  keep(request, false, nullptr);
  if (KnownRequest* known = find(*request)) known->makes = comm;
}

void Observation::opened_window(MPI_Win win) {
  add(Fact::window, state_.objects);
  state_.windows[number_of(win)] = {state_.objects++, communicator_};
}

void Observation::opened_file(MPI_File file) {
  add(Fact::file, state_.objects);
  state_.files[number_of(file)] = {state_.objects++, communicator_};
}

void Observation::closed_window(MPI_Win win) {
  window(win);
  state_.windows.erase(number_of(win));
}

void Observation::closed_file(MPI_File handle) {
  file(handle);
  state_.files.erase(number_of(handle));
}

void Observation::closed_communicator(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return;
  if (const auto known = state_.communicators.find(number_of(comm)); known != state_.communicators.end())
    add(Fact::communicator, known->second->number);
  state_.forget_communicator(comm);
}

void Observation::window(MPI_Win win) {
  const auto known = state_.windows.find(number_of(win));
  if (known == state_.windows.end()) return;
  communicator_ = known->second.communicator;
  add(Fact::communicator, communicator_->number);
  add(Fact::window, known->second.number);
}

void Observation::file(MPI_File handle) {
  const auto known = state_.files.find(number_of(handle));
  if (known == state_.files.end()) return;
  if (known->second.communicator) add(Fact::communicator, known->second.communicator->number);
  add(Fact::file, known->second.number);
}

}  // namespace holdfast::record
