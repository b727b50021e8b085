#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "core/event/counters.h"
#include "core/status/status.h"

/// JSON records: what a run, a study or a benchmark leaves behind for others to read. Every record says what it is:
/// {"record": "holdfast.run", "version": 1, ...}. A later version only adds members, so readers ignore what they do not
/// know. Nothing here throws but bad_alloc.
namespace holdfast::event {

/// An empty record of this kind, for the caller to add members to.
nlohmann::ordered_json make_record(std::string_view kind, int version);

/// The counters as an object {"messages": 12, ...} in the order of the rows. Sizes must be equal.
nlohmann::ordered_json counters_json(std::span<const CounterRow> rows, std::span<const std::uint64_t> values);

/// Reads counters back. Names without a row are ignored, rows without a member give 0. Error (bad_input): not an
/// object, or a counter that is no whole number of 64 bits; `values` is then unchanged.
Status read_counters(const nlohmann::ordered_json& object, std::span<const CounterRow> rows,
                     std::span<std::uint64_t> values);

/// The record as text, indented, ending with a newline. Bytes that are no UTF-8 become U+FFFD.
std::string record_text(const nlohmann::ordered_json& record);

/// Reads a text that must be a record of this kind, of any version. `name` is where it came from, for messages.
/// Error (bad_input): no JSON, or not such a record.
Result<nlohmann::ordered_json> read_record(std::string_view text, std::string_view kind, std::string_view name);

/// Writes the record as output::write_file() does. Error: io.
Status write_record_file(const std::string& path, const nlohmann::ordered_json& record);

}  // namespace holdfast::event
