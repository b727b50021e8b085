// Communicators. They are the MPI library's own, made within each replica's world; the library notes beside them an id
// that all members and all replicas derive alike, and to which ranks of the application their ranks belong.
#include <algorithm>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "hooks.h"
#include "real_functions.h"
#include "replicate/engine/mix.h"
#include "replicate/mpi/agree/answers.h"
#include "replicate/mpi/agree/progress.h"
#include "replicate/mpi/collective/collective.h"
#include "replicate/mpi/context/callbacks.h"
#include "replicate/mpi/context/comms.h"
#include "replicate/mpi/context/failure.h"
#include "replicate/mpi/context/implementation.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/mpi/intercept/guard.h"
#include "replicate/mpi/pointtopoint/cross_world_send.h"
#include "replicate/mpi/pointtopoint/receive.h"
#include "replicate/mpi/pointtopoint/send.h"

namespace holdfast::replicate {

namespace {

/// The virtual rank of a group's first member.
int first_of(MPI_Group group) {
  MPI_Group world = MPI_GROUP_NULL;
  real().Comm_group(runtime().world, &world);
  const int zero = 0;
  int rank = 0;
  real().Group_translate_ranks(group, 1, &zero, world, &rank);
  real().Group_free(&world);
  return rank;
}

/// A value that tells apart the communicators that one call makes: the virtual rank of the new one's first member, of
/// both groups where there are two, so that both sides of it come to the same.
std::uint64_t first_member(MPI_Comm comm) {
  MPI_Group group = MPI_GROUP_NULL;
  real().Comm_group(comm, &group);
  int first = first_of(group);
  real().Group_free(&group);
  int inter = 0;
  real().Comm_test_inter(comm, &inter);
  if (inter) {
    real().Comm_remote_group(comm, &group);
    first = std::min(first, first_of(group));
    real().Group_free(&group);
  }
  return static_cast<std::uint64_t>(first);
}

/// The same ranks in another world's communicator: groups are made of processes.
MPI_Group same_ranks(MPI_Group group, MPI_Comm from, MPI_Comm in) {
  int size = 0;
  real().Group_size(group, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<int> there(ranks.size());
  MPI_Group whole = MPI_GROUP_NULL;
  real().Comm_group(from, &whole);
  real().Group_translate_ranks(group, size, ranks.data(), whole, there.data());
  real().Group_free(&whole);
  real().Comm_group(in, &whole);
  MPI_Group same = MPI_GROUP_NULL;
  real().Group_incl(whole, size, there.data(), &same);
  real().Group_free(&whole);
  return same;
}

/// The members, by their ranks in the communicator that it was made from.
std::vector<int> members(MPI_Comm comm, MPI_Comm parent) {
  if (comm == MPI_COMM_NULL) return {};
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Group whole = MPI_GROUP_NULL;
  int size = 0;
  real().Comm_group(comm, &group);
  real().Comm_group(parent, &whole);
  real().Group_size(group, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::vector<int> there(ranks.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  real().Group_translate_ranks(group, size, ranks.data(), whole, there.data());
  real().Group_free(&group);
  real().Group_free(&whole);
  return there;
}

/// Makes the communicator in the other worlds of this process, too; in ascending order everywhere, so that nobody
/// waits for somebody who waits for it.
template <class Make>
std::vector<InWorld> make_in_other_worlds(Function function, const Comm& from, MPI_Comm made, Make call) {
  std::vector<InWorld> other_worlds;
  for (const InWorld& parent : from.other_worlds) {
    MPI_Comm same = MPI_COMM_NULL;
    const int code = call_that_waits([&] { return call(parent.handle, &same); });
    if (code != MPI_SUCCESS || members(same, parent.handle) != members(made, from.handle)) {
      fail_unsupported(std::string(function_name(function)) +
                           " where ranks have different numbers of replicas and it "
                           "makes another communicator in each replica's world",
                       "give all ranks the same number");
    }
    if (same != MPI_COMM_NULL) other_worlds.push_back({parent.world, same});
  }
  return other_worlds;
}

/// The same communicator in another world in which this process plays its rank.
MPI_Comm in_world(MPI_Comm comm, int world) {
  const std::vector<InWorld>& other_worlds = runtime().comms.find(comm).other_worlds;
  const auto found =
      std::find_if(other_worlds.begin(), other_worlds.end(), [&](const auto& each) { return each.world == world; });
  return found == other_worlds.end() ? MPI_COMM_NULL : found->handle;
}

/// Runs a call that makes a communicator from `parent`, and registers the result.
template <class Make>
int make(Function function, MPI_Comm parent, MPI_Comm* result, Make call) {
  Comm& from = runtime().comms.find(parent);
  Collective entry(function, parent);
  const int code = entry.create([&] { return call(parent, result); });
  if (code == MPI_SUCCESS) {
    const std::vector<InWorld> other_worlds = make_in_other_worlds(function, from, *result, call);
    runtime().comms.add(*result, other_worlds, from, *result == MPI_COMM_NULL ? 0 : first_member(*result));
  }
  return code;
}

// MPI_Comm_idup of Open MPI 4.1 agrees on the copy's number by non-blocking reductions on the communicator, which each
// member starts from within progress and numbers among the other non-blocking collectives there as they come
// (ompi_comm_request_progress). Two copies that are being made at once end in MPI_ERR_INTERN or never, and so does a
// barrier of ours beside one. So MPI works on one at a time, and collectives that wait begin when none is left.
bool copies_in_turn() {
  return is_open_mpi();
}

/// A copy that is being made: where its handle is to be put, what the application has there since the call, and what
/// MPI puts here. Fortran's wrappers of Open MPI have read the handle when the call returns; others may be given it
/// later.
struct CommCopy {
  MPI_Comm* result;
  MPI_Comm returned = MPI_COMM_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm shadow = MPI_COMM_NULL;
};

/// Starts a call that makes a copy of `parent`: `start` takes where to put the handle, and a request. The copy is
/// registered when the application completes the request, and not before, since members may enter the call in any order
/// of time (MPI 3.1, 6.4.2 and 5.12).
template <class Start>
int start_to_make(Function function, MPI_Comm parent, MPI_Comm* result, MPI_Request* request, Start start) {
  Runtime& state = runtime();
  Comm& from = state.comms.find(parent);
  Collective entry(function, parent);
  const auto copy = std::make_shared<CommCopy>(CommCopy{result});
  const auto begin = [copy, &from, start](MPI_Request* native, MPI_Request* companion) {
    const int code = start(&copy->made, native);
    if (code == MPI_SUCCESS && from.shadow) real().Comm_idup(from.shadow->handle, &copy->shadow, companion);
    return code;
  };
  if (!state.verifying) {  // nobody would tell when it is complete
    MPI_Request none = MPI_REQUEST_NULL;
    const int code = begin(request, &none);
    if (code != MPI_SUCCESS) return code;
    call_that_waits([&] { return real().Wait(request, MPI_STATUS_IGNORE); });
    *result = copy->made;
    state.comms.add(*result, {}, from, first_member(*result));
    return real().Irecv(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, parent, request);
  }
  const std::uint64_t id = state.comms.next_id(from, first_member(parent));
  const auto when_done = [copy, &from, id] {
    if (copy->returned == MPI_COMM_NULL) *copy->result = copy->made;
    if (copy->made != MPI_COMM_NULL) runtime().comms.add_with_id(copy->made, {}, from, id, copy->shadow);
  };
  const auto queue = from.copies ? from.copies : std::make_shared<InTurn>();
  if (copies_in_turn()) from.copies = queue;
  const int code = entry.start_in_turn(request, queue, from_fortran(), begin, when_done);
  *result = copy->returned = copy->made;
  return code;
}

/// The same at once, in each of the other worlds of this process.
int make_now(Function function, MPI_Comm parent, MPI_Info info, MPI_Comm* result, MPI_Request* request) {
  const int code = make(function, parent, result, [&](MPI_Comm on, MPI_Comm* made) {
    return info == MPI_INFO_NULL ? real().Comm_dup(on, made) : real().Comm_dup_with_info(on, info, made);
  });
  return code == MPI_SUCCESS ? real().Irecv(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, parent, request) : code;
}

}  // namespace

int hook::Comm_dup(MPI_Comm comm, MPI_Comm* newcomm) {
  return make(Function::Comm_dup, comm, newcomm, [](MPI_Comm on, MPI_Comm* made) { return real().Comm_dup(on, made); });
}
int hook::Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
  return make(Function::Comm_dup_with_info, comm, newcomm,
              [&](MPI_Comm on, MPI_Comm* made) { return real().Comm_dup_with_info(on, info, made); });
}
int hook::Comm_idup(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request) {
  if (runtime().partial) return make_now(Function::Comm_idup, comm, MPI_INFO_NULL, newcomm, request);
  return start_to_make(Function::Comm_idup, comm, newcomm, request,
                       [=](MPI_Comm* made, MPI_Request* r) { return real().Comm_idup(comm, made, r); });
}
#ifdef HOLDFAST_HAS_Comm_idup_with_info
int hook::Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm, MPI_Request* request) {
  if (runtime().partial) return make_now(Function::Comm_idup_with_info, comm, info, newcomm, request);
  return start_to_make(Function::Comm_idup_with_info, comm, newcomm, request,
                       [=](MPI_Comm* made, MPI_Request* r) { return real().Comm_idup_with_info(comm, info, made, r); });
}
#endif
int hook::Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
  return make(Function::Comm_split, comm, newcomm,
              [&](MPI_Comm on, MPI_Comm* made) { return real().Comm_split(on, color, key, made); });
}
int hook::Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* newcomm) {
  return make(Function::Comm_split_type, comm, newcomm,
              [&](MPI_Comm on, MPI_Comm* made) { return real().Comm_split_type(on, split_type, key, info, made); });
}
int hook::Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
  return make(Function::Comm_create, comm, newcomm, [&](MPI_Comm on, MPI_Comm* made) {
    if (on == comm) return real().Comm_create(comm, group, made);
    MPI_Group same = same_ranks(group, comm, on);
    const int code = real().Comm_create(on, same, made);
    real().Group_free(&same);
    return code;
  });
}
int hook::Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm) {
  Comm& from = runtime().comms.find(comm);
  note_call(Function::Comm_create_group, from, -1, tag, 0);
  const auto create = [&](MPI_Comm on, MPI_Comm* made) {
    if (on == comm) return real().Comm_create_group(comm, group, tag, made);
    MPI_Group same = same_ranks(group, comm, on);
    const int code = real().Comm_create_group(on, same, tag, made);
    real().Group_free(&same);
    return code;
  };
  let_copies_end();
  const int code = call_that_waits([&] { return create(comm, newcomm); });
  if (code != MPI_SUCCESS || *newcomm == MPI_COMM_NULL) return code;
  const std::vector<InWorld> other_worlds = make_in_other_worlds(Function::Comm_create_group, from, *newcomm, create);
  std::uint64_t id = mix(from.id, static_cast<std::uint64_t>(tag));
  for (const int rank : members(*newcomm, comm)) id = mix(id, static_cast<std::uint64_t>(rank));
  runtime().comms.add_with_id(*newcomm, other_worlds, from, mix(id, ++from.groups[id]));
  return code;
}
int hook::Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag,
                           MPI_Comm* newintercomm) {
  Comm& from = runtime().comms.find(local_comm);
  note_call(Function::Intercomm_create, from, -1, tag, 0);
  // The two sides share nothing that both can derive: each tells the other its own.
  const std::uint64_t mine = mix(mix(from.id, from.created++), first_member(local_comm));
  std::uint64_t theirs = 0;
  const auto create = [&](MPI_Comm local, MPI_Comm peer, MPI_Comm* made) {
    const int code = real().Intercomm_create(local, local_leader, peer, remote_leader, tag, made);
    if (code == MPI_SUCCESS) real().Allreduce(&mine, &theirs, 1, MPI_UINT64_T, MPI_MAX, *made);
    return code;
  };
  let_copies_end();
  const int code = call_that_waits([&] { return create(local_comm, peer_comm, newintercomm); });
  if (code != MPI_SUCCESS) return code;
  std::vector<InWorld> other_worlds;
  for (const InWorld& local : from.other_worlds) {
    MPI_Comm same = MPI_COMM_NULL;
    const MPI_Comm peer = from.rank == local_leader ? in_world(peer_comm, local.world) : MPI_COMM_NULL;
    call_that_waits([&] { return create(local.handle, peer, &same); });
    other_worlds.push_back({local.world, same});
  }
  runtime().comms.add_with_id(*newintercomm, other_worlds, from, mix(std::min(mine, theirs), std::max(mine, theirs)));
  return code;
}
int hook::Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm* newintracomm) {
  return make(Function::Intercomm_merge, intercomm, newintracomm,
              [&](MPI_Comm on, MPI_Comm* made) { return real().Intercomm_merge(on, high, made); });
}
int hook::Cart_create(MPI_Comm comm_old, int ndims, const int dims[], const int periods[], int reorder,
                      MPI_Comm* comm_cart) {
  return make(Function::Cart_create, comm_old, comm_cart,
              [&](MPI_Comm on, MPI_Comm* made) { return real().Cart_create(on, ndims, dims, periods, reorder, made); });
}
int hook::Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm* newcomm) {
  return make(Function::Cart_sub, comm, newcomm,
              [&](MPI_Comm on, MPI_Comm* made) { return real().Cart_sub(on, remain_dims, made); });
}
int hook::Graph_create(MPI_Comm comm_old, int nnodes, const int indx[], const int edges[], int reorder,
                       MPI_Comm* comm_graph) {
  return make(Function::Graph_create, comm_old, comm_graph,
              [&](MPI_Comm on, MPI_Comm* made) { return real().Graph_create(on, nnodes, indx, edges, reorder, made); });
}
namespace {

/// Edges at one end of a process: the other ends and their weights.
struct Edges {
  std::vector<int> ranks, weights;
  explicit Edges(int count) : ranks(static_cast<std::size_t>(count)), weights(static_cast<std::size_t>(count)) {}
  /// By rank, several of one by their weights, so that both ends have these in one order.
  void sort() {
    std::vector<std::pair<int, int>> edges(ranks.size());
    for (std::size_t i = 0; i < edges.size(); ++i) edges[i] = {ranks[i], weights[i]};
    std::sort(edges.begin(), edges.end());
    for (std::size_t i = 0; i < edges.size(); ++i) std::tie(ranks[i], weights[i]) = edges[i];
  }
};

/// Puts a graph whose neighbours stand in one order in all replicas in place of `graph`. MPI prescribes none (MPI 3.1,
/// 7.5.4), and both MPIs take them as the messages that name them arrive, of any source.
int order_neighbours(MPI_Info info, MPI_Comm* graph) {
  int indegree = 0, outdegree = 0, weighted = 0;
  int code = real().Dist_graph_neighbors_count(*graph, &indegree, &outdegree, &weighted);
  if (code != MPI_SUCCESS) return code;
  Edges in(indegree), out(outdegree);
  code = real().Dist_graph_neighbors(*graph, indegree, in.ranks.data(), weighted ? in.weights.data() : MPI_UNWEIGHTED,
                                     outdegree, out.ranks.data(), weighted ? out.weights.data() : MPI_UNWEIGHTED);
  if (code != MPI_SUCCESS) return code;
  in.sort();
  out.sort();
  const auto weights = [&](Edges& edges) {
    if (!weighted) return MPI_UNWEIGHTED;
    return edges.weights.empty() ? MPI_WEIGHTS_EMPTY : edges.weights.data();
  };
  MPI_Comm ordered = MPI_COMM_NULL;
  code = real().Dist_graph_create_adjacent(*graph, indegree, in.ranks.data(), weights(in), outdegree, out.ranks.data(),
                                           weights(out), info, 0, &ordered);
  if (code != MPI_SUCCESS) return code;
  real().Comm_free(graph);
  *graph = ordered;
  return MPI_SUCCESS;
}

}  // namespace

