#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "replicate/mpi/agree/agreeing_thread.h"
#include "replicate/mpi/agree/answers.h"
#include "replicate/mpi/intercept/guard.h"
#include "replicate/process/real_clock.h"
#include "replicate/process/standing_clocks.h"

namespace holdfast::replicate {

/// What the system is asked, as replicas compare it. What is agreed and what is not: docs/reference/agreed.md.
enum class SystemAnswer : std::uint8_t {
  clock = 1,
  mpi_clock,
  usage,
  processor_time,
  process_times,
  file,         ///< the contents of a file of the kernel's
  file_system,  ///< statfs and its like
  host,         ///< sysinfo
  load,
  processor,  ///< on which one this thread runs
  heap,       ///< mallinfo
  parent,
  host_name,
};

/// Whether what this code is told is the same in all replicas: the leader's answer, or, while replicas cannot talk,
/// that of the one that asks first.
inline bool agreed_answers() {
  return agreed_clocks() || program_stands();
}

/// Replaces `value` by the answer of all replicas; false where there is none here. Inside Holdfast, in the thread's
/// turn, where agreed_answers() said so; `talking`: what agreed_clocks() said then. Where replicas cannot talk, the
/// first one of this rank to ask leaves its answer in the run directory (process/first_told.h), a thousand answers at
/// most before MPI_Init and after MPI_Finalize each.
bool agree_on_bytes(SystemAnswer what, std::uint64_t which, bool talking, std::string& value);

/// Replaces `value` by the leader's, byte by byte; false where it has none here. Inside Holdfast, in the thread's turn.
template <class Value>
bool agree_on_value(SystemAnswer what, std::uint64_t which, Value& value, bool talking = true) {
  static_assert(std::is_trivially_copyable_v<Value>);
  std::string bytes(reinterpret_cast<const char*>(&value), sizeof value);
  if (!agree_on_bytes(what, which, talking, bytes) || bytes.size() != sizeof value) return false;
  std::memcpy(&value, bytes.data(), sizeof value);
  return true;
}

/// The same for a call of the C library's that the program makes: leaves the value as it is where nothing is agreed.
template <class Value>
void agree(SystemAnswer what, std::uint64_t which, Value& value) {
  const bool talking = agreed_clocks();
  if (!talking && !program_stands()) return;
  const Inside inside;
  (void)agree_on_value(what, which, value, talking);
}

}  // namespace holdfast::replicate
