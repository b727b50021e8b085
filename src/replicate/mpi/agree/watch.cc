#include "replicate/mpi/agree/watch.h"

#include <time.h>

#include <map>
#include <optional>
#include <utility>

#include "core/time/nanoseconds.h"
#include "functions.h"
#include "replicate/engine/standing.h"
#include "replicate/mpi/agree/accesses_apart.h"
#include "replicate/mpi/agree/control_channel.h"
#include "replicate/mpi/agree/divergence.h"
#include "replicate/mpi/agree/threads_advice.h"
#include "replicate/mpi/context/failure.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/process/liveness.h"
#include "replicate/process/real_clock.h"
#include "replicate/process/threads.h"

namespace holdfast::replicate {

namespace {

struct Waiting : Awaited {
  bool overdue = false;  ///< it waited for too long
};
[[gnu::tls_model("initial-exec")]] constinit thread_local Waiting awaited;

constexpr std::uint64_t questions = 8;  ///< in a silence limit: what somebody computes is seen from the third on

/// In the answer to a question: whether it has the hash of as many calls as the asker had made, and for whom the
/// answerer waits.
constexpr std::uint64_t knows_hash = 1;
constexpr std::uint64_t waits_for_team = 2;

struct Answer {
  Standing standing;
  std::uint32_t function = 0;
  std::int32_t peer = -1;
  std::int32_t tag = 0;
};
std::map<int, Answer> answers;  // by physical rank, of the present wait

std::string place(int rank, int replica) {
  std::string text = rank < 0 ? std::string("any rank") : "rank " + std::to_string(rank);
  if (replica >= 0) text += " replica " + std::to_string(replica);
  return text;
}

std::string call_text(const Answer& answer) {
  if (answer.standing.calls == 0) return "what comes before its first call";
  return "call " + std::to_string(answer.standing.calls) + ", " +
         std::string(function_name(static_cast<Function>(answer.function))) +
         (answer.peer >= 0 ? " with rank " + std::to_string(answer.peer) + " tag " + std::to_string(answer.tag)
                           : std::string());
}

Answer own_answer() {
  const CallHistory& history = runtime().history;
  Call last;
  if (history.count() > 0) history.find(history.count() - 1, last);
  Standing standing;
  standing.calls = history.count();
  return {standing, last.function, last.peer, last.tag};
}

std::string everybody(int rank) {
  Runtime& state = runtime();
  std::string text;
  for (int k = 0; k < state.map->degree(rank); ++k) {
    const int physical = state.map->physical_rank(rank, k);
    const auto found = physical == state.physical_rank ? answers.end() : answers.find(physical);
    text += (k ? "; " : "") + std::string("replica ") + std::to_string(k) + ": ";
    if (physical == state.physical_rank) {
      text += call_text(own_answer());
    } else {
      text += !state.here(k) ? "taken out" : found == answers.end() ? "no answer" : call_text(found->second);
    }
  }
  return text;
}

const char* what_text() {
  switch (awaited.what) {
    case Awaited::What::verdict:
      return "what it says of a message that has arrived";
    case Awaited::What::decision:
      return "its decision";
    case Awaited::What::answer:
      return "whether it asks the system, too";
    case Awaited::What::turn:
      return "the call that the leader's next thread made";
    case Awaited::What::correction:
      return "the good copy of a corrupted message";
    case Awaited::What::team:
      return "it to reach the end";
    case Awaited::What::own_world:
      return "a message of the application";
  }
  return "it";
}

/// True when another replica of this rank has gone past the call that this one waits in.
bool left_behind() {
  Runtime& state = runtime();
  if (many_threads()) return false;  // other threads make calls meanwhile, and not the same number in every replica
  for (int k = 0; k < state.degree; ++k) {
    const auto found = answers.find(state.team_physical_rank(k));
    if (k != state.replica && found != answers.end() && found->second.standing.calls > state.history.count())
      return true;
  }
  return false;
}

void ask(int rank) {
  Runtime& state = runtime();
  Record question;
  question.kind = RecordKind::ask_state;
  question.ordinal = state.history.count();
  for (int k = 0; k < state.map->degree(rank); ++k) {
    const int physical = state.map->physical_rank(rank, k);
    if (physical != state.physical_rank && state.here(k)) state.control.send(physical, question);
  }
}

/// Says which of the others of its rank this replica takes for diverged.
void accuse_diverged(const std::string& why) {
  const Runtime& state = runtime();
  for (int k = 0; k < state.degree; ++k) {
    if (k == state.replica || !state.here(k)) continue;
    const auto found = answers.find(state.team_physical_rank(k));
    const auto standing = found == answers.end() ? std::nullopt : std::optional(found->second.standing);
    if (has_diverged({state.history, !waits_for_own_world(), parted()}, standing)) accuse(k, why);
  }
}

std::string silence() {
  const Runtime& state = runtime();
  std::string text = "replicas diverged or one is silent: " + place(state.rank, state.replica) + " has waited " +
                     std::to_string(state.options.silence_limit_ns / 1000000000) + " s in " + call_text(own_answer()) +
                     ", for " + what_text() + ", from " + place(awaited.rank, awaited.replica) + "; rank " +
                     std::to_string(state.rank) + ": " + everybody(state.rank);
  if (awaited.rank >= 0 && awaited.rank != state.rank) {
    text += "; rank " + std::to_string(awaited.rank) + ": " + everybody(awaited.rank);
  }
  return text;
}

[[noreturn]] void diagnose() {
  Runtime& state = runtime();
  if (const std::string accesses = accesses_apart(); !accesses.empty()) fail(Incident::uncorrected, accesses);
  if (awaited.what == Awaited::What::turn)
    fail(Incident::diverged,
         "threads of " + place(state.rank, state.replica) + " wait for each other: one has waited " +
             std::to_string(state.options.silence_limit_ns / 1000000000) +
             " s for its turn to call MPI, after a call that another thread of " + place(state.rank, awaited.replica) +
             " made first and that its counterpart here does not make: with --same-thread-order no thread may hold a "
             "lock of the program while it calls MPI that another one takes before its own call" +
             threads_advice());
  fail(Incident::diverged, silence());
}

/// By all threads of this process.
std::uint64_t turns_taken() {
  return runtime().engine ? runtime().engine->decisions().turns_taken() : 0;
}

}  // namespace

std::uint64_t steady_now_ns() {
  timespec now{};
  real_clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(time::in_ns(now));
}

void set_awaited(Awaited what) {
  static_cast<Awaited&>(awaited) = what;
}

bool waits_for_own_world() {
  return awaited.what == Awaited::What::own_world;
}

Watch::Watch()
    : since_ns_(steady_now_ns()),
      next_question_ns_(since_ns_ + static_cast<std::uint64_t>(runtime().options.silence_limit_ns) / questions),
      turns_(turns_taken()),
      departures_(departures()) {}

void Watch::look() {
  Runtime& state = runtime();
  if (!state.verifying) return;
  if (turns_ != turns_taken() || departures_ != departures()) *this = Watch();
  look_at_partings();
  const std::uint64_t now = steady_now_ns();
  if (now < next_question_ns_) return;
  const auto limit = static_cast<std::uint64_t>(state.options.silence_limit_ns);
  const bool answer = awaited.what == Awaited::What::answer;
  // Who asks in vain goes on before the others, who wait for it then, have waited for too long.
  const bool over = now - since_ns_ > (answer ? limit / 4 * 3 : limit);
  if (over && told_working()) {
    *this = Watch();
  } else if (over && answer) {
    awaited.overdue = true;
  } else if (over && (!waits_for_own_world() || left_behind())) {
    // Others of the rank may not have waited for as long: who diverged is taken out when most say so.
    if (now - since_ns_ > 2 * limit || !can_outvote_diverged()) diagnose();
    accuse_diverged(silence());
  }
  ask_others(now);
}

void Watch::ask_others(std::uint64_t now) {
  const Runtime& state = runtime();
  answers.clear();
  ask(state.rank);
  if (awaited.rank >= 0 && awaited.rank != state.rank) ask(awaited.rank);
  say_waits(awaited.rank, awaited.replica);
  next_question_ns_ = now + static_cast<std::uint64_t>(state.options.silence_limit_ns) / questions + 1;
}

bool answer_overdue() {
  return std::exchange(awaited.overdue, false);
}

void answer_state_question(int physical, const Record& question) {
  const Answer own = own_answer();
  const CallHistory& history = runtime().history;
  const std::optional<std::uint64_t> then = history.hash_after(question.ordinal);
  Record answer;
  answer.kind = RecordKind::state;
  answer.flags = static_cast<std::uint16_t>(own.function);
  answer.source = own.peer;
  answer.tag = own.tag;
  answer.ordinal = own.standing.calls;
  answer.extra = history.hash();
  answer.digest.low = then.value_or(0);
  answer.bytes = (then ? knows_hash : 0) | (!waits_for_own_world() ? waits_for_team : 0);
  runtime().control.send(physical, answer);
}

void file_state_answer(int physical, const Record& record) {
  Standing standing;
  standing.calls = record.ordinal;
  standing.hash = record.extra;
  if ((record.bytes & knows_hash) != 0) standing.hash_at_askers = record.digest.low;
  standing.waits_for_replicas = (record.bytes & waits_for_team) != 0;
  standing.parted = has_parted(runtime().map->replica(physical));
  answers[physical] = {standing, record.flags, record.source, record.tag};
}

}  // namespace holdfast::replicate
