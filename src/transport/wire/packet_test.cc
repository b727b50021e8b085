#include "transport/wire/packet.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace holdfast::transport::wire {
namespace {

using Bytes = std::vector<std::byte>;

PacketHeader some_header() {
  return {.flags = PacketHeader::flag_acknowledge_now,
          .rail = 1,
          .session = 7,
          .key = session_key(0x1111111111111111, 0x2222222222222222),
          .stamp = 0x00012345,
          .number = 17,
          .tag = {}};
}

AckFrame some_ack() {
  AckFrame ack;
  ack.cumulative = 41;
  ack.complete = 0b101;
  ack.echo_rail = 0;
  ack.echo_stamp = 0x00011111;
  ack.echo_delay = 100;
  ack.message_limit = 65600;
  ack.byte_limit = 262144;
  ack.partial_count = 1;
  ack.partials[0] = {43, 0x7};
  return ack;
}

DataFrame some_data(std::span<const std::byte> payload) {
  DataFrame data;
  data.kind = MessageKind::eager;
  data.index = 0;
  data.count = 1;
  data.algorithm = integrity::Checksum::crc32c;
  data.flags = DataFrame::flag_tagged | DataFrame::flag_data;
  data.vfrag = 12;
  data.message = 9;
  data.order = 5;
  data.bytes = static_cast<std::uint32_t>(payload.size());
  data.total = payload.size();
  data.tag = 0x1122334455667788;
  data.data = 0xCAFE;
  data.checksum = integrity::checksum(data.algorithm, payload);
  return data;
}

Bytes bytes_of(std::string_view text) {
  const auto* from = reinterpret_cast<const std::byte*>(text.data());
  return {from, from + text.size()};
}

// The packet of the worked example in docs/spec/wire.md.
Bytes example_packet() {
  const Bytes payload = bytes_of("Holdfast!");
  std::vector<std::byte> buffer(most_data_header_bytes);
  Writer writer(buffer, some_header());
  writer.add(some_ack());
  writer.add(some_data(payload));
  const auto headers = writer.finish(payload.size());
  Bytes packet(headers.begin(), headers.end());
  packet.insert(packet.end(), payload.begin(), payload.end());
  return packet;
}

// The bytes of the fenced block "hex" of the specification.
Bytes specified_packet() {
  std::ifstream file(HOLDFAST_SOURCE_DIR "/docs/spec/wire.md");
  Bytes bytes;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("```")) {
      inside = line == "```hex";
      continue;
    }
    if (!inside) continue;
    std::istringstream words(line.substr(0, line.find('#')));
    for (std::string word; words >> word;) bytes.push_back(static_cast<std::byte>(std::stoi(word, nullptr, 16)));
  }
  return bytes;
}

std::string hex(const Bytes& bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    text += digits[std::to_integer<unsigned>(byte) >> 4];
    text += digits[std::to_integer<unsigned>(byte) & 15];
    text += ' ';
  }
  return text;
}

TEST(Wire, TheSpecificationsExampleIsWhatIsWritten) {
  EXPECT_EQ(hex(specified_packet()), hex(example_packet()));
}

TEST(Wire, AnAcknowledgementSaysWhereItsListBeginsAndEnds) {
  for (const bool truncated : {false, true}) {
    for (const bool continued : {false, true}) {
      std::array<std::byte, 256> buffer;
      Writer writer(buffer, some_header());
      AckFrame ack = some_ack();
      ack.truncated = truncated;
      ack.continued = continued;
      writer.add(ack);
      const auto packet = writer.finish(0);
      Reader reader;
      ASSERT_EQ(reader.open(packet), Refusal::none);
      FrameType type{};
      ASSERT_TRUE(reader.next(type));
      EXPECT_EQ(reader.ack().truncated, truncated);
      EXPECT_EQ(reader.ack().continued, continued);
    }
  }
}

TEST(Wire, TheSpecificationsExampleIsRead) {
  const Bytes packet = specified_packet();
  Reader reader;
  ASSERT_EQ(reader.open(packet), Refusal::none);
  EXPECT_EQ(reader.header(), some_header());
  FrameType type{};
  ASSERT_TRUE(reader.next(type));
  ASSERT_EQ(type, FrameType::ack);
  const AckFrame ack = some_ack();
  EXPECT_EQ(reader.ack().cumulative, ack.cumulative);
  EXPECT_EQ(reader.ack().complete, ack.complete);
  EXPECT_EQ(reader.ack().echo_rail, ack.echo_rail);
  EXPECT_EQ(reader.ack().echo_stamp, ack.echo_stamp);
  EXPECT_EQ(reader.ack().echo_delay, ack.echo_delay);
  EXPECT_EQ(reader.ack().message_limit, ack.message_limit);
  EXPECT_EQ(reader.ack().byte_limit, ack.byte_limit);
  ASSERT_EQ(reader.ack().partial_count, 1);
  EXPECT_EQ(reader.ack().partials[0], ack.partials[0]);
  ASSERT_TRUE(reader.next(type));
  ASSERT_EQ(type, FrameType::data);
  EXPECT_EQ(reader.data(), some_data(bytes_of("Holdfast!")));
  EXPECT_EQ(Bytes(reader.payload().begin(), reader.payload().end()), bytes_of("Holdfast!"));
  EXPECT_FALSE(reader.next(type));
}

