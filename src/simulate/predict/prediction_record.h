#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// What a prediction found, for reports. Plain values without behaviour.
namespace holdfast::simulate::predict {

/// How the observed ranks spent a run: for each, a text with a digit for each bin, the share of it in ninths.
struct RunTimeline {
  double bin_s = 0;
  std::vector<std::uint32_t> ranks;
  std::vector<std::string> computing, message, collective;
};

/// How the links of the fabric, by LinkId, fared in a run.
struct RunLoad {
  std::map<std::uint32_t, double> busy;  ///< share of the time, of a link's two directions the greater; 0 is left out
  std::vector<std::uint32_t> down;       ///< failed before or during the run
};

/// A mean over seeds, and its 95 % interval (Student's t); none of a single run.
struct Estimate {
  double mean = 0;
  std::optional<double> low{}, high{};
};

struct FullLink {
  std::string name;  ///< "s-0-1/7 to s-1-0/2"
  double bytes = 0;  ///< that leave by it, mean over the runs in which it was among the fullest
  double share = 0;  ///< of the run's time that its data rate needs for them, likewise
  std::size_t runs = 0;
};

/// What parts that failed in the run did to its packets: means over the runs that were measured.
struct Interruption {
  double lost = 0, sent_again = 0;
  double longest_stall_s = 0;  ///< of a connection, from a loss to the next acknowledgement; not of the transport
};

/// What replicas did in the runs that were measured: means.
struct ReplicationWork {
  double verified = 0;  ///< messages
  double records = 0, copies = 0, copy_bytes = 0;
  double mismatches = 0, corrections = 0;
};

/// One engine, placement, number of replicas, sender and way of collectives in one failure scenario, over all seeds.
struct Outlook {
  std::string engine, placement, failures;
  std::uint64_t replicas = 1;                   ///< of each rank
  std::string sender = "plain";                 ///< or "transport"
  std::string collectives = "mpi";              ///< or "in-network"
  bool healthy = false;                         ///< the fabric as it was given
  std::size_t asked = 0;                        ///< runs that have ended in any way
  std::size_t measured = 0;                     ///< runs in which the job ended
  std::map<std::string, std::size_t> outcomes;  ///< of those asked
  std::string reason;                           ///< of one that was not measured
  double failed = 0;                            ///< components that failed, on average
  Estimate time_s;
  std::optional<Estimate> ratio;           ///< to the same engine and placement on the healthy fabric, seed by seed
  std::optional<Estimate> to_unprotected;  ///< likewise to the job without replicas; none of that itself
  std::optional<Estimate> to_plain;        ///< of the transport: likewise to plain connections
  std::optional<Estimate> to_mpi;          ///< of collectives in the network: likewise to those of messages
  std::optional<ReplicationWork> replication;
  std::size_t corrected = 0;          ///< runs in which they corrected something
  double computing = 0, waiting = 0;  ///< shares of the ranks' time, on average
  std::vector<FullLink> links;
  std::optional<Interruption> interruption;
  std::optional<RunTimeline> timeline;  ///< of its first run
  std::optional<RunLoad> load;          ///< likewise
  std::string drawing;                  ///< of the fabric with it (SVG), where one was asked for
};

struct PredictionRecord {
  std::string trace, fabric, mpi;
  std::string group;  ///< of a study of several; empty otherwise
  std::uint32_t ranks = 0;
  double recorded_s = 0;
  std::size_t points = 0, finished = 0;
  std::vector<Outlook> outlooks;     ///< in the order of engines, placements and failures
  std::vector<std::size_t> shown;    ///< of them, those that the page has pictures of: as given, and the slowest
  std::vector<std::string> assumed;  ///< "mpi.eager_limit 12288": not measured, not given
  std::vector<std::string> notes;    ///< what the replay leaves out or takes otherwise
  std::vector<std::string> advice;   ///< sentences
};

}  // namespace holdfast::simulate::predict
