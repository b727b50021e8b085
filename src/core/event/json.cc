#include "core/event/json.h"

#include <nlohmann/json.hpp>

namespace holdfast::event {
namespace {

using Json = nlohmann::ordered_json;

bool nests_too_deep(std::string_view text) {
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') ++i;
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if ((c == '{' || c == '[') && ++depth > deepest_json) return true;
    if ((c == '}' || c == ']') && depth > 0) --depth;
  }
  return false;
}

}  // namespace

Json parse_json(std::string_view text) {
  return nests_too_deep(text) ? Json(Json::value_t::discarded) : Json::parse(text, nullptr, false);
}

std::string json_line(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace holdfast::event
