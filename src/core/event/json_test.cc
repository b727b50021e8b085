#include "core/event/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace holdfast::event {
namespace {

std::string nested(std::size_t levels, const std::string& inside = "1") {
  return std::string(levels, '[') + inside + std::string(levels, ']');
}

TEST(ParseJson, TakesWhatIsJson) {
  EXPECT_EQ(parse_json(R"({"a": [1, "}"]})")["a"][1], "}");
  for (const char* none : {"", "{", "{\"a\": 1} 2", "\"\xFF\""}) EXPECT_TRUE(parse_json(none).is_discarded()) << none;
}

TEST(ParseJson, RefusesWhatNestsDeeperThanAnythingOfOurs) {
  EXPECT_FALSE(parse_json(nested(deepest_json)).is_discarded());
  EXPECT_TRUE(parse_json(nested(deepest_json + 1)).is_discarded());
  EXPECT_TRUE(parse_json(nested(1'000'000)).is_discarded());
}

TEST(ParseJson, BracketsInTextAreNoLevels) {
  EXPECT_FALSE(parse_json("[\"" + std::string(1000, '[') + "\\\"[\", 1]").is_discarded());
  // Nor do closing ones that are too many make room for more.
  EXPECT_TRUE(parse_json(std::string(1000, ']') + nested(100)).is_discarded());
}

TEST(JsonLine, HasBytesThatAreNoUtf8Replaced) {
  EXPECT_EQ(json_line({{"path", "caf\xE9\n"}}), "{\"path\":\"caf\xEF\xBF\xBD\\n\"}");
}

}  // namespace
}  // namespace holdfast::event
