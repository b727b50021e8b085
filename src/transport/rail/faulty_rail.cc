#include "transport/rail/faulty_rail.h"

#include <algorithm>
#include <utility>

#include "core/arithmetic/checked.h"

namespace holdfast::transport {
namespace {

constexpr std::uint64_t header_bits = 64 * 8;

/// A mean of up to 292 years is taken: most of what is drawn from it is beyond the clock, and never strikes.
std::int64_t next_strike(std::int64_t now_ns, const fault::Mean& mean, random::Stream& chance) {
  return arithmetic::add_or_never(now_ns, chance.exponential(static_cast<double>(mean.interval_ns)));
}

}  // namespace

/// Stands between the rail below and the caller's sink: hides the ends of puts of its own, and what comes in when
/// killed.
class FaultyRail::Sink : public RailSink {
 public:
  Sink(FaultyRail& rail, RailSink& above) : rail_(rail), above_(above) {}
  void on_packet(std::span<const std::byte> packet) override {
    if (!rail_.killed_ && packet.size() <= rail_.longest_) above_.on_packet(packet);
  }
  void on_put_done(std::uint64_t token, bool ok) override {
    if ((token >> 63) == 0) return above_.on_put_done(token, ok);
    std::erase_if(rail_.lent_, [token](const auto& lent) { return lent.first == token; });
  }
  void on_ready() override { above_.on_ready(); }
  void on_failed(std::uint32_t destination) override { above_.on_failed(destination); }
  void on_doubted(std::uint32_t destination) override { above_.on_doubted(destination); }

