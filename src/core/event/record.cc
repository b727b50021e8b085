#include "core/event/record.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/event/json.h"
#include "core/output/output_file.h"

namespace holdfast::event {

using Json = nlohmann::ordered_json;

Json make_record(std::string_view kind, int version) {
  return Json{{"record", kind}, {"version", version}};
}

Json counters_json(std::span<const CounterRow> rows, std::span<const std::uint64_t> values) {
  Json object = Json::object();
  for (std::size_t i = 0; i < rows.size(); ++i) object[std::string(rows[i].name)] = values[i];
  return object;
}

Status read_counters(const Json& object, std::span<const CounterRow> rows, std::span<std::uint64_t> values) {
  const std::string doing = "reading the counters of a record";
  if (!object.is_object()) return {Code::bad_input, doing, "they are no JSON object", "give a record of holdfast"};
  std::vector<std::uint64_t> read(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto member = object.find(std::string(rows[i].name));
    if (member == object.end()) continue;
    if (!member->is_number_unsigned()) {
      return {Code::bad_input, doing, "'" + std::string(rows[i].name) + "' is no whole number of 64 bits",
              "give a record of holdfast"};
    }
    read[i] = member->get<std::uint64_t>();
  }
  std::copy(read.begin(), read.end(), values.begin());
  return {};
}

std::string record_text(const Json& record) {
  return record.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Json> read_record(std::string_view text, std::string_view kind, std::string_view name) {
  const std::string doing = "reading the record " + std::string(name);
  Json record = parse_json(text);
  if (record.is_discarded()) return Status(Code::bad_input, doing, "it is no JSON", "give a record of holdfast");
  const auto says = record.is_object() ? record.find("record") : record.end();
  if (says == record.end() || !says->is_string() || says->get_ref<const std::string&>() != kind) {
    return Status(Code::bad_input, doing, "it is no record of the kind " + std::string(kind),
                  "give a file whose member \"record\" says so");
  }
  return record;
}

Status write_record_file(const std::string& path, const Json& record) {
  return output::write_file(path, record_text(record));
}

}  // namespace holdfast::event
