#include "core/input/lines.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::input {
namespace {

using Texts = std::vector<std::string_view>;

Texts lines_of(std::string_view text) {
  Texts texts;
  for (Lines lines(text); lines.next();) texts.push_back(lines.line());
  return texts;
}

TEST(Lines, EndInAnyWayAndInAnyMixture) {
  EXPECT_EQ(lines_of("a\nb\r\nc\rd"), (Texts{"a", "b", "c", "d"}));
  EXPECT_EQ(lines_of("a\rb\rc\r"), (Texts{"a", "b", "c"}));
  EXPECT_EQ(lines_of("a\r\n\r\nb\r\r\nc\n\nd\r\re"), (Texts{"a", "", "b", "c", "", "d", "", "e"}));
  EXPECT_EQ(lines_of("\xEF\xBB\xBF"
                     "a\r"),
            Texts{"a"});
  EXPECT_EQ(lines_of("\r"), Texts{""});
  EXPECT_EQ(lines_of(""), Texts());
}

TEST(Lines, ATextWithoutNewlinesIsReadInOnePass) {
  const std::string text(std::size_t{1} << 20, '\r');  // a search to the end for each would be 2^39 looks
  EXPECT_EQ(lines_of(text).size(), text.size());
}

}  // namespace
}  // namespace holdfast::input
