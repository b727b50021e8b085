#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/status/status.h"

namespace holdfast {

/// How `holdfast` ends. The values are an interface: docs/reference/exit-codes.md, generated from exit_codes().
enum class Exit : int {
  success = 0,
  application = 1,
  bad_input = 2,
  uncorrected = 3,
  diverged = 4,
  unavailable = 5,
  refused = 6,
  internal = 7,
  lost_peer = 8,
  time_limit = 124,
  signal_base = 128,  ///< 128 + n: signal n, which the user sent, ended the job
};

struct ExitRow {
  int code;
  std::string_view meaning;  ///< a few words, as in messages and records
  std::string_view doc;      ///< a sentence or two
  std::string_view other{};  ///< a few words more where commands other than `run` end with it too
};

/// The one table of exit codes. 128 + n has one row.
std::span<const ExitRow> exit_codes();

/// The meaning of any code, "ended by signal 15 (Terminated)" included.
std::string exit_meaning(int code);

/// The exit code for an error value.
Exit exit_for(Code code);

/// The reference page, Markdown, and the lines for --help.
std::string exit_code_page();
std::string exit_code_help();

}  // namespace holdfast
