#include "plan/overheads.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/event/json.h"

namespace holdfast::plan {
namespace {

using Json = nlohmann::ordered_json;

const Json* member(const Json* object, const char* name) {
  if (object == nullptr || !object->is_object()) return nullptr;
  const auto found = object->find(name);
  return found == object->end() ? nullptr : &*found;
}

std::optional<double> median_of(const Json& result, const char* name) {
  const Json* median = member(member(member(&result, "ratios"), name), "median");
  if (median == nullptr || !median->is_number()) return std::nullopt;
  const double value = median->get<double>();
  if (!(value > 0.1 && value < 1000)) return std::nullopt;
  return value;
}

}  // namespace

double Overheads::at(double degree) const {
  if (degree <= 2) return 1 + (dual - 1) * (degree - 1);
  return dual + (triple - dual) * (degree - 2);
}

Overheads paper_overheads(std::string_view program) {
  const std::string source =
      "RedMPI section 6, its program " + std::string(program) + "; this machine gave no replication.overheads";
  if (program == "lu") return {1.13, 1.21, false, source};
  if (program == "ft") return {1.39, 1.40, false, source};
  return {1.45, 1.62, false, source};
}

Result<Overheads> read_overheads(std::string_view text, std::string_view name) {
  const Json result = event::parse_json(text);
  const auto dual = median_of(result, "2 msg-plus-hash");
  const auto triple = median_of(result, "3 msg-plus-hash");
  if (!dual || !triple) {
    return Status(Code::bad_input, "reading the overheads " + std::string(name),
                  "there are no ratios of \"2 msg-plus-hash\" and \"3 msg-plus-hash\"",
                  "write it with bench/replication_overhead.py --json");
  }
  return Overheads{*dual, *triple, true, "measured: " + std::string(name)};
}

}  // namespace holdfast::plan
