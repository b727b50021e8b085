#include "transport/rail/udp/udp_rail.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <map>
#include <vector>

namespace holdfast::transport {
namespace {

using Bytes = std::vector<std::byte>;

struct Ears : RailSink {
  void on_packet(std::span<const std::byte> packet) override { packets.emplace_back(packet.begin(), packet.end()); }
  void on_put_done(std::uint64_t token, bool ok) override { done[token] = ok; }
  void on_ready() override { ++ready; }
  void on_failed(std::uint32_t destination) override { failed.push_back(destination); }
  void on_doubted(std::uint32_t destination) override { doubted.push_back(destination); }

  std::vector<Bytes> packets;
  std::map<std::uint64_t, bool> done;
  std::vector<std::uint32_t> failed;
  std::vector<std::uint32_t> doubted;
  unsigned ready = 0;
};

Bytes pattern(std::size_t bytes, unsigned seed) {
  Bytes made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) made[i] = static_cast<std::byte>((i * 31 + seed * 7 + (i >> 8)) & 255);
  return made;
}

class UdpRailTest : public testing::Test {
 protected:
  void SetUp() override {
    for (auto& rail : rails) {
      auto opened = UdpRail::open("lo", 1400, "", "");
      ASSERT_TRUE(opened.ok()) << opened.status().message();
      rail = std::move(opened).value();
    }
    to = rails[0]->add_destination(rails[1]->address()).value();
  }
  Put put(Bytes& packet, std::uint64_t token) {
    const std::size_t half = packet.size() / 2;
    const std::array<iovec, 2> pieces = {iovec{packet.data(), half}, iovec{packet.data() + half, packet.size() - half}};
    return rails[0]->put(to, pieces, token);
  }
  // Until so many packets have come, or nothing more does for a while.
  void listen(std::size_t packets) {
    while (ears[1].packets.size() < packets) {
      pollfd descriptor{rails[1]->wait_fd(), POLLIN, 0};
      if (::poll(&descriptor, 1, 2000) == 0) return;
      rails[1]->poll(ears[1], 0);
    }
  }

  std::array<std::unique_ptr<UdpRail>, 2> rails;
  std::array<Ears, 2> ears;
  std::uint32_t to = 0;
};

TEST_F(UdpRailTest, PacketsThatGoTogetherArriveOneByOneAndWhole) {
  std::vector<Bytes> sent;
  for (unsigned i = 0; i < 100; ++i) {  // equal ones, with shorter and longer ones between
    sent.push_back(pattern(i % 10 == 3 ? 80 : i % 10 == 7 ? 1200 : 1400, i));
  }
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const Put answer = put(sent[i], i);
    EXPECT_EQ(answer, sent[i].size() == 80 ? Put::done : Put::pending);
  }
  EXPECT_FALSE(rails[0]->may_wait());
  rails[0]->flush();
  rails[0]->poll(ears[0], 0);
  EXPECT_TRUE(rails[0]->may_wait());
  EXPECT_EQ(ears[0].done.size(), 90U);
  for (const auto& [token, ok] : ears[0].done) EXPECT_TRUE(ok) << token;
  listen(sent.size());
  EXPECT_TRUE(ears[1].packets == sent);
}

TEST_F(UdpRailTest, ASmallPacketMayChangeAtOnceAndAnEmptyOneIsNone) {
  Bytes small = pattern(100, 1);
  const Bytes before = small;
  EXPECT_EQ(put(small, 1), Put::done);
  small.assign(small.size(), std::byte{0});
  Bytes empty;
  EXPECT_EQ(put(empty, 2), Put::failed);
  rails[0]->flush();
  listen(1);
  ASSERT_EQ(ears[1].packets.size(), 1U);
  EXPECT_TRUE(ears[1].packets[0] == before);
}

TEST_F(UdpRailTest, AnUnreachableDestinationFailsWhatWasPutAndALongPacketIsRefused) {
  sockaddr_in nowhere{};
  nowhere.sin_family = AF_INET;
  nowhere.sin_port = htons(9);
  nowhere.sin_addr.s_addr = htonl(0xC6336401);  // 198.51.100.1, from the loopback's own address: no route
  const auto* raw = reinterpret_cast<const std::byte*>(&nowhere);
  to = rails[0]->add_destination({raw, sizeof nowhere}).value();
  Bytes packet = pattern(1400, 1);
  EXPECT_EQ(put(packet, 5), Put::pending);
  rails[0]->flush();
  rails[0]->poll(ears[0], 0);
  ASSERT_EQ(ears[0].done.count(5), 1U);
  EXPECT_FALSE(ears[0].done[5]);
  Bytes longer = pattern(1401, 1);
  EXPECT_EQ(put(longer, 6), Put::failed);
}

