#include "simulate/job/job_traffic.h"

#include <algorithm>
#include <cmath>

namespace holdfast::simulate::job {
namespace {

Time scaled(std::int64_t ns, double scale) {
  const double ps = static_cast<double>(ns) * static_cast<double>(ps_per_ns) * scale;
  return ps >= static_cast<double>(never / 2) ? never / 2 : static_cast<Time>(std::llround(ps));
}

Time times(std::uint64_t bytes, std::int64_t ps) {
  return static_cast<Time>(bytes) * ps;
}

/// Steps; the messages of more would only lie in memory.
constexpr std::uint32_t most_ahead = 64;

std::string rank_in_words(std::uint32_t rank) {
  return rank == Envelope::any_source ? "any rank" : "rank " + std::to_string(rank);
}

std::string tag_in_words(std::int64_t tag) {
  return tag == Envelope::any_tag ? "any tag" : "tag " + std::to_string(tag);
}

/// MPI_Isend, MPI_Irecv and the like put a message on its way or a receive into a list; neither Open MPI 4.1 nor MPICH
/// 4.0 looks at the network in them (docs/results/prediction-accuracy.md), so that what came while the program computed
/// is seen by the wait.
bool only_begins(const Step& what) {
  return what.kind == Step::Kind::send || what.kind == Step::Kind::synchronous_send || what.kind == Step::Kind::receive;
}

}  // namespace

JobTraffic::JobTraffic(std::vector<Job> jobs, std::uint32_t hosts)
    : jobs_(std::move(jobs)), hosts_(hosts), stopped_(jobs_.size(), false) {
  for (std::uint32_t job = 0; job < jobs_.size(); ++job) {
    first_.push_back(static_cast<std::uint32_t>(processes_.size()));
    outcomes_.emplace_back();
    const std::uint32_t ranks = ranks_of(job);
    for (std::uint32_t index = 0; index < ranks * static_cast<std::uint32_t>(jobs_[job].protection.degree); ++index) {
      Process& process = processes_.emplace_back();
      process.job = job;
      process.rank = index % ranks;
      process.replica = index / ranks;
      process.host = jobs_[job].hosts[index];
    }
  }
  make_replicas();
  for (std::uint32_t index = 0; index < processes_.size(); ++index) {
    Process& process = processes_[index];
    const std::vector<std::vector<Step>>& threads = job_of(process).program.ranks[process.rank].threads;
    process.threads_left = static_cast<std::uint32_t>(threads.size());
    process.alone = threads.size() == 1 && !process.engine && protocol_of(process).progress == Progress::calls;
    for (std::uint32_t thread = 0; thread < threads.size(); ++thread) {
      const std::uint32_t strand = strands_.add();
      strands_[strand].process = index;
      strands_[strand].thread = thread;
      strands_[strand].steps = threads[thread];
      process.threads.push_back(strand);
      push(process.host, 0, Kind::resume, strand);
    }
    if (!threads.empty()) continue;
    process.ended = true;
    ++ended_;
  }
}

JobTraffic::~JobTraffic() = default;

// -------------------------------------------------------------------------------------------------- hosts and the
// network

void JobTraffic::push(std::uint32_t host, Time at, Kind kind, std::uint32_t index) {
  hosts_[host].events.push({at, hosts_[host].order++, kind, index});
}

void JobTraffic::advance(std::uint32_t host, Time now) {
  auto& events = hosts_[host].events;
  while (!events.empty() && events.top().at <= now) {
    const LocalEvent event = events.top();
    events.pop();
    event.kind == Kind::resume ? resume(event.index, event.at) : take_in(event.index, event.at);
  }
}

Traffic::Answer JobTraffic::next(std::uint32_t index, Time now, Message& message) {
  if (index >= hosts_.size()) return Answer::none;
  advance(index, now);
  Host& host = hosts_[index];
  // Segments of such a letter may be on their way: it is not used again.
  while (!host.leaving.empty() && stopped(letters_[host.leaving.top().letter].from)) host.leaving.pop();
  if (!host.leaving.empty() && host.leaving.top().at <= now) {
    const Leaving leaving = host.leaving.top();
    host.leaving.pop();
    Letter& letter = letters_[leaving.letter];
    const Process& other = processes_[sending_end(letter) == letter.from ? letter.to : letter.from];
    const std::uint64_t segment = std::min(letter.unsent, segment_of(other));
    message = {other.host, leaving.letter, segment, leaving.at};
    letter.unsent -= segment;
    if (letter.unsent > 0) host.leaving.push({now, host.order++, leaving.letter});
    if (observes_) sent_[std::uint64_t{index} << 32 | other.host] += message.bytes;
    host.asked_at = 0;
    return Answer::send;
  }
  message.created = host.asked_at = host.next();
  return host.asked_at == never ? Answer::none : Answer::later;
}

void JobTraffic::sent(std::uint32_t host, std::uint32_t tag, Time now) {
  advance(host, now);
  Letter& letter = letters_[tag];
  if (--letter.to_take == 0 && letter.part == Part::data) complete(letter.sends, now, host);
}

void JobTraffic::delivered(std::uint32_t destination, std::uint32_t tag, Time now, std::vector<std::uint32_t>& wake) {
  advance(destination, now);
  if (--letters_[tag].to_arrive > 0) return;
  take_in(tag, now);
  advance(destination, now);
  if (player_ == nullptr)
    wake.push_back(destination);
  else
    ask_for(destination);
}

/// Mostly the processes of a host compute, or wait for something else: then the network asks when it would have. It is
/// told only of what comes before that; while its adapter is busy it will ask by itself.
void JobTraffic::ask_for(std::uint32_t host) {
  const Time at = hosts_[host].next();
  if (at >= hosts_[host].asked_at) return;
  hosts_[host].asked_at = at;
  player_->ask(host, at);
}

/// What the adapter takes of a message at a time.
std::uint64_t JobTraffic::segment_of(const Process& process) const {
  const std::uint64_t segment = protocol_of(process).segment_bytes;
  return segment == 0 ? ~std::uint64_t{0} : segment;
}

std::uint32_t JobTraffic::sending_end(const Letter& letter) const {
  return letter.part == Part::answer || letter.part == Part::acknowledgement ? letter.to : letter.from;
}

std::uint32_t JobTraffic::take_letter(const Letter& letter) {
  if (free_letters_.empty()) {
    letters_.push_back(letter);
    return static_cast<std::uint32_t>(letters_.size() - 1);
  }
  const std::uint32_t index = free_letters_.back();
  free_letters_.pop_back();
  letters_[index] = letter;
  return index;
}

/// A letter goes on its way at a moment that is not over.
void JobTraffic::dispatch(std::uint32_t index, Time at) {
  Letter& letter = letters_[index];
  const Process& from = processes_[sending_end(letter)];
  JobOutcome& outcome = outcomes_[from.job];
  const bool local = is_local(letter);
  const bool of_program = letter.envelope.context != copies_context;
  if (letter.part == Part::ask && of_program) ++outcome.rendezvous;
  if (of_program && (letter.part == Part::eager || letter.part == Part::data || letter.part == Part::put)) {
    ++(local ? outcome.shared_messages : outcome.messages);
    if (!local) outcome.message_bytes += letter.bytes;
  }
  if (local) return push(from.host, later_by(at, protocol_of(from).shared_latency_ns * ps_per_ns), Kind::letter, index);
  const bool short_one = letter.part == Part::ask || letter.part == Part::answer || letter.part == Part::get;
  letter.unsent = protocol_of(from).header_bytes + (short_one ? 0 : letter.bytes);
  const std::uint64_t segment = segment_of(from);
  const std::uint64_t segments = letter.unsent == 0 ? 1 : (letter.unsent - 1) / segment + 1;
  letter.to_take = letter.to_arrive = segments;
  Host& host = hosts_[from.host];
  host.leaving.push({at, host.order++, index});
}

// --------------------------------------------------------------------------------------------------- threads and
// collectives

void JobTraffic::resume(std::uint32_t index, Time now) {
  if (stopped(strands_[index].process)) return;
  strands_[index].thread == none ? run_collective(index, now) : run_thread(index, now);
}

/// A thread that is alone computes and begins messages without an event for each: nothing that comes meanwhile is seen
/// before its next call that looks.
void JobTraffic::run_thread(std::uint32_t index, Time now) {
  Strand& strand = strands_[index];
  Process& process = processes_[strand.process];
  strand.at = std::max(strand.at, now);
  std::uint32_t ahead = 0;
  while (strand.position < strand.steps.size()) {
    const Step& what = strand.steps[strand.position];
    if (!strand.computed) compute(strand, what);
    if (strand.at > now) {
      const bool looks = !only_begins(what) || strand.inside || process.inside_until > now;
      if (looks || !goes_on(strand) || ahead++ == most_ahead) return push(process.host, strand.at, Kind::resume, index);
    }
    if (process.engine || !only_begins(what)) enter(strand, now);
    if (process.row != none && what.kind != Step::Kind::nothing) turns_to(strand, activity_of(process, what));
    if (!step(index, what) || stopped(strand.process)) return;
    ++strand.position;
    strand.computed = false;
    strand.answers = 0;
    if (strand.at > now && !goes_on(strand)) return push(process.host, strand.at, Kind::resume, index);
  }
  if (strand.at > now) return push(process.host, strand.at, Kind::resume, index);
  end_thread(index, now);
}

/// What stands before a step.
void JobTraffic::compute(Strand& strand, const Step& what) {
  Process& process = processes_[strand.process];
  strand.computed = true;
  const Time duration = scaled(what.before_ns, job_of(process).compute_scale);
  if (duration == 0) return;
  leave(strand);
  turns_to(strand, Activity::computing);
  if (strand.thread == 0) process.computing += duration;
  strand.at = later_by(strand.at, duration);
}

/// Whether the thread may be ahead of the network at the moment that it has come to.
bool JobTraffic::goes_on(const Strand& strand) const {
  return processes_[strand.process].alone && strand.at < until_;
}

void JobTraffic::enter(Strand& strand, Time now) {
  if (strand.inside) return;
  strand.inside = true;
  Process& process = processes_[strand.process];
  if (process.inside++ > 0) return;
  for (std::size_t next = 0; next < process.deferred.size(); ++next) {
    const auto [is_letter, index] = process.deferred[next];
    is_letter ? handle(index, now) : run_collective(index, now);
  }
  process.deferred.clear();
  if (process.engine) look(strand.process, now);
}

void JobTraffic::leave(Strand& strand) {
  if (!strand.inside) return;
  strand.inside = false;
  --processes_[strand.process].inside;
  processes_[strand.process].inside_until = strand.at;
}

/// A thread that has no more calls stays in MPI, as MPI_Finalize does until all is over.
void JobTraffic::end_thread(std::uint32_t index, Time now) {
  Strand& strand = strands_[index];
  if (strand.over || stopped(strand.process)) return;
  enter(strand, now);
  turns_to(strand, Activity::message);
  strand.over = true;
  Process& process = processes_[strand.process];
  process.end = std::max(process.end, strand.at);
  if (--process.threads_left > 0) return;
  process.ended = true;
  ++ended_;
  const Time at = process.end;
  with_engine(strand.process, [&](ReplicaProcess& engine) { engine.end(at); });
}

bool JobTraffic::makes_progress(const Process& process, Time now) const {
  return process.inside > 0 || now < process.inside_until || process.ended ||
         protocol_of(process).progress == Progress::always;
}

/// What its rank's first thread does from now on.
void JobTraffic::turns_to(const Strand& strand, Activity activity) {
  Process& process = processes_[strand.process];
  if (process.row == none || strand.thread != 0) return;
  timeline_.add(process.row, process.activity, process.since, strand.at);
  process.activity = activity;
  process.since = strand.at;
}

Activity JobTraffic::activity_of(Process& process, const Step& what) {
  const bool of_collective = what.kind == Step::Kind::collective ||
                             (what.kind == Step::Kind::wait && pending_[operation(process, what.operation)].collective);
  return of_collective ? Activity::collective : Activity::message;
}

/// False: the thread waits, and does the step again when it is resumed.
bool JobTraffic::step(std::uint32_t index, const Step& what) {
  Strand& strand = strands_[index];
  Process& process = processes_[strand.process];
  const auto envelope = [&] { return Envelope{what.context, what.peer, what.tag}; };
  switch (what.kind) {
    case Step::Kind::nothing:
    case Step::Kind::poll:
      return true;
    case Step::Kind::send:
    case Step::Kind::synchronous_send:
      send(index, process_of(process, what.peer), {what.context, process.rank, what.tag}, what.bytes,
           what.kind == Step::Kind::synchronous_send, operation(process, what.operation));
      return true;
    case Step::Kind::receive:
      if (process.engine && is_compared(what.context))
        post_compared(index, what, operation(process, what.operation));
      else
        post(index, envelope(), operation(process, what.operation));
      return true;
    case Step::Kind::wait: {
      if (process.engine && !hears_leader(index, what)) return false;
      const std::uint32_t pending = operation(process, what.operation);
      if (process.engine) expect(index, pending);
      if (!await(pending, index)) return false;
      process.operations.close(what.operation);
      if (process.engine) tell_answers(index, what);
      return true;
    }
    case Step::Kind::probe:
      if (process.engine && !(hears_leader(index, what) && may_probe(index, what))) return false;
      if (!process.matching.probe(envelope())) {
        process.probing.push_back({index, envelope()});
        return false;
      }
      if (process.engine) tell_answers(index, what);
      return true;
    case Step::Kind::collective:
      begin_collective(index, what, operation(process, what.operation));
      return true;
    case Step::Kind::put:
    case Step::Kind::get:
      begin_access(index, what);
      return true;
    case Step::Kind::complete_accesses:
      if (process.accesses == 0) return true;
      process.awaiting_accesses.push_back(index);
      return false;
  }
  return true;
}

void JobTraffic::begin_collective(std::uint32_t index, const Step& what, std::uint32_t pending) {
  const Strand& caller = strands_[index];
  const Process& process = processes_[caller.process];
  const Job& job = job_of(process);
  const RankProgram& program = job.program.ranks[process.rank];
  const std::uint32_t communicator = what.context / 2;
  const std::vector<std::uint32_t>& members = job.program.communicators[communicator];
  pending_[pending].collective = true;
  Collective collective;
  collective.operation = what.collective;
  collective.me = program.numbers.at(communicator);
  collective.size = static_cast<std::uint32_t>(members.size());
  collective.root = what.peer;
  collective.bytes = what.bytes;
  collective.to = program.lists[what.lists];
  collective.from = program.lists[what.lists_from];
  collective.nonblocking = what.nonblocking;
  if (job.protocol.collectives == Rules::mpich || job.in_network) {
    const std::uint32_t world = process.replica * ranks_of(process.job);
    for (const std::uint32_t rank : members) collective.host_of.push_back(job.hosts[world + rank]);
  }
  std::uint32_t made = 0;
  if (free_strands_.empty()) {
    made = strands_.add();
  } else {
    made = free_strands_.back();
    free_strands_.pop_back();
    strands_[made] = Strand{};
  }
  Strand& strand = strands_[made];
  strand.process = caller.process;
  strand.at = caller.at;
  strand.ends = pending;
  strand.context = what.context;
  strand.tag = what.tag;
  if (process.engine)
    begin_phases(made, std::move(collective), what.inner);
  else
    start_activity(made, collective, true);
  push(process.host, strand.at, Kind::resume, made);
}

/// The messages of a collective. `counts`: it is the first time.
void JobTraffic::start_activity(std::uint32_t index, const Collective& collective, bool counts) {
  Strand& strand = strands_[index];
  const Process& process = processes_[strand.process];
  const Rules rules = protocol_of(process).collectives;
  strand.operation = collective.operation;
  strand.root = collective.root;
  Algorithm used{};
  const Algorithm chosen = by_switches(process, collective) ? Algorithm::in_network : choose(rules, collective);
  strand.actions = schedule(collective, chosen, rules, &used);
  strand.position = strand.waited = 0;
  strand.begun.clear();
  if (!counts || collective.me != 0 || process.replica != 0) return;
  AlgorithmUse& use = outcomes_[process.job].algorithms[{collective.operation, used}];
  ++use.calls;
  use.bytes += collective.bytes;
}

void JobTraffic::run_collective(std::uint32_t index, Time now) {
  Strand& strand = strands_[index];
  Process& process = processes_[strand.process];
  if (!makes_progress(process, now)) return process.deferred.emplace_back(false, index), void();
  strand.at = std::max(strand.at, now);
  do {
    if (strand.comparing) {
      strand.waiting = true;
      return;
    }
    while (strand.position < strand.actions.size()) {
      if (!act(index, strand.actions[strand.position])) return;
      ++strand.position;
      if (strand.at > now) return push(process.host, strand.at, Kind::resume, index);
    }
  } while (process.engine && next_phase(index));
  if (strand.comparing || stopped(strand.process)) return;
  complete(strand.ends, strand.at, process.host);
  strand.actions = {};
  strand.what.reset();
  free_strands_.push_back(index);
}

bool JobTraffic::act(std::uint32_t index, const Action& what) {
  Strand& strand = strands_[index];
  Process& process = processes_[strand.process];
  const auto rank = [&] { return job_of(process).program.communicators[strand.context / 2][what.peer]; };
  const auto wait_for = [&](std::size_t number) {
    if (strand.begun[number] == none) return true;
    if (!await(strand.begun[number], index)) return false;
    strand.begun[number] = none;
    return true;
  };
  switch (what.kind) {
    case Action::Kind::send:
    case Action::Kind::synchronous_send:
      strand.begun.push_back(take_pending());
      send(index, process_of(process, rank()), {strand.context, process.rank, strand.tag}, what.bytes,
           what.kind == Action::Kind::synchronous_send, strand.begun.back());
      return true;
    case Action::Kind::receive:
      strand.begun.push_back(take_pending());
      post(index, {strand.context, rank(), strand.tag}, strand.begun.back());
      return true;
    case Action::Kind::network:
      strand.begun.push_back(take_pending());
      meet(index, what.bytes, strand.begun.back());
      return true;
    case Action::Kind::wait:
      for (; strand.waited < strand.begun.size(); ++strand.waited)
        if (!wait_for(strand.waited)) return false;
      return true;
    case Action::Kind::wait_for:
      return wait_for(what.bytes);
    case Action::Kind::reduce:
      strand.at = spend(process, strand.at, times(what.bytes, protocol_of(process).reduce_byte_ps));
      return true;
  }
  return true;
}

// ---------------------------------------------------------------------------------------------------- what is under
// way

std::uint32_t JobTraffic::take_pending() {
  if (free_pending_.empty()) {
    pending_.emplace_back();
    return static_cast<std::uint32_t>(pending_.size() - 1);
  }
  const std::uint32_t taken = free_pending_.back();
  free_pending_.pop_back();
  pending_[taken] = {};
  return taken;
}

void JobTraffic::free_pending(std::uint32_t pending) {
  free_pending_.push_back(pending);
}

/// Of an operation of the program; another thread may ask for it before it has begun.
std::uint32_t JobTraffic::operation(Process& process, std::uint32_t number) {
  std::uint32_t& known = process.operations[number];
  if (known == none) known = take_pending();
  return known;
}

void JobTraffic::complete(std::uint32_t index, Time at, std::uint32_t host) {
  Pending& pending = pending_[index];
  if (pending.wanted != Wanted::by_program) return came(index, at);
  if (pending.unasked) return free_pending(index);
  pending.over = true;
  pending.at = at;
  if (pending.waiter != none) push(host, at, Kind::resume, std::exchange(pending.waiter, none));
}

/// True: it is over, and gone. False: the strand will be resumed.
bool JobTraffic::await(std::uint32_t index, std::uint32_t strand) {
  Pending& pending = pending_[index];
  if (!pending.over) {
    pending.waiter = strand;
    return false;
  }
  strands_[strand].at = std::max(strands_[strand].at, pending.at);
  free_pending(index);
  return true;
}

/// The processor does something from `at` on, or from when it is free; the end of it.
Time JobTraffic::spend(Process& process, Time at, Time cost) {
  process.processor_free = later_by(std::max(at, process.processor_free), cost);
  process.overhead = later_by(process.overhead, cost);
  return process.processor_free;
}

// -------------------------------------------------------------------------------------------------------------
// messages

void JobTraffic::send(std::uint32_t index, std::uint32_t to, const Envelope& envelope, std::uint64_t bytes,
                      bool synchronous, std::uint32_t pending) {
  Strand& strand = strands_[index];
  ReplicaProcess* engine = processes_[strand.process].engine.get();
  Letter letter;
  letter.envelope = envelope;
  letter.bytes = bytes;
  letter.sends = pending;
  const bool compared = engine != nullptr && strand.thread != none && is_compared(envelope.context);
  if (engine != nullptr && strand.thread != none && !compared) ++replication_of(strand.process).uncompared;
  Content content;
  if (compared) content = engine->make_content(envelope.context, processes_[to].rank, envelope.tag, bytes);
  letter.name = content.name;
  letter.altered = content.altered;
  strand.at = send_at(strand.process, to, strand.at, letter, synchronous);
  if (!compared) return;
  with_engine(strand.process, [&](ReplicaProcess& own) {
    strand.at = own.announce(content, envelope.context, processes_[to].rank, envelope.tag, strand.at);
  });
}

/// When the processor is done with it.
Time JobTraffic::send_at(std::uint32_t index, std::uint32_t to, Time at, const Letter& what, bool synchronous) {
  Process& process = processes_[index];
  const Protocol& protocol = protocol_of(process);
  const bool local = process.host == processes_[to].host;
  const bool eager = !synchronous && what.bytes <= (local ? protocol.shared_eager_limit : protocol.eager_limit);
  Time cost = protocol.send_overhead_ns * ps_per_ns;
  if (eager) cost = later_by(cost, times(what.bytes, local ? protocol.shared_byte_ps : protocol.send_byte_ps));
  const Time end = spend(process, at, cost);
  Letter letter = what;
  letter.part = eager ? Part::eager : Part::ask;
  letter.from = index;
  letter.to = to;
  dispatch(take_letter(letter), end);
  if (eager) complete(what.sends, end, process.host);
  return end;
}

void JobTraffic::post(std::uint32_t index, const Envelope& envelope, std::uint32_t pending) {
  post_at(strands_[index].process, strands_[index].at, envelope, pending);
}

void JobTraffic::post_at(std::uint32_t index, Time at, const Envelope& envelope, std::uint32_t pending) {
  const auto letter = processes_[index].matching.post(envelope, pending);
  if (!letter) return;
  letters_[*letter].part == Part::eager ? receive_eager(*letter, pending, at) : answer(*letter, pending, at);
}

/// A letter is in the memory of its receiver's host.
void JobTraffic::take_in(std::uint32_t index, Time now) {
  Letter& letter = letters_[index];
  if (stopped(letter.from)) return free_letters_.push_back(index);
  switch (letter.part) {
    case Part::put:
    case Part::get:  // the adapter answers
      if (letter.part == Part::put) letter.bytes = 0;
      letter.part = Part::acknowledgement;
      return dispatch(index, now);
    case Part::acknowledgement:
      access_over(letter.from, letter.sends, now);
      free_letters_.push_back(index);
      return;
    default:
      break;
  }
  Process& receiver = processes_[letter.part == Part::answer ? letter.from : letter.to];
  makes_progress(receiver, now) ? handle(index, now) : static_cast<void>(receiver.deferred.emplace_back(true, index));
}

/// MPI sees a letter.
void JobTraffic::handle(std::uint32_t index, Time now) {
  const Letter letter = letters_[index];
  if (stopped(letter.from)) return free_letters_.push_back(index);
  if (letter.part == Part::answer) return send_data(index, now);
  if (letter.part == Part::record) return read_record(index, now);
  if (letter.part == Part::result) return receive_eager(index, letter.receives, now);
  Process& process = processes_[letter.to];
  if (letter.part == Part::data) {
    const Time end = spend(process, now, protocol_of(process).receive_overhead_ns * ps_per_ns);
    hand_to_engine(letter, letter.receives);
    complete(letter.receives, end, process.host);
    free_letters_.push_back(index);
    return;
  }
  if (const auto pending = process.matching.arrive(letter.envelope, index)) {
    letter.part == Part::eager ? receive_eager(index, *pending, now) : answer(index, *pending, now);
    return;
  }
  auto probing = std::find_if(process.probing.begin(), process.probing.end(),
                              [&](const Probing& one) { return one.envelope.takes(letter.envelope); });
  if (probing == process.probing.end()) return;
  push(process.host, now, Kind::resume, probing->strand);
  process.probing.erase(probing);
}

void JobTraffic::receive_eager(std::uint32_t index, std::uint32_t pending, Time now) {
  Process& process = processes_[letters_[index].to];
  const Protocol& protocol = protocol_of(process);
  const Time cost =
      later_by(protocol.receive_overhead_ns * ps_per_ns, times(letters_[index].bytes, protocol.receive_byte_ps));
  const Time end = spend(process, now, cost);
  hand_to_engine(letters_[index], pending);
  complete(pending, end, process.host);
  free_letters_.push_back(index);
}

void JobTraffic::answer(std::uint32_t index, std::uint32_t pending, Time now) {
  Process& process = processes_[letters_[index].to];
  letters_[index].receives = pending;
  letters_[index].part = Part::answer;
  dispatch(index, spend(process, now, protocol_of(process).receive_overhead_ns * ps_per_ns));
}

void JobTraffic::send_data(std::uint32_t index, Time now) {
  Process& process = processes_[letters_[index].from];
  const Protocol& protocol = protocol_of(process);
  letters_[index].part = Part::data;
  const bool local = is_local(letters_[index]);
  Time cost = protocol.send_overhead_ns * ps_per_ns;
  if (local) cost = later_by(cost, times(letters_[index].bytes, protocol.shared_byte_ps));
  const Time end = spend(process, now, cost);
  if (local) complete(letters_[index].sends, end, process.host);
  dispatch(index, end);
}

void JobTraffic::begin_access(std::uint32_t index, const Step& what) {
  Strand& strand = strands_[index];
  Process& process = processes_[strand.process];
  if (process.engine) ++replication_of(strand.process).uncompared;
  ++process.accesses;
  strand.at = spend(process, strand.at, protocol_of(process).send_overhead_ns * ps_per_ns);
  Letter letter;
  letter.part = what.kind == Step::Kind::put ? Part::put : Part::get;
  letter.from = strand.process;
  letter.to = process_of(process, what.peer);
  letter.bytes = what.bytes;
  if (what.operation != no_operation) letter.sends = operation(process, what.operation);
  dispatch(take_letter(letter), strand.at);
}

void JobTraffic::access_over(std::uint32_t index, std::uint32_t pending, Time now) {
  Process& process = processes_[index];
  if (pending != none) complete(pending, now, process.host);
  if (--process.accesses > 0) return;
  for (const std::uint32_t strand : process.awaiting_accesses) push(process.host, now, Kind::resume, strand);
  process.awaiting_accesses.clear();
}

// -------------------------------------------------------------------------------------------------------------
// outcomes

std::string JobTraffic::waiting_in_words(const Process& process) const {
  const RankProgram& program = job_of(process).program.ranks[process.rank];
  for (const std::uint32_t index : process.threads) {
    const Strand& strand = strands_[index];
    const std::vector<Step>& steps = program.threads[strand.thread];
    if (strand.over || strand.position == steps.size()) continue;  // the job was ended after its last call
    const Step* what = &steps[strand.position];
    const std::uint32_t operation = what->operation;
    if (what->kind == Step::Kind::wait)
      for (const auto& thread : program.threads)
        for (const Step& step : thread)
          if (step.operation == operation && step.kind != Step::Kind::wait) what = &step;
    switch (what->kind) {
      case Step::Kind::receive:
      case Step::Kind::probe:
        return "a message from " + rank_in_words(what->peer) + " with " + tag_in_words(what->tag);
      case Step::Kind::send:
      case Step::Kind::synchronous_send:
        return "rank " + std::to_string(what->peer) + " to receive " + std::to_string(what->bytes) + " bytes with " +
               tag_in_words(what->tag);
      case Step::Kind::collective:
        return "the others in " + std::string(name(what->collective));
      case Step::Kind::wait:
        return "a request that nobody begins";
      default:
        return "an access to another rank's window";
    }
  }
  return "nothing";
}

void JobTraffic::observe(std::size_t ranks, std::size_t bins) {
  observes_ = true;
  const std::size_t all = jobs_.empty() ? 0 : jobs_.front().program.ranks.size();
  const std::size_t rows = std::min(ranks, all);
  timeline_ = Timeline(rows, bins);
  for (std::size_t row = 0; row < rows; ++row) {
    observed_.push_back(static_cast<std::uint32_t>(row * all / rows));
    processes_[observed_.back()].row = static_cast<std::uint32_t>(row);
  }
}

std::vector<Flow> JobTraffic::flows() const {
  std::vector<Flow> flows;
  for (const auto& [hosts, bytes] : sent_)
    flows.push_back({static_cast<std::uint32_t>(hosts >> 32), static_cast<std::uint32_t>(hosts), bytes});
  std::sort(flows.begin(), flows.end(), [](const Flow& one, const Flow& other) {
    return one.from != other.from ? one.from < other.from : one.to < other.to;
  });
  return flows;
}

std::vector<JobOutcome> JobTraffic::outcomes() const {
  std::vector<JobOutcome> outcomes = outcomes_;
  for (std::size_t job = 0; job < jobs_.size(); ++job) {
    if (!outcomes[job].replication) continue;
    ReplicationOutcome& found = *outcomes[job].replication;
    const Replicas& replicas = *replicas_[job];
    found.counters = replicas.counters;
    found.records = replicas.records;
    found.record_bytes = replicas.record_bytes;
    found.copies = replicas.copies;
    found.copy_bytes = replicas.copy_bytes;
  }
  for (const Process& process : processes_) {
    JobOutcome& job = outcomes[process.job];
    RankOutcome& rank = job.ranks.emplace_back();
    rank.ended = process.ended;
    rank.computing_ps = process.computing;
    rank.overhead_ps = process.overhead;
    rank.end_ps = process.end;
    if (process.engine)
      for (const auto& [whose, count] : process.engine->wrong_copies()) job.replication->wrong_copies[whose] += count;
    if (!process.ended) {
      for (const std::uint32_t strand : process.threads) rank.end_ps = std::max(rank.end_ps, strands_[strand].at);
      rank.waits_for = waiting_in_words(process);
    }
    for (const auto& [order, envelope] : process.matching.waiting_messages()) {
      if (envelope.context == copies_context) continue;
      if (job.unreceived++ == 0)
        job.first_unreceived = "rank " + std::to_string(process.rank) + " did not receive what rank " +
                               std::to_string(envelope.source) + " sent with " + tag_in_words(envelope.tag);
    }
  }
  return outcomes;
}

}  // namespace holdfast::simulate::job
