#include "fabric/formats/cursor.h"

#include <gtest/gtest.h>

#include <string>

#include "fabric/formats/discovery.h"
#include "fabric/topology/generate.h"

namespace holdfast::fabric {
namespace {

TEST(Lines, AFabricWithCarriageReturnsAloneIsTheSame) {
  const Fabric fabric = generate("tree(2,2)").value();
  const std::string text = write_discovery(fabric);
  std::string other = text;
  for (char& letter : other) letter = letter == '\n' ? '\r' : letter;
  const auto read = read_discovery(other, "old.net");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(write_discovery(read.value().fabric), text);
  EXPECT_TRUE(read.value().notes.empty());
}

}  // namespace
}  // namespace holdfast::fabric
