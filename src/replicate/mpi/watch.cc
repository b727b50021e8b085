#include "replicate/mpi/watch.h"

#include <time.h>

#include <map>

#include "functions.h"
#include "replicate/mpi/collective.h"
#include "replicate/mpi/decide.h"
#include "replicate/mpi/failure.h"
#include "replicate/mpi/real_clock.h"
#include "replicate/mpi/runtime.h"
#include "replicate/mpi/thread_order.h"
#include "replicate/mpi/threads.h"

namespace holdfast::replicate {

namespace {

thread_local Awaited awaited;

struct Answer {
  std::uint64_t calls;
  std::uint32_t function;
  std::int32_t peer;
  std::int32_t tag;
};
std::map<int, Answer> answers;  // by native rank, of the present wait

std::string place(int rank, int replica) {
  std::string text = rank < 0 ? std::string("any rank") : "rank " + std::to_string(rank);
  if (replica >= 0) text += " replica " + std::to_string(replica);
  return text;
}

std::string call_text(const Answer& answer) {
  if (answer.calls == 0) return "what comes before its first call";
  return "call " + std::to_string(answer.calls) + ", " +
         std::string(function_name(static_cast<Function>(answer.function))) +
         (answer.peer >= 0 ? " with rank " + std::to_string(answer.peer) + " tag " + std::to_string(answer.tag)
                           : std::string());
}

Answer own_answer() {
  const CallHistory& history = runtime().history;
  Call last;
  if (history.count() > 0) history.find(history.count() - 1, last);
  return {history.count(), last.function, last.peer, last.tag};
}

std::string everybody(int rank) {
  Runtime& state = runtime();
  std::string text;
  for (int k = 0; k < state.map->degree(rank); ++k) {
    const int native = state.map->native(rank, k);
    const auto found = native == state.native ? answers.end() : answers.find(native);
    text += (k ? "; " : "") + std::string("replica ") + std::to_string(k) + ": ";
    if (native == state.native) {
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
    const auto found = answers.find(state.team_native(k));
    if (k != state.replica && found != answers.end() && found->second.calls > state.history.count()) return true;
  }
  return false;
}

void ask(int rank) {
  Runtime& state = runtime();
  Record question;
  question.kind = RecordKind::ask_state;
  for (int k = 0; k < state.map->degree(rank); ++k) {
    const int native = state.map->native(rank, k);
    if (native != state.native && state.here(k)) state.post.send(native, question);
  }
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
  std::string text = "replicas diverged or one is silent: " + place(state.rank, state.replica) + " has waited " +
                     std::to_string(state.options.silence_limit_ns / 1000000000) + " s in " + call_text(own_answer()) +
                     ", for " + what_text() + ", from " + place(awaited.rank, awaited.replica) + "; rank " +
                     std::to_string(state.rank) + ": " + everybody(state.rank);
  if (awaited.rank >= 0 && awaited.rank != state.rank) {
    text += "; rank " + std::to_string(awaited.rank) + ": " + everybody(awaited.rank);
  }
  fail(Incident::diverged, text);
}

}  // namespace

std::uint64_t steady_now_ns() {
  timespec now{};
  real_clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000ULL + static_cast<std::uint64_t>(now.tv_nsec);
}

void set_awaited(Awaited what) {
  awaited = what;
}

Watch::Watch()
    : since_ns_(steady_now_ns()),
      next_question_ns_(since_ns_ + static_cast<std::uint64_t>(runtime().options.silence_limit_ns) / 2),
      turns_(turns_taken()) {}

void Watch::look() {
  Runtime& state = runtime();
  if (!state.verifying) return;
  if (turns_ != turns_taken()) *this = Watch();
  const std::uint64_t now = steady_now_ns();
  if (now < next_question_ns_) return;
  const auto limit = static_cast<std::uint64_t>(state.options.silence_limit_ns);
  if (now - since_ns_ > limit && (awaited.what != Awaited::What::own_world || left_behind())) diagnose();
  answers.clear();
  ask(state.rank);
  if (awaited.rank >= 0 && awaited.rank != state.rank) ask(awaited.rank);
  next_question_ns_ = now + limit / 4 + 1;
}

void answer_state_question(int native) {
  const Answer own = own_answer();
  Record answer;
  answer.kind = RecordKind::state;
  answer.flags = own.function;
  answer.source = own.peer;
  answer.tag = own.tag;
  answer.ordinal = own.calls;
  runtime().post.send(native, answer);
}

void file_state_answer(int native, const Record& record) {
  answers[native] = {record.ordinal, record.flags, record.source, record.tag};
}

}  // namespace holdfast::replicate
