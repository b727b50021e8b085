#include "transport/ofi/address.h"

#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

namespace holdfast::transport::ofi {

namespace {

constexpr std::byte magic{0x48};
constexpr std::size_t head_bytes = 14;
constexpr std::size_t most_rails = 15;
constexpr unsigned opaque = 128;

/// Writes pieces one behind the other, as long as there is room.
class Packer {
 public:
  Packer(Address::Raw& raw, std::size_t at) : raw_(raw), at_(at) {}
  void put(const void* from, std::size_t length) {
    good_ = good_ && length <= raw_.size() - at_;
    if (!good_ || length == 0) return;
    std::memcpy(raw_.data() + at_, from, length);
    at_ += length;
  }
  void put(unsigned byte) {
    const auto value = static_cast<std::uint8_t>(byte);
    put(&value, 1);
  }
  bool good() const { return good_; }

 private:
  Address::Raw& raw_;
  std::size_t at_;
  bool good_ = true;
};

class Unpacker {
 public:
  Unpacker(std::span<const std::byte> raw, std::size_t at) : raw_(raw), at_(at) {}
  bool take(void* to, std::size_t length) {
    if (length > raw_.size() - at_) return false;
    if (length > 0) std::memcpy(to, raw_.data() + at_, length);
    at_ += length;
    return true;
  }

 private:
  std::span<const std::byte> raw_;
  std::size_t at_;
};

template <class Socket>
std::vector<std::byte> as_bytes(const Socket& socket) {
  const auto* from = reinterpret_cast<const std::byte*>(&socket);
  return {from, from + sizeof socket};
}

void pack_rail(const std::vector<std::byte>& rail, Packer& packer) {
  sa_family_t family = AF_UNSPEC;
  if (rail.size() >= sizeof family) std::memcpy(&family, rail.data(), sizeof family);
  if (family == AF_INET && rail.size() == sizeof(sockaddr_in)) {
    sockaddr_in socket;
    std::memcpy(&socket, rail.data(), sizeof socket);
    packer.put(4);
    packer.put(&socket.sin_addr, sizeof socket.sin_addr);
    packer.put(&socket.sin_port, sizeof socket.sin_port);
  } else if (family == AF_INET6 && rail.size() == sizeof(sockaddr_in6)) {
    sockaddr_in6 socket;
    std::memcpy(&socket, rail.data(), sizeof socket);
    packer.put(6);
    packer.put(&socket.sin6_addr, sizeof socket.sin6_addr);
    packer.put(&socket.sin6_port, sizeof socket.sin6_port);
  } else {
    packer.put(opaque + static_cast<unsigned>(std::min<std::size_t>(rail.size(), 127)));
    packer.put(rail.data(), rail.size());
  }
}

bool unpack_rail(Unpacker& unpacker, std::vector<std::byte>& rail) {
  std::uint8_t kind = 0;
  if (!unpacker.take(&kind, 1)) return false;
  if (kind == 4) {
    sockaddr_in socket{};
    socket.sin_family = AF_INET;
    if (!unpacker.take(&socket.sin_addr, sizeof socket.sin_addr)) return false;
    if (!unpacker.take(&socket.sin_port, sizeof socket.sin_port)) return false;
    rail = as_bytes(socket);
    return true;
  }
  if (kind == 6) {
    sockaddr_in6 socket{};
    socket.sin6_family = AF_INET6;
    if (!unpacker.take(&socket.sin6_addr, sizeof socket.sin6_addr)) return false;
    if (!unpacker.take(&socket.sin6_port, sizeof socket.sin6_port)) return false;
    rail = as_bytes(socket);
    return true;
  }
  if (kind < opaque) return false;
  rail.resize(kind - opaque);
  return unpacker.take(rail.data(), rail.size());
}

}  // namespace

bool Address::write(Raw& raw) const {
  raw.fill(std::byte{0});
  if (rails.size() > most_rails) return false;
  raw[0] = magic;
  raw[1] = static_cast<std::byte>(rails.size() | (partial ? 0x80U : 0U));
  std::memcpy(raw.data() + 2, &host, sizeof host);
  std::memcpy(raw.data() + 6, number.data(), number.size());
  Packer packer(raw, head_bytes);
  for (const auto& rail : rails) pack_rail(rail, packer);
  return packer.good();
}

bool Address::read(std::span<const std::byte> raw, Address& address) {
  if (raw.size() != bytes || raw[0] != magic) return false;
  const auto flags = static_cast<unsigned>(raw[1]);
  if ((flags & 0x70U) != 0) return false;
  address.partial = (flags & 0x80U) != 0;
  std::memcpy(&address.host, raw.data() + 2, sizeof address.host);
  std::memcpy(address.number.data(), raw.data() + 6, address.number.size());
  address.rails.assign(flags & 0x0FU, {});
  Unpacker unpacker(raw, head_bytes);
  for (auto& rail : address.rails) {
    if (!unpack_rail(unpacker, rail)) return false;
  }
  return true;
}

Address::Number Address::new_number() {
  Number number{};
  for (std::size_t got = 0; got < number.size();) {
    const ssize_t n = getrandom(number.data() + got, number.size() - got, 0);
    if (n > 0) got += static_cast<std::size_t>(n);
  }
  return number;
}

std::uint32_t Address::this_host() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

std::uint64_t Address::number_as_integer() const {
  std::uint64_t value = 0;
  std::memcpy(&value, number.data(), sizeof value);
  return value;
}

}  // namespace holdfast::transport::ofi
