#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "record/import/dumpi_text.h"

namespace holdfast::record {

/// How many bytes of data an element of each datatype of a rank has. Not thread-safe.
class DumpiDatatypes {
 public:
  /// `stated`: what the text says at its end, by the datatype's number.
  explicit DumpiDatatypes(std::map<std::int64_t, std::int64_t> stated);

  /// Learns a datatype from the call that made it; other calls are ignored.
  void take(const DumpiCall& call);
  /// None: it cannot be told.
  std::optional<std::int64_t> bytes_of(std::int64_t datatype) const;

 private:
  std::optional<std::int64_t> made_by(const DumpiCall& call) const;

  std::map<std::int64_t, std::int64_t> bytes_;
};

}  // namespace holdfast::record
