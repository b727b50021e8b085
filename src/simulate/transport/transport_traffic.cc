#include "simulate/transport/transport_traffic.h"

#include <algorithm>
#include <utility>

#include "simulate/packet/hosts.h"

namespace holdfast::simulate {
namespace {

using transport::Completion;
using transport::Posted;

void* context_of(std::uint32_t letter) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(letter) + 1);
}
std::uint32_t letter_of(const void* context) {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(context) - 1);
}

}  // namespace

TransportTraffic::TransportTraffic(Traffic& inner, const fabric::Fabric& fabric, const Parameters& parameters,
                                   Endpoints endpoints, const TransportSetting& setting)
    : inner_(inner),
      fabric_(fabric),
      endpoints_(std::move(endpoints)),
      ahead_(setting.datagrams.ahead),
      eager_bytes_(setting.options.eager_bytes),
      looks_at_bytes_(!setting.faults.empty()),
      contents_(random::Stream(setting.seed).child("transport").child("contents")),
      programs_(endpoints_.rail_of.size()) {
  const Hosts adapters(fabric);
  const auto count = static_cast<std::uint32_t>(endpoints_.adapters.size());
  std::size_t most_rails = 0;
  for (const auto& rails : endpoints_.adapters) most_rails = std::max(most_rails, rails.size());
  std::vector<std::vector<bool>> reach(most_rails, std::vector<bool>(count));
  for (std::uint32_t each = 0; each < count; ++each)
    for (std::size_t rail = 0; rail < endpoints_.adapters[each].size(); ++rail) reach[rail][each] = true;
  const random::Stream random = random::Stream(setting.seed).child("transport");
  for (std::uint32_t each = 0; each < count; ++each) {
    std::vector<Endpoint::Adapter> rails;
    for (const std::uint32_t adapter : endpoints_.adapters[each]) {
      const fabric::Port& port = fabric.port(adapters.ports[adapter]);
      const bool cabled = fabric.peer(adapters.ports[adapter]) != fabric::none;
      const Time flit = link_pace(cabled ? fabric.link(port.link).rate : fabric::LinkRate{}).flit_ps;
      rails.push_back({parameters.mtu - datagram_header_bytes,
                       static_cast<double>(flit_bytes) * static_cast<double>(ps_per_s) / static_cast<double>(flit),
                       reach[rails.size()]});
    }
    hosts_.push_back(std::make_unique<Endpoint>(each, count, setting.options, setting.datagrams, rails, setting.faults,
                                                random.child(each)));
  }
  wakes_.assign(count, never);
  takes_next_.assign(count, false);
  comes_.assign(endpoints_.rail_of.size(), 0);
  record_.endpoints = count;
  record_.rails.resize(most_rails);
  record_.sample_ps = parameters.sample_ns * ps_per_ns;
}

TransportTraffic::~TransportTraffic() = default;

// ------------------------------------------------------------------------------------------------- what hosts do, when

void TransportTraffic::begin(Player& player) {
  player_ = &player;
  for (std::uint32_t endpoint = 0; endpoint < hosts_.size(); ++endpoint) want(endpoint, 0);
}

/// The endpoint's event comes at this moment, if not before.
void TransportTraffic::want(std::uint32_t endpoint, Time at) {
  if (at >= wakes_[endpoint]) return;
  wakes_[endpoint] = at;
  player_->call_at(at, endpoint);
}

void TransportTraffic::due(std::uint32_t endpoint, Time now) {
  if (wakes_[endpoint] != now) return;  // an earlier one took its place
  wakes_[endpoint] = never;
  if (!over_) run(endpoint, now);
}

/// All that the host can do now. Its processor turns from packets to programs and back.
void TransportTraffic::run(std::uint32_t endpoint, Time now) {
  Endpoint& host = *hosts_[endpoint];
  host.at(now);
  while (!over_ && !host.is_busy()) {
    bool did = host.act();
    if (!did) {
      const bool packet_first = takes_next_[endpoint];
      takes_next_[endpoint] = !packet_first;
      did = packet_first ? host.take_packet() || ask_programs(endpoint, now)
                         : ask_programs(endpoint, now) || host.take_packet();
    }
    settle(endpoint, now);
    if (!did) break;
  }
  if (over_) return;
  const std::vector<std::uint32_t>& rails = endpoints_.adapters[endpoint];
  Time at = host.next_moment();
  for (std::uint32_t rail = 0; rail < rails.size(); ++rail) {
    const std::deque<AdapterRail::Packet>& waiting = host.adapter(rail).waiting();
    if (!waiting.empty() && waiting.front().ready < comes_[rails[rail]]) player_->ask(rails[rail], now);
    const Program& program = programs_[rails[rail]];
    const bool waits = program.held == none && !program.asleep && program.under_way < ahead_ && program.at != never;
    if (waits) at = std::min(at, host.is_busy() ? std::max(program.at, host.next_moment()) : program.at);
  }
  if (at != never) want(endpoint, at);
  look_for_end();
}

