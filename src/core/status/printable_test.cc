#include "core/status/printable.h"

#include <gtest/gtest.h>

namespace holdfast {
namespace {

TEST(Printable, LeavesOrdinaryTextAlone) {
  EXPECT_EQ(printable("reading a/b:  'x'  "), "reading a/b:  'x'  ");
  EXPECT_EQ(printable(""), "");
  EXPECT_EQ(printable(std::string(160, 'n')), std::string(160, 'n'));
  EXPECT_EQ(printable("gr\xC3\xBC\xC3\x9F"), "gr\xC3\xBC\xC3\x9F");
}

TEST(Printable, IsOneLineWithoutControlCharacters) {
  EXPECT_EQ(printable("a\nb\tc\x1B[2Jd\x7F"), "a b c?[2Jd?");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a?b");
}

TEST(Printable, ElidesTheMiddleOfALongWord) {
  EXPECT_EQ(printable("a " + std::string(5'000, 'n') + " b"),
            "a " + std::string(70, 'n') + "..." + std::string(70, 'n') + " b");
}

TEST(Printable, DoesNotTearLettersApart) {
  std::string word = "x";
  for (int i = 0; i < 100; ++i) word += "\xE2\x82\xAC";  // the euro sign
  const std::string line = printable(word);
  EXPECT_EQ(line.size() % 3, 1);  // x, whole signs and "..."
  EXPECT_EQ(line.substr(line.find("...") + 3, 3), "\xE2\x82\xAC");
  EXPECT_EQ(printable(std::string(1'000, '\x80')).size() < 200, true);
}

}  // namespace
}  // namespace holdfast
