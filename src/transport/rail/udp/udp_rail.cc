#include "transport/rail/udp/udp_rail.h"

#include <ifaddrs.h>
#include <linux/errqueue.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/udp.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

namespace holdfast::transport {

namespace {

constexpr int socket_buffer_bytes = 8 << 20;
constexpr unsigned most_pending_errors = 64;  ///< that are read at once: a flood of them costs no more

Status cannot_open(const std::string& interface, const char* what, const std::string& why) {
  return {Code::unavailable, "opening rail udp" + (interface.empty() ? "" : "@" + interface),
          std::string(what) + ": " + why, "'holdfast doctor' lists the rails of this host"};
}

socklen_t length_of(const sockaddr_storage& address) {
  return address.ss_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

std::vector<std::byte> bytes_of(const sockaddr_storage& address) {
  const auto* from = reinterpret_cast<const std::byte*>(&address);
  return {from, from + length_of(address)};
}

/// Whether two addresses are those of one socket.
bool same_socket(const sockaddr_storage& one, const sockaddr_storage& other) {
  if (one.ss_family != other.ss_family) return false;
  if (one.ss_family == AF_INET) {
    const auto& a = reinterpret_cast<const sockaddr_in&>(one);
    const auto& b = reinterpret_cast<const sockaddr_in&>(other);
    return a.sin_port == b.sin_port && a.sin_addr.s_addr == b.sin_addr.s_addr;
  }
  const auto& a = reinterpret_cast<const sockaddr_in6&>(one);
  const auto& b = reinterpret_cast<const sockaddr_in6&>(other);
  return a.sin6_port == b.sin6_port && std::memcmp(&a.sin6_addr, &b.sin6_addr, sizeof a.sin6_addr) == 0;
}

/// As much as the system lets us have; more with the right to go over its limit.
void enlarge(int socket, int privileged, int option) {
  const int bytes = socket_buffer_bytes;
  if (setsockopt(socket, SOL_SOCKET, privileged, &bytes, sizeof bytes) == 0) return;
  (void)setsockopt(socket, SOL_SOCKET, option, &bytes, sizeof bytes);
}

std::size_t packet_bytes_of(int socket, const std::string& interface, bool v6) {
  ifreq request{};
  std::strncpy(request.ifr_name, interface.c_str(), sizeof request.ifr_name - 1);
  const std::size_t mtu = ioctl(socket, SIOCGIFMTU, &request) == 0 ? static_cast<std::size_t>(request.ifr_mtu) : 1500;
  return mtu - (v6 ? 48 : 28);  // the headers of IP and UDP
}

void add_once(std::vector<std::uint32_t>& list, std::uint32_t number) {
  if (std::find(list.begin(), list.end(), number) == list.end()) list.push_back(number);
}

/// The extended error that a message of the error queue has; nothing: none.
std::optional<sock_extended_err> error_of(msghdr& header) {
  for (cmsghdr* control = CMSG_FIRSTHDR(&header); control != nullptr; control = CMSG_NXTHDR(&header, control)) {
    const bool v4 = control->cmsg_level == SOL_IP && control->cmsg_type == IP_RECVERR;
    const bool v6 = control->cmsg_level == SOL_IPV6 && control->cmsg_type == IPV6_RECVERR;
    if ((!v4 && !v6) || control->cmsg_len < CMSG_LEN(sizeof(sock_extended_err))) continue;
    sock_extended_err error{};
    std::memcpy(&error, CMSG_DATA(control), sizeof error);
    return error;
  }
  return std::nullopt;
}

/// The size of the datagrams that a received piece was put together from; 0: it is one.
std::size_t segment_bytes_of(msghdr& header) {
  for (cmsghdr* control = CMSG_FIRSTHDR(&header); control != nullptr; control = CMSG_NXTHDR(&header, control)) {
    if (control->cmsg_level != SOL_UDP || control->cmsg_type != UDP_GRO) continue;
    int bytes = 0;
    std::memcpy(&bytes, CMSG_DATA(control), sizeof bytes);
    return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
  }
  return 0;
}

}  // namespace

std::size_t UdpRail::likely_packet_bytes(const std::string& interface) {
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const std::size_t bytes = packet_bytes_of(socket, interface, true);
  if (socket >= 0) ::close(socket);
  return std::min(bytes, most_datagram_bytes);
}

std::vector<UdpRail::Interface> UdpRail::interfaces() {
  std::vector<Interface> found;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return found;
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_UP) == 0) continue;
    const int family = each->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    Interface one{each->ifa_name, (each->ifa_flags & IFF_LOOPBACK) != 0, {}};
    std::memcpy(&one.address, each->ifa_addr, family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
    found.push_back(std::move(one));
  }
  freeifaddrs(list);
  const auto rank = [](const Interface& one) { return (one.address.ss_family == AF_INET6 ? 2 : 0) + one.loopback; };
  std::stable_sort(found.begin(), found.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  return found;
}

Result<std::unique_ptr<UdpRail>> UdpRail::open(const std::string& interface, std::size_t most_packet_bytes,
                                               const std::string& node, const std::string& service) {
  std::unique_ptr<UdpRail> rail(new UdpRail());
  if (Status status = rail->start(interface, most_packet_bytes, node, service); !status.ok()) return status;
  return rail;
}

Status UdpRail::start(const std::string& interface, std::size_t most_packet_bytes, const std::string& node,
                      const std::string& service) {
  const std::vector<Interface> all = interfaces();
  const auto chosen = std::find_if(all.begin(), all.end(),
                                   [&](const Interface& one) { return interface.empty() || one.name == interface; });
  if (chosen == all.end()) return cannot_open(interface, "the interface", "there is none that is up with this name");
  sockaddr_storage bound = chosen->address;
  if (!node.empty() || !service.empty()) {
    auto named = resolve(node.empty() ? nullptr : node.c_str(), service.empty() ? nullptr : service.c_str());
    if (!named.ok()) return named.status();
    if (node.empty()) {
      in_port_t port = 0;
      std::memcpy(&port, named.value().data() + offsetof(sockaddr_in, sin_port), sizeof port);
      reinterpret_cast<sockaddr_in&>(bound).sin_port = port;  // at the same place in both families
    } else {
      bound = {};
      std::memcpy(&bound, named.value().data(), named.value().size());
    }
  }
  const bool v6 = bound.ss_family == AF_INET6;
  socket_ = ::socket(bound.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket_ < 0) return cannot_open(interface, "socket", std::strerror(errno));
  enlarge(socket_, SO_RCVBUFFORCE, SO_RCVBUF);
  enlarge(socket_, SO_SNDBUFFORCE, SO_SNDBUF);
  if (bind(socket_, reinterpret_cast<sockaddr*>(&bound), length_of(bound)) != 0) {
    return cannot_open(interface, "bind", std::strerror(errno));
  }
  const int on = 1;
  (void)setsockopt(socket_, SOL_UDP, UDP_GRO, &on, sizeof on);  // without it datagrams come one by one
  // Without it ICMP messages are not heard of: there is only silence.
  (void)setsockopt(socket_, v6 ? SOL_IPV6 : SOL_IP, v6 ? IPV6_RECVERR : IP_RECVERR, &on, sizeof on);
  socklen_t length = sizeof bound;
  if (getsockname(socket_, reinterpret_cast<sockaddr*>(&bound), &length) != 0) {
    return cannot_open(interface, "getsockname", std::strerror(errno));
  }
  address_ = bytes_of(bound);
  interface_ = chosen->name;
  most_packet_bytes_ = std::min({most_packet_bytes, packet_bytes_of(socket_, chosen->name, v6), most_datagram_bytes});

  receives_ = std::make_unique<std::array<Receive, receives>>();
  for (std::size_t i = 0; i < receives; ++i) {
    Receive& one = (*receives_)[i];
    receive_list_[i] = {one.memory.data(), one.memory.size()};
    receive_headers_[i].msg_hdr.msg_iov = &receive_list_[i];
    receive_headers_[i].msg_hdr.msg_iovlen = 1;
    receive_headers_[i].msg_hdr.msg_name = &one.source;
    receive_headers_[i].msg_hdr.msg_namelen = sizeof one.source;
    receive_headers_[i].msg_hdr.msg_control = one.control.data();
    receive_headers_[i].msg_hdr.msg_controllen = one.control.size();
  }
  return {};
}

UdpRail::~UdpRail() {
  if (socket_ < 0) return;
  flush();
  ::close(socket_);
}

Result<std::vector<std::byte>> UdpRail::resolve(const char* node, const char* service) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  hints.ai_flags = node == nullptr ? AI_PASSIVE : 0;
  addrinfo* list = nullptr;
  const int code = getaddrinfo(node, service, &hints, &list);
  if (code != 0) {
    return Status(Code::not_found, "resolving the address of a peer",
                  std::string(node != nullptr ? node : "") + ":" + (service != nullptr ? service : "") + ": " +
                      gai_strerror(code));
  }
  const addrinfo* chosen = list;
  for (const addrinfo* each = list; each != nullptr; each = each->ai_next) {
    if (each->ai_family != AF_INET) continue;
    chosen = each;
    break;
  }
  const auto* from = reinterpret_cast<const std::byte*>(chosen->ai_addr);
  std::vector<std::byte> bytes(from, from + chosen->ai_addrlen);
  freeaddrinfo(list);
  return bytes;
}