void TransportTraffic::wake(std::uint32_t adapter, Time now) {
  Program& program = programs_[adapter];
  if (program.asleep) --asleep_;
  program.asleep = false;
  program.at = std::min(program.at, now);
  want(endpoint_of_adapter(adapter), now);
}

void TransportTraffic::look_for_end() {
  if (over_ || !inner_.finite() || under_way_ > 0 || asleep_ < programs_.size()) return;
  over_ = true;
  player_->end(inner_.done() ? Ending::complete : Ending::stuck);
}

// ------------------------------------------------------------------------------------------------------------ programs

bool TransportTraffic::ask_programs(std::uint32_t endpoint, Time now) {
  for (const std::uint32_t adapter : endpoints_.adapters[endpoint])
    if (ask_program(adapter, now)) return true;
  return false;
}

/// True when a message went to the engine.
bool TransportTraffic::ask_program(std::uint32_t adapter, Time now) {
  Program& program = programs_[adapter];
  if (program.held != none) {
    if (!send(program.held, now)) return false;
    program.held = none;
    return true;
  }
  if (program.asleep || program.at > now || program.under_way >= ahead_) return false;
  Message message;
  switch (inner_.next(adapter, now, message)) {
    case Answer::none:
      program.asleep = true;
      program.at = never;
      ++asleep_;
      return false;
    case Answer::later:
      program.at = std::max(message.created, now + 1);
      return false;
    case Answer::send:
      break;
  }
  program.at = now;
  take_letter(adapter, message, now);
  return true;
}

void TransportTraffic::take_letter(std::uint32_t adapter, const Message& message, Time now) {
  Program& program = programs_[adapter];
  const std::uint32_t index = letters_.take();
  Letter& letter = letters_[index];
  letter.source = adapter;
  letter.destination = message.destination;
  letter.tag = message.tag;
  letter.bytes = message.bytes;
  letter.created = message.created;
  ++under_way_;
  ++program.under_way;
  if (endpoint_of_adapter(adapter) == endpoint_of_adapter(message.destination)) {
    letter.send_over = true;
    program.inside.push_back(index);
    player_->ask(adapter, now);
    return;
  }
  ++record_.messages_sent;
  letter.order = pairs_[std::uint64_t{adapter} << 32 | message.destination].sent++;
  if (!send(index, now)) program.held = index;
}

/// False when the engine has no room for it now.
bool TransportTraffic::send(std::uint32_t index, Time now) {
  Letter& letter = letters_[index];
  const std::uint32_t from = endpoint_of_adapter(letter.source);
  const std::uint32_t to = endpoint_of_adapter(letter.destination);
  if (letter.bytes > Contents::most_bytes) {
    fail(from, to, "a message of " + std::to_string(letter.bytes) + " bytes is longer than 4 GiB", now);
    return true;
  }
  if (!letter.posted) {
    letter.posted = true;
    transport::ReceiveRequest receive;
    const Contents::Pieces target = contents_.target(letter.bytes);
    receive.pieces = target.span();
    // A damaged fragment may stand in a message's memory until it comes again, so that it must be the message's own.
    letter.memory.resize(looks_at_bytes_ ? letter.bytes : 0);
    const iovec own = {letter.memory.data(), letter.memory.size()};
    if (looks_at_bytes_) receive.pieces = {&own, 1};
    receive.peer = from;
    receive.tagged = true;
    receive.tag = index;
    receive.context = context_of(index);
    hosts_[to]->at(now);
    if (hosts_[to]->receive(receive) != Posted::accepted) return fail(to, from, "it refused a receive", now), true;
    want(to, hosts_[to]->next_moment());
  }
  transport::SendRequest request;
  const Contents::Pieces source = contents_.source(letter.bytes);
  request.peer = to;
  request.pieces = source.span();
  request.tagged = true;
  request.tag = index;
  request.mode = letter.bytes <= eager_bytes_ ? transport::SendMode::buffered : transport::SendMode::acknowledged;
  request.context = context_of(index);
  switch (hosts_[from]->send(request)) {
    case Posted::accepted:
      return true;
    case Posted::again:
      return false;
    case Posted::invalid:
      fail(from, to, "the engine refused a message of " + std::to_string(letter.bytes) + " bytes", now);
      return true;
    case Posted::lost:
      break;  // settle() hears of it
  }
  return true;
}

