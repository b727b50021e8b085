// Sessions (MPI 4.0, chapter 11), beside MPI_Init or without it: process sets are those of this replica, and what is
// made of their groups is made within its world.
#include <cstdlib>
#include <string>
#include <string_view>

#include "hooks.h"
#include "real_functions.h"
#include "replicate/engine/degrees.h"
#include "replicate/engine/mix.h"
#include "replicate/mpi/agree/control_channel.h"
#include "replicate/mpi/context/failure.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/mpi/intercept/guard.h"
#include "replicate/mpi/life/sessions.h"

#ifdef HOLDFAST_HAS_Session_init
namespace holdfast::replicate {

namespace {

int open_sessions = 0;

int tag_of(const char* text) {
  std::uint64_t hash = 0;
  for (const char letter : std::string_view(text)) hash = mix(hash, static_cast<unsigned char>(letter));
  return static_cast<int>(hash % tag_range);
}

int world_rank(MPI_Group group, int member) {
  MPI_Group world = MPI_GROUP_NULL;
  int rank = MPI_UNDEFINED;
  real().Comm_group(protection.world, &world);
  real().Group_translate_ranks(group, 1, &member, world, &rank);
  real().Group_free(&world);
  return rank;
}

}  // namespace

void refuse_open_sessions() {
  if (open_sessions == 0) return;
  fail_unsupported("MPI_Finalize with " + std::to_string(open_sessions) + " open sessions",
                   "replication ends with MPI_Finalize: call MPI_Session_finalize before it");
}

namespace {

/// The level that the program asks for (MPI 4.0, 11.3.1).
int thread_level(MPI_Info info) {
  char level[MPI_MAX_INFO_VAL + 1] = "";
  int found = 0;
  if (info != MPI_INFO_NULL) real().Info_get(info, "thread_level", MPI_MAX_INFO_VAL, level, &found);
  const std::string_view name = level;
  if (name == "MPI_THREAD_MULTIPLE") return MPI_THREAD_MULTIPLE;
  if (name == "MPI_THREAD_SERIALIZED") return MPI_THREAD_SERIALIZED;
  return name == "MPI_THREAD_FUNNELED" ? MPI_THREAD_FUNNELED : MPI_THREAD_SINGLE;
}

/// A program that uses sessions alone never calls MPI_Init: replication begins with the first one.
int begin_with_first(MPI_Info info) {
  int ended = 0;
  real().Finalized(&ended);
  if (ended) {
    fail_unsupported("MPI_Session_init after MPI_Finalize, or after the last session was closed",
                     "replication has ended there: keep a session open as long as others are to come");
  }
  return begin_for_session(thread_level(info));
}

}  // namespace

int hook::Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session) {
  const char* degree = std::getenv("HOLDFAST_REPLICATE_DEGREE");
  if (!active() && degree && asks_for_replicas(degree)) {
    const int begun = begin_with_first(info);
    if (begun != MPI_SUCCESS) return begun;
  }
  const int code = real().Session_init(info, errhandler, session);
  if (code == MPI_SUCCESS && active()) ++open_sessions;
  return code;
}

int hook::Session_finalize(MPI_Session* session) {
  const int code = real().Session_finalize(session);
  if (code != MPI_SUCCESS || --open_sessions > 0) return code;
  return end_after_session();
}

int hook::Group_from_session_pset(MPI_Session session, const char* pset_name, MPI_Group* newgroup) {
  MPI_Group native = MPI_GROUP_NULL;
  const int code = real().Group_from_session_pset(session, pset_name, &native);
  if (code != MPI_SUCCESS) return code;
  int members = 0;
  real().Group_size(native, &members);
  real().Group_free(&native);
  int physical_ranks = 0;
  real().Comm_size(MPI_COMM_WORLD, &physical_ranks);
  if (members != 1 && members != physical_ranks) {
    fail_unsupported(std::string("the process set ") + pset_name, "only mpi://WORLD and mpi://SELF are protected");
  }
  return real().Comm_group(members == 1 ? MPI_COMM_SELF : protection.world, newgroup);
}

// The size of the world's process set is the one value that speaks of processes (MPI 4.0, 11.3.2).
int hook::Session_get_pset_info(MPI_Session session, const char* pset_name, MPI_Info* info) {
  const int code = real().Session_get_pset_info(session, pset_name, info);
  if (code != MPI_SUCCESS) return code;
  char size[16] = "";
  int found = 0;
  real().Info_get(*info, "mpi_size", sizeof size - 1, size, &found);
  if (found && std::string_view(size) != "1") {
    real().Info_set(*info, "mpi_size", std::to_string(runtime().ranks).c_str());
  }
  return code;
}

int hook::Comm_create_from_group(MPI_Group group, const char* stringtag, MPI_Info info, MPI_Errhandler errhandler,
                                 MPI_Comm* newcomm) {
  const int code = Comm_create_group(protection.world, group, tag_of(stringtag), newcomm);
  if (code != MPI_SUCCESS || *newcomm == MPI_COMM_NULL) return code;
  if (info != MPI_INFO_NULL) real().Comm_set_info(*newcomm, info);
  return Comm_set_errhandler(*newcomm, errhandler);
}

int hook::Intercomm_create_from_groups(MPI_Group local_group, int local_leader, MPI_Group remote_group,
                                       int remote_leader, const char* stringtag, MPI_Info info,
                                       MPI_Errhandler errhandler, MPI_Comm* newintercomm) {
  MPI_Comm local = MPI_COMM_NULL;
  int code = Comm_create_from_group(local_group, stringtag, info, errhandler, &local);
  if (code != MPI_SUCCESS) return code;
  code = Intercomm_create(local, local_leader, protection.world, world_rank(remote_group, remote_leader),
                          tag_of(stringtag), newintercomm);
  Comm_free(&local);
  return code == MPI_SUCCESS ? Comm_set_errhandler(*newintercomm, errhandler) : code;
}

}  // namespace holdfast::replicate
#else
namespace holdfast::replicate {
void refuse_open_sessions() {}
}  // namespace holdfast::replicate
#endif
