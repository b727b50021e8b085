#include "transport/wire/packet.h"

#include <algorithm>
#include <cstring>

#include "core/integrity/crc32c.h"
#include "transport/wire/little_endian.h"

namespace holdfast::transport::wire {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr std::size_t at_header_bytes = 4;
constexpr std::size_t at_frames = 6;
constexpr std::size_t at_check = 8;
constexpr std::size_t at_packet_bytes = 28;
constexpr std::size_t at_tag = 40;

u8 byte_at(const std::byte* from) {
  return std::to_integer<u8>(*from);
}

bool single_fragment(const DataFrame& frame) {
  return frame.count == 1 && frame.offset == 0 && frame.index == 0;
}

// request_to_send announces bytes that it does not carry; the others carry all of theirs.
bool placed_well(const DataFrame& frame) {
  if (frame.kind == MessageKind::request_to_send) return single_fragment(frame) && frame.bytes == 0;
  return frame.offset <= frame.total && frame.bytes <= frame.total - frame.offset;
}

}  // namespace

// The check covers all headers but itself.
u32 check_of_headers(std::span<const std::byte> headers) {
  const u32 before = integrity::crc32c_extend(0, headers.first(at_check));
  return integrity::crc32c_extend(before, headers.subspan(at_check + sizeof(u32)));
}

u64 session_key(u64 sender, u64 receiver) {
  // SplitMix64's finalizer, over one identity and then over both: any two pairs share a key with probability 2^-64.
  const auto mix = [](u64 word) {
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9ULL;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EBULL;
    return word ^ (word >> 31);
  };
  const u64 key = mix(mix(sender) + receiver);
  return key != 0 ? key : 1;
}

Writer::Writer(std::span<std::byte> buffer, const PacketHeader& header) : buffer_(buffer) {
  std::byte* to = buffer.data();
  store<u16>(to, magic);
  store<u8>(to + 2, version);
  store<u8>(to + 3, header.flags);
  store<u8>(to + 7, header.rail);
  store<u32>(to + 12, header.session);
  store<u64>(to + 16, header.key);
  store<u32>(to + 24, header.stamp);
  store<u64>(to + 32, header.number);
}

std::byte* Writer::take(std::size_t bytes) {
  std::byte* at = buffer_.data() + used_;
  used_ += bytes;
  ++frames_;
  return at;
}

void Writer::add(const AckFrame& frame) {
  std::byte* to = take(ack_frame_bytes + frame.partial_count * ack_partial_bytes);
  store<u8>(to, static_cast<u8>(FrameType::ack));
  store<u8>(to + 1, frame.partial_count);
  store<u8>(to + 2, frame.echo_rail);
  store<u8>(to + 3, static_cast<u8>((frame.truncated ? 1 : 0) | (frame.continued ? 2 : 0)));
  store<u32>(to + 4, frame.cumulative);
  store<u64>(to + 8, frame.complete);
  store<u32>(to + 16, frame.echo_stamp);
  store<u32>(to + 20, frame.echo_delay);
  store<u32>(to + 24, frame.message_limit);
  store<u64>(to + 28, frame.byte_limit);
  to += ack_frame_bytes;
  for (std::size_t i = 0; i < frame.partial_count; ++i, to += ack_partial_bytes) {
    store<u32>(to, frame.partials[i].vfrag);
    store<u64>(to + 4, frame.partials[i].mask);
  }
}

void Writer::add(const DataFrame& frame) {
  const bool extended = (frame.flags & DataFrame::flag_extended) != 0;
  std::byte* to = take(data_frame_bytes + (extended ? data_extension_bytes : 0));
  store<u8>(to, static_cast<u8>(FrameType::data));
  store<u8>(to + 1, static_cast<u8>(frame.kind));
  store<u8>(to + 2, frame.index);
  store<u8>(to + 3, static_cast<u8>(frame.count - 1));
  store<u8>(to + 4, static_cast<u8>(frame.algorithm));
  store<u8>(to + 5, frame.flags);
  store<u16>(to + 6, 0);
  store<u32>(to + 8, frame.vfrag);
  store<u32>(to + 12, frame.message);
  store<u32>(to + 16, frame.order);
  store<u32>(to + 20, frame.bytes);
  store<u64>(to + 24, frame.offset);
  store<u64>(to + 32, frame.total);
  store<u64>(to + 40, frame.tag);
  store<u64>(to + 48, frame.data);
  store<u64>(to + 56, frame.checksum);
  if (extended) {
    store<u64>(to + 64, frame.address);
    store<u64>(to + 72, frame.key);
  }
}

void Writer::add(const HelloFrame& frame) {
  std::byte* to = take(hello_frame_bytes + frame.name.size());
  store<u8>(to, static_cast<u8>(frame.answer ? FrameType::hello_answer : FrameType::hello));
  store<u8>(to + 1, frame.flags);
  store<u16>(to + 2, static_cast<u16>(frame.name.size()));
  store<u32>(to + 4, frame.session);
  store<u64>(to + 8, frame.identity);
  store<u64>(to + 16, frame.known_identity);
  store<u64>(to + 24, frame.cookie);
  store<u32>(to + 32, frame.echo_stamp);
  store<u32>(to + 36, frame.vfrag_window);
  store<u32>(to + 40, frame.message_limit);
  store<u64>(to + 44, frame.byte_limit);
  store<u32>(to + 52, frame.ack_delay);
  if (!frame.name.empty()) std::memcpy(to + hello_frame_bytes, frame.name.data(), frame.name.size());
}

