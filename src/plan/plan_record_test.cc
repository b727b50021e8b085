#include "plan/plan_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace holdfast::plan {
namespace {

using testing::HasSubstr;
using testing::Not;

Plan sample() {
  Section section{"job", "A <title>", {"Do this & that."}, {}, {}, {}, {}};
  section.tables.push_back({"a table", {"name", "value"}, {{{"± one"}, {"1.0", 1}}, {{"two"}, {"never", INFINITY}}}});
  section.charts.push_back({"a chart", {"x", "y"}, {{"first", {1, 2}}, {"second", {3, 1}}}});
  Fact fact;
  fact.name = "a fact";
  fact.cell = {"5.00 y", 157680000};
  fact.unit = "s";
  fact.source = "m.toml:5; a source of many words that does not fit on one line of sixty columns";
  section.facts.push_back(fact);
  section.notes.push_back("a note");
  return {"Plan for \"m\"", "about it", {section}};
}

TEST(PlanRecord, IsJsonWithValuesAndTexts) {
  const auto json = plan_json(sample());
  EXPECT_EQ(json["record"], "holdfast.plan");
  const auto& section = json["sections"][0];
  EXPECT_EQ(section["facts"][0]["value"], 157680000);
  EXPECT_EQ(section["facts"][0]["unit"], "s");
  EXPECT_EQ(section["tables"][0]["rows"][0][1]["value"], 1);
  EXPECT_TRUE(section["tables"][0]["rows"][1][1]["value"].is_null());
  EXPECT_FALSE(section["tables"][0]["rows"][1][0].contains("value"));
}

TEST(PlanRecord, IsTextOfTheWidthAskedFor) {
  const std::string text = plan_text(sample(), 60);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 62u) << line;  // the sign of two bytes is one column
    EXPECT_FALSE(line.ends_with(' ')) << line;
  }
  EXPECT_THAT(text, HasSubstr("* Do this & that.\n"));
  EXPECT_THAT(text, HasSubstr("    name   value\n    -----  -----\n    ± one    1.0\n    two    never\n"));
  EXPECT_THAT(text, HasSubstr("note: a note"));
}

TEST(PlanRecord, IsAPageThatLoadsNothing) {
  const std::string page = plan_html(sample());
  EXPECT_THAT(page, HasSubstr("Plan for &quot;m&quot;"));
  EXPECT_THAT(page, HasSubstr("A &lt;title&gt;"));
  EXPECT_THAT(page, HasSubstr("Do this &amp; that."));
  EXPECT_THAT(page, Not(HasSubstr("http")));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("src=")));
}

}  // namespace
}  // namespace holdfast::plan
