#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "record/import/dumpi_communicators.h"
#include "record/import/dumpi_datatypes.h"
#include "record/import/dumpi_text.h"
#include "record/import/imported_rank.h"

namespace holdfast::record {

/// Makes one rank's calls in a trace of DUMPI the calls of a recording. Not thread-safe.
class DumpiRank {
 public:
  /// `communicators` is resolved and lives on, as `to` does.
  DumpiRank(std::uint64_t rank, const DumpiCommunicators& communicators, std::map<std::int64_t, std::int64_t> sizes,
            ImportedRank& to);

  void take(const DumpiCall& call);
  Ending ending() const { return ending_; }

  std::uint64_t unknown_sizes() const { return unknown_sizes_; }  ///< elements of datatypes were taken for bytes
  std::uint64_t unknown_communicators() const { return unknown_communicators_; }  ///< calls that were left out

 private:
  struct OneCommunicator {
    std::int64_t number = 0;  ///< in the recording
    DumpiCommunicators::Members members;
  };
  struct Request {
    std::int64_t number = 0;
    std::int64_t communicator = 0;  ///< DUMPI's
    std::int64_t tag = 0;           ///< that was asked for
    bool receives = false, any_source = false, any_tag = false, persistent = false, active = true;
  };

  bool point_to_point(const DumpiCall& call);
  bool completion(const DumpiCall& call);
  bool collective(const DumpiCall& call);
  bool communicator(const DumpiCall& call);

  void fact(Fact fact, std::int64_t value) { facts_.push_back({fact, value}); }
  bool on_communicator(const DumpiCall& call, std::string_view field);
  std::int64_t in_world(std::int64_t rank, bool of_receive) const;
  std::int64_t bytes(const DumpiCall& call, std::string_view count, std::string_view datatype);
  void list(Fact kind, const DumpiCall& call, std::string_view counts, std::string_view datatype);
  void send_side(const DumpiCall& call, std::string_view tag, std::string_view count, std::string_view datatype);
  void found(bool any_source, bool any_tag, const DumpiStatus& status);
  void made_request(const DumpiCall& call, bool persistent, bool receives);
  void completes(std::int64_t request, const DumpiStatus* status);
  void in_vain(const std::vector<std::int64_t>& requests);
  Request* find(std::int64_t request);

  std::uint64_t rank_;
  const DumpiCommunicators& all_;
  DumpiDatatypes datatypes_;
  ImportedRank& to_;
  std::map<std::int64_t, OneCommunicator> communicators_;  ///< by DUMPI's number
  std::map<std::int64_t, Request> requests_;               ///< by DUMPI's number
  std::size_t made_communicators_ = 0;
  const OneCommunicator* current_ = nullptr;
  std::vector<FactValue> facts_;
  Ending ending_ = Ending::left;
  std::uint64_t unknown_sizes_ = 0;
  std::uint64_t unknown_communicators_ = 0;
};

}  // namespace holdfast::record
