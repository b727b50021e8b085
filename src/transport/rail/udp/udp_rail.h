#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "transport/rail/rail.h"

namespace holdfast::transport {

/// A rail over a UDP socket of one network interface. Packets are as long as the interface allows (its MTU less the
/// headers of IP and UDP). What is put between two calls of flush() for one destination goes to the kernel as one
/// piece, which it cuts into datagrams (UDP_SEGMENT, udp(7)), and what arrives is taken in pieces as large (UDP_GRO): a
/// system call and a pass through the network stack then serve tens of packets. libfabric's own udp provider has no way
/// to do that. One thread.
///
/// What the kernel knows by itself (no route, the interface is down, a packet is too long) is reported as a failure of
/// the destination. What came in an ICMP message, which anybody can make up who knows the ports, only as a doubt (RFC
/// 5927).
class UdpRail : public Rail {
 public:
  /// `interface`: empty for the first that is up and no loopback, else the loopback. `most_packet_bytes` is what the
  /// engine would like. `node` and `service` (may be empty) are the address and port to bind to. Errors: unavailable.
  static Result<std::unique_ptr<UdpRail>> open(const std::string& interface, std::size_t most_packet_bytes,
                                               const std::string& node, const std::string& service);
  ~UdpRail() override;
  UdpRail(const UdpRail&) = delete;
  UdpRail& operator=(const UdpRail&) = delete;

  std::span<const std::byte> address() const override { return address_; }
  std::size_t most_packet_bytes() const override { return most_packet_bytes_; }
  double bytes_per_second() const override { return 1e9; }
  Result<std::uint32_t> add_destination(std::span<const std::byte> address) override;
  Put put(std::uint32_t destination, std::span<const iovec> pieces, std::uint64_t token) override;
  bool came_from(std::uint32_t destination) const override;
  void answer(std::span<const std::byte> address, std::span<const std::byte> packet) override;
  void flush() override;
  std::size_t poll(RailSink& sink, std::int64_t now_ns) override;
  int wait_fd() const override { return socket_; }
  std::string_view interface() const override { return interface_; }
  bool may_wait() override { return batch_.packets == 0 && finished_.empty() && failed_.empty() && doubted_.empty(); }

  /// The interfaces that a rail can go over, IPv4 first, the loopback last.
  struct Interface {
    std::string name;
    bool loopback = false;
    sockaddr_storage address{};
  };
  static std::vector<Interface> interfaces();
  /// What fits its packets, also while it is down; those of Ethernet's when there is none of this name.
  static std::size_t likely_packet_bytes(const std::string& interface);
  /// The address of a node and a port. Errors: not_found.
  static Result<std::vector<std::byte>> resolve(const char* node, const char* service);

 private:
  static constexpr std::size_t most_batched = 64;  // UDP_MAX_SEGMENTS of the kernel
  static constexpr std::size_t most_pieces_each = 10;
  static constexpr std::size_t most_copied_bytes =
      512;  // of a packet that is copied, so that its memory is free at once
  static constexpr std::size_t most_datagram_bytes = 65507;
  static constexpr std::size_t receives = 16;
  static constexpr std::size_t most_polled = 1024;  // packets at one poll

  /// Packets for one destination, all as long as the first but perhaps the last.
  struct Batch {
    std::uint32_t destination = 0;
    std::size_t packets = 0;
    std::size_t packet_bytes = 0;
    std::size_t bytes = 0;
    std::size_t pieces = 0;
    std::size_t copied = 0;
    bool ended = false;  ///< by a shorter packet
    std::array<std::uint8_t, most_batched> pieces_of{};
    std::array<iovec, most_batched * most_pieces_each> list{};
    std::array<std::byte, most_batched * most_copied_bytes> copies;
    std::vector<std::uint64_t> tokens;
  };
  struct Destination {
    sockaddr_storage address{};
    socklen_t length = 0;
  };
  struct Finished {
    std::uint64_t token;
    bool ok;
  };

  UdpRail() = default;
  Status start(const std::string& interface, std::size_t most_packet_bytes, const std::string& node,
               const std::string& service);
  static bool read_address(std::span<const std::byte> bytes, Destination& to);
  bool takes(std::uint32_t destination, std::size_t bytes) const;
  void append(std::span<const iovec> pieces, std::size_t bytes, bool copy, std::uint64_t token);
  bool take(RailSink& sink, std::size_t& events);
  bool send(std::span<iovec> list, std::size_t segment_bytes);
  bool read_errors();
  void note_doubt(const sockaddr_storage& destination);
  void report(RailSink& sink);
  bool send_singly();
  bool send_batch();
  void end_batch(bool ok);

  int socket_ = -1;
  bool segments_ = true;  ///< the kernel cuts
  std::size_t most_packet_bytes_ = 0;
  std::vector<std::byte> address_;
  std::string interface_;
  std::vector<Destination> destinations_;
  std::map<std::string, std::uint32_t> numbers_;  ///< of destinations, by the bytes of the address
  const sockaddr_storage* source_ = nullptr;      ///< of the packet that the sink is being handed
  Batch batch_;
  std::vector<Finished> finished_;
  std::vector<Finished> reported_;      ///< empty but in poll()
  bool busy_ = false;                   ///< somebody was told so
  std::vector<std::uint32_t> failed_;   ///< destinations of which the sink hears at the next poll; each once
  std::vector<std::uint32_t> doubted_;  ///< likewise

  struct Receive {
    std::array<std::byte, 65536> memory;
    sockaddr_storage source;
    alignas(cmsghdr) std::array<std::byte, 64> control;
  };
  std::unique_ptr<std::array<Receive, receives>> receives_;
  std::array<iovec, receives> receive_list_{};
  std::array<mmsghdr, receives> receive_headers_{};
};

}  // namespace holdfast::transport
