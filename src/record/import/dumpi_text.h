#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/status/status.h"

/// The text that dumpi2ascii makes of a trace of DUMPI, the MPI tracer of the Structural Simulation Toolkit.
namespace holdfast::record {

/// "int count=1", "MPI_Comm comm=2 (MPI_COMM_WORLD)", "int dims[2]=[4, 4]". Views live as long as the text.
struct DumpiField {
  std::string_view name, value;
};

struct DumpiStatus {
  std::int64_t bytes = 0, source = 0, tag = 0;
  bool cancelled = false;
};

/// One call: the lines from "MPI_Send entering at walltime ..." to "MPI_Send returning at walltime ...".
struct DumpiCall {
  std::string_view function;
  std::uint32_t thread = 0;
  std::int64_t entered_ns = 0, left_ns = 0;  ///< on the wall
  std::vector<DumpiField> fields;

  const DumpiField* find(std::string_view name) const;
  /// The field's number; none where there is no such field, or no number in it.
  std::optional<std::int64_t> number(std::string_view name) const;
  /// All numbers of a list, however deep; none of "<IGNORED>".
  std::vector<std::int64_t> numbers(std::string_view name) const;
  /// None where the program ignored them.
  std::vector<DumpiStatus> statuses(std::string_view name) const;
};

/// Goes through the calls of one rank's text, which must outlive it. Bytes may be anything.
class DumpiReader {
 public:
  explicit DumpiReader(std::string_view text) : text_(text) {}

  /// The next call; false at the end. Error (bad_input): a call that ends as another one or never, a moment that is no
  /// number; with the line.
  Result<bool> next(DumpiCall& call);

  // Known at the end.
  std::uint64_t calls() const { return calls_; }
  const std::string& host() const { return host_; }
  const std::map<std::int64_t, std::int64_t>& datatype_bytes() const { return datatype_bytes_; }  ///< where it says so

 private:
  bool next_line(std::string_view& line);
  void take_between(std::string_view line);
  Status wrong(std::string what) const;

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint64_t line_ = 0;
  std::uint64_t calls_ = 0;
  std::string host_;
  std::map<std::int64_t, std::int64_t> datatype_bytes_;
};

}  // namespace holdfast::record