/// What the engine has finished.
void TransportTraffic::settle(std::uint32_t endpoint, Time now) {
  for (const Completion& done : hosts_[endpoint]->take_completions()) {
    if (done.outcome != transport::Outcome::ok)
      return fail(endpoint, done.peer, std::string(transport::name(done.outcome)), now);
    const std::uint32_t letter = letter_of(done.context);
    if (done.kind == Completion::Kind::receive) {
      received(letter, now);
      continue;
    }
    letters_[letter].send_over = true;
    tell_sent(letter, now);
    if (letters_[letter].delivered) release(letter);
  }
}

/// The receive of a message is over. It is handed over when those before it were.
void TransportTraffic::received(std::uint32_t index, Time now) {
  const Letter& letter = letters_[index];
  Pair& pair = pairs_[std::uint64_t{letter.source} << 32 | letter.destination];
  pair.early.emplace(letter.order, index);
  while (!pair.early.empty() && pair.early.begin()->first == pair.delivered) {
    const std::uint32_t next = pair.early.begin()->second;
    pair.early.erase(pair.early.begin());
    ++pair.delivered;
    ++record_.messages_delivered;
    record_.bytes_delivered += letters_[next].bytes;
    latency_.add(now - letters_[next].created);
    count_goodput(letters_[next].bytes, now);
    if (looks_at_bytes_ && !contents_.are_right(letters_[next].memory)) ++record_.wrong_messages;
    hand_over(next, now);
  }
}

/// By samples, which become twice as long when they are too many.
void TransportTraffic::count_goodput(std::uint64_t bytes, Time now) {
  constexpr std::size_t most_samples = 4096;
  std::vector<std::uint64_t>& samples = record_.goodput;
  while (static_cast<std::size_t>(now / record_.sample_ps) >= most_samples) {
    samples.resize(most_samples);
    for (std::size_t i = 0; i < most_samples / 2; ++i) samples[i] = samples[2 * i] + samples[2 * i + 1];
    samples.resize(most_samples / 2);
    record_.sample_ps *= 2;
  }
  const auto sample = static_cast<std::size_t>(now / record_.sample_ps);
  if (sample >= samples.size()) samples.resize(sample + 1);
  samples[sample] += bytes;
}

/// A message is with the program that it is for.
void TransportTraffic::hand_over(std::uint32_t index, Time now) {
  tell_sent(index, now);
  Letter& letter = letters_[index];
  letter.delivered = true;
  record_.completion_ps = now;
  --under_way_;
  --programs_[letter.source].under_way;
  want(endpoint_of_adapter(letter.source), now);  // it may go on
  const std::uint32_t destination = letter.destination;
  const std::uint32_t tag = letter.tag;
  if (letter.send_over) release(index);
  if (!inner_.watches_deliveries()) return;
  woken_.clear();
  inner_.delivered(destination, tag, now, woken_);
  for (const std::uint32_t adapter : woken_) wake(adapter, now);
}

void TransportTraffic::tell_sent(std::uint32_t index, Time now) {
  Letter& letter = letters_[index];
  if (std::exchange(letter.told_sent, true)) return;
  const std::uint32_t source = letter.source;
  inner_.sent(source, letter.tag, now);
  if (inner_.watches_deliveries()) wake(source, now);  // it may have more to send now
}

void TransportTraffic::release(std::uint32_t letter) {
  letters_[letter].memory = {};
  letters_.give(letter);
}

/// The transport cannot go on, and so the run is over.
void TransportTraffic::fail(std::uint32_t endpoint, std::uint32_t peer, std::string outcome, Time now) {
  if (over_) return;
  over_ = true;
  record_.loss = {now, name_of(endpoint), peer < hosts_.size() ? name_of(peer) : "its peer", std::move(outcome)};
  player_->end(Ending::broken);
}

std::string TransportTraffic::name_of(std::uint32_t endpoint) const {
  const Hosts adapters(fabric_);
  return fabric_.node(fabric_.port(adapters.ports[endpoints_.adapters[endpoint].front()]).node).name;
}

// --------------------------------------------------------------------------------------------------------- the network

