#include "replicate/mpi/agree/decide.h"

#include <optional>
#include <string>

#include "replicate/engine/mix.h"
#include "replicate/mpi/agree/agreeing_thread.h"
#include "replicate/mpi/agree/answers.h"
#include "replicate/mpi/agree/divergence.h"
#include "replicate/mpi/agree/progress.h"
#include "replicate/mpi/agree/threads_advice.h"
#include "replicate/mpi/context/failure.h"
#include "replicate/mpi/intercept/guard.h"
#include "replicate/process/threads.h"

namespace holdfast::replicate {

namespace {

Decisions& decisions() {
  return runtime().engine->decisions();
}

/// The order in which the present thread asks.
std::uint64_t order() {
  return many_threads() ? asking.order : 0;
}

/// Who asks, as far as replicas can tell: 0 where there is one thread.
std::uint32_t who_asks() {
  return many_threads() ? static_cast<std::uint32_t>(mix(asking.order, asking.calls)) : 0;
}

/// The leader did something else. Where most can tell who is odd, that one is taken out meanwhile.
void diverged(const char* here) {
  const Runtime& state = runtime();
  const std::string text = "replicas diverged: rank " + std::to_string(state.rank) + " replica " +
                           std::to_string(state.replica) + " " + here + " where replica " +
                           std::to_string(state.leading) + " " + decisions().leader_did(order()) + threads_advice();
  if (!can_outvote_diverged()) fail(Incident::diverged, text);
  part_from_leader(text);
}

/// Waits for the leader's answer; false when this replica leads, or does since the one before died.
template <class Ask>
bool follow(const char* here, Ask ask) {
  if (leads()) return false;
  Decisions::Reply reply = Decisions::Reply::waiting;
  wait_until([&] {
    set_awaited({Awaited::What::decision, runtime().rank, runtime().leading});
    reply = ask();
    if (reply == Decisions::Reply::diverged) diverged(here);
    return reply == Decisions::Reply::told || reply == Decisions::Reply::own;
  });
  if (reply == Decisions::Reply::told) pass_point();
  return reply == Decisions::Reply::told;
}

}  // namespace

bool leads() {
  return decisions().leads(order());
}

NextTurn next_turn() {
  const NextTurn next = decisions().next_turn(asking.order);
  if (next == NextTurn::unsaid || next == NextTurn::of_other)
    set_awaited(
        {next == NextTurn::unsaid ? Awaited::What::decision : Awaited::What::turn, runtime().rank, runtime().leading});
  return next;
}

void publish_turn() {
  decisions().tell_turn(asking.order);
}

void take_turn() {
  decisions().take_turn();
}

void publish_flag(bool flag) {
  decisions().tell_flag(order(), flag, who_asks());
  pass_point();
}

std::optional<bool> follow_flag() {
  bool flag = false;
  const bool told =
      follow("tested for completion or probed", [&] { return decisions().follow_flag(order(), flag, who_asks()); });
  return told ? std::optional(flag) : std::nullopt;
}

void publish_number(std::int64_t number) {
  decisions().tell_number(order(), number, who_asks());
  pass_point();
}

std::optional<std::int64_t> follow_number() {
  std::int64_t number = 0;
  const bool told = follow("completed one of several requests",
                           [&] { return decisions().follow_number(order(), number, who_asks()); });
  return told ? std::optional(number) : std::nullopt;
}

std::int64_t decide_index(std::int64_t own) {
  if (!runtime().verifying) return own;
  const bool led = leads();
  return decide_number([&] {
    if (led) return own;
    fail(Incident::diverged, "the leader of rank " + std::to_string(runtime().rank) +
                                 " died in a call that it makes for all replicas, and nobody knows how far it came");
  });
}

bool repeats_leader() {
  if (depth > 0 || !active() || (many_threads() ? asking.order == 0 : !agreeing_thread())) return false;
  const Runtime& state = runtime();
  if (!state.verifying || !state.options.clocks) return false;
  const Inside inside;
  return decisions().is_behind(order());
}

void flush_decisions() {
  flush_answers();
  if (runtime().engine) decisions().flush();
}

std::uint32_t poster_of_wildcard() {
  return who_asks();
}

}  // namespace holdfast::replicate
