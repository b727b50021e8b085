#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "replicate/process/record_rings.h"

namespace holdfast::replicate {

/// Carries control messages between the processes of one host through memory that they share (record_rings.h), which
/// costs a fraction of a message of MPI: there it would be looked for among all that the application has not received.
class HostRecords {
 public:
  /// Nothing where this process is alone on its host, or its processes cannot share memory: MPI carries their messages
  /// then. Collective over `world`. The memory has no name: nothing is left of it, however the processes end.
  static std::unique_ptr<HostRecords> open(MPI_Comm world);
  ~HostRecords();
  HostRecords(const HostRecords&) = delete;
  HostRecords& operator=(const HostRecords&) = delete;

  /// Whether that rank of `world` is on this host.
  bool reaches(int physical) const { return place_of(physical) >= 0; }
  /// False: MPI has to carry this one (RecordRings::put), and detour() is to be called.
  bool put(int physical, std::span<const std::byte> message) { return rings_.put(place_of(physical), message); }
  void detour(int physical) { rings_.detour(place_of(physical)); }
  /// One that MPI has carried was taken; next() had nothing more when it had come.
  void take_detour(int physical) { rings_.take_detour(place_of(physical)); }
  struct Arrived {
    int physical;
    std::span<std::byte> bytes;  ///< as in RecordRings::Arrived
  };
  std::optional<Arrived> next();

 private:
  HostRecords(std::byte* memory, std::vector<int> ranks, int self, int world_size);

  int place_of(int physical) const { return local_[static_cast<std::size_t>(physical)]; }

  std::byte* memory_;
  std::vector<int> ranks_;  ///< of `world`, by place on this host
  std::vector<int> local_;  ///< places on this host, by rank of `world`; -1: elsewhere
  RecordRings rings_;
};

}  // namespace holdfast::replicate
