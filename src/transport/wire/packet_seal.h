#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/secret/key.h"
#include "transport/wire/packet.h"

namespace holdfast::transport::wire {

/// The authenticated encryption whose tags packets carry. Nothing is encrypted: a packet is what is called the
/// additional data. Both ends of a session use the same one.
enum class Cipher : std::uint8_t {
  chacha20_poly1305 = 1,  ///< RFC 8439; on any processor
  aes256_gcm,             ///< NIST SP 800-38D (GMAC); where both processors have the instructions for it
};

/// Whether this processor has AES and the carry-less multiplication.
bool has_aes_instructions();

/// Makes the tags of one direction of one session. A key serves one seal, and a number of a rail one packet: a second
/// packet of the same number would give the key of the tags away. One thread at a time.
class PacketSeal {
 public:
  /// Throws std::bad_alloc.
  PacketSeal(const secret::Key& key, Cipher cipher);
  ~PacketSeal();
  PacketSeal(const PacketSeal&) = delete;
  PacketSeal& operator=(const PacketSeal&) = delete;

  /// The tag of a packet: its headers without check and tag (Writer::lay(), Reader::untagged()), then the rest of it.
  Tag tag(std::uint8_t rail, std::uint64_t number, std::span<const std::byte> headers, std::span<const iovec> rest);

 private:
  struct Machine;
  std::unique_ptr<Machine> machine_;
};

}  // namespace holdfast::transport::wire