TEST(Wire, PaddingIsSkippedAndMayNotBeLongerThanThePacket) {
  HelloFrame hello;
  hello.identity = 5;
  Bytes buffer(most_data_header_bytes);
  Writer writer(buffer, {});
  writer.add(hello);
  writer.add_padding(100);
  const auto headers = writer.finish(100);
  Bytes packet(headers.begin(), headers.end());
  packet.resize(packet.size() + 100, std::byte{7});
  Reader reader;
  ASSERT_EQ(reader.open(packet), Refusal::none);
  FrameType type{};
  ASSERT_TRUE(reader.next(type));
  EXPECT_EQ(type, FrameType::hello);
  EXPECT_EQ(reader.hello().identity, 5U);
  ASSERT_TRUE(reader.next(type));
  EXPECT_EQ(type, FrameType::padding);
  EXPECT_FALSE(reader.next(type));
  for (const std::uint32_t wrong : {0U, 99U, 101U, 0xFFFFFFFFU}) {
    Writer again(buffer, {});
    again.add(hello);
    again.add_padding(wrong);
    const auto other = again.finish(100);
    std::copy(other.begin(), other.end(), packet.begin());
    EXPECT_EQ(reader.open(packet), Refusal::malformed) << wrong;
  }
}

TEST(Wire, AHelloIsReadAsItWasWritten) {
  const Bytes name = bytes_of("node-17");
  HelloFrame hello;
  hello.answer = true;
  hello.session = 3;
  hello.flags = HelloFrame::flag_aes;
  hello.identity = 0xFFFFFFFFFFFFFFFE;
  hello.known_identity = 17;
  hello.cookie = 0x0102030405060708;
  hello.echo_stamp = 5;
  hello.vfrag_window = 1024;
  hello.message_limit = 6;
  hello.byte_limit = 7;
  hello.ack_delay = 8;
  hello.name = name;
  Bytes buffer(most_data_header_bytes);
  Writer writer(buffer, {});
  writer.add(hello);
  const auto packet = writer.finish(0);
  Reader reader;
  ASSERT_EQ(reader.open(packet), Refusal::none);
  FrameType type{};
  ASSERT_TRUE(reader.next(type));
  EXPECT_EQ(type, FrameType::hello_answer);
  EXPECT_TRUE(reader.hello().answer);
  EXPECT_EQ(reader.hello().session, 3U);
  EXPECT_EQ(reader.hello().flags, HelloFrame::flag_aes);
  EXPECT_EQ(reader.hello().identity, hello.identity);
  EXPECT_EQ(reader.hello().known_identity, 17U);
  EXPECT_EQ(reader.hello().cookie, hello.cookie);
  EXPECT_EQ(reader.hello().echo_stamp, 5U);
  EXPECT_EQ(reader.hello().vfrag_window, 1024U);
  EXPECT_EQ(reader.hello().message_limit, 6U);
  EXPECT_EQ(reader.hello().byte_limit, 7U);
  EXPECT_EQ(reader.hello().ack_delay, 8U);
  EXPECT_EQ(Bytes(reader.hello().name.begin(), reader.hello().name.end()), name);
}

TEST(Wire, AChallengeIsReadAsItWasWritten) {
  const Bytes name = bytes_of("node-17");
  const ChallengeFrame challenge{0xFFFFFFFFFFFFFFFE, 0x0102030405060708, name};
  Bytes buffer(most_data_header_bytes);
  Writer writer(buffer, {});
  writer.add(challenge);
  const auto packet = writer.finish(0);
  Reader reader;
  ASSERT_EQ(reader.open(packet), Refusal::none);
  FrameType type{};
  ASSERT_TRUE(reader.next(type));
  EXPECT_EQ(type, FrameType::challenge);
  EXPECT_EQ(reader.challenge().identity, challenge.identity);
  EXPECT_EQ(reader.challenge().cookie, challenge.cookie);
  EXPECT_EQ(Bytes(reader.challenge().name.begin(), reader.challenge().name.end()), name);
  EXPECT_LT(packet.size(), packet_header_bytes + hello_frame_bytes + name.size()) << "it is longer than a HELLO";
}

