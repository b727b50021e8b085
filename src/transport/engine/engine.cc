#include "transport/engine/engine.h"

#include "transport/engine/core.h"

namespace holdfast::transport {

Engine::Engine(const Options& options, std::span<const RailTraits> rails, Host& host, std::span<const std::byte> name,
               const Secrets& secrets, std::int64_t now_ns)
    : core_(std::make_unique<Core>(options, rails, host, name, secrets, now_ns)) {}
Engine::~Engine() = default;

Posted Engine::send(const SendRequest& request, std::int64_t now_ns) {
  core_->clock.set(now_ns);
  return core_->send(request);
}
Posted Engine::receive(const ReceiveRequest& request, std::int64_t now_ns) {
  core_->clock.set(now_ns);
  return core_->receive(request);
}
std::optional<Waiting> Engine::peek(const ReceiveRequest& request, bool claim, std::int64_t now_ns) {
  core_->clock.set(now_ns);
  return core_->peek(request, claim);
}
Posted Engine::receive_claimed(const ReceiveRequest& request, std::int64_t now_ns) {
  core_->clock.set(now_ns);
  return core_->receive_claimed(request);
}
bool Engine::discard_claimed(void* context, std::int64_t now_ns) {
  core_->clock.set(now_ns);
  return core_->discard_claimed(context);
}
bool Engine::cancel(void* context, std::int64_t now_ns) {
  core_->clock.set(now_ns);
  return core_->cancel(context);
}
Posted Engine::write(const WriteRequest& request, std::int64_t now_ns) {
  core_->clock.set(now_ns);
  return core_->write(request);
}
Posted Engine::read(const ReadRequest& request, std::int64_t now_ns) {
  core_->clock.set(now_ns);
  return core_->read(request);
}
Posted Engine::atomic(const AtomicRequest& request, std::int64_t now_ns) {
  core_->clock.set(now_ns);
  return core_->atomic(request);
}
void Engine::on_packet(std::uint32_t rail, std::span<const std::byte> packet, std::int64_t now_ns) {
  core_->clock.set(now_ns);
  core_->on_packet(rail, packet);
}
void Engine::on_put_done(std::uint64_t token, bool ok, std::int64_t now_ns) {
  core_->clock.set(now_ns);
  core_->on_put_done(token, ok);
}
void Engine::on_rail_ready(std::uint32_t rail, std::int64_t now_ns) {
  core_->clock.set(now_ns);
  core_->on_rail_ready(rail);
}
void Engine::on_rail_failed(std::uint32_t rail, PeerId peer, std::int64_t now_ns) {
  core_->clock.set(now_ns);
  core_->on_rail_failed(rail, peer);
}
void Engine::on_rail_doubted(std::uint32_t rail, PeerId peer, std::int64_t now_ns) {
  core_->clock.set(now_ns);
  core_->on_rail_doubted(rail, peer);
}
void Engine::on_rail_restored(std::uint32_t rail, std::int64_t now_ns) {
  core_->clock.set(now_ns);
  core_->on_rail_restored(rail);
}
void Engine::rename(std::span<const std::byte> name, std::int64_t now_ns) {
  core_->clock.set(now_ns);
  core_->rename(name);
}
void Engine::advance(std::int64_t now_ns) {
  core_->clock.set(now_ns);
  core_->advance();
}
bool Engine::sum_ahead() {
  return core_->sum_ahead();
}
std::int64_t Engine::next_deadline() const {
  return core_->next_deadline_ns == INT64_MAX ? no_deadline : core_->clock.to_caller(core_->next_deadline_ns);
}
void Engine::close(std::int64_t now_ns) {
  core_->clock.set(now_ns);
  core_->close();
}
std::optional<Outcome> Engine::given_up(PeerId peer) const {
  return core_->given_up(peer);
}
bool Engine::idle() const {
  return core_->idle();
}
std::size_t Engine::pending_puts() const {
  return core_->pending_puts;
}
const Counters& Engine::counters() const {
  core_->counters[Count::clock_jumps] = core_->clock.jumps();
  return core_->counters;
}
RailReport Engine::rail(std::uint32_t rail, PeerId peer) const {
  return core_->rail(rail, peer);
}
std::size_t Engine::fragment_bytes() const {
  return core_->fragment_bytes;
}
std::size_t Engine::memory_bytes(PeerId peer) const {
  return core_->memory_bytes(peer);
}
std::size_t Engine::memory_bytes() const {
  return core_->memory_bytes();
}
std::size_t Engine::objects_in_use() const {
  return core_->objects_in_use();
}

// An engine may go with messages on their way, closed or not.
Core::~Core() {
  out_messages_.each([this](OutMessage& message) {
    if (message.log != nullptr) buffers_.give(message.log, message.log_bytes);
  });
  in_messages_.each([this](InMessage& message) {
    if (message.buffer != nullptr) buffers_.give(message.buffer, message.total);
  });
}

std::size_t Core::memory_bytes(PeerId peer) const {
  const Peer* known = known_peer(peer);
  return known == nullptr ? 0 : known->memory_bytes();
}

std::size_t Core::memory_bytes() const {
  std::size_t bytes = sizeof *this + peers_.capacity() * sizeof(peers_[0]) + spoken_to_.capacity() * sizeof(Peer*) +
                      out_messages_.memory_bytes() + vfrags_.memory_bytes() + blocks_.memory_bytes() +
                      packets_.memory_bytes() + in_messages_.memory_bytes() + receives_.memory_bytes() +
                      buffers_.memory_bytes();
  for (const Peer* each : spoken_to_) bytes += each->memory_bytes();
  return bytes;
}

std::size_t Core::objects_in_use() const {
  return out_messages_.in_use() + vfrags_.in_use() + blocks_.in_use() + packets_.in_use() + in_messages_.in_use() +
         receives_.in_use() + buffers_.in_use();
}

}  // namespace holdfast::transport
