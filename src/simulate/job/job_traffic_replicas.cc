// Jobs with replicas: what a simulated process does for its engine, and asks of it.
#include <algorithm>
#include <utility>

#include "replicate/engine/mix.h"
#include "simulate/job/job_traffic.h"

namespace holdfast::simulate::job {

void JobTraffic::make_replicas() {
  for (std::uint32_t job = 0; job < jobs_.size(); ++job) {
    replicas_.emplace_back();
    const Job& given = jobs_[job];
    if (!given.protection.on()) continue;
    const std::uint32_t ranks = ranks_of(job);
    replicas_.back() = std::make_unique<Replicas>(given.protection, ranks);
    ReplicationOutcome& outcome = outcomes_[job].replication.emplace();
    for (std::uint32_t index = 0; index < ranks * static_cast<std::uint32_t>(given.protection.degree); ++index) {
      Process& process = processes_[first_[job] + index];
      const bool in_order = given.program.ranks[process.rank].threads.size() <= 1;
      outcome.threads = outcome.threads || !in_order;
      const replicate::Process who{static_cast<int>(process.rank), static_cast<int>(process.replica)};
      process.engine = std::make_unique<ReplicaProcess>(*replicas_.back(), static_cast<ReplicaWorld&>(*this),
                                                        first_[job] + index, who, in_order);
    }
  }
}

/// The job is over: nobody of it goes on.
void JobTraffic::stop(std::uint32_t index, const JobEnds& why) {
  const Process& process = processes_[index];
  stopped_[process.job] = true;
  JobIncident& incident = replication_of(index).incident.emplace();
  incident.incident = why.incident;
  incident.rank = process.rank;
  incident.replica = process.replica;
  for (const std::uint32_t strand : process.threads) incident.at_ps = std::max(incident.at_ps, strands_[strand].at);
  incident.at_ps = std::max(incident.at_ps, process.processor_free);
  incident.call = doing_in_words(process);
  incident.message = why.what();
  for (const Process& other : processes_)
    if (other.job == process.job && !other.ended) ++ended_;
}

/// Where its first thread that is not over is.
std::string JobTraffic::doing_in_words(const Process& process) const {
  const RankProgram& program = job_of(process).program.ranks[process.rank];
  for (const std::uint32_t index : process.threads) {
    const Strand& strand = strands_[index];
    const std::vector<Step>& steps = program.threads[strand.thread];
    if (strand.over || strand.position >= steps.size()) continue;
    const std::string place =
        "step " + std::to_string(strand.position + 1) + " of " + std::to_string(steps.size()) + ": ";
    switch (steps[strand.position].kind) {
      case Step::Kind::send:
      case Step::Kind::synchronous_send:
        return place + "a send to rank " + std::to_string(steps[strand.position].peer);
      case Step::Kind::receive:
        return place + "a receive";
      case Step::Kind::wait:
        return place + "waiting for " + waiting_in_words(process);
      default:
        return place + waiting_in_words(process);
    }
  }
  return "the end";
}

void JobTraffic::look(std::uint32_t process, Time at) {
  with_engine(process, [&](ReplicaProcess& engine) { engine.look(at); });
}

// -------------------------------------------------------------------------------------------------------- messages

void JobTraffic::post_compared(std::uint32_t index, const Step& what, std::uint32_t pending) {
  const Strand& strand = strands_[index];
  with_engine(strand.process, [&](ReplicaProcess& engine) {
    const std::uint32_t number = engine.make_receive({what.context, what.peer, what.tag}, pending);
    pending_[pending].wanted = Wanted::by_engine;
    pending_[pending].process = strand.process;
    pending_[pending].number = number;
    engine.post(number, what.any_source, what.any_tag, strand.at);
    engine.look(strand.at);
  });
}

void JobTraffic::post(std::uint32_t process, Time at, const Envelope& envelope, std::uint32_t pending) {
  post_at(process, at, envelope, pending);
}

/// The engine will want to know what message its receive has.
void JobTraffic::hand_to_engine(const Letter& letter, std::uint32_t index) {
  const Pending& pending = pending_[index];
  if (pending.wanted == Wanted::by_engine)
    processes_[pending.process].engine->came(pending.number, letter.envelope,
                                             {letter.name, letter.altered, letter.bytes});
}

/// MPI has a message for the engine.
void JobTraffic::came(std::uint32_t index, Time at) {
  const Pending pending = pending_[index];
  ReplicaProcess& engine = *processes_[pending.process].engine;
  if (pending.wanted == Wanted::copy) {
    engine.copy_came(pending.number);
    free_pending(index);
  }
  if (!engine.inside()) look(pending.process, at);
}

void JobTraffic::deliver(std::uint32_t process, Time at, std::uint32_t pending) {
  pending_[pending].wanted = Wanted::by_program;
  complete(pending, at, processes_[process].host);
}

/// The program waits for this, and by the same call for what stands behind it.
void JobTraffic::expect(std::uint32_t index, std::uint32_t pending) {
  const Strand& strand = strands_[index];
  expect_row(index);
  if (pending_[pending].wanted == Wanted::by_engine) {
    processes_[strand.process].engine->await(pending_[pending].number);
    look(strand.process, strand.at);
  }
}

void JobTraffic::expect_row(std::uint32_t index) {
  Strand& strand = strands_[index];
  if (strand.awaited > strand.position) return;
  Process& process = processes_[strand.process];
  const std::vector<Step>& steps = job_of(process).program.ranks[process.rank].threads[strand.thread];
  std::size_t next = strand.position + 1;
  for (; next < steps.size(); ++next) {
    const Step& step = steps[next];
    if (step.kind != Step::Kind::wait || step.before_ns > 0 || step.told > 0) break;
    const Pending& pending = pending_[operation(process, step.operation)];
    if (pending.wanted == Wanted::by_engine) process.engine->await(pending.number);
  }
  strand.awaited = next;
}

Time JobTraffic::carry(std::uint32_t index, std::uint32_t to, Time at, std::vector<std::byte> record) {
  Process& process = processes_[index];
  const Protocol& protocol = protocol_of(process);
  const bool local = process.host == processes_[to].host;
  const std::int64_t byte_ps = local ? protocol.shared_byte_ps : protocol.send_byte_ps;
  const Time end =
      spend(process, at, protocol.send_overhead_ns * ps_per_ns + static_cast<Time>(record.size()) * byte_ps);
  Letter letter;
  letter.part = Part::record;
  letter.from = index;
  letter.to = to;
  letter.bytes = record.size();
  const std::uint32_t number = take_letter(letter);
  records_[number] = std::move(record);
  dispatch(number, end);
  return end;
}

void JobTraffic::read_record(std::uint32_t index, Time now) {
  const Letter letter = letters_[index];
  Process& process = processes_[letter.to];
  const Protocol& protocol = protocol_of(process);
  const Time cost =
      protocol.receive_overhead_ns * ps_per_ns + static_cast<Time>(letter.bytes) * protocol.receive_byte_ps;
  const Time at = spend(process, now, cost);
  std::vector<std::byte> record = records_.extract(index).mapped();
  free_letters_.push_back(index);
  with_engine(letter.to, [&](ReplicaProcess& engine) {
    engine.read(letter.from, std::move(record), at);
    engine.look(at);
  });
}

Time JobTraffic::carry_copy(std::uint32_t process, std::uint32_t to, Time at, std::uint64_t number,
                            std::uint64_t bytes) {
  Letter letter;
  letter.envelope = {copies_context, process, static_cast<std::int64_t>(number)};
  letter.bytes = bytes;
  letter.sends = take_pending();
  pending_[letter.sends].unasked = true;
  return send_at(process, to, at, letter, false);
}

void JobTraffic::await_copy(std::uint32_t process, Time at, std::uint32_t from, std::uint64_t number,
                            std::uint64_t token) {
  const std::uint32_t pending = take_pending();
  pending_[pending].wanted = Wanted::copy;
  pending_[pending].process = process;
  pending_[pending].number = static_cast<std::uint32_t>(token);
  post_at(process, at, {copies_context, from, static_cast<std::int64_t>(number)}, pending);
}

// ------------------------------------------------------------------------------------------------ what leaders say

/// False: the strand is resumed when the leader has said more.
bool JobTraffic::hears_leader(std::uint32_t index, const Step& what) {
  Strand& strand = strands_[index];
  Process& process = processes_[strand.process];
  if (process.replica == 0) return true;
  bool heard = true;
  with_engine(strand.process, [&](ReplicaProcess& engine) {
    while (heard && strand.answers < what.told) {
      heard = engine.follow(strand.at);
      if (heard) ++strand.answers;
    }
  });
  if (!heard) process.awaiting_answers.push_back(index);
  return heard;
}

void JobTraffic::tell_answers(std::uint32_t index, const Step& what) {
  Strand& strand = strands_[index];
  if (processes_[strand.process].replica != 0) return;
  with_engine(strand.process, [&](ReplicaProcess& engine) {
    for (std::uint8_t told = 0; told < what.told; ++told) strand.at = engine.tell(what.operation, strand.at);
  });
}

bool JobTraffic::may_probe(std::uint32_t index, const Step& what) {
  Process& process = processes_[strands_[index].process];
  const bool waits =
      process.engine->probe_must_wait({what.context, what.peer, what.tag}, what.any_source, what.any_tag);
  if (waits) process.awaiting_answers.push_back(index);
  return !waits;
}

void JobTraffic::told(std::uint32_t index, Time at) {
  Process& process = processes_[index];
  for (const std::uint32_t strand : process.awaiting_answers) push(process.host, at, Kind::resume, strand);
  process.awaiting_answers.clear();
}

void JobTraffic::all_ended(std::uint32_t process, Time at) {
  processes_[process].end = std::max(processes_[process].end, at);
}

// ------------------------------------------------------------------------------------------------------ collectives

namespace {

bool gives_each_another(Operation operation) {
  return operation == Operation::reduce || operation == Operation::scan || operation == Operation::exscan ||
         operation == Operation::reduce_scatter || operation == Operation::reduce_scatter_block;
}

/// Of those that are entered by polling: whether MPI gets the nonblocking one instead, and nobody has to meet first, as
/// in mpi/collective/hooks_collective.cc (run_polled) and Collective::passed_on_whole.
bool goes_without_meeting(const Collective& what) {
  constexpr std::uint64_t passed_on_whole = std::uint64_t{1} << 16;
  switch (what.operation) {
    case Operation::barrier:
    case Operation::gather:
    case Operation::gatherv:
    case Operation::scatter:
    case Operation::scatterv:
      return true;
    case Operation::bcast:
      return what.bytes < passed_on_whole;
    default:
      return false;
  }
}

/// Of one collective four things may be compared.
constexpr std::uint64_t comparisons = 4;

}  // namespace

/// As mpi/collective/collective.h: operands of reductions that cannot be made again are compared before them, with
/// three replicas or more; and where another replica may ask late, the call is entered by a barrier, or is polled.
void JobTraffic::begin_phases(std::uint32_t index, Collective collective, bool inner) {
  Strand& strand = strands_[index];
  const Process& process = processes_[strand.process];
  const Protection& protection = job_of(process).protection;
  strand.inner = inner;
  const std::uint64_t given = inner ? 0 : bytes_given(collective);
  strand.what = std::make_unique<Collective>(std::move(collective));
  const std::vector<std::uint64_t> bits = processes_[strand.process].engine->flipped_in_collective(given);
  if (!bits.empty())
    replicas_[process.job]->flipped[{static_cast<int>(process.replica), strand.context, strand.tag}][strand.what->me] =
        bits;
  const bool blocking = !strand.what->nonblocking && !inner;
  const bool operand = blocking && protection.degree > 2 && gives_each_another(strand.what->operation) && given > 0;
  enter_phase(index, operand ? Phase::operand : Phase::entry);
}

/// False: the collective is over.
bool JobTraffic::next_phase(std::uint32_t index) {
  Strand& strand = strands_[index];
  switch (strand.phase) {
    case Phase::operand:
      enter_phase(index, Phase::entry);
      return true;
    case Phase::entry:
      enter_phase(index, Phase::running);
      return true;
    case Phase::running:
      enter_phase(index, Phase::result);
      return true;
    case Phase::repeated:
      enter_phase(index, Phase::operand_again);
      return true;
    case Phase::operand_again:
      enter_phase(index, Phase::entry_again);
      return true;
    case Phase::entry_again:
      enter_phase(index, Phase::running_again);
      return true;
    case Phase::running_again:
      enter_phase(index, Phase::result_again);
      return true;
    default:
      return false;
  }
}

void JobTraffic::enter_phase(std::uint32_t index, Phase phase) {
  Strand& strand = strands_[index];
  const Protection& protection = job_of(processes_[strand.process]).protection;
  const bool late = protection.protocol == replicate::Protocol::msg_plus_hash && protection.degree > 3;
  const bool polled = late && !strand.inner && !strand.what->nonblocking && goes_without_meeting(*strand.what);
  strand.phase = phase;
  strand.actions.clear();
  strand.position = 0;
  switch (phase) {
    case Phase::running:
    case Phase::running_again: {
      if (!polled) return start_activity(index, *strand.what, phase == Phase::running);
      Collective nonblocking = *strand.what;
      nonblocking.nonblocking = true;
      return start_activity(index, nonblocking, phase == Phase::running);
    }
    case Phase::entry:
    case Phase::entry_again: {
      if (!late || polled || strand.what->nonblocking) return;
      Collective barrier = *strand.what;
      barrier.operation = Operation::barrier;
      barrier.bytes = 0;
      barrier.to.clear();
      barrier.from.clear();
      barrier.nonblocking = true;
      return start_activity(index, barrier, false);
    }
    default:
      return compare(index);
  }
}

/// Its result, or operand, is compared; JobTraffic::settle() when it was.
void JobTraffic::compare(std::uint32_t index) {
  Strand& strand = strands_[index];
  const Collective& what = *strand.what;
  Process& process = processes_[strand.process];
  const bool operand = strand.phase == Phase::operand || strand.phase == Phase::operand_again;
  const std::uint64_t bytes = strand.inner ? 0 : operand ? bytes_given(what) : bytes_got(what);
  if (bytes == 0) return;
  const auto& all_flipped = replicas_[process.job]->flipped;
  const auto found = all_flipped.find({static_cast<int>(process.replica), strand.context, strand.tag});
  const FlippedBits flipped = found == all_flipped.end() ? FlippedBits{} : found->second;
  with_engine(strand.process, [&](ReplicaProcess& engine) {
    auto result = engine.make_result();
    result->name = replicate::mix(replicate::mix(strand.context, static_cast<std::uint64_t>(strand.tag)), what.me);
    result->bytes = bytes;
    result->altered = altered_result(what, flipped);
    if (operand) {
      result->altered.assign(1, 0);
      if (const auto own = flipped.find(what.me); own != flipped.end())
        for (const std::uint64_t bit : own->second) result->altered.front() ^= altered_by(bit);
    }
    result->what = std::string(operand ? "operand" : "result") + " of " + std::string(name(what.operation)) +
                   " at rank " + std::to_string(process.rank);
    for (const std::uint32_t member : job_of(process).program.communicators[strand.context / 2])
      result->members.push_back(static_cast<int>(member));
    result->strand = index;
    const bool repeats = strand.phase == Phase::result && what.operation == Operation::allreduce && !what.nonblocking &&
                         job_of(process).protection.degree > 2;
    std::optional<std::uint64_t> reduction;
    if (repeats) reduction = static_cast<std::uint64_t>(strand.tag);
    strand.comparing = true;
    const auto number =
        static_cast<std::uint64_t>(strand.tag) * comparisons + (strand.phase == Phase::operand         ? 0U
                                                                : strand.phase == Phase::result        ? 1U
                                                                : strand.phase == Phase::operand_again ? 2U
                                                                                                       : 3U);
    engine.compare(std::move(result), strand.context, number, reduction, strand.at);
    engine.look(strand.at);
  });
}

void JobTraffic::settle(std::uint32_t index, Time at, const ResultContent& result) {
  Strand& strand = strands_[result.strand];
  const Process& process = processes_[index];
  strand.comparing = false;
  strand.at = std::max(strand.at, at);
  const bool operand = strand.phase == Phase::operand || strand.phase == Phase::operand_again;
  if (operand && result.altered.front() == 0) {  // as it should be, or corrected
    auto& flipped = replicas_[process.job]->flipped;
    const auto found = flipped.find({static_cast<int>(process.replica), strand.context, strand.tag});
    if (found != flipped.end()) found->second.erase(strand.what->me);
  }
  if (result.stage == replicate::Verified::Stage::repeated) strand.phase = Phase::repeated;
  if (std::exchange(strand.waiting, false)) push(process.host, at, Kind::resume, result.strand);
}

}  // namespace holdfast::simulate::job