void Writer::add(const ChallengeFrame& frame) {
  std::byte* to = take(challenge_frame_bytes + frame.name.size());
  store<u16>(to, static_cast<u16>(FrameType::challenge));
  store<u16>(to + 2, static_cast<u16>(frame.name.size()));
  store<u64>(to + 4, frame.identity);
  store<u64>(to + 12, frame.cookie);
  if (!frame.name.empty()) std::memcpy(to + challenge_frame_bytes, frame.name.data(), frame.name.size());
}

void Writer::add_bye() {
  std::byte* to = take(bye_frame_bytes);
  store<u32>(to, static_cast<u32>(FrameType::bye));
}

void Writer::add_padding(std::uint32_t bytes) {
  std::byte* to = take(padding_frame_bytes);
  store<u32>(to, static_cast<u32>(FrameType::padding));
  store<u32>(to + 4, bytes);
}

std::span<const std::byte> Writer::lay(std::size_t payload_bytes) {
  std::byte* to = buffer_.data();
  store<u16>(to + at_header_bytes, static_cast<u16>(used_));
  store<u8>(to + at_frames, frames_);
  store<u32>(to + at_check, 0);
  store<u32>(to + at_packet_bytes, static_cast<u32>(used_ + payload_bytes));
  std::memset(to + at_tag, 0, tag_bytes);
  return buffer_.first(used_);
}

std::span<const std::byte> Writer::seal(const Tag& tag) {
  std::byte* to = buffer_.data();
  std::memcpy(to + at_tag, tag.data(), tag.size());
  const std::span<const std::byte> headers = buffer_.first(used_);
  store<u32>(to + at_check, check_of_headers(headers));
  return headers;
}

Refusal Reader::open(std::span<const std::byte> packet) {
  packet_ = packet;
  if (packet.size() < packet_header_bytes) return Refusal::too_short;
  const std::byte* from = packet.data();
  if (load<u16>(from) != magic) return Refusal::foreign;
  header_bytes_ = load<u16>(from + at_header_bytes);
  if (header_bytes_ < packet_header_bytes || header_bytes_ > packet.size()) return Refusal::too_short;
  if (load<u32>(from + at_check) != check_of_headers(packet.first(header_bytes_))) return Refusal::corrupt_header;
  if (byte_at(from + 2) != version) return Refusal::other_version;
  if (load<u32>(from + at_packet_bytes) != packet.size()) return Refusal::too_short;
  header_ = {.flags = byte_at(from + 3),
             .rail = byte_at(from + 7),
             .session = load<u32>(from + 12),
             .key = load<u64>(from + 16),
             .stamp = load<u32>(from + 24),
             .number = load<u64>(from + 32),
             .tag = {}};
  std::memcpy(header_.tag.data(), from + at_tag, tag_bytes);
  frames_ = byte_at(from + at_frames);
  return well_formed() ? Refusal::none : Refusal::malformed;
}

// Reads all frames once, so that nobody acts on the first half of a packet whose second is malformed. The usual packet
// has one or two frames.
bool Reader::well_formed() {
  if (frames_ > most_frames) return false;
  at_ = packet_header_bytes;
  payload_at_ = header_bytes_;
  FrameType type{};
  for (u8 i = 0; i < frames_; ++i) {
    if (!read_frame(type)) return false;
  }
  const bool exact = at_ == header_bytes_ && payload_at_ == packet_.size();
  at_ = packet_header_bytes;
  payload_at_ = header_bytes_;
  frames_left_ = frames_;
  return exact;
}

bool Reader::next(FrameType& type) {
  if (frames_left_ == 0) return false;
  --frames_left_;
  if (frames_ == 1) {  // open() has just read it
    type = static_cast<FrameType>(byte_at(packet_.data() + packet_header_bytes));
    return true;
  }
  return read_frame(type);
}

bool Reader::read_frame(FrameType& type) {
  if (header_bytes_ - at_ < bye_frame_bytes) return false;
  type = static_cast<FrameType>(byte_at(packet_.data() + at_));
  switch (type) {
    case FrameType::ack:
      return read_ack();
    case FrameType::data:
      return read_data();
    case FrameType::hello:
    case FrameType::hello_answer:
      hello_.answer = type == FrameType::hello_answer;
      return read_hello();
    case FrameType::challenge:
      return read_challenge();
    case FrameType::bye:
      at_ += bye_frame_bytes;
      return true;
    case FrameType::padding:
      return read_padding();
  }
  return false;
}

