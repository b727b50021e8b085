// Jobs whose collectives switches carry out: who meets whom there, and when each has its result.
#include <algorithm>
#include <span>
#include <vector>

#include "simulate/job/in_network.h"
#include "simulate/job/job_traffic.h"

namespace holdfast::simulate::job {

bool JobTraffic::by_switches(const Process& process, const Collective& collective) {
  if (!job_of(process).in_network || switches_ == nullptr || !InNetwork::does(collective.operation)) return false;
  std::vector<std::uint32_t> hosts;
  for (const std::uint32_t rank : speakers(collective)) hosts.push_back(collective.host_of[rank]);
  const auto root = std::ranges::find(hosts, collective.host_of[collective.root]) - hosts.begin();
  return hosts.size() > 1 &&
         !switches_->times(collective.operation, hosts, collective.bytes, static_cast<std::uint32_t>(root)).empty();
}

/// A rank that speaks for its host comes to a collective of switches. What it gets is a letter that its MPI sees.
void JobTraffic::meet(std::uint32_t index, std::uint64_t bytes, std::uint32_t pending) {
  Strand& strand = strands_[index];
  Process& process = processes_[strand.process];
  const Protocol& protocol = protocol_of(process);
  const auto [place, is_first] = meetings_.try_emplace({process.job, process.replica, strand.context, strand.tag});
  Meeting& meeting = place->second;
  if (is_first) meeting = open_meeting(strand);
  const auto own = static_cast<std::size_t>(std::ranges::find(meeting.hosts, process.host) - meeting.hosts.begin());
  const bool broadcasts = strand.operation == Operation::bcast, reduces = strand.operation == Operation::reduce;
  const bool gives = !broadcasts || own == meeting.root, gets = !(reduces && own != meeting.root);
  if (gives) {
    const Time cost = later_by(protocol.send_overhead_ns * ps_per_ns, static_cast<Time>(bytes) * protocol.send_byte_ps);
    strand.at = spend(process, strand.at, cost);
  }
  meeting.guests[own] = {strand.process, pending};
  meeting.last = std::max(meeting.last, strand.at);
  --meeting.missing;
  if (!gets || (broadcasts && gives)) complete(pending, strand.at, process.host);
  const std::span<const Time> takes =
      switches_->times(strand.operation, meeting.hosts, bytes, static_cast<std::uint32_t>(meeting.root));
  const auto hand = [&](std::size_t guest, Time at) { hand_result(meeting, guest, bytes, at, process.host); };
  if (broadcasts && own == meeting.root) {
    meeting.given = strand.at;
    for (std::size_t guest = 0; guest < meeting.hosts.size(); ++guest)
      if (guest != own && meeting.guests[guest].pending != none) hand(guest, later_by(strand.at, takes[guest]));
  } else if (broadcasts && meeting.given) {
    hand(own, std::max(strand.at, later_by(*meeting.given, takes[own])));
  } else if (!broadcasts && meeting.missing == 0) {
    for (std::size_t guest = 0; guest < meeting.hosts.size(); ++guest)
      if (!reduces || guest == meeting.root) hand(guest, later_by(meeting.last, takes[guest]));
  }
  if (meeting.missing == 0) meetings_.erase(place);
}

JobTraffic::Meeting JobTraffic::open_meeting(const Strand& strand) const {
  const Process& process = processes_[strand.process];
  const Job& job = job_of(process);
  Collective what;
  what.operation = strand.operation;
  what.root = strand.root;
  const std::uint32_t world = process.replica * ranks_of(process.job);
  for (const std::uint32_t rank : job.program.communicators[strand.context / 2])
    what.host_of.push_back(job.hosts[world + rank]);
  what.size = static_cast<std::uint32_t>(what.host_of.size());
  Meeting meeting;
  for (const std::uint32_t rank : speakers(what)) meeting.hosts.push_back(what.host_of[rank]);
  const auto root = std::ranges::find(meeting.hosts, what.host_of[what.root]) - meeting.hosts.begin();
  meeting.root = static_cast<std::size_t>(root);
  meeting.guests.resize(meeting.hosts.size());
  meeting.missing = meeting.hosts.size();
  return meeting;
}

/// What switches have for a host comes to it; `host` is the one whose events are taken now.
void JobTraffic::hand_result(const Meeting& meeting, std::size_t guest, std::uint64_t bytes, Time at,
                             std::uint32_t host) {
  Letter letter;
  letter.part = Part::result;
  letter.from = letter.to = meeting.guests[guest].process;
  letter.bytes = bytes;
  letter.receives = meeting.guests[guest].pending;
  push(meeting.hosts[guest], at, Kind::letter, take_letter(letter));
  if (meeting.hosts[guest] != host) ask_for(meeting.hosts[guest]);
}

}  // namespace holdfast::simulate::job
