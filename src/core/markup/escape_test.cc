#include "core/markup/escape.h"

#include <gtest/gtest.h>

namespace holdfast::markup {
namespace {

TEST(Escape, SafeInContentAndQuotes) {
  EXPECT_EQ(escaped("a<b>&\"c'\n\x01µ"), "a&lt;b&gt;&amp;&quot;c&#39;  µ");
  EXPECT_EQ(escaped(""), "");
}

}  // namespace
}  // namespace holdfast::markup
