#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/config/settings.h"
#include "core/config/table.h"
#include "simulate/job/collective.h"
#include "simulate/kernel/time.h"

namespace holdfast::simulate::job {

/// When an MPI sees what came: inside its calls alone, or always (a thread of its own, or the adapter, sees to it).
enum class Progress : std::uint8_t { calls, always };

/// What an MPI takes for a message: the parameters of LogGPS (F. Ino, N. Fujimoto, K. Hagihara, "LogGPS: a parallel
/// computational model for synchronization analysis", 2001) but for those of the network, which is simulated. `holdfast
/// calibrate` measures them.
struct Protocol {
  Rules collectives{};
  Progress progress{};
  std::uint64_t eager_limit{};      ///< bytes; longer messages ask their receiver first
  std::uint64_t header_bytes{};     ///< of MPI, in each message
  std::uint64_t segment_bytes{};    ///< that an adapter takes of a message before others have their turn; 0: all
  std::int64_t send_overhead_ns{};  ///< of the processor, for each message
  std::int64_t receive_overhead_ns{};
  std::int64_t send_byte_ps{};  ///< of the processor, for each byte of an eager message, which is copied
  std::int64_t receive_byte_ps{};
  std::int64_t reduce_byte_ps{};       ///< for each byte of an operand of a reduction
  std::uint64_t shared_eager_limit{};  ///< between ranks of a host, through its memory
  std::int64_t shared_latency_ns{};
  std::int64_t shared_byte_ps{};
};

/// Component "mpi".
const config::Table<Protocol>& protocol_table();

}  // namespace holdfast::simulate::job
