#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/integrity/checksum.h"

/// The packets of docs/spec/wire.md as values, and the way from values to bytes and back. Nothing here allocates,
/// throws or trusts a byte: a packet is either refused with a reason, or every field of it is in its bounds and every
/// payload inside the packet.
namespace holdfast::transport::wire {

inline constexpr std::uint16_t magic = 0x4648;  ///< "HF"
inline constexpr std::uint8_t version = 2;
inline constexpr std::size_t packet_header_bytes = 56;
inline constexpr std::size_t tag_bytes = 16;
inline constexpr std::size_t ack_frame_bytes = 36;
inline constexpr std::size_t ack_partial_bytes = 12;
inline constexpr std::size_t data_frame_bytes = 64;
inline constexpr std::size_t data_extension_bytes = 16;
inline constexpr std::size_t hello_frame_bytes = 56;
inline constexpr std::size_t bye_frame_bytes = 4;
inline constexpr std::size_t challenge_frame_bytes = 20;
inline constexpr std::size_t padding_frame_bytes = 8;
inline constexpr std::size_t fragments_per_vfrag = 64;
inline constexpr std::size_t most_partials = 64;
inline constexpr std::size_t most_name_bytes = 448;
inline constexpr std::size_t most_frames = 32;
/// What the headers before a payload may take: a piggybacked acknowledgement and one extended data frame.
inline constexpr std::size_t most_data_header_bytes =
    packet_header_bytes + ack_frame_bytes + most_partials * ack_partial_bytes + data_frame_bytes + data_extension_bytes;
/// The same with an acknowledgement that names no VFRAG in part: what a full fragment leaves room for.
inline constexpr std::size_t data_header_bytes =
    packet_header_bytes + ack_frame_bytes + data_frame_bytes + data_extension_bytes;
inline constexpr std::uint8_t no_rail = 0xFF;

/// Times on the wire: units of 64 ns, modulo 2^32 (274 s).
inline constexpr int time_shift = 6;
constexpr std::uint32_t to_wire_time(std::int64_t nanoseconds) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(nanoseconds) >> time_shift);
}
constexpr std::int64_t from_wire_time(std::uint32_t units) {
  return static_cast<std::int64_t>(units) << time_shift;
}

enum class FrameType : std::uint8_t {
  ack = 1,
  data = 2,
  hello = 3,
  hello_answer = 4,
  bye = 5,
  challenge = 6,
  padding = 7,  ///< bytes among the payloads that mean nothing
};

/// What says that a packet is from whoever has the key (packet_seal.h); all zero: nobody says so.
using Tag = std::array<std::byte, tag_bytes>;

/// What a message is. The first two take part in matching, in the order of DataFrame::order.
enum class MessageKind : std::uint8_t {
  eager = 1,        ///< a whole message
  request_to_send,  ///< the envelope of a long one; address = sender's handle
  clear_to_send,    ///< its answer; tag = sender's handle, data = receiver's handle, address = bytes wanted
  bulk,             ///< the bytes of a long one; tag = receiver's handle
  rma_write,        ///< address, key; tag = initiator's handle
  rma_read,         ///< address, key; tag = initiator's handle, data = bytes wanted
  rma_read_answer,  ///< tag = initiator's handle; the bytes
  rma_done,         ///< tag = initiator's handle, data = 0 or an error
  atomic,           ///< address, key; tag = initiator's handle, data = operation and datatype
  atomic_answer,    ///< tag = initiator's handle; the old values
};
inline constexpr std::uint8_t last_message_kind = static_cast<std::uint8_t>(MessageKind::atomic_answer);

struct PacketHeader {
  static constexpr std::uint8_t flag_acknowledge_now = 1;

