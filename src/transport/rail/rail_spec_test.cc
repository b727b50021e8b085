#include "transport/rail/rail_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::transport {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(RailSpec, ReadsKindsAndInterfaces) {
  const auto specs = parse_rails("tcp@eth0,udp,shm");
  ASSERT_TRUE(specs.ok());
  EXPECT_THAT(specs.value(), ElementsAre(RailSpec{"tcp", "eth0"}, RailSpec{"udp", ""}, RailSpec{"shm", ""}));
  EXPECT_EQ(specs.value()[0].text(), "tcp@eth0");
  EXPECT_TRUE(parse_rails("").value().empty());
}

TEST(RailSpec, SaysWhatIsNoKind) {
  for (const char* text : {"tpc@eth0", "tcp,,udp", "@eth0", "udp,infiniband"}) {
    const auto specs = parse_rails(text);
    ASSERT_FALSE(specs.ok()) << text;
    EXPECT_EQ(specs.status().code(), Code::bad_input);
    EXPECT_THAT(specs.status().message(), HasSubstr("is no kind of rail")) << text;
  }
  EXPECT_THAT(parse_rails("tpc@eth0").status().message(), HasSubstr("did you mean 'tcp'"));
}

}  // namespace
}  // namespace holdfast::transport