// False when the bytes are no address of UDP. Any bytes are allowed.
bool UdpRail::read_address(std::span<const std::byte> bytes, Destination& to) {
  if (bytes.size() < sizeof(sa_family_t) || bytes.size() > sizeof to.address) return false;
  std::memcpy(&to.address, bytes.data(), bytes.size());
  to.length = static_cast<socklen_t>(bytes.size());
  const bool known_family = to.address.ss_family == AF_INET || to.address.ss_family == AF_INET6;
  return known_family && to.length == length_of(to.address);
}

Result<std::uint32_t> UdpRail::add_destination(std::span<const std::byte> address) {
  Destination made;
  if (!read_address(address, made)) {
    return Status(Code::bad_input, "adding a destination to a rail",
                  "an address of " + std::to_string(address.size()) + " bytes is no address of UDP");
  }
  const auto number = static_cast<std::uint32_t>(destinations_.size());
  const auto [known, is_new] =
      numbers_.try_emplace({reinterpret_cast<const char*>(address.data()), address.size()}, number);
  if (is_new) destinations_.push_back(made);
  return known->second;
}

bool UdpRail::came_from(std::uint32_t destination) const {
  return source_ == nullptr ||
         (destination < destinations_.size() && same_socket(*source_, destinations_[destination].address));
}

