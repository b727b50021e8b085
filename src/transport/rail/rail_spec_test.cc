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
  EXPECT_THAT(specs.value(),
              ElementsAre(RailSpec{"tcp", "eth0", {}}, RailSpec{"udp", "", {}}, RailSpec{"shm", "", {}}));
  EXPECT_EQ(specs.value()[0].text(), "tcp@eth0");
  EXPECT_TRUE(parse_rails("").value().empty());
}

TEST(RailSpec, ReadsTheChecksumOfARail) {
  const auto specs = parse_rails("tcp@eth0/none,udp/xxh3-64,shm");
  ASSERT_TRUE(specs.ok()) << specs.status().message();
  EXPECT_EQ(specs.value()[0], (RailSpec{"tcp", "eth0", integrity::Checksum::none}));
  EXPECT_EQ(specs.value()[1], (RailSpec{"udp", "", integrity::Checksum::xxh3_64}));
  EXPECT_EQ(specs.value()[2].checksum, std::nullopt);
  for (const RailSpec& spec : specs.value()) EXPECT_EQ(parse_rails(spec.text()).value()[0], spec);
  for (const char* text : {"tcp@eth0/", "udp/crc", "tcp/none/none"}) {
    const auto wrong = parse_rails(text);
    ASSERT_FALSE(wrong.ok()) << text;
    EXPECT_EQ(wrong.status().code(), Code::bad_input);
    EXPECT_THAT(wrong.status().message(), HasSubstr("is no checksum")) << text;
  }
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