int hook::Dist_graph_create(MPI_Comm comm_old, int n, const int sources[], const int degrees[],
                            const int destinations[], const int weights[], MPI_Info info, int reorder,
                            MPI_Comm* result) {
  return make(Function::Dist_graph_create, comm_old, result, [&](MPI_Comm on, MPI_Comm* made) {
    const int code = real().Dist_graph_create(on, n, sources, degrees, destinations, weights, info, reorder, made);
    return code == MPI_SUCCESS ? order_neighbours(info, made) : code;
  });
}
int hook::Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[], const int sourceweights[],
                                     int outdegree, const int destinations[], const int destweights[], MPI_Info info,
                                     int reorder, MPI_Comm* result) {
  return make(Function::Dist_graph_create_adjacent, comm_old, result, [&](MPI_Comm on, MPI_Comm* made) {
    return real().Dist_graph_create_adjacent(on, indegree, sources, sourceweights, outdegree, destinations, destweights,
                                             info, reorder, made);
  });
}
namespace {

/// A follower's receive behind a wildcard is given to MPI when the leader's has matched, for which MPI must have the
/// communicator still. It may never match, where the application cancels it later; so MPI frees the communicator when
/// no receive waits any more. That is collective in name alone: neither MPI waits for other processes there.
template <class Free>
int free_communicator(MPI_Comm* comm, Free call) {
  pass_point();
  const MPI_Comm freed = *comm;
  if (known(freed)) wait_until([&] { return !runtime().comms.find(freed).being_copied(); });
  if (known(freed) && has_waiting_receives(runtime().comms.find(freed))) {
    const int code = delete_attributes_of(freed);
    if (code != MPI_SUCCESS) return code;
    runtime().comms.remove(freed, true);
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
  }
  const int code = call(comm);
  if (code == MPI_SUCCESS) runtime().comms.remove(freed);
  return code;
}

}  // namespace

// A delete callback may refuse, and the communicator then lives on (MPI 3.1, 6.7.2).
int hook::Comm_free(MPI_Comm* comm) {
  return free_communicator(comm,
                           [](MPI_Comm* freed) { return call_that_waits([&] { return real().Comm_free(freed); }); });
}
/// Waits for all members, in Open MPI by a barrier, in which a thread would answer nobody.
int hook::Comm_disconnect(MPI_Comm* comm) {
  return free_communicator(comm, [](MPI_Comm* freed) {
    if (!known(*freed)) return real().Comm_disconnect(freed);
    return Collective(Function::Comm_disconnect, *freed).create([&] { return real().Comm_disconnect(freed); });
  });
}

}  // namespace holdfast::replicate
