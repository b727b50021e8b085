#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/status/status.h"

/// From times of real messages to the parameters of the replay's MPI (job/protocol.h).
namespace holdfast::simulate::predict {

/// What mpi/ping_pong.c measured; durations in ns, lower quartiles of the calls below a millisecond.
struct Measurements {
  struct Sample {
    std::uint64_t bytes = 0;
    double ns = 0;
  };
  bool one_host = true;           ///< both processes: what is measured is the way through its memory
  std::uint64_t eager_limit = 0;  ///< the longest message whose send ends while its receiver is outside MPI
  std::vector<Sample> sends;      ///< the sender's call, up to that length
  std::vector<Sample> receives;   ///< the receiver's call, of a message that is there
  Sample one_way, reduction;
  double barrier_ns = 0, allreduce_ns = 0;  ///< of two processes; the latter of 8 bytes
  double late_share = 0;                    ///< of both processes' calls, that took over a millisecond
};

/// Reads what the program printed. Error (bad_input): a line that is none, a number out of bounds, something missing.
Result<Measurements> read_measurements(std::string_view text);

/// Overheads are lines through the calls' times by least squares, none below 0. Of two hosts the network's latency is
/// left to the simulator.
struct Calibration {
  bool one_host = true;
  std::uint64_t eager_limit = 0;
  std::int64_t send_overhead_ns = 0, receive_overhead_ns = 0;
  std::int64_t send_byte_ps = 0, receive_byte_ps = 0, reduce_byte_ps = 0;
  std::int64_t latency_ns = 0;              ///< of one host
  double send_r2 = 0, receive_r2 = 0;       ///< of the lines
  double barrier_ns = 0, allreduce_ns = 0;  ///< as measured
  double late_share = 0;
  /// Whether another program had the cores now and then while it was measured, so that it is better measured again.
  bool was_busy() const { return late_share > 0.01; }
  /// The same by these parameters, on one host: a message each way.
  double barrier_by_model_ns() const;
  double allreduce_by_model_ns() const;
};
Result<Calibration> fit(const Measurements& measurements);

/// Table [mpi] for --config, with what each number comes from. `mpi`: "openmpi" or "mpich".
std::string to_toml(const Calibration& calibration, std::string_view mpi);

}  // namespace holdfast::simulate::predict