Traffic::Answer TransportTraffic::next(std::uint32_t adapter, Time now, Message& message) {
  if (over_) return Answer::none;
  const auto [endpoint, rail] = endpoints_.rail_of[adapter];
  Program& program = programs_[adapter];
  if (!program.inside.empty()) {
    const std::uint32_t tag = datagrams_.take();
    datagrams_[tag].letter = program.inside.front();
    program.inside.pop_front();
    const Letter& letter = letters_[datagrams_[tag].letter];
    message = {adapter, tag, letter.bytes, letter.created};
    return Answer::send;
  }
  std::deque<AdapterRail::Packet>& waiting = hosts_[endpoint]->adapter(rail).waiting();
  comes_[adapter] = waiting.empty() ? never : waiting.front().ready;
  if (waiting.empty()) return Answer::none;
  AdapterRail::Packet& packet = waiting.front();
  message.created = packet.ready;
  if (packet.ready > now) return Answer::later;
  const std::uint32_t tag = datagrams_.take();
  Datagram& datagram = datagrams_[tag];
  datagram.to = packet.destination;
  datagram.rail = rail;
  datagram.token = packet.token;
  datagram.bytes = std::move(packet.bytes);
  waiting.pop_front();
  message.destination = endpoints_.adapters[datagram.to][rail];
  message.tag = tag;
  message.bytes = datagram.bytes.size() + datagram_header_bytes;
  ++record_.rails[rail].packets;
  record_.rails[rail].bytes += datagram.bytes.size();
  packet_bytes_ += datagram.bytes.size();
  given_[{adapter, message.destination}] += message.bytes;
  record_.most_packet_bytes = std::max(record_.most_packet_bytes, packet_bytes_);
  return Answer::send;
}

void TransportTraffic::sent(std::uint32_t adapter, std::uint32_t tag, Time now) {
  Datagram& datagram = datagrams_[tag];
  const auto [endpoint, rail] = endpoints_.rail_of[adapter];
  if (datagram.letter != none) {
    if (!datagram.over && !over_) tell_sent(datagram.letter, now);
  } else {
    hosts_[endpoint]->adapter(rail).left(datagram.token);
    if (!over_) want(endpoint, now);
  }
  datagram.sent = true;
  if (datagram.over) release_datagram(tag);
}

void TransportTraffic::delivered(std::uint32_t, std::uint32_t tag, Time now, std::vector<std::uint32_t>&) {
  Datagram& datagram = datagrams_[tag];
  datagram.over = true;
  const std::uint32_t letter = datagram.letter;
  const std::uint32_t to = datagram.to;
  if (letter == none) {
    packet_bytes_ -= datagram.bytes.size();
    hosts_[to]->arrived(datagram.rail, std::move(datagram.bytes));
  }
  if (datagram.sent) release_datagram(tag);
  if (over_) return;
  if (letter == none) return want(to, now);
  ++record_.messages_inside;
  hand_over(letter, now);
  look_for_end();
}

void TransportTraffic::lost(std::uint32_t, std::uint32_t tag, Time) {
  Datagram& datagram = datagrams_[tag];
  datagram.over = true;
  TransportRecord::Rail& rail = record_.rails[datagram.rail];
  ++rail.lost_packets;
  rail.lost_bytes += datagram.bytes.size();
  packet_bytes_ -= datagram.bytes.size();
  datagram.bytes = {};
  if (datagram.sent) release_datagram(tag);
}

void TransportTraffic::release_datagram(std::uint32_t datagram) {
  datagrams_.give(datagram);
}

TransportRecord TransportTraffic::record(const Record& run) const {
  TransportRecord record = record_;
  for (const auto& host : hosts_) {
    record.engines += host->engine().counters();
    record.packets_struck += host->struck();
    record.engine_bytes += host->engine().memory_bytes();
  }
  record.latency = {latency_.count(),          latency_.least(), latency_.percentile(0.5),
                    latency_.percentile(0.99), latency_.most(),  latency_.mean()};
  for (const auto& [ends, bytes] : given_) record.flows.push_back({ends.first, ends.second, bytes});
  Time from = run.measured_from_ps, to = run.measured_to_ps;
  std::uint64_t bytes = 0;
  if (inner_.finite()) {
    from = 0, to = record.completion_ps;
    bytes = record.bytes_delivered;
  } else {
    const auto last = std::min<std::size_t>(record.goodput.size(), static_cast<std::size_t>(to / record.sample_ps));
    for (auto at = static_cast<std::size_t>(from / record.sample_ps); at < last; ++at) bytes += record.goodput[at];
  }
  if (to > from)
    record.goodput_bytes_per_s =
        static_cast<double>(bytes) / (static_cast<double>(to - from) / static_cast<double>(ps_per_s));
  return record;
}

}  // namespace holdfast::simulate
