// The beginning and the end: MPI_Init divides the real world into the replicas' worlds, MPI_Finalize reports.
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/config/environment.h"
#include "core/config/settings.h"
#include "core/event/record.h"
#include "hooks.h"
#include "real_functions.h"
#include "replicate/mpi/agree/agreeing_thread.h"
#include "replicate/mpi/agree/answers.h"
#include "replicate/mpi/agree/control_channel.h"
#include "replicate/mpi/agree/decide.h"
#include "replicate/mpi/agree/idle_tests.h"
#include "replicate/mpi/agree/progress.h"
#include "replicate/mpi/agree/thread_order.h"
#include "replicate/mpi/collective/collective.h"
#include "replicate/mpi/context/callbacks.h"
#include "replicate/mpi/context/comms.h"
#include "replicate/mpi/context/crash.h"
#include "replicate/mpi/context/error_handlers.h"
#include "replicate/mpi/context/failure.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/mpi/intercept/guard.h"
#include "replicate/mpi/io/file.h"
#include "replicate/mpi/life/closing.h"
#include "replicate/mpi/life/exit_status.h"
#include "replicate/mpi/life/looks.h"
#include "replicate/mpi/life/placement.h"
#include "replicate/mpi/life/sessions.h"
#include "replicate/mpi/life/team.h"
#include "replicate/mpi/onesided/window.h"
#include "replicate/mpi/onesided/window_backing.h"
#include "replicate/mpi/pointtopoint/engine_host.h"
#include "replicate/mpi/pointtopoint/operation.h"
#include "replicate/mpi/pointtopoint/partitioned.h"
#include "replicate/mpi/pointtopoint/receive.h"
#include "replicate/mpi/pointtopoint/send.h"
#include "replicate/mpi/verify/tolerance.h"
#include "replicate/process/job.h"
#include "replicate/process/liveness.h"
#include "replicate/process/program.h"
#include "replicate/process/program_signals.h"
#include "replicate/process/standing_clocks.h"

