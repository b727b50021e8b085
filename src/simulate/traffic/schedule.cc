#include "simulate/traffic/schedule.h"

#include <algorithm>

namespace holdfast::simulate {

ScheduleTraffic::ScheduleTraffic(Schedule schedule)
    : schedule_(std::move(schedule)), hosts_(schedule_.hosts), ready_at_(schedule_.operations.size(), 0) {
  std::vector<std::uint32_t> first;
  for (std::uint32_t index = 0; index < schedule_.operations.size(); ++index) {
    if (schedule_.operations[index].kind == Schedule::Kind::send) ++sends_;
    if (schedule_.operations[index].waits == 0) first.push_back(index);
  }
  for (const std::uint32_t index : first) become_ready(index, 0);
}

void ScheduleTraffic::become_ready(std::uint32_t index, Time now) {
  const Schedule::Operation& operation = schedule_.operations[index];
  Host& host = hosts_[operation.host];
  Time begin = std::max(now, operation.not_before);
  switch (operation.kind) {
    case Schedule::Kind::send:
      host.sends.push({begin, index});
      break;
    case Schedule::Kind::receive: {
      const auto found = std::find_if(host.arrived.begin(), host.arrived.end(), [&](const Arrived& message) {
        return (operation.peer == Schedule::any || operation.peer == message.source) &&
               (operation.tag == Schedule::any || operation.tag == message.tag);
      });
      release(operation.then_begin, begin);
      if (found == host.arrived.end()) {
        host.posted.push_back({begin, index});
      } else {
        const Time at = std::max(begin, found->at);
        host.arrived.erase(found);
        host.computing.push({at, index});
      }
      return;
    }
    case Schedule::Kind::compute:
      if (host.core_free.size() <= operation.core) host.core_free.resize(operation.core + 1, 0);
      begin = std::max(begin, host.core_free[operation.core]);
      host.core_free[operation.core] = later_by(begin, operation.duration);
      host.computing.push({host.core_free[operation.core], index});
      break;
  }
  release(operation.then_begin, begin);
}

void ScheduleTraffic::release(const std::vector<std::uint32_t>& waiting, Time now) {
  for (const std::uint32_t index : waiting) {
    ready_at_[index] = std::max(ready_at_[index], now);
    if (--schedule_.operations[index].waits == 0) become_ready(index, ready_at_[index]);
  }
}

void ScheduleTraffic::end(std::uint32_t index, Time now) {
  ++over_;
  release(schedule_.operations[index].then, now);
}

/// Ends what is over by now, in the order of time.
void ScheduleTraffic::advance(Host& host, Time now) {
  while (!host.computing.empty() && host.computing.top().first <= now) {
    const Timed ended = host.computing.top();
    host.computing.pop();
    end(ended.second, ended.first);
  }
}

Traffic::Answer ScheduleTraffic::next(std::uint32_t index, Time now, Message& message) {
  if (index >= hosts_.size()) return Answer::none;
  Host& host = hosts_[index];
  advance(host, now);
  const bool sending = !host.sends.empty();
  if (sending && host.sends.top().first <= now) {
    const auto [ready, operation] = host.sends.top();
    host.sends.pop();
    const Schedule::Operation& send = schedule_.operations[operation];
    message = {send.peer, operation, send.bytes, ready};
    return Answer::send;
  }
  if (!sending && host.computing.empty()) return Answer::none;
  message.created = sending ? host.sends.top().first : never;
  if (!host.computing.empty()) message.created = std::min(message.created, host.computing.top().first);
  return Answer::later;
}

void ScheduleTraffic::sent(std::uint32_t, std::uint32_t tag, Time now) {
  end(tag, now);
}

void ScheduleTraffic::delivered(std::uint32_t destination, std::uint32_t tag, Time now,
                                std::vector<std::uint32_t>& wake) {
  const Schedule::Operation& send = schedule_.operations[tag];
  wake.push_back(destination);
  if (destination >= hosts_.size()) return;
  Host& host = hosts_[destination];
  advance(host, now);
  const auto found = std::find_if(host.posted.begin(), host.posted.end(), [&](const Timed& posted) {
    const Schedule::Operation& receive = schedule_.operations[posted.second];
    return (receive.peer == Schedule::any || receive.peer == send.host) &&
           (receive.tag == Schedule::any || receive.tag == send.tag);
  });
  if (found == host.posted.end()) {
    host.arrived.push_back({send.host, send.tag, now});
    return;
  }
  const Timed receive = *found;
  host.posted.erase(found);
  if (receive.first > now)
    host.computing.push(receive);
  else
    end(receive.second, now);
}

}  // namespace holdfast::simulate
