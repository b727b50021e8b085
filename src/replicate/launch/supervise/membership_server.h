#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "core/secret/key.h"
#include "core/status/status.h"
#include "replicate/launch/supervise/membership.h"

namespace holdfast::launch {

/// The membership of a job at work: processes connect to it by TCP, and the kernel ends the connection of one that
/// dies, however it dies; keep-alive probes find hosts that went. Where it listens stands in the file `membership` of
/// the run directory, "HOST PORT", which processes read. Both sides show that they have the job's secret, which is
/// never sent (engine/membership_message.h). Strangers are few at a time, and go after a while; when no file can be
/// opened, the one that has been there longest goes, and nobody comes in for a moment. Runs in a thread of its own
/// until it is stopped.
class MembershipServer {
 public:
  struct Place {
    std::string run_directory;
    bool one_host = true;                        ///< all processes run here: nobody else is listened to
    secret::Key secret{};                        ///< the job's
    std::chrono::milliseconds patience{10'000};  ///< with whoever has connected and not joined
    /// Members of the membership whose processes are seen on this host; none where that does not tell who is there.
    /// Called from the server's thread as long as somebody waits in MPI_Init.
    std::function<std::optional<std::set<int>>()> living = [] { return std::nullopt; };
    double limit_s = 120;  ///< how long those are waited for then of whom nothing is known
  };
  /// Connections that have not joined yet, beyond one for each process of the job.
  static constexpr std::size_t spare_strangers = 64;
  /// `tell`: called from the server's thread for each death that the job survives. Error: unavailable.
  static Result<std::unique_ptr<MembershipServer>> start(const Place& place, JobMembership membership,
                                                         std::function<void(const Death&)> tell);
  ~MembershipServer();
  MembershipServer(const MembershipServer&) = delete;
  MembershipServer& operator=(const MembershipServer&) = delete;

  /// Readable when the membership wants the job to end.
  int descriptor() const { return end_; }
  /// Readable when the job is over, so that nothing is left for the launcher to wait for.
  int over_descriptor() const { return over_; }
  /// Takes what is still on the wire, ends the thread and lets the membership conclude (JobMembership::conclude). It
  /// may be read from here on.
  const JobMembership& stop(bool launcher_lost = true);
  /// The replica whose output is the job's now; -1 when none is left. Any thread.
  int leader() const { return leader_; }

 private:
  class Desk;
  MembershipServer(Place place, JobMembership membership, std::function<void(const Death&)> tell);
  void serve();

  Place place_;
  JobMembership membership_;
  std::function<void(const Death&)> tell_;
  std::unique_ptr<Desk> desk_;
  std::atomic<int> leader_{0};
  int stop_ = -1;  ///< eventfd
  int end_ = -1;   ///< eventfd
  int over_ = -1;  ///< eventfd
  std::thread thread_;
};

}  // namespace holdfast::launch
