#include "transport/engine/messages.h"

#include <algorithm>

namespace holdfast::transport {
namespace {

// Makes a pooled object like new but for its place in the pool.
template <class T>
void renew(T& object) {
  const Pooled place = object;
  object = T();
  static_cast<Pooled&>(object) = place;
}

}  // namespace

std::string_view name(Outcome outcome) {
  switch (outcome) {
    case Outcome::ok:
      return "ok";
    case Outcome::truncated:
      return "truncated";
    case Outcome::canceled:
      return "canceled";
    case Outcome::unreachable:
      return "unreachable";
    case Outcome::restarted:
      return "restarted";
    case Outcome::closed:
      return "closed";
    case Outcome::spoiled:
      return "spoiled";
    case Outcome::refused:
      return "refused";
  }
  return "unknown";
}

void Pieces::set(std::span<const iovec> pieces) {
  count = static_cast<std::uint32_t>(pieces.size());
  std::copy(pieces.begin(), pieces.end(), list.begin());
  bytes = integrity::bytes_of(pieces);
}

void Pieces::set(std::byte* memory, std::size_t size) {
  list[0] = {memory, size};
  count = 1;
  bytes = size;
}

std::size_t Load::frame_bytes_of(const Fragment& fragment) {
  return wire::data_frame_bytes + (fragment.vfrag->message->extended ? wire::data_extension_bytes : 0);
}

void Load::add(Fragment& fragment) {
  fragments[count++] = &fragment;
  frame_bytes += frame_bytes_of(fragment);
  data_bytes += fragment.bytes;
}

void Vfrag::reuse() {
  renew(*this);
}
void OutMessage::reuse() {
  renew(*this);
}
void ReceiveOp::reuse() {
  renew(*this);
}
void InMessage::reuse() {
  renew(*this);
}

}  // namespace holdfast::transport