void UdpRail::answer(std::span<const std::byte> address, std::span<const std::byte> packet) {
  Destination to;
  if (source_ == nullptr || !read_address(address, to) || !same_socket(*source_, to.address)) return;
  (void)::sendto(socket_, packet.data(), packet.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                 reinterpret_cast<const sockaddr*>(&to.address), to.length);
}

bool UdpRail::takes(std::uint32_t destination, std::size_t bytes) const {
  if (batch_.packets == 0) return true;
  return segments_ && !batch_.ended && batch_.destination == destination && batch_.packets < most_batched &&
         bytes <= batch_.packet_bytes && batch_.bytes + bytes <= most_datagram_bytes;
}

void UdpRail::append(std::span<const iovec> pieces, std::size_t bytes, bool copy, std::uint64_t token) {
  std::size_t used = 0;
  if (copy) {
    std::byte* to = batch_.copies.data() + batch_.copied;
    batch_.list[batch_.pieces] = {to, bytes};
    for (const iovec& piece : pieces) {
      if (piece.iov_len > 0) std::memcpy(to, piece.iov_base, piece.iov_len);
      to += piece.iov_len;
    }
    batch_.copied += bytes;
    used = 1;
  } else {
    for (const iovec& piece : pieces) batch_.list[batch_.pieces + used++] = piece;
    batch_.tokens.push_back(token);
  }
  if (batch_.packets == 0) batch_.packet_bytes = bytes;
  batch_.ended = bytes < batch_.packet_bytes;
  batch_.pieces_of[batch_.packets++] = static_cast<std::uint8_t>(used);
  batch_.pieces += used;
  batch_.bytes += bytes;
}

