#include "core/config/toml_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace holdfast::config {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string value_of(std::string_view text) {
  const auto parsed = parse_toml(text, "x.toml line ");
  return parsed.ok() ? parsed.value()["v"].value_or(std::string("no string")) : parsed.status().message();
}

TEST(TomlText, TakesAnyLetterInStringsAndComments) {
  EXPECT_EQ(value_of("# é\nv = \"é\"  # é\n"), "é");
  EXPECT_EQ(value_of("\xEF\xBB\xBFv = 'C:\\é'\n"), "C:\\é");
  EXPECT_EQ(value_of("v = \"\"\"a\\\n   bé\"\"\"\n"), "abé");
  EXPECT_EQ(value_of("v = \"\"\"\\\"é\"\"\"\n"), "\"é");
  EXPECT_EQ(value_of("v = \"\\\\é\"\n"), "\\é");
  EXPECT_EQ(value_of("v = '''\\\né'''\n"), "\\\né");
}

TEST(TomlText, RefusesLettersOutsideQuotes) {
  EXPECT_THAT(value_of("v = \"m\"\né = 3\n"),
              StartsWith("reading x.toml line 2: a letter that is no ASCII stands outs"));
  EXPECT_THAT(value_of("\xCC\xAA"), StartsWith("reading x.toml line 1: "));
  EXPECT_EQ(value_of("\"é\" = 1\n\"è\" = 2\nv = \"both\"\n"), "both");
}

/// toml++ asks whether the letter is a space, and reaches what it says cannot be reached.
TEST(TomlText, RefusesLettersBehindABackslashThatEndsALine) {
  for (const char* text : {"v = \"\"\"\\\n\xC2\xA7\"\"\"\n", "v = \"\"\"bc\\ \t\r\n\n  \xEF\xB9\xBF\"\"\"\n",
                           "v = \"\"\"bc\\\xEF\xB9\xBF\"\"\"\n", "v = \"\\é\"\n"})
    EXPECT_THAT(value_of(text), StartsWith("reading x.toml line 1: a letter that is no ASCII follows a backslash"));
}

/// There a quote opens no string for toml++, which would come to the letters behind it.
TEST(TomlText, SyntaxIsWrongBeforeLettersAre) {
  for (const char* text : {"v =0\"xgft\xC8\xA3\n", "v = 0'z:\xCC\xAB", "v = \"\"\"\"é", "v = \"a\"\"é\"\n",
                           "v = 2\x01====='''=\xD7\x84", "v = ++m~X2'''mc'x\xEF\xB3\xBF"})
    EXPECT_THAT(value_of(text), StartsWith("reading x.toml line 1: ")) << text;
  EXPECT_EQ(value_of("v = \"\"\"a\"\"\"\"\"  # é\n"), "a\"\"");
  EXPECT_EQ(value_of("a = [\"é\",'é']\nv=\"é\"\n"), "é");
  EXPECT_EQ(value_of("a = {b=\"é\"}\nv='''é'''\n"), "é");
}

std::string dotted(std::size_t dots) {
  std::string key = "a";
  for (std::size_t i = 0; i < dots; ++i) key += ".a";
  return key;
}

/// Each dot is a table whose destructor calls that of the next: a megabyte of them took the stack.
TEST(TomlText, RefusesKeysOfMoreTablesThanTheStackMayHold) {
  for (const std::size_t dots : {std::size_t{65}, std::size_t{1'000'000}})
    for (const std::string& text : {"\n" + dotted(dots) + " = 1\n", "# .\n[" + dotted(dots) + "]\nb = 1\n",
                                    "# \"\nv = {" + dotted(dots) + " = 1}\n", "\n[[" + dotted(dots) + "]]\n"})
      EXPECT_EQ(value_of(text), "reading x.toml line 2: a key has more than 64 dots: give it fewer");
  EXPECT_EQ(value_of(dotted(64) + " = 1\nv = 'good'\n"), "good");
}

TEST(TomlText, DotsOfValuesAreNoKeys) {
  std::string numbers = "1.5";
  for (int i = 0; i < 1000; ++i) numbers += i % 2 == 0 ? ", 1.5" : ", # .\n 1.5";
  EXPECT_EQ(value_of("# " + std::string(100, '.') + "\na = [" + numbers + "]\nv = 'good'\n"), "good");
  const std::string text = "\\\"'" + std::string(100, '.');
  EXPECT_EQ(value_of("v = \"" + text + "\"\n"), "\"'" + std::string(100, '.'));
  EXPECT_EQ(value_of("v = '" + std::string(100, '.') + "'\n"), std::string(100, '.'));
}

TEST(TomlText, SaysWhereTheSyntaxIsWrong) {
  EXPECT_THAT(value_of("v = 1\n[v\n"), StartsWith("reading x.toml line 2: "));
  EXPECT_EQ(value_of("v = \"a\x01\x02\"\n").find('\x01'), std::string::npos);
  EXPECT_THAT(value_of("v = \"a\né"), HasSubstr("line "));
}

}  // namespace
}  // namespace holdfast::config