namespace holdfast::replicate {

namespace {

/// The process context with the parts of all rooms that it refers to.
struct ProcessContext {
  Comms comms;
  MpiControlChannel control;
  Requests requests;
  LooksOfAllRooms looks;
  EngineHost host;
  Runtime runtime{comms, control, requests, looks, host};
};

}  // namespace

Runtime& make_runtime() {
  auto all = std::make_unique<ProcessContext>();
  Runtime* made = nullptr;
  if (!process_runtime.compare_exchange_strong(made, &all->runtime)) return *made;  // by another thread, just now
  return all.release()->runtime;  // lives until the process ends: hooks run in exit handlers
}

namespace {

bool left_without_mpi = false;  ///< MPI_Finalize was answered, but MPI's own was not called
char leader_name[MPI_MAX_PROCESSOR_NAME] = "";
int leader_name_length = 0;

void read_options() {
  Runtime& state = runtime();
  config::Settings<Options> settings(options_table());
  const Status read = config::read_environment(settings, environ);
  state.options = settings.options();
  if (!read.ok()) fail(Incident::bad_input, read.message());
}

/// Open MPI 5 makes a process whose mpirun has just ended a job of its own; it is one that ended with its launcher.
void end_without_launcher(int physical_ranks) {
  const char* size = std::getenv("OMPI_COMM_WORLD_SIZE");
  if (physical_ranks > 1 || size == nullptr || std::atoi(size) <= 1) return;
  std::fprintf(stderr, "holdfast: mpirun ended while this process began: it ends, too\n");
  _exit(EXIT_FAILURE);
}

ReplicaMap read_map(int physical_ranks) {
  end_without_launcher(physical_ranks);
  const Options& options = runtime().options;
  const auto degrees = Degrees::parse(options.degree);
  if (!degrees) fail(Incident::bad_input, degrees.status().message());
  if (options.map.empty()) {
    const auto ranks = degrees.value().ranks(physical_ranks);
    if (!ranks) {
      fail(Incident::bad_input, "dividing " + std::to_string(physical_ranks) + " processes among " + options.degree +
                                    " replicas: it does not come out even: start ranks x replicas processes");
    }
    auto map = ReplicaMap::of(degrees.value(), *ranks);
    if (!map) fail(Incident::bad_input, map.status().message());
    return std::move(map).value();
  }
  std::ifstream file(options.map);
  std::stringstream text;
  text << file.rdbuf();
  auto map = ReplicaMap::parse(text.str(), options.map);
  if (!map) fail(Incident::bad_input, map.status().message());
  if (map.value().physical_ranks() != physical_ranks || std::to_string(map.value().degree()) != options.degree) {
    fail(Incident::bad_input, "using the map file " + options.map + ": it is for " +
                                  std::to_string(map.value().physical_ranks()) + " processes in " +
                                  std::to_string(map.value().degree()) + " replicas, the job has " +
                                  std::to_string(physical_ranks) + " in " + options.degree);
  }
  return std::move(map).value();
}

void share_leader_name(MPI_Comm team) {
  real().Get_processor_name(leader_name, &leader_name_length);
  real().Bcast(&leader_name_length, 1, MPI_INT, 0, team);
  real().Bcast(leader_name, MPI_MAX_PROCESSOR_NAME, MPI_CHAR, 0, team);
  char host[256] = "";
  gethostname(host, sizeof(host) - 1);
  real().Bcast(host, sizeof(host), MPI_CHAR, 0, team);
  runtime().leader_host = host;
}

/// What is alike in all processes, because all members of a collective must enter it alike.
void look_around(Runtime& state) {
  MPI_Comm host = MPI_COMM_NULL;
  int here = 0;
  real().Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  real().Comm_size(host, &here);
  real().Comm_free(&host);
  const bool crowded = here > sysconf(_SC_NPROCESSORS_ONLN);
  if (crowded && state.verifying) give_way_in_waits();
  int level = MPI_THREAD_SINGLE;
  real().Query_thread(&level);
  const int seen[] = {crowded ? 1 : 0, level == MPI_THREAD_MULTIPLE ? 1 : 0};
  int anywhere[] = {0, 0};
  real().Allreduce(seen, anywhere, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  state.crowded = anywhere[0] != 0;
  state.threaded = anywhere[1] != 0;
}

/// Ranks have different numbers of replicas. Each receiver then counts for itself, since the ring of msg-plus-hash
/// needs as many receivers as senders, and collectives travel in messages, since MPI's own know nothing of other
/// worlds.
void replicate_partly() {
  Options& options = runtime().options;
  if (options.on_failure == OnFailure::go_on)
    fail(Incident::bad_input,
         "going on after a failure: ranks have different numbers of replicas, so that a replica cannot be taken out of "
         "all: give all the same");
  if (options.protocol == Protocol::msg_plus_hash) options.protocol = Protocol::msg_plus_vote;
  options.collectives = Collectives::p2p;
}

/// Each world has a process for every rank: that of the same number, or, where the rank has too few, one that plays it
/// in its own world, in turn.
void make_worlds() {
  Runtime& state = runtime();
  if (!state.partial) {
    real().Comm_split(MPI_COMM_WORLD, state.replica, state.rank, &state.world);
    return;
  }
  for (int world = 0; world < state.map->degree(); ++world) {
    const bool member = world % state.degree == state.replica;
    MPI_Comm made = MPI_COMM_NULL;
    real().Comm_split(MPI_COMM_WORLD, member ? 0 : MPI_UNDEFINED, state.rank, &made);
    if (world == state.replica) state.world = made;
    if (member && world != state.replica) {
      state.other_worlds.push_back({world, made});
      real().Comm_set_errhandler(made, MPI_ERRORS_RETURN);
    }
  }
}

/// The job is to go on when a process dies. Each receiver then counts for itself what all senders say, so that no
/// message depends on what one that died has not said.
void survive() {
  Runtime& state = runtime();
  if (state.options.same_thread_order)
    fail(Incident::bad_input,
         "going on after a failure: no other replica can go on with the order of threads that the leader makes for "
         "--same-thread-order: leave one of the two out");
  if (!liveness_is_watched()) fail(Incident::bad_input, "going on after a failure: 'holdfast run' cannot be reached");
  state.survives = true;
  if (state.options.protocol == Protocol::msg_plus_hash) state.options.protocol = Protocol::msg_plus_vote;
}

/// What MPI_INFO_ENV says of the number of processes (MPI 3.1, 10.5.3; `ompi_np` is Open MPI's own).
void show_own_ranks() {
  for (const char* key : {"maxprocs", "soft", "ompi_np"}) {
    char processes[16] = "";
    int found = 0;
    real().Info_get(MPI_INFO_ENV, key, sizeof processes - 1, processes, &found);
    if (found) real().Info_set(MPI_INFO_ENV, key, std::to_string(runtime().ranks).c_str());
  }
}

void divide_world() {
  Runtime& state = runtime();
  int physical_ranks = 0;
  real().Comm_size(MPI_COMM_WORLD, &physical_ranks);
  real().Comm_rank(MPI_COMM_WORLD, &state.physical_rank);
  state.real_world = MPI_COMM_WORLD;
  state.map = read_map(physical_ranks);
  state.ranks = state.map->ranks();
  state.rank = state.map->virtual_rank(state.physical_rank);
  state.replica = state.map->replica(state.physical_rank);
  state.degree = state.map->degree(state.rank);
  tally_in_file(state.rank, state.replica);
  state.partial = state.map->partial();
  state.verifying = state.map->degree() > 1;
  state.gone.assign(static_cast<std::size_t>(state.map->degree()), 0);
  state.present = state.degree;
  if (state.partial) replicate_partly();
  if (state.verifying && state.options.on_failure == OnFailure::go_on) survive();

  make_worlds();
  real().Comm_set_name(state.world, "MPI_COMM_WORLD");
  // MPICH raises a failed receive's error here when it is only looked at; the application gets it at completion.
  real().Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm team = MPI_COMM_NULL;
  real().Comm_split(MPI_COMM_WORLD, state.rank, state.replica, &team);
  share_leader_name(team);
  const bool native = state.options.collectives == Collectives::native;
  if (state.verifying && native && placed_differently(state.world, team) && state.physical_rank == 0) {
    say("replicas are placed on hosts in different ways: MPI's own reductions may round differently in each, which "
        "would be taken for corruption: use --collectives p2p");
  }
  real().Comm_free(&team);
  state.comms.open(state.world, state.other_worlds, state.rank,
                   state.verifying && state.options.collectives == Collectives::p2p);
  look_around(state);
  if (state.verifying) {
    MPI_Comm records = MPI_COMM_NULL;
    MPI_Comm payloads = MPI_COMM_NULL;
    real().Comm_dup(MPI_COMM_WORLD, &records);
    real().Comm_dup(MPI_COMM_WORLD, &payloads);
    state.engine.emplace(Replica::Setup{state.options.protocol, state.options.on_corruption, state.survives}, state,
                         *state.map, state.counters, state.host);
    if (state.leader()) state.engine->take_lead();
    state.control.open(records, payloads, *state.map, {state.rank, state.replica}, state.injector,
                       state.options.shared_records);
    open_partitioned();
  }
  protection.world = state.world;
  show_own_ranks();
}

/// The child of a fork is no process of the job. It has its parent's connections, and taking messages from them, as
/// Open MPI's through shared memory, would take them from the parent.
void leave_in_child() {
  put_off_signals(false);
  protection.active.store(false, std::memory_order_relaxed);
}

void begin() {
  Runtime& state = runtime();
  read_options();
  const auto degrees = Degrees::parse(state.options.degree);
  if (degrees && degrees.value().single() && state.options.inject.empty()) return;  // nothing to do: calls pass
  divide_world();
  set_digest_algorithm(static_cast<integrity::Algorithm>(state.options.digest));
  auto places = parse_tolerance(state.options.tolerate);
  if (!places) fail(Incident::bad_input, places.status().message());
  set_tolerance(std::move(places).value());
  open_injector();
  // MPICH 4.0 completes non-blocking receives from MPI_PROC_NULL with one shared request, whose status is empty until a
  // blocking call has filled it. Applications' blocking calls are non-blocking ones from here on.
  real().Sendrecv(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF,
                  MPI_STATUS_IGNORE);
  if (state.verifying) watch_for_fatal_errors();
  agree_on_this_thread();
  watch_for_crashes();
  ::pthread_atfork(nullptr, nullptr, leave_in_child);
  protection.active.store(true, std::memory_order_relaxed);
  put_off_signals(state.verifying);
  say_ready();
  if (!state.survives) return;
  wait_until([] {
    set_awaited({Awaited::What::team, -1, -1});
    return told_started();
  });
}

/// (rank, replica, copies) triples of the communicator's processes, at its rank 0.
std::vector<std::uint64_t> gather_culprits(MPI_Comm among) {
  std::vector<std::uint64_t> mine;
  if (const auto& engine = runtime().engine) {  // where faults are injected into one replica alone there is none
    for (const auto& [who, copies] : engine->wrong_copies()) {
      mine.insert(mine.end(), {static_cast<std::uint64_t>(who.first), static_cast<std::uint64_t>(who.second), copies});
    }
  }
  const int n = static_cast<int>(mine.size());
  int members = 0;
  real().Comm_size(among, &members);
  std::vector<int> counts(static_cast<std::size_t>(members));
  real().Gather(&n, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, among);
  std::vector<int> at(counts.size());
  int total = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    at[i] = total;
    total += counts[i];
  }
  std::vector<std::uint64_t> all(static_cast<std::size_t>(total));
  real().Gatherv(mine.data(), n, MPI_UINT64_T, all.data(), counts.data(), at.data(), MPI_UINT64_T, 0, among);
  return all;
}

/// What one process writes for all: the sums over the processes of `among`, at its rank 0.
void write_record(MPI_Comm among, const std::string& name) {
  Runtime& state = runtime();
  Counters sum;
  const auto mine = state.counters.values();
  real().Reduce(mine.data(), sum.values().data(), static_cast<int>(mine.size()), MPI_UINT64_T, MPI_SUM, 0, among);
  const std::vector<std::uint64_t> all = gather_culprits(among);
  const char* directory = run_directory();
  int rank = 0;
  real().Comm_rank(among, &rank);
  if (rank != 0 || !directory) return;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> merged;
  for (std::size_t i = 0; i + 2 < all.size(); i += 3) merged[{all[i], all[i + 1]}] += all[i + 2];
  nlohmann::json corrupted = nlohmann::json::array();
  for (const auto& [who, copies] : merged) {
    corrupted.push_back({{"rank", who.first}, {"replica", who.second}, {"copies", copies}});
  }
  nlohmann::json counters;
  for (std::size_t i = 0; i < counter_rows.size(); ++i) {
    counters[std::string(counter_rows[i].name)] = sum.values()[i];
  }
  const nlohmann::json record = {{"job", job_identity()},
                                 {"ranks", state.ranks},
                                 {"degree", state.map->degree()},
                                 {"counters", counters},
                                 {"corrupted", corrupted}};
  std::ofstream(std::string(directory) + "/" + name) << record.dump(2) << "\n";
}

/// What the program has not given back, and what this library has not used.
void count_what_is_left() {
  Runtime& state = runtime();
  state.counters[Count::requests_left] = state.requests.live();
  state.counters[Count::communicators_left] = state.comms.live() - 2;  // the world and MPI_COMM_SELF
  state.counters[Count::windows_left] = windows().live();
  state.counters[Count::files_left] = files().live();
  state.counters[Count::verifications_left] = state.engine->verifications_left();
}

void free_worlds() {
  Runtime& state = runtime();
  real().Comm_free(&state.world);
  for (InWorld& other : state.other_worlds) real().Comm_free(&other.handle);
}

/// Each replica's world makes its own record, and MPI's end is waited for only when all are there to reach it: where
/// one died, what is left of MPI is left to the end of the process.
void end_with_those_left() {
  Runtime& state = runtime();
  const std::string name = "record." + std::to_string(state.replica) + ".json";
  write_record(state.world, name);
  say_finishing();
  wait_until([&] {
    set_awaited({Awaited::What::team, -1, -1});
    return told_ending() != Ending::unknown;
  });
  protection.active.store(false, std::memory_order_relaxed);
  if (told_ending() == Ending::leave) {
    state.control.abandon();
    left_without_mpi = true;
    return;
  }
  state.control.close();
  close_partitioned();
  state.comms.close();
  forget_fatal_errors();
  free_worlds();
}

void end() {
  Runtime& state = runtime();
  put_off_signals(false);
  if (const std::uint8_t named = take_waiting_signal()) call_handler_after_call(named);
  flush_decisions();
  if (state.verifying) {
    finish_team();
    count_what_is_left();
  }
  if (state.survives) {
    end_with_those_left();
    return;
  }
  if (state.verifying) {
    MPI_Request everybody = MPI_REQUEST_NULL;
    real().Ibarrier(MPI_COMM_WORLD, &everybody);
    wait_until([&] {
      int done = 0;
      set_awaited({});
      real().Test(&everybody, &done, MPI_STATUS_IGNORE);
      return done != 0;
    });
  }
  protection.active.store(false, std::memory_order_relaxed);
  write_record(MPI_COMM_WORLD, "record.json");
  if (state.verifying) state.control.close();
  close_partitioned();
  state.comms.close();
  forget_fatal_errors();
  free_worlds();
}

}  // namespace

namespace {

/// Whether the program's sessions began what its MPI_Init would have begun, and which of both it has called.
struct Model {
  bool sessions_began = false;
  bool init_called = false;
  bool sessions_alone() const { return sessions_began && !init_called; }
};
Model model;

template <class Start>
int start(Start call) {
  init_was_called();
  program_calls_mpi();
  begin_liveness();
  say_starting();
  separate_window_backing();
  const int code = call();
  if (code == MPI_SUCCESS) begin();
  return code;
}

int start_threaded(int* argc, char*** argv, int required, int* provided) {
  const int code = start([&] { return real().Init_thread(argc, argv, required, provided); });
  if (active()) threads.many.store(required == MPI_THREAD_MULTIPLE && *provided == MPI_THREAD_MULTIPLE);
  if (many_threads() && runtime().verifying && runtime().options.same_thread_order) order_threads();
  return code;
}

int finish() {
  pass_point();
  stop_clocks();
  flush_decisions();
  threads.in_order.store(false);
  threads.many.store(false);  // all others have ended their calls (MPI 3.1, 8.7)
  delete_attributes_at_the_end();
  end();
  const int code = left_without_mpi ? MPI_SUCCESS : real().Finalize();
  leave_closing_statement();
  say_finished();
  compare_exit_statuses();
  remove_window_backing();
  return code;
}

}  // namespace

int begin_for_session(int thread_level) {
  int provided = 0;
  model.sessions_began = true;
  return start_threaded(nullptr, nullptr, thread_level, &provided);
}

int end_after_session() {
  return model.sessions_alone() ? finish() : MPI_SUCCESS;
}

int hook::Init(int* argc, char*** argv) {
  model.init_called = true;
  return model.sessions_began ? MPI_SUCCESS : start([&] { return real().Init(argc, argv); });
}

int hook::Init_thread(int* argc, char*** argv, int required, int* provided) {
  model.init_called = true;
  return model.sessions_began ? real().Query_thread(provided) : start_threaded(argc, argv, required, provided);
}

int hook::Finalize() {
  refuse_open_sessions();
  return finish();
}

int hook::Initialized(int* flag) {
  const int code = real().Initialized(flag);
  if (model.sessions_alone()) *flag = 0;
  return code;
}

int hook::Finalized(int* flag) {
  const int code = left_without_mpi ? MPI_SUCCESS : real().Finalized(flag);
  if (left_without_mpi) *flag = 1;
  if (model.sessions_alone()) *flag = 0;
  return code;
}

int hook::Abort(MPI_Comm comm, int errorcode) {
  note_abort(errorcode);
  say_exit(errorcode);
  return real().Abort(comm == runtime().world ? MPI_COMM_WORLD : comm, errorcode);
}

int hook::Get_processor_name(char* name, int* resultlen) {
  std::copy_n(leader_name, leader_name_length + 1, name);
  *resultlen = leader_name_length;
  return MPI_SUCCESS;
}

}  // namespace holdfast::replicate
