#include "core/config/table.h"

#include <gtest/gtest.h>

#include "core/config/sample_options_for_tests.h"

namespace holdfast::config {
namespace {

struct Small {
  int count{};
  bool flag{};
  sample::Protocol protocol{};
};

std::string defect(std::initializer_list<OptionOf<Small>> rows) {
  const std::vector<Option> erased(rows.begin(), rows.end());
  const Status status = check_rows("small", erased);
  EXPECT_EQ(status.code(), status.ok() ? Code::ok : Code::internal);
  return status.wrong();
}

TEST(Table, DefaultsComeFromTheRows) {
  sample::Options options;
  sample::table().apply_defaults(options);
  EXPECT_EQ(options.protocol, sample::Protocol::msg_plus_hash);
  EXPECT_EQ(options.ack_delay_ns, 10'000'000);
  EXPECT_EQ(options.offset, -3);
  EXPECT_EQ(options.window, 64);
  EXPECT_EQ(options.degree, 3);
  EXPECT_EQ(options.share, 0.25);
  EXPECT_TRUE(options.verify);
  EXPECT_EQ(options.map, "");
}

TEST(Table, FindsARowInEitherSpelling) {
  EXPECT_EQ(sample::table().find("replicate.ack-delay"), sample::table().find("replicate.ack_delay"));
  EXPECT_EQ(sample::table().find("replicate.ack"), nullptr);
  EXPECT_EQ(sample::table().hint("replicate.protcol"), "did you mean 'replicate.protocol'?");
  EXPECT_EQ(sample::table().hint("zzz"), "'holdfast config list' shows all options");
}

TEST(Table, SeesEveryDefectOfARow) {
  EXPECT_EQ(defect({option<&Small::count>({.name = "small.count", .initial = "3", .doc = "d"})}), "");
  EXPECT_EQ(defect({option<&Small::count>({.name = "count", .initial = "3", .doc = "d"})}),
            "the name is not component.lower_case_words");
  EXPECT_EQ(defect({option<&Small::count>({.name = "small.Count", .initial = "3", .doc = "d"})}),
            "the name is not component.lower_case_words");
  EXPECT_EQ(defect({option<&Small::count>({.name = "small.count", .initial = "3", .doc = ""})}), "it has no doc");
  EXPECT_EQ(defect({option<&Small::count>({.name = "small.a_b", .initial = "3", .doc = "d"}),
                    option<&Small::flag>({.name = "small.a.b", .initial = "true", .doc = "d"})}),
            "another row has the same environment name");
  EXPECT_EQ(defect({option<&Small::protocol>({.name = "small.protocol", .initial = "a", .doc = "d"})}),
            "names belong to an enumeration, and only to one");
  EXPECT_EQ(defect({option<&Small::flag>({.name = "small.flag", .initial = "true", .least = "false", .doc = "d"})}),
            "only numbers and durations have bounds");
  EXPECT_EQ(defect({option<&Small::count>({.name = "small.count", .initial = "3", .least = "x", .doc = "d"})}),
            "bound 'x' is no value between the bounds");
  EXPECT_EQ(
      defect({option<&Small::count>({.name = "small.count", .initial = "3", .least = "5", .most = "4", .doc = "d"})}),
      "bound '5' is no value between the bounds");
  EXPECT_EQ(defect({option<&Small::count>({.name = "small.count", .initial = "3", .least = "5", .doc = "d"})}),
            "reading the default: '3' is out of bounds for small.count: give a value of at least 5");
}

TEST(TableDeathTest, RefusesToExistWithADefect) {
  EXPECT_DEATH(Table<Small>("small", {option<&Small::count>({.name = "small.count", .initial = "x", .doc = "d"})}),
               "holdfast: checking option row small.count: reading the default: 'x' is no value");
}

}  // namespace
}  // namespace holdfast::config