  std::uint8_t flags = 0;
  std::uint8_t rail = 0;      ///< the sender's number of the rail it was put on
  std::uint32_t session = 0;  ///< the receiver's number of the session; 0 in a HELLO that does not know it
  std::uint64_t key = 0;      ///< session_key() of both identities; 0 in HELLO, its answer and a challenge
  std::uint32_t stamp = 0;    ///< the sender's clock when sent, in wire time
  std::uint64_t number = 0;   ///< of the packet in the session, per rail and direction, from 1
  Tag tag{};
  bool operator==(const PacketHeader&) const = default;
};

struct AckPartial {
  std::uint32_t vfrag = 0;
  std::uint64_t mask = 0;  ///< bit i: fragment i has arrived
  bool operator==(const AckPartial&) const = default;
};

struct AckFrame {
  std::uint32_t cumulative = 0;      ///< every VFRAG before this one has arrived whole
  std::uint64_t complete = 0;        ///< bit i: VFRAG cumulative + 1 + i has arrived whole
  std::uint8_t echo_rail = no_rail;  ///< the rail whose stamp is echoed, none without one
  std::uint32_t echo_stamp = 0;
  std::uint32_t echo_delay = 0;     ///< how long the stamp was kept here, wire time
  std::uint32_t message_limit = 0;  ///< matched messages of an order before this may be sent
  std::uint64_t byte_limit = 0;     ///< eager bytes that may be sent in this session altogether
  bool truncated = false;           ///< of VFRAGs after the last one in `partials`, some have arrived and are not named
  bool continued = false;           ///< likewise of those before the first one
  std::uint8_t partial_count = 0;
  std::array<AckPartial, most_partials> partials{};
};

struct DataFrame {
  static constexpr std::uint8_t flag_tagged = 1;
  static constexpr std::uint8_t flag_data = 2;
  static constexpr std::uint8_t flag_extended = 4;

  MessageKind kind = MessageKind::eager;
  std::uint8_t index = 0;  ///< of this fragment in its VFRAG, 0 to 63
  std::uint8_t count = 1;  ///< fragments of its VFRAG, 1 to 64 (the wire has one less)
  integrity::Checksum algorithm = integrity::Checksum::none;
  std::uint8_t flags = 0;
  std::uint32_t vfrag = 0;    ///< number in the session, per direction
  std::uint32_t message = 0;  ///< number in the session, per direction
  std::uint32_t order = 0;    ///< among messages that are matched
  std::uint32_t bytes = 0;    ///< of this fragment
  std::uint64_t offset = 0;   ///< of its first byte in the message
  std::uint64_t total = 0;    ///< bytes of the message (request_to_send: of the message it announces)
  std::uint64_t tag = 0;
  std::uint64_t data = 0;
  std::uint64_t checksum = 0;
  std::uint64_t address = 0;  ///< with flag_extended
  std::uint64_t key = 0;      ///< with flag_extended
  bool operator==(const DataFrame&) const = default;
};

struct HelloFrame {
  static constexpr std::uint8_t flag_aes = 1;   ///< the sender's processor has AES's instructions
  static constexpr std::uint8_t flag_over = 2;  ///< the sender has given the receiver up, for good

  bool answer = false;
  std::uint8_t flags = 0;
  std::uint32_t session = 0;         ///< the sender's number of the session
  std::uint64_t identity = 0;        ///< the sender's towards the receiver
  std::uint64_t known_identity = 0;  ///< the receiver's as the sender knows it; 0: not yet
  std::uint64_t cookie = 0;          ///< of the last challenge to this identity; 0: none
  std::uint32_t echo_stamp = 0;      ///< in an answer: the stamp of the HELLO
  std::uint32_t vfrag_window = 0;
  std::uint32_t message_limit = 0;
  std::uint64_t byte_limit = 0;
  std::uint32_t ack_delay = 0;        ///< longest time an acknowledgement is held back, wire time
  std::span<const std::byte> name{};  ///< the sender's name, into the packet
};

