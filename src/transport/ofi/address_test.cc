#include "transport/ofi/address.h"

#include <gtest/gtest.h>
#include <netinet/in.h>

namespace holdfast::transport::ofi {
namespace {

template <class Socket>
std::vector<std::byte> bytes_of(const Socket& socket) {
  const auto* from = reinterpret_cast<const std::byte*>(&socket);
  return {from, from + sizeof socket};
}

Address sample() {
  Address address;
  address.host = 0x11223344;
  address.number = Address::new_number();
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_addr.s_addr = 0x0100007f;
  v4.sin_port = 0x1234;
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_addr.s6_addr[15] = 1;
  v6.sin6_port = 0x4321;
  address.rails = {bytes_of(v4), {}, bytes_of(v6), std::vector<std::byte>(20 - 5, std::byte{7})};
  return address;
}

TEST(Address, ComesBackAsItWas) {
  const Address written = sample();
  Address::Raw raw;
  ASSERT_TRUE(written.write(raw));
  Address read;
  ASSERT_TRUE(Address::read(raw, read));
  EXPECT_EQ(read.host, written.host);
  EXPECT_EQ(read.number, written.number);
  EXPECT_EQ(read.rails, written.rails);
  EXPECT_FALSE(read.partial);
}

TEST(Address, TooManyBytesDoNotFit) {
  Address address = sample();
  address.rails.assign(2, std::vector<std::byte>(30));
  Address::Raw raw;
  EXPECT_FALSE(address.write(raw));
}

TEST(Address, EveryDamagedByteIsReadWithoutHarm) {
  Address::Raw raw;
  ASSERT_TRUE(sample().write(raw));
  Address read;
  for (std::size_t at = 0; at < raw.size(); ++at) {
    for (const unsigned value : {0U, 1U, 17U, 200U, 255U}) {
      Address::Raw damaged = raw;
      damaged[at] = static_cast<std::byte>(value);
      if (!Address::read(damaged, read)) continue;
      Address::Raw again;
      EXPECT_TRUE(read.write(again)) << "what can be read can be written";
    }
  }
  EXPECT_FALSE(Address::read(std::span(raw).first(40), read));
}

TEST(Address, NumbersDiffer) {
  EXPECT_NE(Address::new_number(), Address::new_number());
  EXPECT_EQ(Address::this_host(), Address::this_host());
}

}  // namespace
}  // namespace holdfast::transport::ofi
