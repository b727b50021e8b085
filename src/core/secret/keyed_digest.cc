#include "core/secret/keyed_digest.h"

#include <sodium/crypto_auth_hmacsha256.h>
#include <sodium/utils.h>

#include <new>

namespace holdfast::secret {
namespace {

using State = crypto_auth_hmacsha256_state;

const unsigned char* plain(const std::byte* bytes) {
  return reinterpret_cast<const unsigned char*>(bytes);
}

}  // namespace

KeyedDigest::KeyedDigest(const Key& key) {
  static_assert(sizeof(State) <= sizeof state_ && alignof(State) <= 64);
  crypto_auth_hmacsha256_init(::new (static_cast<void*>(state_.data())) State, plain(key.data()), key.size());
}

KeyedDigest& KeyedDigest::bytes(std::span<const std::byte> piece) {
  auto* state = std::launder(reinterpret_cast<State*>(state_.data()));
  crypto_auth_hmacsha256_update(state, plain(piece.data()), piece.size());
  return *this;
}

KeyedDigest& KeyedDigest::number(std::uint64_t value) {
  std::array<std::byte, sizeof value> written;
  for (std::size_t i = 0; i < written.size(); ++i) written[i] = static_cast<std::byte>(value >> (8 * i));
  return bytes(written);
}

KeyedDigest& KeyedDigest::text(std::span<const std::byte> piece) {
  return number(piece.size()).bytes(piece);
}

Digest KeyedDigest::finish() {
  Digest digest;
  auto* state = std::launder(reinterpret_cast<State*>(state_.data()));
  crypto_auth_hmacsha256_final(state, reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

Key derive(const Key& key, std::string_view purpose, std::span<const std::byte> context) {
  constexpr std::array<std::byte, 1> first_block{std::byte{1}};
  return KeyedDigest(key).bytes(std::as_bytes(std::span(purpose))).bytes(context).bytes(first_block).finish();
}

bool equal(std::span<const std::byte> one, std::span<const std::byte> other) {
  return one.size() == other.size() && sodium_memcmp(one.data(), other.data(), one.size()) == 0;
}

}  // namespace holdfast::secret
