#include "transport/rail/memory_rail.h"

#include <array>
#include <cstring>

namespace holdfast::transport {

/// One end of a MemoryNetwork. Its address is its number.
class MemoryRail : public Rail {
 public:
  MemoryRail(MemoryNetwork& network, std::uint32_t number) : network_(network), number_(number) {
    std::memcpy(address_.data(), &number_, sizeof number_);
  }
  ~MemoryRail() override { network_.ends_[number_]->open = false; }

  std::span<const std::byte> address() const override { return address_; }
  std::size_t most_packet_bytes() const override { return network_.most_packet_bytes_; }
  double bytes_per_second() const override { return 5e9; }

  Result<std::uint32_t> add_destination(std::span<const std::byte> address) override {
    std::uint32_t number = 0;
    if (address.size() != sizeof number) {
      return Status(Code::bad_input, "adding a destination to a rail in memory",
                    "the address has " + std::to_string(address.size()) + " bytes, not 4");
    }
    std::memcpy(&number, address.data(), sizeof number);
    return number;
  }

  Put put(std::uint32_t destination, std::span<const iovec> pieces, std::uint64_t) override {
    if (destination >= network_.ends_.size() || !network_.ends_[destination]->open) return Put::failed;
    std::deque<std::vector<std::byte>>& arrived = network_.ends_[destination]->arrived;
    if (arrived.size() >= network_.packets_) {
      refused_ = true;
      return Put::busy;
    }
    std::vector<std::byte> packet;
    for (const iovec& piece : pieces) {
      const auto* from = static_cast<const std::byte*>(piece.iov_base);
      packet.insert(packet.end(), from, from + piece.iov_len);
    }
    arrived.push_back(std::move(packet));
    return Put::done;
  }

  void answer(std::span<const std::byte> address, std::span<const std::byte> packet) override {
    auto destination = add_destination(address);
    const iovec piece = {const_cast<std::byte*>(packet.data()),
                         packet.size()};  // NOLINT: iovec's members are not const
    if (destination.ok()) (void)put(destination.value(), {&piece, 1}, 0);
  }

  std::size_t poll(RailSink& sink, std::int64_t) override {
    std::size_t events = 0;
    std::deque<std::vector<std::byte>>& arrived = network_.ends_[number_]->arrived;
    while (!arrived.empty()) {
      const std::vector<std::byte> packet = std::move(arrived.front());
      arrived.pop_front();
      sink.on_packet(packet);
      ++events;
    }
    if (refused_) {
      refused_ = false;
      sink.on_ready();
      ++events;
    }
    return events;
  }

 private:
  MemoryNetwork& network_;
  std::uint32_t number_;
  std::array<std::byte, sizeof(std::uint32_t)> address_{};
  bool refused_ = false;
};

std::unique_ptr<Rail> MemoryNetwork::make_rail() {
  ends_.push_back(std::make_unique<End>());
  return std::make_unique<MemoryRail>(*this, static_cast<std::uint32_t>(ends_.size() - 1));
}

}  // namespace holdfast::transport
