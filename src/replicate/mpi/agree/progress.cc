#include "replicate/mpi/agree/progress.h"

#include "real_functions.h"
#include "replicate/mpi/agree/control_channel.h"
#include "replicate/mpi/agree/divergence.h"
#include "replicate/mpi/agree/looks.h"
#include "replicate/mpi/agree/survivors.h"
#include "replicate/mpi/context/failure.h"

namespace holdfast::replicate {

namespace {

void deliver(const ControlMessage& message) {
  const Record& record = message.record;
  const int replica = message.from.replica;
  if (!runtime().here(replica)) return;  // on its way when it was taken out
  if (runtime().engine->on_message(message)) return;
  const int physical = runtime().map->physical_rank(message.from.rank, replica);
  switch (record.kind) {
    case RecordKind::ask_state:
      answer_state_question(physical, record);
      break;
    case RecordKind::state:
      file_state_answer(physical, record);
      break;
    case RecordKind::parted:
      file_parting(replica, record.source, record.ordinal);
      break;
    default:
      runtime().looks.hear(replica, record);
      break;
  }
}

/// Goes on after a flipped bit, which is right again, and ends the job after worse: a message that cannot be trusted
/// may have been a vote, an answer of the leader, anything, and nobody sends it again.
void require_sound(Flaw flaw) {
  if (flaw == Flaw::none) return;
  Runtime& state = runtime();
  if (flaw == Flaw::repaired) {
    ++state.counters[Count::records_repaired];
    return;
  }
  const Incident incident = flaw == Flaw::damaged ? Incident::uncorrected : Incident::diverged;
  fail(incident, state.control.reader().what_was_wrong());
}

}  // namespace

void progress() {
  Runtime& state = runtime();
  if (!state.verifying) return;
  notice_departures();
  ControlMessage message;
  while (const auto flaw = state.control.take(message)) {
    require_sound(*flaw);
    deliver(message);
  }
  state.control.tidy();
  state.control.look_for_copies([&](std::uint64_t token) { state.engine->on_copy(token); });
  state.looks.advance();
}

}  // namespace holdfast::replicate