/// What a HELLO of an identity that was not known is answered with: another HELLO with the cookie shows that its sender
/// hears what is sent to the name, and now.
struct ChallengeFrame {
  std::uint64_t identity = 0;  ///< the HELLO's
  std::uint64_t cookie = 0;
  std::span<const std::byte> name{};  ///< the challenger's, into the packet; empty without a secret, for strangers
};

/// Why a packet was refused.
enum class Refusal : std::uint8_t {
  none,
  too_short,  ///< no room for a header, or not as long as the header says
  foreign,    ///< another magic number
  other_version,
  corrupt_header,  ///< the check does not fit
  malformed,       ///< the check fits, but a field is out of bounds: a defect of the sender
};

/// The key of one direction of a session between two identities: packets of earlier sessions, and those of the other
/// direction, carry another. Never 0.
std::uint64_t session_key(std::uint64_t sender, std::uint64_t receiver);

/// The check of all headers of a packet but itself: for programs that change packets on purpose.
std::uint32_t check_of_headers(std::span<const std::byte> headers);

/// Writes the headers of one packet: begin(), frames, finish(). The payloads follow the headers on the wire in the
/// order of their data frames. `buffer` must have room: most_data_header_bytes for an acknowledgement and a data frame.
class Writer {
 public:
  Writer(std::span<std::byte> buffer, const PacketHeader& header);

  void add(const AckFrame& frame);
  void add(const DataFrame& frame);
  void add(const HelloFrame& frame);
  void add(const ChallengeFrame& frame);
  void add_bye();
  /// So many bytes of padding follow the headers.
  void add_padding(std::uint32_t bytes);

  std::size_t room() const { return buffer_.size() - used_; }
  std::size_t frames() const { return frames_; }
  std::size_t header_bytes() const { return used_; }
  /// Fills in the lengths. The headers as a tag is made of them: without check and tag.
  std::span<const std::byte> lay(std::size_t payload_bytes);
  /// After lay(): the headers to send, with the tag and the check.
  std::span<const std::byte> seal(const Tag& tag);
  /// Both, for a packet that nobody vouches for.
  std::span<const std::byte> finish(std::size_t payload_bytes) {
    lay(payload_bytes);
    return seal(Tag{});
  }

 private:
  std::byte* take(std::size_t bytes);

  std::span<std::byte> buffer_;
  std::size_t used_ = packet_header_bytes;
  std::uint8_t frames_ = 0;
};

/// Reads one packet. open() checks everything; then next() hands out the frames.
class Reader {
 public:
  /// `packet` must stay while the reader is used.
  Refusal open(std::span<const std::byte> packet);
  const PacketHeader& header() const { return header_; }
  /// The packet's first bytes as its tag was made of them; what follows them is as it came.
  std::array<std::byte, packet_header_bytes> untagged() const;
  std::span<const std::byte> after_header() const { return packet_.subspan(packet_header_bytes); }

  /// The type of the next frame, which the fitting member below then holds; false at the end.
  bool next(FrameType& type);
  const AckFrame& ack() const { return ack_; }
  const DataFrame& data() const { return data_; }
  std::span<const std::byte> payload() const { return payload_; }
  const HelloFrame& hello() const { return hello_; }
  const ChallengeFrame& challenge() const { return challenge_; }

 private:
  bool read_frame(FrameType& type);
  bool read_ack();
  bool read_data();
  bool read_hello();
  bool read_challenge();
  bool read_padding();
  bool well_formed();

  std::span<const std::byte> packet_;
  PacketHeader header_;
  std::size_t header_bytes_ = 0;
  std::size_t at_ = 0;
  std::size_t payload_at_ = 0;
  std::uint8_t frames_ = 0;
  std::uint8_t frames_left_ = 0;
  AckFrame ack_;
  DataFrame data_;
  HelloFrame hello_;
  ChallengeFrame challenge_;
  std::span<const std::byte> payload_;
};

}  // namespace holdfast::transport::wire
