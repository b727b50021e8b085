#include "transport/wire/packet_seal.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <new>

#include "transport/wire/little_endian.h"

#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace holdfast::transport::wire {
namespace {

constexpr std::size_t nonce_bytes = 12;
constexpr std::size_t most_at_once = std::size_t{1} << 30;  ///< what OpenSSL takes in one call is an int

// Neither the machine's configuration file nor a function at the end of somebody else's program.
const bool ready = OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT, nullptr) == 1;

const unsigned char* plain(const void* bytes) {
  return static_cast<const unsigned char*>(bytes);
}

// OpenSSL refuses only what is a defect here. A packet with a wrong tag would be dropped; one that nobody can tell from
// a forged one must not be.
void must(bool good) {
  if (!good) std::abort();
}

}  // namespace

struct PacketSeal::Machine {
  EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
  ~Machine() { EVP_CIPHER_CTX_free(context); }
};

bool has_aes_instructions() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("aes") != 0 && __builtin_cpu_supports("pclmul") != 0;
#elif defined(__aarch64__)
  constexpr unsigned long both = HWCAP_AES | HWCAP_PMULL;
  return (getauxval(AT_HWCAP) & both) == both;
#else
  return false;
#endif
}

PacketSeal::PacketSeal(const secret::Key& key, Cipher cipher) : machine_(std::make_unique<Machine>()) {
  if (!ready || machine_->context == nullptr) throw std::bad_alloc();
  const EVP_CIPHER* const chosen = cipher == Cipher::aes256_gcm ? EVP_aes_256_gcm() : EVP_chacha20_poly1305();
  if (EVP_EncryptInit_ex(machine_->context, chosen, nullptr, plain(key.data()), nullptr) != 1) throw std::bad_alloc();
}

PacketSeal::~PacketSeal() = default;

Tag PacketSeal::tag(std::uint8_t rail, std::uint64_t number, std::span<const std::byte> headers,
                    std::span<const iovec> rest) {
  std::array<std::byte, nonce_bytes> nonce{};
  store<std::uint8_t>(nonce.data(), rail);
  store<std::uint64_t>(nonce.data() + 4, number);
  EVP_CIPHER_CTX* const context = machine_->context;
  int unused = 0;
  must(EVP_EncryptInit_ex(context, nullptr, nullptr, nullptr, plain(nonce.data())) == 1);
  const auto add = [&](const void* from, std::size_t bytes) {
    for (const auto* at = plain(from); bytes > 0;) {
      const std::size_t here = std::min(bytes, most_at_once);
      must(EVP_EncryptUpdate(context, nullptr, &unused, at, static_cast<int>(here)) == 1);
      at += here;
      bytes -= here;
    }
  };
  add(headers.data(), headers.size());
  for (const iovec& piece : rest) add(piece.iov_base, piece.iov_len);
  Tag tag;
  unsigned char none = 0;
  must(EVP_EncryptFinal_ex(context, &none, &unused) == 1);
  must(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, static_cast<int>(tag.size()), tag.data()) == 1);
  return tag;
}

}  // namespace holdfast::transport::wire