 private:
  FaultyRail& rail_;
  RailSink& above_;
};

FaultyRail::FaultyRail(std::unique_ptr<Rail> below, std::vector<fault::Fault> faults, Place place,
                       random::Stream chance)
    : below_(std::move(below)), place_(place) {
  for (std::size_t i = 0; i < faults.size(); ++i) {
    if (!fault::strikes_packets(faults[i].kind)) continue;
    armed_.push_back({.fault = faults[i], .chance = chance.child(i)});
    Armed& armed = armed_.back();
    if (const auto* time = std::get_if<fault::Time>(&armed.fault.when)) armed.next_ns = time->after_ns;
    if (const auto* mean = std::get_if<fault::Mean>(&armed.fault.when)) {
      armed.next_ns = next_strike(0, *mean, armed.chance);
    }
  }
}

void FaultyRail::name_destination(std::uint32_t destination, std::uint32_t rank) {
  if (destination >= ranks_.size()) ranks_.resize(destination + 1);
  ranks_[destination] = rank;
}

bool FaultyRail::fits(const fault::Place& place, std::uint32_t destination) const {
  if (place.rank && *place.rank != place_.rank) return false;
  if (place.replica && *place.replica != place_.replica) return false;
  if (place.rail && *place.rail != place_.rail) return false;
  if (!place.peer) return true;
  return destination < ranks_.size() && ranks_[destination] == place.peer;
}

// Whether the fault strikes this packet, of its place.
bool FaultyRail::strikes(Armed& armed, std::uint32_t destination) {
  if (armed.spent || !fits(armed.fault.place, destination)) return false;
  ++armed.messages;
  const std::int64_t elapsed_ns = start_ns_ < 0 ? 0 : now_ns_ - start_ns_;
  if (const auto* rate = std::get_if<fault::Rate>(&armed.fault.when)) {
    return armed.chance.chance(rate->chance.numerator, rate->chance.denominator);
  }
  if (const auto* message = std::get_if<fault::Message>(&armed.fault.when)) {
    armed.spent = armed.messages == message->number;
    return armed.spent;
  }
  if (std::holds_alternative<fault::Time>(armed.fault.when)) {
    armed.spent = elapsed_ns >= armed.next_ns;
    return armed.spent;
  }
  if (const auto* mean = std::get_if<fault::Mean>(&armed.fault.when)) {
    if (elapsed_ns < armed.next_ns) return false;
    armed.next_ns = next_strike(elapsed_ns, *mean, armed.chance);
    return true;
  }
  return std::holds_alternative<fault::AtOnce>(armed.fault.when);
}

void FaultyRail::apply(Armed& armed, std::size_t bytes, Effects& effects) {
  const std::uint64_t bits = 8 * static_cast<std::uint64_t>(bytes);
  switch (armed.fault.kind) {
    case fault::Kind::drop:
      effects.drop = true;
      break;
    case fault::Kind::duplicate:
      effects.copies = 2;
      break;
    case fault::Kind::reorder:
      effects.reorder = true;
      break;
    case fault::Kind::delay:
      effects.delay_ns += armed.fault.delay_ns;
      break;
    case fault::Kind::flip:
      if (bits > 0) effects.bits.push_back(armed.fault.bit ? *armed.fault.bit % bits : armed.chance.below(bits));
      break;
    case fault::Kind::corrupt_header: {
      const std::uint64_t among = std::min(bits, header_bits);
      if (among > 0) effects.bits.push_back(armed.fault.bit ? *armed.fault.bit % among : armed.chance.below(among));
      break;
    }
    case fault::Kind::kill_rail:
      killed_ = true;
      break;
    case fault::Kind::narrow_rail:
      longest_ = std::min<std::size_t>(longest_, armed.fault.longest_bytes);
      armed.spent = true;
      break;
    default:
      break;
  }
}

Put FaultyRail::put(std::uint32_t destination, std::span<const iovec> pieces, std::uint64_t token) {
  std::size_t bytes = 0;
  for (const iovec& piece : pieces) bytes += piece.iov_len;
  Effects effects;
  bool struck = false;
  for (Armed& armed : armed_) {
    if (!strikes(armed, destination)) continue;
    struck = true;
    apply(armed, bytes, effects);
  }
  const auto overtaken = std::find_if(waiting_.begin(), waiting_.end(), [destination](const Kept& kept) {
    return kept.overtaken && kept.destination == destination;
  });
  if (struck) ++struck_;
  Put answer = Put::done;
  if (killed_ || bytes > longest_ || effects.drop) {
    // It vanishes.
  } else if (!struck) {
    answer = below_->put(destination, pieces, token);
    if (answer == Put::busy || answer == Put::failed) return answer;
  } else {
    Kept kept{
        .destination = destination, .bytes = {}, .due_ns = now_ns_ + effects.delay_ns, .overtaken = effects.reorder};
    for (const iovec& piece : pieces) {
      const auto* from = static_cast<const std::byte*>(piece.iov_base);
      kept.bytes.insert(kept.bytes.end(), from, from + piece.iov_len);
    }
    for (const std::uint64_t bit : effects.bits) kept.bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    for (unsigned copy = 0; copy < effects.copies; ++copy) waiting_.push_back(kept);
  }
  if (overtaken != waiting_.end()) overtaken->overtaken = false;
  send_due();
  return answer;
}

// The rail below gets a packet that is kept here, and the loan of its bytes.
void FaultyRail::send_kept(std::list<Kept>::iterator packet) {
  const std::uint64_t token = next_token_++;
  lent_.emplace_back(token, std::move(packet->bytes));
  std::vector<std::byte>& bytes = lent_.back().second;
  const iovec piece = {bytes.data(), bytes.size()};
  const Put answer = below_->put(packet->destination, {&piece, 1}, token);
  if (answer != Put::pending) lent_.pop_back();  // sent, or lost as packets are
  waiting_.erase(packet);
}

void FaultyRail::send_due() {
  for (auto packet = waiting_.begin(); packet != waiting_.end();) {
    const auto next = std::next(packet);
    if (!packet->overtaken && packet->due_ns <= now_ns_) send_kept(packet);
    packet = next;
  }
}

std::int64_t FaultyRail::next_due_ns() const {
  std::int64_t due = INT64_MAX;
  for (const Kept& packet : waiting_)
    if (!packet.overtaken) due = std::min(due, packet.due_ns);
  return due;
}

std::size_t FaultyRail::poll(RailSink& sink, std::int64_t now_ns) {
  if (start_ns_ < 0) start_ns_ = now_ns;
  now_ns_ = now_ns;
  send_due();
  Sink between(*this, sink);
  return below_->poll(between, now_ns);
}

}  // namespace holdfast::transport
