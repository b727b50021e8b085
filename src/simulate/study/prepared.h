#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "core/status/status.h"
#include "fabric/tables/forwarding.h"
#include "fabric/topology/fabric.h"
#include "simulate/study/study.h"
#include "simulate/study/throughput.h"

/// What comes before the simulation of a run, kept for other runs of the study that want the same.
namespace holdfast::simulate::study {

/// A damaged fabric with the tables of one engine, as far as they came.
struct Prepared {
  std::shared_ptr<const fabric::Fabric> network;
  fabric::Forwarding tables;
  std::string outcome;  ///< why there is nothing to simulate; empty: the tables are whole
  Json result;          ///< what a run's result says of failures and tables
};

/// Opens, damages, routes and checks, and keeps of that what was wanted last, so that runs that differ in their traffic
/// alone are routed once, and those that differ in their engine are damaged once. Nothing of a result depends on what
/// is kept. One thread.
class Preparations {
 public:
  /// Keeps up to about so many bytes, but always the fabric of the last point.
  explicit Preparations(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}

  /// Errors: a fabric that cannot be had or is no network, OpenSM not installed. They are not kept, nor is it kept that
  /// OpenSM took too long or crashed, which may come out otherwise the next time.
  Result<std::shared_ptr<const Prepared>> of(const ThroughputPoint& point);

  std::uint64_t bytes() const { return bytes_; }      ///< held, estimated
  std::uint64_t damaged() const { return damaged_; }  ///< fabrics so far
  std::uint64_t routed() const { return routed_; }    ///< runs of an engine so far

 private:
  struct Damaged {
    std::string key;
    std::shared_ptr<const fabric::Fabric> network;
    Json result;
    std::uint64_t bytes = 0;  ///< with what is routed on it
    std::map<std::string, std::shared_ptr<const Prepared>> by_engine{};
  };

  Result<Damaged*> damaged_of(const ThroughputPoint& point);
  Status open(const ThroughputPoint& point);
  Result<std::shared_ptr<const Prepared>> route(const ThroughputPoint& point, const Damaged& damaged, bool& lasting);
  void charge(Damaged& damaged, std::uint64_t bytes);

  std::uint64_t most_bytes_;
  std::uint64_t bytes_ = 0, damaged_ = 0, routed_ = 0;
  std::optional<std::string> opened_name_;  // the last fabric, whole: its scenarios follow one another
  fabric::Fabric opened_;
  std::list<Damaged> kept_;  // the one used last first
  std::unordered_map<std::string, std::list<Damaged>::iterator> places_;
};

}  // namespace holdfast::simulate::study
