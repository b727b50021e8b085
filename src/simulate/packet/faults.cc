#include "simulate/packet/faults.h"

#include <algorithm>
#include <tuple>

#include "simulate/packet/network.h"

/// Links that fail and come back or get slow, noise, and tables that change while traffic runs. When a packet is sent
/// it is known already whether its link will fail before it has passed, and so its fate is a closed form as everything
/// else is; the only work at the moment of a failure is to drop what asks for the link. docs/design/simulator.md has
/// the rules.
namespace holdfast::simulate {
namespace {

/// The number of a pace in a list, which it joins if it is new.
std::uint16_t number_of(std::vector<Pace>& paces, Pace pace) {
  const auto equal = [&](Pace each) { return each.flit_ps == pace.flit_ps; };
  const auto place = std::find_if(paces.begin(), paces.end(), equal) - paces.begin();
  if (static_cast<std::size_t>(place) == paces.size()) paces.push_back(pace);
  return static_cast<std::uint16_t>(place);
}

}  // namespace

void Network::build_faults() {
  Faults& faults = *faults_;
  const Timeline& timeline = faults.timeline;
  using What = Faults::Change::Kind;
  const auto add = [&](Time at, What kind, std::size_t index) {
    if (at != never) faults.changes.push_back({at, kind, static_cast<std::uint32_t>(index)});
  };
  for (std::size_t i = 0; i < timeline.writes.size(); ++i) add(timeline.writes[i].at, What::write, i);
  for (std::size_t i = 0; i < timeline.paths.size(); ++i) add(timeline.paths[i].at, What::paths, i);
  for (std::size_t i = 0; i < timeline.outages.size(); ++i) {
    add(timeline.outages[i].down, What::down, i);
    add(timeline.outages[i].up, What::up, i);
  }
  faults.rates = rate_changes(timeline, fabric_, parameters_);
  for (std::size_t i = 0; i < faults.rates.size(); ++i) add(faults.rates[i].at, What::rate, i);
  std::sort(faults.changes.begin(), faults.changes.end(), [](const Faults::Change& a, const Faults::Change& b) {
    return std::tie(a.at, a.kind, a.index) < std::tie(b.at, b.kind, b.index);
  });
  faults.ports.resize(ports_.size());
  const random::Stream noise = random::Stream(timeline.seed).child("noise");
  for (fabric::PortId port = 0; port < ports_.size(); ++port) {
    faults.ports[port].draw = noise.child(port);
    faults.ports[port].pace = number_of(faults.paces, ports_[port].link());
  }
  for (const Timeline::Outage& outage : timeline.outages)
    for (const fabric::PortId end : {fabric_.link(outage.link).a, fabric_.link(outage.link).b})
      faults.ports[end].next_down = std::min(faults.ports[end].next_down, outage.down);
  for (const Timeline::Noise& each : timeline.noise)
    for (const fabric::PortId end : {fabric_.link(each.link).a, fabric_.link(each.link).b})
      faults.ports[end].noise.push_back(each);
  faults.fetches.resize(senders_.size());
  faults.notices.emplace_back();  // number 0: a change of the network, which control_point() applies
  faults.hop_limit = parameters_.hop_limit;
  faults.timeout = parameters_.ack_timeout_ps();
  faults.retries = parameters_.retry_count;
  faults.acknowledgement = parameters_.ack_delay_ns * ps_per_ns;
  faults.record.any = true;
  faults.record.reliable = timeline.reliable;
  faults.record.sample_ps = statistics_.sample();
  prefetches_ = false;
  next_control_ = std::min(next_control_, faults.next_at());
}

/// There is an event at every change, so that its moment comes even when nothing else happens.
void Network::begin_faults() {
  Time before = never;
  for (const Faults::Change& change : faults_->changes) {
    if (change.at != before) queue_.push(change.at, event(Kind::notice, 0));
    before = change.at;
  }
}

/// All changes up to now, before any event of now.
void Network::apply_faults() {
  Faults& faults = *faults_;
  using What = Faults::Change::Kind;
  for (; faults.next_at() <= now_; ++faults.next_change) {
    const Faults::Change& change = faults.changes[faults.next_change];
    switch (change.kind) {
      case What::write:
        write_row(faults.timeline.writes[change.index]);
        break;
      case What::paths:
        paths_ = faults.timeline.paths[change.index].tables;
        break;
      case What::up:
        set_down(faults.timeline.outages[change.index].link, false);
        break;
      case What::down: {
        const std::vector<Timeline::Outage>& outages = faults.timeline.outages;
        const fabric::LinkId link = outages[change.index].link;
        const std::size_t next = change.index + std::size_t{1};
        const bool again = next < outages.size() && outages[next].link == link;
        for (const fabric::PortId end : {fabric_.link(link).a, fabric_.link(link).b})
          faults.ports[end].next_down = again ? outages[next].down : never;
        set_down(link, true);
        break;
      }
      case What::rate: {
        const RateChange& rate = faults.rates[change.index];
        for (const fabric::PortId end : {fabric_.link(rate.link).a, fabric_.link(rate.link).b}) {
          ports_[end].link_flit_ps = static_cast<std::uint32_t>(rate.pace.flit_ps);
          faults.ports[end].pace = number_of(faults.paces, rate.pace);
        }
        break;
      }
    }
  }
}

void Network::write_row(const Timeline::Write& write) {
  fabric::Forwarding& live = *faults_->tables;
  std::uint8_t* entries = live.table(write.row);
  if (write.tables == nullptr) {
    std::fill_n(entries, live.lids(), fabric::Forwarding::no_port);
    return;
  }
  std::copy_n(write.tables->table(write.row), live.lids(), entries);
  if (!live.has_lane_maps()) return;
  const std::uint8_t ports = fabric_.node(live.switch_at(write.row)).port_count;
  for (std::uint32_t in = 0; in <= ports; ++in)
    for (std::uint32_t out = 0; out <= ports; ++out) {
      fabric::LaneMap map{};
      for (std::uint8_t level = 0; level < map.size(); ++level)
        map[level] =
            write.tables->lane(write.row, static_cast<std::uint8_t>(in), static_cast<std::uint8_t>(out), level);
      live.set_lane_map(write.row, static_cast<std::uint8_t>(in), static_cast<std::uint8_t>(out), map);
    }
}

void Network::set_down(fabric::LinkId link, bool down) {
  for (const fabric::PortId port : {fabric_.link(link).a, fabric_.link(link).b}) {
    faults_->ports[port].down = down;
    if (!down) continue;
    for (std::uint32_t vl = 0; vl < lanes_n_; ++vl) {
      const std::uint32_t out = (port << lane_bits_) + vl;
      while (outs_[out].waiting > 0) discard_head(next_asking(out).lane, faults_->record.lost_down);
    }
  }
}

/// The head of an adapter's send queue, at once: its port is down.
void Network::discard_at_adapter(std::uint32_t index, std::uint64_t& counter) {
  InLane& lane = lanes_[index];
  if (lane.waiting) clear_request(ports_[lane.out >> lane_bits_], lane.out, request_of(index, lane));
  const Queued taken = take_head(lane);
  drop_slot(lane);
  queued_flits_[std::size_t{lane.feeder} * lanes_n_ + (index & lane_mask_)] -= taken.flits();
  if (senders_[lane.feeder].state == Sender::State::waiting_for_room) ask_again(lane.feeder, now_);
  left_adapter(taken);
  forget(taken.index(), counter);
  if (lane.occupied()) queue_.push(std::max(now_, forward_time<Form::faulty>(lane)), event(Kind::head, index));
}

/// Where a packet that comes forward is counted when it is lost here; null: it goes on.
std::uint64_t* Network::loss_of_head(std::uint32_t index) {
  const InLane& lane = lanes_[index];
  FaultRecord& record = faults_->record;
  if (lane.row == nothing) return faults_->ports[lane.out >> lane_bits_].down ? &record.lost_down : nullptr;
  const Fate& fate = faults_->fates[lane.head.index()];
  if (fate.bad_from <= now_) return fate.harm == Harm::cut ? &record.lost_cut : &record.lost_noise;
  if (fate.hops == forwarding_.rows()) ++record.looped;
  if (fate.hops >= faults_->hop_limit) return &record.lost_looping;
  if (lane.out == nothing || ports_[lane.out >> lane_bits_].link_flit_ps == 0) return &record.lost_no_route;
  return faults_->ports[lane.out >> lane_bits_].down ? &record.lost_down : nullptr;
}

/// A packet is sent: its link takes it up at `start`, and its last bit is at the other end at `tail`.
void Network::travels(const OutPort& port, const Queued& packet, Time start, Time tail) {
  std::vector<Fate>& fates = faults_->fates;
  if (packet.index() >= fates.size()) fates.resize(2 * std::size_t{packet.index()} + 64);
  Fate& fate = fates[packet.index()];
  if (port.is_switch) {
    ++fate.hops;
  } else {
    fate.bad_from = never;
    fate.harm = Harm::none;
    fate.hops = 0;
    fate.bytes = packet.bytes();
  }
  if (port.to_adapter()) fate.host = packet.destination() == host_ports_.lids[port.host] ? port.host : nothing;
  if (fate.harm == Harm::noise) fate.bad_from = tail;
  FaultyPort& link = faults_->ports[static_cast<std::size_t>(&port - ports_.data())];
  double whole = 1;
  for (const Timeline::Noise& noise : link.noise)
    if (start >= noise.from && start < noise.to) whole *= 1 - damage_probability(noise.bit_error_rate, packet.bytes());
  if (whole < 1 && link.draw.uniform() >= whole && fate.harm == Harm::none) {
    fate.harm = Harm::noise;
    fate.bad_from = tail;
  }
  fate.pace = link.pace;
  if (link.next_down >= tail) return;
  fate.harm = Harm::cut;
  fate.bad_from = std::min(fate.bad_from, link.next_down);
}

void Network::finish_faults(Ending ending) {
  FaultRecord& record = faults_->record;
  if (ending == Ending::complete) record_.end_ps = std::max(record_.completion_ps, faults_->active_until);
  record.under_way = in_flight_;
  record.connections = faults_->connections.size();
  record_.faults = record;
}

}  // namespace holdfast::simulate
