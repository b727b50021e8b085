#include "replicate/mpi/life/looks.h"

#include "replicate/mpi/agree/answers.h"
#include "replicate/mpi/io/file.h"
#include "replicate/mpi/io/written.h"
#include "replicate/mpi/life/team.h"
#include "replicate/mpi/onesided/lock_sequencer.h"
#include "replicate/mpi/onesided/window.h"
#include "replicate/mpi/pointtopoint/completion.h"
#include "replicate/mpi/pointtopoint/partitioned.h"
#include "replicate/mpi/pointtopoint/receive.h"

namespace holdfast::replicate {

void LooksOfAllRooms::advance() {
  poll_wildcards();
  compare_what_others_ask_about();
  compare_what_was_written();
  advance_background();
  finish_orphans();
  answer_for_sleepers();
}

void LooksOfAllRooms::hear(int replica, const Record& record) {
  switch (record.kind) {
    case RecordKind::ask_answer:
      receive_answer_question(replica, record);
      break;
    case RecordKind::no_answer:
      receive_no_answer(record);
      break;
    case RecordKind::finished:
      file_finished(replica);
      break;
    case RecordKind::partitioned:
      file_partitioned_tag(record);
      break;
    case RecordKind::written:
      receive_written(replica, record);
      break;
    default:
      break;
  }
}

const char* LooksOfAllRooms::held_by_leader() {
  if (files().live() > 0) return "a file open through MPI-IO, which the leader alone writes";
  if (windows().live() > 0 && lock_order_was_taken())
    return "a window with lock epochs, whose order the leader's world decides";
  return nullptr;
}

}  // namespace holdfast::replicate
