#include "replicate/mpi/agree/divergence.h"

#include <map>
#include <set>

#include "replicate/mpi/agree/control_channel.h"
#include "replicate/mpi/context/failure.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/process/liveness.h"
#include "replicate/process/threads.h"

namespace holdfast::replicate {

namespace {

std::set<int> accused;
std::map<int, std::uint64_t> partings;  ///< by replica: in which call it did something else than the one that leads
int partings_of = -1;                   ///< the leader that they are about
int parted_from = -1;

/// The lowest of those that stay speaks for all.
bool speaks_against(int replica) {
  const Runtime& state = runtime();
  for (int k = 0; k < state.replica; ++k)
    if (k != replica && state.here(k)) return false;
  return true;
}

}  // namespace

bool can_outvote_diverged() {
  const Runtime& state = runtime();
  return state.survives && state.present >= 3 && !many_threads();
}

void accuse(int replica, const std::string& why) {
  if (replica == runtime().replica || !runtime().here(replica) || !accused.insert(replica).second) return;
  if (speaks_against(replica)) say(why);
  say_diverged(replica);
}

void part_from_leader(const std::string& why) {
  Runtime& state = runtime();
  if (parted()) return;
  parted_from = state.leading;
  Record record;
  record.kind = RecordKind::parted;
  record.ordinal = state.history.count();
  record.source = state.leading;
  for (int k = 0; k < state.degree; ++k)
    if (k != state.replica && state.here(k)) state.control.send(state.team_physical_rank(k), record);
  accuse(state.leading, why);
}

bool parted() {
  return parted_from == runtime().leading;
}

void file_parting(int replica, int leader, std::uint64_t calls) {
  if (leader < partings_of) return;  // leaders follow each other upwards
  if (leader > partings_of) partings.clear();
  partings_of = leader;
  partings[replica] = calls;
}

bool has_parted(int replica) {
  return partings_of == runtime().leading && partings.contains(replica);
}

void look_at_partings() {
  const Runtime& state = runtime();
  if (partings_of != state.leading || parted() || !can_outvote_diverged()) return;
  for (const auto& [replica, calls] : partings)
    if (state.history.count() > calls)
      accuse(replica, "rank " + std::to_string(state.rank) + " replica " + std::to_string(replica) +
                          " did something else than the leader in call " + std::to_string(calls) + ", replica " +
                          std::to_string(state.replica) + " did as the leader");
}

}  // namespace holdfast::replicate
