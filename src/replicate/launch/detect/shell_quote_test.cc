#include "replicate/launch/detect/shell_quote.h"

#include <gtest/gtest.h>

#include "replicate/launch/detect/capture.h"

namespace holdfast::launch {
namespace {

TEST(ShellQuote, LeavesPlainWordsAlone) {
  EXPECT_EQ(shell_quote("--a=b/c.so:2"), "--a=b/c.so:2");
}

TEST(ShellQuote, IsReadBackByTheShell) {
  for (const std::string word : {"", "a b", "it's", "$HOME `x` \"q\" \\", "a;b|c&d", "*", "~", "line\nline", "#x"}) {
    auto said = capture({"/bin/sh", "-c", "printf %s " + shell_quote(word)});
    ASSERT_TRUE(said.ok());
    EXPECT_EQ(said.value().output, word);
  }
}

}  // namespace
}  // namespace holdfast::launch
