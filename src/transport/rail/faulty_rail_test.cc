#include "transport/rail/faulty_rail.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/fault/grammar.h"
#include "transport/rail/memory_rail.h"

namespace holdfast::transport {
namespace {

class Collector : public RailSink {
 public:
  void on_packet(std::span<const std::byte> packet) override {
    packets.emplace_back(reinterpret_cast<const char*>(packet.data()), packet.size());
  }
  void on_put_done(std::uint64_t token, bool) override { tokens.push_back(token); }
  void on_ready() override { ++ready; }
  void on_failed(std::uint32_t) override {}
  void on_doubted(std::uint32_t) override {}

  std::vector<std::string> packets;
  std::vector<std::uint64_t> tokens;
  int ready = 0;
};

class FaultyRailTest : public testing::Test {
 protected:
  void arm(const std::string& faults) {
    rail = std::make_unique<FaultyRail>(network.make_rail(), fault::parse(faults).value(),
                                        FaultyRail::Place{.rank = 3, .replica = 0, .rail = 1}, random::Stream(1));
    destination = rail->add_destination(other->address()).value();
    rail->name_destination(destination, 8);
    rail->poll(own, 0);
  }
  Put put(std::string text) {
    const iovec pieces[2] = {{text.data(), 1}, {text.data() + 1, text.size() - 1}};
    return rail->put(destination, pieces, 1);
  }
  std::vector<std::string> arrived() {
    Collector sink;
    other->poll(sink, 0);
    return sink.packets;
  }
  using Texts = std::vector<std::string>;

  MemoryNetwork network{64, 4};
  std::unique_ptr<Rail> other = network.make_rail();
  std::unique_ptr<FaultyRail> rail;
  std::uint32_t destination = 0;
  Collector own;
};

TEST_F(FaultyRailTest, WithoutFaultsPassesEverything) {
  arm("");
  EXPECT_EQ(put("one"), Put::done);
  EXPECT_EQ(put("two"), Put::done);
  EXPECT_EQ(arrived(), (Texts{"one", "two"}));
  EXPECT_EQ(rail->struck(), 0U);
}

TEST_F(FaultyRailTest, DropsDuplicatesAndReorders) {
  arm("drop message 1; duplicate message 2; reorder message 3");
  for (const char* text : {"one", "two", "three", "four"}) put(text);
  EXPECT_EQ(arrived(), (Texts{"two", "two", "four", "three"}));
  EXPECT_EQ(rail->struck(), 3U);
}

TEST_F(FaultyRailTest, DelaysUntilItsTime) {
  arm("delay 5ms message 1");
  put("one");
  put("two");
  EXPECT_EQ(arrived(), (Texts{"two"}));
  rail->poll(own, 4'999'999);
  EXPECT_EQ(arrived(), Texts());
  rail->poll(own, 5'000'000);
  EXPECT_EQ(arrived(), (Texts{"one"}));
}

TEST_F(FaultyRailTest, FlipsTheBitThatWasNamedOrAny) {
  arm("flip message 1 bit 8; flip message 2; corrupt-header message 3");
  put("aaa");
  put("aaa");
  put("aaa");
  const Texts packets = arrived();
  ASSERT_EQ(packets.size(), 3U);
  EXPECT_EQ(packets[0], "a`a");
  EXPECT_NE(packets[1], "aaa");
  EXPECT_NE(packets[2], "aaa");
}

TEST_F(FaultyRailTest, KillsBothWaysAtItsTime) {
  arm("kill-rail time 10ms");
  const std::uint32_t back = other->add_destination(rail->address()).value();
  std::string text = "hello";
  const iovec piece = {text.data(), text.size()};
  put("one");
  rail->poll(own, 10'000'000);
  put("two");
  other->put(back, {&piece, 1}, 0);
  rail->poll(own, 11'000'000);
  EXPECT_EQ(arrived(), (Texts{"one"}));
  EXPECT_EQ(own.packets, Texts());
}

TEST_F(FaultyRailTest, LosesLongPacketsBothWaysWhenItIsNarrow) {
  arm("narrow-rail 4 rail 1");
  const std::uint32_t back = other->add_destination(rail->address()).value();
  for (std::string text : {"four", "fives", "two"}) {
    const iovec piece = {text.data(), text.size()};
    EXPECT_EQ(put(text), Put::done);
    other->put(back, {&piece, 1}, 0);
  }
  rail->poll(own, 1);
  EXPECT_EQ(arrived(), (Texts{"four", "two"}));
  EXPECT_EQ(own.packets, (Texts{"four", "two"}));
}

// What is drawn from such a mean does not fit into 63 bits of nanoseconds: it wrapped, and struck at once.
TEST_F(FaultyRailTest, AMeanBeyondTheClockNeverStrikes) {
  std::string faults;
  for (int i = 0; i < 20; ++i) faults += "drop mean 106751d\n";
  arm(faults);
  for (int i = 0; i < 3; ++i) put("one");
  EXPECT_EQ(arrived().size(), 3U);
  EXPECT_EQ(rail->struck(), 0U);
}

TEST_F(FaultyRailTest, StrikesAtItsPlaceOnly) {
  arm("drop rank 2 rate 1/1; drop rail 0 rate 1/1; drop peer 7 rate 1/1");
  put("one");
  EXPECT_EQ(arrived(), (Texts{"one"}));
  arm("drop rank 3 rail 1 peer 8 rate 1/1");
  put("one");
  EXPECT_EQ(arrived(), Texts());
}

TEST_F(FaultyRailTest, ARailInMemorySaysBusyAndThenReady) {
  arm("");
  for (int i = 0; i < 4; ++i) EXPECT_EQ(put("xx"), Put::done);
  EXPECT_EQ(put("xx"), Put::busy);
  EXPECT_EQ(arrived().size(), 4U);
  rail->poll(own, 1);
  EXPECT_EQ(own.ready, 1);
  EXPECT_EQ(put("xx"), Put::done);
}

TEST_F(FaultyRailTest, AnEndThatIsGoneFails) {
  arm("");
  other.reset();
  EXPECT_EQ(put("xx"), Put::failed);
}

}  // namespace
}  // namespace holdfast::transport
