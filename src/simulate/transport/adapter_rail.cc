#include "simulate/transport/adapter_rail.h"

#include <utility>

namespace holdfast::simulate {

std::array<std::byte, 4> address_of(std::uint32_t endpoint) {
  std::array<std::byte, 4> address;
  for (unsigned i = 0; i < address.size(); ++i) address[i] = static_cast<std::byte>(endpoint >> (8 * i));
  return address;
}

std::uint32_t endpoint_of(std::span<const std::byte> address, std::uint32_t count) {
  if (address.size() != 4) return count;
  std::uint32_t endpoint = 0;
  for (unsigned i = 0; i < 4; ++i) endpoint |= std::to_integer<std::uint32_t>(address[i]) << (8 * i);
  return endpoint < count ? endpoint : count;
}

AdapterRail::AdapterRail(std::uint32_t endpoint, std::size_t most_packet_bytes, double bytes_per_second,
                         std::size_t queue, Processor& processor, std::vector<bool> reach)
    : address_(address_of(endpoint)),
      most_packet_bytes_(most_packet_bytes),
      bytes_per_second_(bytes_per_second),
      queue_(queue),
      processor_(processor),
      reach_(std::move(reach)) {}

Result<std::uint32_t> AdapterRail::add_destination(std::span<const std::byte> address) {
  const auto count = static_cast<std::uint32_t>(reach_.size());
  const std::uint32_t endpoint = endpoint_of(address, count);
  if (endpoint == count) return Status{Code::bad_input, "adding a destination", "it is no simulated host", ""};
  return endpoint;
}

transport::Put AdapterRail::put(std::uint32_t destination, std::span<const iovec> pieces, std::uint64_t token) {
  if (!reach_[destination]) return transport::Put::failed;
  if (waiting_.size() >= queue_) {
    refused_ = true;
    return transport::Put::busy;
  }
  Packet& packet = waiting_.emplace_back();
  packet.destination = destination;
  packet.token = token;
  std::size_t bytes = 0;
  for (const iovec& piece : pieces) bytes += piece.iov_len;
  packet.bytes.reserve(bytes);
  for (const iovec& piece : pieces) {
    const auto* from = static_cast<const std::byte*>(piece.iov_base);
    packet.bytes.insert(packet.bytes.end(), from, from + piece.iov_len);
  }
  packet.ready = processor_.spend(processor_.overhead_ps + processor_.byte_ps * static_cast<Time>(bytes));
  return transport::Put::taken;
}

void AdapterRail::answer(std::span<const std::byte> address, std::span<const std::byte> packet) {
  const std::uint32_t endpoint = endpoint_of(address, static_cast<std::uint32_t>(reach_.size()));
  if (endpoint == reach_.size()) return;
  const iovec piece = {const_cast<std::byte*>(packet.data()), packet.size()};
  put(endpoint, {&piece, 1}, no_token);
}

void AdapterRail::left(std::uint64_t token) {
  if (token != no_token) done_.push_back(token);
}

std::size_t AdapterRail::poll(transport::RailSink& sink, std::int64_t) {
  std::size_t news = 0;
  for (const std::uint64_t token : std::exchange(done_, {})) {
    sink.on_put_done(token, true);
    ++news;
  }
  if (refused_ && waiting_.size() < queue_) {
    refused_ = false;
    sink.on_ready();
    ++news;
  }
  for (; !brought_.empty(); ++news) {
    const std::vector<std::byte> packet = std::move(brought_.front());
    brought_.pop_front();
    sink.on_packet(packet);
  }
  return news;
}

}  // namespace holdfast::simulate