TEST_F(UdpRailTest, AddressesAreCheckedAndTheSameOneIsTheSameDestination) {
  EXPECT_EQ(rails[0]->add_destination(rails[1]->address()).value(), to);
  const Bytes wrong(3, std::byte{1});
  EXPECT_FALSE(rails[0]->add_destination(wrong).ok());
  EXPECT_FALSE(UdpRail::open("no-such-interface", 1400, "", "").ok());
  EXPECT_EQ(UdpRail::open("no-such-interface", 1400, "", "").status().code(), Code::unavailable);
  EXPECT_TRUE(UdpRail::resolve("127.0.0.1", "4000").ok());
  EXPECT_FALSE(UdpRail::resolve("256.1.1.1", "4000").ok());
}

TEST_F(UdpRailTest, TheLoopbackCarriesPacketsOfItsOwnSize) {
  auto wide = UdpRail::open("lo", 1 << 20, "", "");
  ASSERT_TRUE(wide.ok());
  EXPECT_GT(wide.value()->most_packet_bytes(), 1472U);
  to = wide.value()->add_destination(rails[1]->address()).value();
  Bytes packet = pattern(wide.value()->most_packet_bytes(), 1);
  const iovec piece = {packet.data(), packet.size()};
  EXPECT_EQ(wide.value()->put(to, {&piece, 1}, 1), Put::pending);
  wide.value()->flush();
  listen(1);
  ASSERT_EQ(ears[1].packets.size(), 1U);
  EXPECT_TRUE(ears[1].packets[0] == packet);
}

// ICMP says that nobody listens, which anybody could have said.
TEST_F(UdpRailTest, APortWhereNobodyListensIsDoubtedAndOtherPeersHearNothingOfIt) {
  auto gone = UdpRail::open("lo", 1400, "", "");
  ASSERT_TRUE(gone.ok());
  const Bytes address(gone.value()->address().begin(), gone.value()->address().end());
  const std::uint32_t nobody = rails[0]->add_destination(address).value();
  gone.value().reset();
  Bytes packet = pattern(100, 1);
  const iovec piece = {packet.data(), packet.size()};
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(rails[0]->put(nobody, {&piece, 1}, 1), Put::done);
    rails[0]->flush();  // the answer to the last one may be pending in the socket
    EXPECT_EQ(put(packet, 2), Put::done);
    rails[0]->flush();
    rails[0]->poll(ears[0], 0);
  }
  listen(50);
  EXPECT_EQ(ears[1].packets.size(), 50U) << "none was lost to another's error";
  EXPECT_FALSE(ears[0].doubted.empty());
  for (const std::uint32_t destination : ears[0].doubted) EXPECT_EQ(destination, nobody);
  EXPECT_TRUE(ears[0].failed.empty());
}

// The kernel itself refuses: no flag allows this socket to send to all.
TEST_F(UdpRailTest, WhatTheKernelRefusesToSendIsAFailureOfItsDestination) {
  sockaddr_in all{};
  all.sin_family = AF_INET;
  all.sin_port = htons(9);
  all.sin_addr.s_addr = INADDR_BROADCAST;
  const auto* bytes = reinterpret_cast<const std::byte*>(&all);
  const std::uint32_t refused = rails[0]->add_destination({bytes, sizeof all}).value();
  for (const std::size_t size : {100UL, 1400UL}) {  // without a token, and with one
    Bytes packet = pattern(size, 1);
    const iovec piece = {packet.data(), packet.size()};
    rails[0]->put(refused, {&piece, 1}, 7);
    rails[0]->flush();
    rails[0]->poll(ears[0], 0);
    ASSERT_EQ(ears[0].failed, std::vector{refused}) << size;
    ears[0].failed.clear();
  }
  EXPECT_FALSE(ears[0].done.at(7));
  EXPECT_TRUE(ears[0].doubted.empty());
}

}  // namespace
}  // namespace holdfast::transport
