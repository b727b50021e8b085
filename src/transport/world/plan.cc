#include "transport/world/plan.h"

#include <algorithm>
#include <array>

#include "core/random/stream.h"
#include "core/time/duration.h"

namespace holdfast::transport {
namespace {

using random::Stream;

template <std::size_t size>
std::int64_t one_of(Stream& draw, const std::array<std::int64_t, size>& values) {
  return values[draw.below(size)];
}

constexpr std::int64_t us = 1000;
constexpr std::int64_t ms = 1000 * us;
constexpr std::size_t most_fragments = 3000;  ///< about, of one world

Options draw_options(Stream draw) {
  Options options;
  options_table().apply_defaults(options);
  options.fragment_bytes =
      static_cast<std::uint32_t>(one_of(draw, std::array<std::int64_t, 5>{64, 100, 512, 1024, 4096}));
  options.checksum = static_cast<integrity::Checksum>(1 + draw.below(4));
  options.eager_bytes = static_cast<std::uint64_t>(one_of(draw, std::array<std::int64_t, 4>{0, 256, 2048, 16384}));
  options.tick_ns = one_of(draw, std::array<std::int64_t, 3>{200 * us, 1 * ms, 5 * ms});
  options.ack_delay_ns = one_of(draw, std::array<std::int64_t, 3>{0, 20 * us, 200 * us});
  options.ack_packets = static_cast<std::uint32_t>(one_of(draw, std::array<std::int64_t, 3>{1, 4, 16}));
  options.least_timeout_ns = one_of(draw, std::array<std::int64_t, 3>{50 * us, 300 * us, 1 * ms});
  options.most_timeout_ns = 50 * ms;
  options.retransmission_limit = static_cast<std::uint32_t>(one_of(draw, std::array<std::int64_t, 3>{2, 4, 6}));
  options.local_timeout_ns = 50 * ms;
  options.unreachable_after_ns = 400 * ms;
  options.keepalive_ns = 50 * ms;
  options.probe_interval_ns = one_of(draw, std::array<std::int64_t, 2>{10 * ms, 40 * ms});
  options.vfrag_window = static_cast<std::uint32_t>(one_of(draw, std::array<std::int64_t, 3>{64, 128, 1024}));
  options.message_window = static_cast<std::uint32_t>(one_of(draw, std::array<std::int64_t, 4>{1, 3, 16, 65536}));
  options.eager_credit_bytes =
      static_cast<std::uint64_t>(one_of(draw, std::array<std::int64_t, 4>{0, 1000, 8192, 262144}));
  options.unexpected_bytes = static_cast<std::uint64_t>(one_of(draw, std::array<std::int64_t, 2>{8192, 1 << 20}));
  options.log_bytes = static_cast<std::uint64_t>(one_of(draw, std::array<std::int64_t, 2>{65536, 1 << 22}));
  options.window_bytes = static_cast<std::uint64_t>(one_of(draw, std::array<std::int64_t, 3>{4096, 65536, 1 << 20}));
  return options;
}

RailPlan draw_rail(Stream draw, bool clean) {
  RailPlan rail;
  rail.link.latency_ns = one_of(draw, std::array<std::int64_t, 4>{1 * us, 10 * us, 50 * us, 300 * us});
  rail.link.bytes_per_us = static_cast<std::uint32_t>(one_of(draw, std::array<std::int64_t, 3>{10, 200, 5000}));
  rail.queue_packets = static_cast<std::uint32_t>(one_of(draw, std::array<std::int64_t, 3>{2, 16, 256}));
  if (draw.chance(1, 2))
    rail.finish = draw.child("taken").chance(1, 3) ? RailPlan::Finish::taken : RailPlan::Finish::later;
  rail.most_packet_bytes = static_cast<std::size_t>(one_of(draw, std::array<std::int64_t, 3>{700, 2048, 65536}));
  if (Stream own = draw.child("checksum"); own.chance(1, 4)) {
    rail.checksum = static_cast<integrity::Checksum>(1 + own.below(4));
  }
  if (clean) return rail;
  constexpr std::array<std::int64_t, 5> rates = {0, 0, 1000, 20'000, 100'000};
  if (draw.chance(1, 2)) rail.link.jitter_ns = rail.link.latency_ns;
  rail.link.loss = static_cast<std::uint32_t>(one_of(draw, rates));
  rail.link.duplication = static_cast<std::uint32_t>(one_of(draw, rates));
  rail.link.reordering = static_cast<std::uint32_t>(one_of(draw, rates));
  rail.link.delay = static_cast<std::uint32_t>(one_of(draw, std::array<std::int64_t, 3>{0, 0, 10'000}));
  rail.link.corruption = static_cast<std::uint32_t>(one_of(draw, rates));
  rail.link.truncation = static_cast<std::uint32_t>(one_of(draw, std::array<std::int64_t, 3>{0, 0, 10'000}));
  return rail;
}

Event draw_event(Stream draw, const Plan& plan) {
  using Kind = Event::Kind;
  constexpr std::array<Kind, 14> kinds = {
      Kind::rail_dies,  Kind::rail_one_way,  Kind::rail_dies,   Kind::rail_flaps,  Kind::rail_reported,
      Kind::node_stops, Kind::node_restarts, Kind::node_closes, Kind::clock_jumps, Kind::outage,
      Kind::outage,     Kind::rail_narrows,  Kind::rail_keeps,  Kind::rail_doubted};
  Event event;
  event.kind = kinds[draw.below(kinds.size())];
  event.at_ns = static_cast<std::int64_t>(draw.below(static_cast<std::uint64_t>(plan.work_ns)));
  event.node = static_cast<unsigned>(draw.below(plan.nodes));
  event.peer = (event.node + 1 + static_cast<unsigned>(draw.below(plan.nodes - 1))) % plan.nodes;
  event.rail = static_cast<unsigned>(draw.below(plan.rails.size()));
  event.duration_ns = one_of(draw, std::array<std::int64_t, 5>{1 * ms, 10 * ms, 60 * ms, 200 * ms, 700 * ms});
  event.times = static_cast<unsigned>(1 + draw.below(30));
  event.loud = draw.chance(1, 3);
  event.bytes = static_cast<std::size_t>(one_of(draw, std::array<std::int64_t, 3>{150, 300, 700}));
  if (event.kind == Kind::outage) {
    event.rail = 0;  // and those after it
    event.duration_ns = one_of(draw, std::array<std::int64_t, 5>{10 * ms, 60 * ms, 350 * ms, 450 * ms, 1300 * ms});
  }
  if (event.kind == Kind::clock_jumps) {
    event.duration_ns =
        one_of(draw, std::array<std::int64_t, 6>{-3'600'000 * ms, -20 * ms, -1 * ms, 1 * ms, 600 * ms, 3'600'000 * ms});
  }
  return event;
}

// Whether the event can break a message: rails can only when no other is left, so that rail 0 is spared in worlds that
// promise success.
bool harmless(const Event& event, const Plan& plan) {
  switch (event.kind) {
    case Event::Kind::rail_dies:
    case Event::Kind::rail_one_way:
    case Event::Kind::rail_returns:
    case Event::Kind::rail_flaps:
    case Event::Kind::rail_reported:
    case Event::Kind::rail_narrows:
    case Event::Kind::rail_keeps:
      return event.rail != 0;
    case Event::Kind::rail_doubted:
      return true;
    case Event::Kind::node_stops:
      return event.duration_ns < plan.options.unreachable_after_ns / 4;
    case Event::Kind::clock_jumps:
      return event.duration_ns < plan.options.unreachable_after_ns / 4;  // ahead by a second is as much silence
    case Event::Kind::outage:
      return event.duration_ns < plan.options.unreachable_after_ns / 4;  // some together too
    case Event::Kind::node_restarts:
    case Event::Kind::node_closes:
      return false;
  }
  return false;
}

std::vector<RemoteOperation> draw_remote(const Stream& root, const Plan& plan) {
  using Kind = RemoteOperation::Kind;
  constexpr std::array<Kind, 3> kinds = {Kind::write, Kind::read, Kind::atomic};
  Stream size = root.child("size");
  const std::uint64_t operations = size.chance(1, 2) ? 0 : size.below(60);
  std::vector<RemoteOperation> all;
  std::vector<std::size_t> written(plan.nodes);
  for (std::uint64_t i = 0; i < operations; ++i) {
    Stream draw = root.child("operation").child(i);
    RemoteOperation operation;
    operation.kind = kinds[draw.below(kinds.size())];
    operation.at_ns = static_cast<std::int64_t>(draw.below(static_cast<std::uint64_t>(plan.work_ns)));
    operation.from = static_cast<unsigned>(draw.below(plan.nodes));
    operation.to = (operation.from + 1 + static_cast<unsigned>(draw.below(plan.nodes - 1))) % plan.nodes;
    operation.bytes = draw.below(std::min<std::size_t>(plan.most_bytes, readable_bytes / 2) + 1);
    operation.buffered = draw.chance(1, 2);
    operation.announced = draw.chance(1, 2);
    operation.fetches = draw.chance(1, 2);
    operation.forbidden = draw.chance(1, 10);
    if (operation.kind == Kind::read) operation.place = draw.below(readable_bytes / 2);
    if (operation.kind == Kind::write) {
      operation.place = written[operation.to];
      written[operation.to] += operation.bytes;
    }
    all.push_back(operation);
  }
  return all;
}

std::string_view name(Event::Kind kind) {
  constexpr std::array<std::string_view, 13> names = {
      "rail dies",    "rail goes one-way", "rail returns",    "rail flaps", "rail reports",
      "rail narrows", "rail keeps",        "rail is doubted", "node stops", "node restarts",
      "node closes",  "clock jumps",       "outage"};
  return names[static_cast<std::size_t>(kind)];
}

}  // namespace

Plan draw_plan(std::uint64_t seed) {
  const Stream root = Stream(seed).child("plan");
  Stream draw = root.child("size");
  Plan plan;
  plan.seed = seed;
  plan.nodes = static_cast<unsigned>(2 + draw.below(3));
  plan.options = draw_options(root.child("options"));
  const auto rails = static_cast<unsigned>(1 + draw.below(3));
  const bool clean = draw.chance(1, 8);
  for (unsigned rail = 0; rail < rails; ++rail) plan.rails.push_back(draw_rail(root.child("rail").child(rail), clean));
  plan.work_ns = one_of(draw, std::array<std::int64_t, 3>{5 * ms, 50 * ms, 300 * ms});
  plan.messages = static_cast<unsigned>(10 + draw.below(150));
  plan.most_bytes = static_cast<std::size_t>(one_of(draw, std::array<std::int64_t, 4>{16, 1000, 20'000, 100'000}));
  // A world of a hundred thousand fragments tells no more than one of some thousands, and costs as much as thirty.
  const std::size_t fragments = 1 + plan.most_bytes / plan.options.fragment_bytes;
  plan.messages = std::min(plan.messages, static_cast<unsigned>(6 + most_fragments / fragments));
  plan.flows = static_cast<unsigned>(1 + draw.below(3));
  plan.errors_allowed = draw.chance(1, 2);
  const auto events = static_cast<unsigned>(draw.below(5));
  for (unsigned i = 0; i < events; ++i) {
    const Event event = draw_event(root.child("event").child(i), plan);
    if (plan.errors_allowed || harmless(event, plan)) plan.events.push_back(event);
  }
  plan.remote = draw_remote(root.child("remote"), plan);
  plan.secret = root.child("secret").chance(1, 2);
  Stream enemy = root.child("enemy");
  plan.enemy = static_cast<Plan::EnemyKind>(enemy.below(plan.secret ? 3 : 2));
  if (plan.enemy != Plan::EnemyKind::none) plan.strikes = static_cast<unsigned>(50 + enemy.below(400));
  std::sort(plan.events.begin(), plan.events.end(), [](const Event& a, const Event& b) { return a.at_ns < b.at_ns; });
  return plan;
}

Secrets Plan::secrets(unsigned node, unsigned life) const {
  const auto key = [](Stream draw) {
    secret::Key drawn;
    for (std::byte& byte : drawn) byte = static_cast<std::byte>(draw.next64());
    return drawn;
  };
  const Stream root = Stream(seed).child("secrets");
  Secrets secrets;
  secrets.seed = key(root.child("seed").child(node).child(life));
  if (secret) secrets.job = key(root.child("job"));
  secrets.aes = secrets.aes && root.child("aes").child(node).chance(2, 3);
  return secrets;
}

std::size_t Plan::written_bytes(unsigned node) const {
  std::size_t bytes = 0;
  for (const RemoteOperation& operation : remote) {
    if (operation.kind == RemoteOperation::Kind::write && operation.to == node) bytes += operation.bytes;
  }
  return bytes;
}

std::string Plan::describe() const {
  std::string text = "seed " + std::to_string(seed) + ": " + std::to_string(nodes) + " nodes, " +
                     std::to_string(messages) + " messages of up to " + std::to_string(most_bytes) + " bytes and " +
                     std::to_string(remote.size()) + " operations on remote memory in " +
                     time::format_duration(work_ns) + ", errors " + (errors_allowed ? "allowed" : "not allowed") +
                     (secret ? ", with a secret, " : ", without a secret, ") +
                     (enemy == EnemyKind::none       ? "nobody else"
                      : enemy == EnemyKind::stranger ? "a stranger"
                                                     : "an enemy who reads the wire") +
                     " on the network\n";
  text += "  fragment " + std::to_string(options.fragment_bytes) + ", eager " + std::to_string(options.eager_bytes) +
          ", checksum " + std::string(integrity::checksum_names[static_cast<std::size_t>(options.checksum)]) +
          ", message window " + std::to_string(options.message_window) + ", VFRAG window " +
          std::to_string(options.vfrag_window) + ", credit " + std::to_string(options.eager_credit_bytes) + ", tick " +
          time::format_duration(options.tick_ns) + "\n";
  for (std::size_t i = 0; i < rails.size(); ++i) {
    const LinkPlan& link = rails[i].link;
    text +=
        "  rail " + std::to_string(i) + ": latency " + time::format_duration(link.latency_ns) + ", " +
        std::to_string(link.bytes_per_us) + " MB/s, per million: loss " + std::to_string(link.loss) + ", duplication " +
        std::to_string(link.duplication) + ", reordering " + std::to_string(link.reordering) + ", delay " +
        std::to_string(link.delay) + ", corruption " + std::to_string(link.corruption) + ", truncation " +
        std::to_string(link.truncation) + "; packets of " + std::to_string(rails[i].most_packet_bytes) + ", queue of " +
        std::to_string(rails[i].queue_packets) +
        (rails[i].checksum ? ", " + std::string(integrity::checksum_names[static_cast<std::size_t>(*rails[i].checksum)])
                           : std::string()) +
        (rails[i].finish == RailPlan::Finish::later   ? ", puts pending\n"
         : rails[i].finish == RailPlan::Finish::taken ? ", puts taken\n"
                                                      : "\n");
  }
  for (const Event& event : events) {
    text += "  at " + time::format_duration(event.at_ns) + ": " + std::string(name(event.kind)) + ", node " +
            std::to_string(event.node) + ", peer " + std::to_string(event.peer) + ", rail " +
            std::to_string(event.rail) + ", " + time::format_duration(event.duration_ns) + ", times " +
            std::to_string(event.times) + ", bytes " + std::to_string(event.bytes) + (event.loud ? ", loud\n" : "\n");
  }
  return text;
}

}  // namespace holdfast::transport