Put UdpRail::put(std::uint32_t destination, std::span<const iovec> pieces, std::uint64_t token) {
  std::size_t bytes = 0;
  for (const iovec& piece : pieces) bytes += piece.iov_len;
  if (destination >= destinations_.size() || bytes == 0 || bytes > most_packet_bytes_ ||
      pieces.size() > most_pieces_each) {
    return Put::failed;
  }
  if (!takes(destination, bytes) && !send_batch()) {
    busy_ = true;
    return Put::busy;
  }
  batch_.destination = destination;
  const bool copy = bytes <= most_copied_bytes;
  append(pieces, bytes, copy, token);
  return copy ? Put::done : Put::pending;
}

// One call of the kernel. False when it has no room now; other errors are in errno with the answer true. An error may
// be that of an earlier packet, to whomever, of which an ICMP message came: those are read, and what was to be sent
// goes now. So an error that stays is the kernel's own.
bool UdpRail::send(std::span<iovec> list, std::size_t segment_bytes) {
  Destination& to = destinations_[batch_.destination];
  msghdr header{};
  header.msg_name = &to.address;
  header.msg_namelen = to.length;
  header.msg_iov = list.data();
  header.msg_iovlen = list.size();
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(std::uint16_t))> control{};
  if (segment_bytes > 0) {
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    cmsghdr* segment = CMSG_FIRSTHDR(&header);
    segment->cmsg_level = SOL_UDP;
    segment->cmsg_type = UDP_SEGMENT;
    segment->cmsg_len = CMSG_LEN(sizeof(std::uint16_t));
    const auto size = static_cast<std::uint16_t>(segment_bytes);
    std::memcpy(CMSG_DATA(segment), &size, sizeof size);
  }
  for (unsigned tries = 0;; ++tries) {
    errno = 0;
    if (sendmsg(socket_, &header, MSG_NOSIGNAL) >= 0) return true;
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS) return false;
    const int error = errno;
    if (read_errors() && tries < most_pending_errors) continue;
    errno = error;
    return true;
  }
}

