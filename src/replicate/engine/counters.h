#pragma once

#include <cstdint>

#include "core/event/counters.h"

namespace holdfast::replicate {

enum class Count {
  messages,
  bytes,
  collectives,
  mismatches,
  corrections,
  uncorrected,
  disputes,
  statements,
  tolerated,
  injected,
  records_sent,
  payload_bytes,
  decisions,
  clock_reads,
  answers_apart,
  unverified,
  written,
  records_repaired,
  requests_left,
  communicators_left,
  windows_left,
  files_left,
  verifications_left,
  count
};

inline constexpr event::CounterRows<Count> counter_rows = {{
    {"messages", "messages", "Received messages that were verified."},
    {"bytes", "bytes", "Bytes of the verified messages."},
    {"collectives", "calls", "Collective results that were verified."},
    {"mismatches", "copies", "Copies that differed from the majority's."},
    {"corrections", "copies", "Copies that were replaced by the majority's."},
    {"uncorrected", "copies", "Differences between two replicas, where no majority exists."},
    {"disputes", "messages", "Messages that differed from the digest that came with them (msg-plus-hash)."},
    {"statements", "records", "What replicas said to each other in disputes."},
    {"tolerated", "copies", "Differences at places where the user allows them."},
    {"injected", "flips", "Bits flipped by the fault injector."},
    {"records_sent", "records", "Verification records sent."},
    {"payload_bytes", "bytes", "Bytes of whole copies sent to other replicas."},
    {"decisions", "messages", "Messages that carried the leader's answers."},
    {"clock_reads", "calls", "Clocks and other answers of the system that the program asked for."},
    {"answers_apart", "calls", "Those of them that this replica asked for and the leader did not."},
    {"unverified", "messages", "Messages and collective results that no other replica was left to confirm."},
    {"written", "stretches", "Stretches of what was written to files that were compared while the job ran."},
    {"records_repaired", "records", "Control messages in which a bit was flipped on the way, and was put right."},
    {"requests_left", "requests", "Requests that were neither completed nor freed at MPI_Finalize."},
    {"communicators_left", "communicators", "Communicators that were not freed at MPI_Finalize."},
    {"windows_left", "windows", "Windows that were not freed at MPI_Finalize."},
    {"files_left", "files", "Files that were not closed at MPI_Finalize."},
    {"verifications_left", "records", "What other replicas said of messages and results that never came here."},
}};

using Counters = event::Counters<Count>;

}  // namespace holdfast::replicate