TEST(Wire, ALargestNameFitsThePacketOfAnAcknowledgementWithData) {
  const Bytes name(most_name_bytes);
  HelloFrame hello;
  hello.name = name;
  Bytes buffer(most_data_header_bytes);
  Writer writer(buffer, {});
  writer.add(hello);
  Reader reader;
  EXPECT_EQ(reader.open(writer.finish(0)), Refusal::none);
}

TEST(Wire, EverySingleBitOfTheHeadersIsSeen) {
  const Bytes good = example_packet();
  const std::size_t headers = good.size() - 9;
  for (std::size_t bit = 0; bit < headers * 8; ++bit) {
    Bytes bad = good;
    bad[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    Reader reader;
    EXPECT_NE(reader.open(bad), Refusal::none) << "bit " << bit;
  }
}

TEST(Wire, APacketThatWasCutIsSeen) {
  const Bytes good = example_packet();
  for (std::size_t size = 0; size < good.size(); ++size) {
    Reader reader;
    EXPECT_NE(reader.open(std::span(good).first(size)), Refusal::none) << size;
  }
}

TEST(Wire, FieldsOutOfBoundsAreMalformedAlthoughTheCheckFits) {
  const Bytes payload = bytes_of("abc");
  const auto refusal = [&payload](auto change) {
    DataFrame data = some_data(payload);
    change(data);
    Bytes buffer(most_data_header_bytes);
    Writer writer(buffer, some_header());
    writer.add(data);
    const auto headers = writer.finish(payload.size());
    Bytes packet(headers.begin(), headers.end());
    packet.insert(packet.end(), payload.begin(), payload.end());
    Reader reader;
    return reader.open(packet);
  };
  EXPECT_EQ(refusal([](DataFrame&) {}), Refusal::none);
  EXPECT_EQ(refusal([](DataFrame& data) { data.kind = MessageKind{0}; }), Refusal::malformed);
  EXPECT_EQ(refusal([](DataFrame& data) { data.kind = MessageKind{11}; }), Refusal::malformed);
  EXPECT_EQ(refusal([](DataFrame& data) { data.algorithm = integrity::Checksum{5}; }), Refusal::malformed);
  EXPECT_EQ(refusal([](DataFrame& data) { data.count = 65; }), Refusal::malformed);
  EXPECT_EQ(refusal([](DataFrame& data) { data.index = 1; }), Refusal::malformed);
  EXPECT_EQ(refusal([](DataFrame& data) { data.total = 2; }), Refusal::malformed);
  EXPECT_EQ(refusal([](DataFrame& data) { data.offset = 1; }), Refusal::malformed);
  EXPECT_EQ(refusal([](DataFrame& data) { data.bytes = 4; }), Refusal::malformed);
  EXPECT_EQ(refusal([](DataFrame& data) { data.bytes = 2; }), Refusal::malformed);  // a byte too many in the packet
  EXPECT_EQ(refusal([](DataFrame& data) { data.kind = MessageKind::request_to_send; }), Refusal::malformed);
  EXPECT_EQ(refusal([](DataFrame& data) {
              data.offset = ~std::uint64_t{0};
              data.total = 3;
            }),
            Refusal::malformed);
}

TEST(Wire, SeveralDataFramesShareAPacket) {
  const Bytes one = bytes_of("one");
  const Bytes two = bytes_of("second");
  Bytes buffer(1024);
  Writer writer(buffer, some_header());
  writer.add(some_data(one));
  writer.add(some_data(two));
  const auto headers = writer.finish(one.size() + two.size());
  Bytes packet(headers.begin(), headers.end());
  packet.insert(packet.end(), one.begin(), one.end());
  packet.insert(packet.end(), two.begin(), two.end());
  Reader reader;
  ASSERT_EQ(reader.open(packet), Refusal::none);
  FrameType type{};
  ASSERT_TRUE(reader.next(type));
  EXPECT_EQ(Bytes(reader.payload().begin(), reader.payload().end()), one);
  ASSERT_TRUE(reader.next(type));
  EXPECT_EQ(Bytes(reader.payload().begin(), reader.payload().end()), two);
}

TEST(Wire, TheKeyOfADirectionIsOfNoOther) {
  std::mt19937_64 draw(3);
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t a = draw();
    const std::uint64_t b = draw();
    EXPECT_NE(session_key(a, b), session_key(b, a));
    EXPECT_NE(session_key(a, b), session_key(a + 1, b));
    EXPECT_NE(session_key(a, b), session_key(a + 1, b - 1));
    EXPECT_NE(session_key(a, b), 0U);
  }
}

}  // namespace
}  // namespace holdfast::transport::wire