// Reads what is in the socket's error queue: whether the network told of anything. What the kernel itself has refused
// stands there, too.
bool UdpRail::read_errors() {
  bool any = false;
  for (unsigned n = 0; n < most_pending_errors; ++n) {
    sockaddr_storage destination{};
    std::byte part[64];  // of the packet that was sent: nobody looks at it
    iovec piece = {part, sizeof part};
    alignas(cmsghdr) std::array<std::byte, 256> control{};
    msghdr header{};
    header.msg_name = &destination;
    header.msg_namelen = sizeof destination;
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    if (recvmsg(socket_, &header, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) return any;
    const auto error = error_of(header);
    const bool from_network =
        error && (error->ee_origin == SO_EE_ORIGIN_ICMP || error->ee_origin == SO_EE_ORIGIN_ICMP6);
    if (from_network) note_doubt(destination);
    any = any || from_network;
  }
  return any;
}

void UdpRail::note_doubt(const sockaddr_storage& destination) {
  for (std::uint32_t number = 0; number < destinations_.size(); ++number) {
    if (same_socket(destinations_[number].address, destination)) return add_once(doubted_, number);
  }
}

// For a kernel or a route that does not cut. What finds no room is lost, as packets are.
bool UdpRail::send_singly() {
  std::size_t at = 0;
  bool good = true;
  for (std::size_t i = 0; i < batch_.packets; ++i) {
    good = (!send(std::span(batch_.list).subspan(at, batch_.pieces_of[i]), 0) || errno == 0 || errno == EPERM) && good;
    at += batch_.pieces_of[i];
  }
  return good;
}

// False when the kernel has no room: the batch stays.
bool UdpRail::send_batch() {
  if (batch_.packets == 0) return true;
  const bool several = batch_.packets > 1;
  if (!send(std::span(batch_.list).first(batch_.pieces), several ? batch_.packet_bytes : 0)) return false;
  bool ok = errno == 0 || errno == EPERM;  // a packet filter of this host refused it: lost, as packets are
  if (!ok && several && (errno == EIO || errno == EINVAL || errno == EMSGSIZE || errno == EOPNOTSUPP)) {
    segments_ = false;
    ok = send_singly();
  }
  end_batch(ok);
  return true;
}

// Packets that were copied have no token: of those that could not be sent the destination tells.
void UdpRail::end_batch(bool ok) {
  if (!ok) add_once(failed_, batch_.destination);
  for (const std::uint64_t token : batch_.tokens) finished_.push_back({token, ok});
  batch_.tokens.clear();
  batch_.packets = batch_.packet_bytes = batch_.bytes = batch_.pieces = batch_.copied = 0;
  batch_.ended = false;
}

// What failed or is doubted; what that leads to may add more.
void UdpRail::report(RailSink& sink) {
  for (const std::uint32_t number : std::exchange(failed_, {})) sink.on_failed(number);
  for (const std::uint32_t number : std::exchange(doubted_, {})) sink.on_doubted(number);
}

void UdpRail::flush() {
  send_batch();
}

// Takes what one call of the kernel gives. False when that was all that is there.
bool UdpRail::take(RailSink& sink, std::size_t& events) {
  int got = recvmmsg(socket_, receive_headers_.data(), receives, 0, nullptr);
  for (unsigned n = 0; got < 0 && errno != EAGAIN && errno != EINTR && n < most_pending_errors && read_errors(); ++n) {
    got = recvmmsg(socket_, receive_headers_.data(), receives, 0, nullptr);
  }
  for (int i = 0; i < got; ++i) {
    mmsghdr& received = receive_headers_[static_cast<std::size_t>(i)];
    const std::size_t segment = segment_bytes_of(received.msg_hdr);
    std::span<const std::byte> bytes((*receives_)[static_cast<std::size_t>(i)].memory.data(), received.msg_len);
    source_ = &(*receives_)[static_cast<std::size_t>(i)].source;
    do {
      const std::size_t packet = segment == 0 ? bytes.size() : std::min(segment, bytes.size());
      sink.on_packet(bytes.first(packet));
      bytes = bytes.subspan(packet);
      ++events;
    } while (!bytes.empty());
    received.msg_hdr.msg_controllen = sizeof(Receive::control);
    received.msg_hdr.msg_namelen = sizeof(Receive::source);
  }
  source_ = nullptr;
  return got == static_cast<int>(receives);
}

std::size_t UdpRail::poll(RailSink& sink, std::int64_t) {
  std::size_t events = 0;
  // An application that has nothing to do may give its processor away between two polls, so that one poll must be able
  // to take a window, and not only a few packets.
  while (take(sink, events) && events < most_polled) send_batch();
  const bool room = send_batch();
  reported_.swap(finished_);  // what a report leads to may finish more
  for (const Finished& one : reported_) sink.on_put_done(one.token, one.ok);
  events += reported_.size();
  reported_.clear();
  report(sink);
  if (busy_ && room) {
    busy_ = false;
    sink.on_ready();
    ++events;
  }
  return events;
}

}  // namespace holdfast::transport