bool Reader::read_ack() {
  const std::byte* from = packet_.data() + at_;
  if (header_bytes_ - at_ < ack_frame_bytes) return false;
  ack_.partial_count = byte_at(from + 1);
  if (ack_.partial_count > most_partials) return false;
  const std::size_t bytes = ack_frame_bytes + ack_.partial_count * ack_partial_bytes;
  if (header_bytes_ - at_ < bytes) return false;
  ack_.echo_rail = byte_at(from + 2);
  ack_.truncated = (byte_at(from + 3) & 1) != 0;
  ack_.continued = (byte_at(from + 3) & 2) != 0;
  ack_.cumulative = load<u32>(from + 4);
  ack_.complete = load<u64>(from + 8);
  ack_.echo_stamp = load<u32>(from + 16);
  ack_.echo_delay = load<u32>(from + 20);
  ack_.message_limit = load<u32>(from + 24);
  ack_.byte_limit = load<u64>(from + 28);
  at_ += bytes;
  from += ack_frame_bytes;
  for (std::size_t i = 0; i < ack_.partial_count; ++i, from += ack_partial_bytes) {
    ack_.partials[i] = {load<u32>(from), load<u64>(from + 4)};
  }
  return true;
}

bool Reader::read_data() {
  const std::byte* from = packet_.data() + at_;
  if (header_bytes_ - at_ < data_frame_bytes) return false;
  const u8 kind = byte_at(from + 1);
  const u8 algorithm = byte_at(from + 4);
  data_.index = byte_at(from + 2);
  const unsigned count = byte_at(from + 3) + 1U;
  if (kind == 0 || kind > last_message_kind || algorithm >= integrity::checksum_names.size()) return false;
  if (count > fragments_per_vfrag || data_.index >= count) return false;
  data_.kind = static_cast<MessageKind>(kind);
  data_.algorithm = static_cast<integrity::Checksum>(algorithm);
  data_.count = static_cast<u8>(count);
  data_.flags = byte_at(from + 5);
  data_.vfrag = load<u32>(from + 8);
  data_.message = load<u32>(from + 12);
  data_.order = load<u32>(from + 16);
  data_.bytes = load<u32>(from + 20);
  data_.offset = load<u64>(from + 24);
  data_.total = load<u64>(from + 32);
  data_.tag = load<u64>(from + 40);
  data_.data = load<u64>(from + 48);
  data_.checksum = load<u64>(from + 56);
  at_ += data_frame_bytes;
  data_.address = 0;
  data_.key = 0;
  if ((data_.flags & DataFrame::flag_extended) != 0) {
    if (header_bytes_ - at_ < data_extension_bytes) return false;
    data_.address = load<u64>(from + 64);
    data_.key = load<u64>(from + 72);
    at_ += data_extension_bytes;
  }
  if (!placed_well(data_) || packet_.size() - payload_at_ < data_.bytes) return false;
  payload_ = packet_.subspan(payload_at_, data_.bytes);
  payload_at_ += data_.bytes;
  return true;
}

bool Reader::read_hello() {
  const std::byte* from = packet_.data() + at_;
  if (header_bytes_ - at_ < hello_frame_bytes) return false;
  const std::size_t name_bytes = load<u16>(from + 2);
  if (name_bytes > most_name_bytes || header_bytes_ - at_ - hello_frame_bytes < name_bytes) return false;
  hello_.flags = byte_at(from + 1);
  hello_.session = load<u32>(from + 4);
  hello_.identity = load<u64>(from + 8);
  hello_.known_identity = load<u64>(from + 16);
  hello_.cookie = load<u64>(from + 24);
  hello_.echo_stamp = load<u32>(from + 32);
  hello_.vfrag_window = load<u32>(from + 36);
  hello_.message_limit = load<u32>(from + 40);
  hello_.byte_limit = load<u64>(from + 44);
  hello_.ack_delay = load<u32>(from + 52);
  hello_.name = packet_.subspan(at_ + hello_frame_bytes, name_bytes);
  at_ += hello_frame_bytes + name_bytes;
  return true;
}

bool Reader::read_challenge() {
  const std::byte* from = packet_.data() + at_;
  if (header_bytes_ - at_ < challenge_frame_bytes) return false;
  const std::size_t name_bytes = load<u16>(from + 2);
  if (name_bytes > most_name_bytes || header_bytes_ - at_ - challenge_frame_bytes < name_bytes) return false;
  challenge_.identity = load<u64>(from + 4);
  challenge_.cookie = load<u64>(from + 12);
  challenge_.name = packet_.subspan(at_ + challenge_frame_bytes, name_bytes);
  at_ += challenge_frame_bytes + name_bytes;
  return true;
}

bool Reader::read_padding() {
  if (header_bytes_ - at_ < padding_frame_bytes) return false;
  const std::size_t bytes = load<u32>(packet_.data() + at_ + 4);
  if (packet_.size() - payload_at_ < bytes) return false;
  at_ += padding_frame_bytes;
  payload_at_ += bytes;
  return true;
}

std::array<std::byte, packet_header_bytes> Reader::untagged() const {
  std::array<std::byte, packet_header_bytes> bytes;
  std::memcpy(bytes.data(), packet_.data(), bytes.size());
  std::memset(bytes.data() + at_check, 0, sizeof(u32));
  std::memset(bytes.data() + at_tag, 0, tag_bytes);
  return bytes;
}

}  // namespace holdfast::transport::wire
