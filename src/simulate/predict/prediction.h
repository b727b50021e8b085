#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/config/settings.h"
#include "core/status/status.h"
#include "fabric/compare/contender.h"
#include "fabric/formats/forwarding_tables.h"
#include "simulate/job/placement.h"
#include "simulate/job/protection.h"
#include "simulate/job/protocol.h"
#include "simulate/job/replica_placement.h"
#include "simulate/packet/parameters.h"
#include "simulate/predict/prediction_record.h"
#include "simulate/study/database.h"
#include "simulate/study/study.h"
#include "simulate/transport/simulate_transport.h"

/// How long a recorded job would take: a study whose points are a recording on a fabric with what failed, routed by an
/// engine, with its ranks placed in one way.
namespace holdfast::simulate::predict {

/// What is asked. Every combination of engines (and the tables), placements, failures, numbers of replicas, senders
/// and ways of collectives is a scenario; those in which something is random are run with seeds 1 to `seeds`, others
/// once.
struct Question {
  std::string trace;   ///< the folder of a recording
  std::string fabric;  ///< a topology, or the path of a file
  std::vector<fabric::Contender> engines;
  fabric::TableFiles tables;  ///< of the fabric as it is given; failures are not routed around
  unsigned lanes = 8;
  std::vector<std::string> failures;  ///< each a list of faults; the fabric as it is given is there besides
  std::vector<std::string> placements = {"block"};
  std::uint32_t ranks_per_host = 1;
  std::vector<job::NamedHost> hosts;  ///< empty: all
  std::vector<int> replicas = {1};    ///< of each rank; 1: no protection
  replicate::Protocol replica_protocol{};
  std::string place_replicas = "apart";
  std::vector<std::string> senders = {"plain"};    ///< "plain": reliable connections; "transport": Holdfast's
  std::vector<std::string> collectives = {"mpi"};  ///< "mpi": as messages; "in-network": by switches
  std::string inject;                              ///< faults that strike in the hosts of jobs with replicas
  double compute_scale = 1;
  std::uint64_t seeds = 3;
  Time limit_ps = never;
  config::Settings<job::Protocol> protocol{job::protocol_table()};
  config::Settings<job::ReplicationCosts> replication_costs{job::replication_costs_table()};
  config::Settings<Parameters> parameters{parameters_table()};
  config::Settings<transport::Options> engine_options{transport::options_table()};
  config::Settings<DatagramOptions> datagrams{datagram_table()};
};

/// Reads the recording, the fabric and the tables, and makes the study, kind "prediction". What its runs come to
/// depends on the contents of those files, of which the keys of its points have digests. Errors: bad_input (a fault
/// that is none of a fabric from the start; more ranks than places, a host that the fabric lacks, more runs than
/// study::most_points, and what readers find), not_found, io.
Result<std::unique_ptr<study::Study>> make_prediction(const Question& question);

/// Draws the runs of `study`, of kind "prediction", together: one record for each recording on a fabric, in the order
/// of the study; make_prediction()'s has one. Nothing depends on the order in which runs ended. Error: io, bad_input
/// from the database.
Result<std::vector<PredictionRecord>> draw_together(const study::Study& study, const study::Database& database);

/// Reads a study file of kind "prediction" (docs/spec/study.md): recordings on fabrics, each such pair of a group a
/// Question. Its text has besides the file what is told of each pair. Errors: those of make_prediction(); bad_input for
/// what is wrong in the file, with its line.
Result<std::unique_ptr<study::Study>> read_prediction_study(std::string_view text, std::string_view name);

/// Draws the fabric of the question with the links' load and what failed, for the outlooks that the record shows. The
/// fabric must be the one that was predicted on; links that it lacks are left out. Errors: those of reading it.
Status draw_fabrics(const Question& question, PredictionRecord& record);

}  // namespace holdfast::simulate::predict
