#include "transport/rail/link_watch.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace holdfast::transport {

namespace {

constexpr unsigned lower_up = 1U << 16;  // IFF_LOWER_UP, which <net/if.h> lacks: there is a carrier

std::string interface_of(const nlmsghdr& header, const ifinfomsg& link) {
  auto left = static_cast<int>(header.nlmsg_len - NLMSG_LENGTH(sizeof link));
  for (const rtattr* each = IFLA_RTA(&link); RTA_OK(each, left); each = RTA_NEXT(each, left)) {
    if (each->rta_type != IFLA_IFNAME) continue;
    const auto* name = static_cast<const char*>(RTA_DATA(each));
    return {name, strnlen(name, RTA_PAYLOAD(each))};
  }
  return {};
}

}  // namespace

LinkWatch::LinkWatch() {
  socket_ = ::socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (socket_ < 0) return;
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = RTMGRP_LINK;
  if (bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return;
  ::close(socket_);
  socket_ = -1;
}

LinkWatch::~LinkWatch() {
  if (socket_ >= 0) ::close(socket_);
}

// For all links as they are now, when the kernel had more to tell than the socket has room for.
void LinkWatch::ask_all() {
  struct {
    nlmsghdr header;
    ifinfomsg link;
  } request{};
  request.header.nlmsg_len = NLMSG_LENGTH(sizeof request.link);
  request.header.nlmsg_type = RTM_GETLINK;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  (void)::send(socket_, &request, request.header.nlmsg_len, 0);
}

void LinkWatch::note(const std::string& interface, bool up, std::vector<Change>& found) {
  const auto known = std::find(down_.begin(), down_.end(), interface);
  if (up == (known == down_.end())) return;
  if (up) {
    down_.erase(known);
  } else {
    down_.push_back(interface);
  }
  std::erase_if(found, [&](const Change& change) { return change.interface == interface; });
  found.push_back({interface, up});
}

void LinkWatch::read(const char* bytes, std::size_t size, std::vector<Change>& found) {
  const auto* header = reinterpret_cast<const nlmsghdr*>(bytes);
  for (auto left = static_cast<unsigned>(size); NLMSG_OK(header, left); header = NLMSG_NEXT(header, left)) {
    const bool link = header->nlmsg_type == RTM_NEWLINK || header->nlmsg_type == RTM_DELLINK;
    if (!link || header->nlmsg_len < NLMSG_LENGTH(sizeof(ifinfomsg))) continue;
    const auto& info = *static_cast<const ifinfomsg*>(NLMSG_DATA(header));
    const std::string interface = interface_of(*header, info);
    const bool running = (info.ifi_flags & IFF_UP) != 0 && (info.ifi_flags & lower_up) != 0;
    if (!interface.empty()) note(interface, header->nlmsg_type == RTM_NEWLINK && running, found);
  }
}

std::vector<LinkWatch::Change> LinkWatch::changes() {
  std::vector<Change> found;
  if (socket_ < 0) return found;
  alignas(nlmsghdr) std::array<char, 32768> bytes;
  bool asked = false;
  for (;;) {
    sockaddr_nl from{};
    socklen_t length = sizeof from;
    const ssize_t got = recvfrom(socket_, bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr*>(&from), &length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == ENOBUFS && !asked) {
      asked = true;
      ask_all();
      continue;
    }
    if (got <= 0) return found;
    if (from.nl_pid == 0) read(bytes.data(), static_cast<std::size_t>(got), found);  // else not from the kernel
  }
}

}  // namespace holdfast::transport
