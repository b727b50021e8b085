#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/status/status.h"

namespace holdfast::record {

/// What came of a conversion into a recording.
struct Imported {
  std::uint64_t ranks = 0, calls = 0;
  std::vector<std::string> notes;  ///< one line each: what the trace does not say, or what was left out
};

/// Makes a recording (docs/spec/recorded-trace.md) of the texts that dumpi2ascii made of a trace of DUMPI: the folder
/// `from` holds one for each rank, whose name ends in the rank, as "dumpi-2013.09.26-0003.txt". Time between calls is
/// taken for computing: the trace tells of no time without a core. One-sided calls are counted by name; on what
/// communicators between two groups do, too. `to` is a folder that is empty, or made. Errors: not_found; bad_input: no
/// such texts, a rank is missing or there twice, a text that is none of dumpi2ascii (with file and line), a folder that
/// holds something; io.
Result<Imported> import_dumpi(const std::string& from, const std::string& to);

}  // namespace holdfast::record
