#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "replicate/mpi/agree/agreeing_thread.h"
#include "replicate/mpi/agree/answers.h"
#include "replicate/mpi/intercept/guard.h"
#include "replicate/process/real_clock.h"

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
};

/// The number of a question: what, which of these, and who asks. Inside Holdfast.
std::uint32_t subject_of(SystemAnswer what, std::uint64_t which);

/// Replaces `value` by the leader's, byte by byte; false where it has none here. Inside Holdfast, in the thread's turn.
template <class Value>
bool agree_on_value(SystemAnswer what, std::uint64_t which, Value& value) {
  static_assert(std::is_trivially_copyable_v<Value>);
  std::string bytes(reinterpret_cast<const char*>(&value), sizeof value);
  if (!agree_on_answer(subject_of(what, which), bytes) || bytes.size() != sizeof value) return false;
  std::memcpy(&value, bytes.data(), sizeof value);
  return true;
}

/// The same for a call of the C library's that the program makes: leaves the value as it is where nothing is agreed.
template <class Value>
void agree(SystemAnswer what, std::uint64_t which, Value& value) {
  if (!agreed_clocks()) return;
  const Inside inside;
  (void)agree_on_value(what, which, value);
}

}  // namespace holdfast::replicate
