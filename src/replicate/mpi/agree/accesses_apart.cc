#include "replicate/mpi/agree/accesses_apart.h"

#include <algorithm>
#include <string_view>

#include "functions.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/process/threads.h"

namespace holdfast::replicate {

namespace {

/// The replicas that have said what they have, and of what.
std::string said_by(const Poll& poll) {
  std::string text;
  for (std::size_t k = 0; k < poll.ballots.size(); ++k)
    if (poll.ballots[k].known) text += (text.empty() ? "" : ", ") + std::to_string(k);
  const std::size_t one = static_cast<std::size_t>(
      std::find_if(poll.ballots.begin(), poll.ballots.end(), [](const Ballot& b) { return b.known; }) -
      poll.ballots.begin());
  return "replica " + text + " at offset " + std::to_string(poll.whats[one]);
}

std::string_view called(const Poll& poll) {
  return function_name(static_cast<Function>(poll.function));
}

bool with_offset(const Poll& poll) {
  return called(poll).find("_at") != std::string_view::npos;
}

/// Whether nobody has come to both.
bool apart(const Poll& a, const Poll& b) {
  if (a.function != b.function || !with_offset(a)) return false;
  for (std::size_t k = 0; k < a.ballots.size(); ++k)
    if (a.ballots[k].known && b.ballots[k].known) return false;
  return true;
}

}  // namespace

std::string accesses_apart() {
  if (!many_threads()) return {};
  const auto own = static_cast<std::size_t>(runtime().replica);
  const Replica::Polls& polls = runtime().engine->polls();
  for (const auto& [result, mine] : polls) {
    if (!mine.ballots[own].known) continue;
    for (const auto& [another, other] : polls) {
      if (another == result || !apart(mine, other)) continue;
      return std::string(called(mine)) + " of rank " + std::to_string(runtime().rank) +
             " accesses different parts of a file: " + said_by(mine) + ", " + said_by(other);
    }
  }
  return {};
}

}  // namespace holdfast::replicate
