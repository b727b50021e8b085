#include "simulate/transport/endpoint.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace holdfast::simulate {
namespace {

using transport::Put;

constexpr std::int64_t most_step_ns = 1'000'000'000;  // what an engine takes for a clock that goes on (clock.h)

transport::Secrets secrets_of(random::Stream random) {
  transport::Secrets secrets;
  for (std::size_t at = 0; at < secrets.seed.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t word = random.next64();
    std::memcpy(secrets.seed.data() + at, &word, std::min(sizeof word, secrets.seed.size() - at));
  }
  secrets.aes = false;  // not a matter of the machine that simulates
  return secrets;
}

}  // namespace

/// What a rail has to say goes to the engine.
class Endpoint::Sink final : public transport::RailSink {
 public:
  Sink(Endpoint& endpoint, std::uint32_t rail) : engine_(*endpoint.engine_), rail_(rail), now_ns_(endpoint.now_ns()) {}
  void on_packet(std::span<const std::byte> packet) override { engine_.on_packet(rail_, packet, now_ns_); }
  void on_put_done(std::uint64_t token, bool ok) override { engine_.on_put_done(token, ok, now_ns_); }
  void on_ready() override { engine_.on_rail_ready(rail_, now_ns_); }
  void on_failed(std::uint32_t destination) override { engine_.on_rail_failed(rail_, destination, now_ns_); }
  void on_doubted(std::uint32_t destination) override { engine_.on_rail_doubted(rail_, destination, now_ns_); }

 private:
  transport::Engine& engine_;
  std::uint32_t rail_;
  std::int64_t now_ns_;
};

Endpoint::Endpoint(std::uint32_t number, std::uint32_t endpoints, const transport::Options& options,
                   const DatagramOptions& datagrams, std::span<const Adapter> adapters,
                   std::span<const fault::Fault> faults, const random::Stream& random)
    : endpoints_(endpoints),
      processor_{datagrams.send_overhead_ns * ps_per_ns, datagrams.send_byte_ps, 0, 0},
      receive_overhead_ps_(datagrams.receive_overhead_ns * ps_per_ns),
      receive_byte_ps_(datagrams.receive_byte_ps) {
  std::vector<transport::RailTraits> traits;
  for (std::uint32_t rail = 0; rail < adapters.size(); ++rail) {
    const Adapter& adapter = adapters[rail];
    auto made = std::make_unique<AdapterRail>(number, adapter.most_packet_bytes, adapter.bytes_per_second,
                                              datagrams.queue, processor_, adapter.reach);
    adapters_.push_back(made.get());
    traits.push_back(
        {.most_packet_bytes = adapter.most_packet_bytes, .bytes_per_second = adapter.bytes_per_second, .checksum = {}});
    if (faults.empty()) {
      rails_.push_back(std::move(made));
      continue;
    }
    auto faulty = std::make_unique<transport::FaultyRail>(
        std::move(made), std::vector<fault::Fault>(faults.begin(), faults.end()),
        transport::FaultyRail::Place{number, 0, rail}, random.child("faults").child(rail));
    for (std::uint32_t other = 0; other < endpoints; ++other) faulty->name_destination(other, other);
    faulty_.push_back(faulty.get());
    rails_.push_back(std::move(faulty));
  }
  const auto name = address_of(number);
  engine_ = std::make_unique<transport::Engine>(options, traits, static_cast<transport::Host&>(*this), name,
                                                secrets_of(random.child("secrets")), now_ns());
  for (std::uint32_t rail = 0; rail < rails_.size(); ++rail) poll(rail);  // faults count their time from here
}

Put Endpoint::put(std::uint32_t rail, transport::PeerId peer, std::span<const iovec> pieces, std::uint64_t token) {
  return rails_[rail]->put(peer, pieces, token);
}

transport::PeerId Endpoint::peer_named(std::span<const std::byte> name, std::uint32_t) {
  const std::uint32_t endpoint = endpoint_of(name, endpoints_);
  return endpoint == endpoints_ ? transport::any_peer : endpoint;
}

void Endpoint::poll(std::uint32_t rail) {
  Sink sink(*this, rail);
  rails_[rail]->poll(sink, now_ns());
}

void Endpoint::at(Time now) {
  for (; now / ps_per_ns - engine_ns_ > most_step_ns; engine_ns_ += most_step_ns)
    engine_->advance(engine_ns_ + most_step_ns);
  engine_ns_ = now / ps_per_ns;
  processor_.now = now;
}

bool Endpoint::act() {
  if (in_hand_) {
    const Arrived packet = std::exchange(in_hand_, std::nullopt).value();
    adapters_[packet.rail]->brought(packet.bytes);
    poll(packet.rail);
    return true;
  }
  for (std::uint32_t rail = 0; rail < rails_.size(); ++rail) {
    const bool kept = !faulty_.empty() && faulty_[rail]->next_due_ns() <= now_ns();
    if (!kept && !adapters_[rail]->has_news()) continue;
    poll(rail);
    return true;
  }
  if (timers_at() > processor_.now) return false;
  advanced_ns_ = now_ns();
  engine_->advance(now_ns());
  return true;
}

bool Endpoint::take_packet() {
  if (inbox_.empty()) return false;
  in_hand_ = std::move(inbox_.front());
  inbox_.pop_front();
  processor_.spend(receive_overhead_ps_ + receive_byte_ps_ * static_cast<Time>(in_hand_->bytes.size()));
  return true;
}

/// Not twice in a nanosecond, of which the engine would not see the second.
Time Endpoint::timers_at() const {
  const std::int64_t deadline = engine_->next_deadline();
  if (deadline >= never / ps_per_ns) return never;
  return std::max(deadline, advanced_ns_ + 1) * ps_per_ns;
}

Time Endpoint::next_moment() const {
  bool waits = in_hand_.has_value() || !inbox_.empty();
  Time at = timers_at();
  for (std::uint32_t rail = 0; rail < rails_.size(); ++rail) {
    waits = waits || adapters_[rail]->has_news();
    if (faulty_.empty()) continue;
    const std::int64_t due = faulty_[rail]->next_due_ns();
    if (due < never / ps_per_ns) at = std::min(at, due * ps_per_ns);
  }
  if (waits) at = processor_.now;
  return std::max({at, processor_.now, processor_.free_at});
}

transport::Posted Endpoint::send(const transport::SendRequest& request) {
  return engine_->send(request, now_ns());
}

transport::Posted Endpoint::receive(const transport::ReceiveRequest& request) {
  return engine_->receive(request, now_ns());
}

std::uint64_t Endpoint::struck() const {
  std::uint64_t all = 0;
  for (const transport::FaultyRail* rail : faulty_) all += rail->struck();
  return all;
}

}  // namespace holdfast::simulate
