#include "replicate/world/plan.h"

#include <algorithm>
#include <map>

#include "core/random/stream.h"
#include "replicate/engine/ordering.h"

namespace holdfast::replicate {

namespace {

constexpr int groups = 2;  // communicators of a round

std::uint64_t communicator_of(int round, int group) {
  return static_cast<std::uint64_t>(round * groups + group) + 1;
}

int round_of(std::uint64_t communicator) {
  return static_cast<int>(communicator - 1) / groups;
}

/// What one rank does in one round.
struct Round {
  std::vector<Step> sends;
  std::vector<Step> posts;
  std::vector<Step> probes;  ///< each receives what it finds
  std::vector<Step> drains;
};

std::int32_t one_or_any(random::Stream& draw, std::uint64_t bound, std::int32_t any) {
  return draw.chance(1, 2) ? any : static_cast<std::int32_t>(draw.below(bound));
}

Step draw_named(random::Stream& draw, std::uint64_t communicator, int source, std::int32_t tag) {
  const std::uint64_t kind = draw.below(8);
  Step step{kind < 6   ? Step::Kind::post
            : kind < 7 ? Step::Kind::probe
                       : Step::Kind::matched,
            0, source, tag, communicator};
  step.room = draw.chance(1, 16) ? draw.below(100) : Plan::room;
  return step;
}

/// One that may take any message, or none.
Step draw_wild(random::Stream& draw, std::uint64_t communicator, std::size_t ranks) {
  const std::uint64_t kind = draw.below(8);
  Step step{kind < 6   ? Step::Kind::post
            : kind < 7 ? Step::Kind::probe
                       : Step::Kind::matched,
            0, any_source, any_tag, communicator};
  step.room = Plan::room;
  if (kind >= 3) return step;
  step.optional = true;
  step.source = one_or_any(draw, ranks, any_source);
  step.tag = one_or_any(draw, 3, any_tag);
  return step;
}

/// The receives of one rank on one communicator. So that every order of matching serves every receive: of a channel at
/// most as many receives name it as messages are left for it if all that may take any message took theirs from it; what
/// is left is received at the end.
void draw_receives(random::Stream& draw, const std::vector<PlannedMessage>& messages, int rank, std::size_t ranks,
                   std::uint64_t communicator, std::size_t& receives, Round& round) {
  std::map<std::pair<int, std::int32_t>, std::size_t> channels;
  std::size_t total = 0;
  for (const PlannedMessage& message : messages) {
    if (message.to != rank || message.communicator != communicator) continue;
    ++channels[{message.from, message.tag}];
    ++total;
  }
  const bool wild = draw.chance(2, 3);
  std::size_t wildcards = wild && total > 0 ? draw.below(total / 2 + 1) : 0;
  std::size_t named = 0;
  std::vector<Step> steps;
  for (const auto& [channel, count] : channels) {
    if (count <= wildcards) continue;
    std::size_t of_it = count - wildcards;
    if (wild) of_it = draw.below(of_it + 1);
    named += of_it;
    for (std::size_t i = 0; i < of_it; ++i)
      steps.push_back(draw_named(draw, communicator, channel.first, channel.second));
  }
  wildcards = std::min(wildcards, total - named);
  for (std::size_t i = 0; i < wildcards; ++i) steps.push_back(draw_wild(draw, communicator, ranks));
  for (std::size_t i = steps.size(); i > 1; --i) std::swap(steps[i - 1], steps[draw.below(i)]);
  for (Step& step : steps) {
    step.which = receives++;
    step.persistent = step.kind == Step::Kind::post && draw.chance(1, 3);
    (step.kind == Step::Kind::post ? round.posts : round.probes).push_back(step);
  }
  Step drain{Step::Kind::drain, receives, any_source, any_tag, communicator};
  drain.count = total;
  receives += total;
  round.drains.push_back(drain);
}

Step draw_completion(random::Stream& draw, const Step& posted) {
  Step step = posted;
  const std::uint64_t kind = draw.below(4);
  step.kind = posted.optional ? Step::Kind::cancel : kind < 2 ? Step::Kind::wait : Step::Kind::test;
  return step;
}

/// Sends wait for nothing, and come before the round's first wait, so that no two ranks wait for each other.
void draw_order(random::Stream& draw, const Round& round, std::vector<Step>& program) {
  const std::size_t late = draw.below(round.posts.size() + 1);
  std::size_t p = 0;
  std::size_t s = 0;
  std::size_t found = 0;
  std::vector<Step> open;
  const auto post = [&] {
    open.push_back(round.posts[p]);
    program.push_back(round.posts[p++]);
  };
  while (s < round.sends.size() || p + late < round.posts.size()) {
    if (s == round.sends.size() || (p + late < round.posts.size() && draw.chance(1, 2))) {
      post();
    } else {
      program.push_back(round.sends[s++]);
    }
  }
  while (p < round.posts.size() || found < round.probes.size() || !open.empty()) {
    const std::uint64_t next = draw.below(8);
    if (next < 3 && p < round.posts.size()) {
      post();
    } else if (next < 4 && found < round.probes.size()) {
      program.push_back(round.probes[found++]);
    } else if (next < 5) {
      const Step& drain = round.drains[draw.below(round.drains.size())];
      program.push_back({Step::Kind::look, 0, any_source, one_or_any(draw, 3, any_tag), drain.communicator});
    } else if (next < 6 && !open.empty()) {
      program.push_back({Step::Kind::wait_any, 0, 0, 0, open[draw.below(open.size())].communicator});
    } else if (!open.empty()) {
      const std::size_t which = draw.below(open.size());
      program.push_back(draw_completion(draw, open[which]));
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
    }
  }
  program.insert(program.end(), round.drains.begin(), round.drains.end());
}

void draw_program(random::Stream draw, Plan& plan, int rank, int rounds) {
  std::vector<Step> program;
  std::size_t receives = 0;
  for (int number = 0; number < rounds; ++number) {
    Round round;
    for (int group = 0; group < groups; ++group)
      draw_receives(draw, plan.messages, rank, plan.degrees.size(), communicator_of(number, group), receives, round);
    for (std::size_t i = 0; i < plan.messages.size(); ++i)
      if (plan.messages[i].from == rank && round_of(plan.messages[i].communicator) == number)
        round.sends.push_back({Step::Kind::send, i, 0, 0, plan.messages[i].communicator});
    draw_order(draw, round, program);
    if (static_cast<std::size_t>(number) < plan.reductions.size())
      program.push_back({Step::Kind::reduce, static_cast<std::size_t>(number), 0, 0, 0});
  }
  plan.programs.push_back(std::move(program));
}

/// Replicas of a rank have something to correct where there are more than two, and as many at all ranks.
void draw_reductions(random::Stream draw, Plan& plan, int rounds) {
  if (plan.partial() || plan.degree() < 3 || draw.chance(1, 3)) return;
  const std::size_t count = draw.below(static_cast<std::uint64_t>(rounds) + 1);
  for (std::size_t n = 0; n < count; ++n) {
    plan.reductions.push_back({1 + draw.below(6)});
    if (draw.chance(1, 3)) continue;
    for (std::size_t wrong = 1 + draw.below(4); wrong > 0; --wrong)
      plan.wrong_elements.push_back({draw.chance(1, 6) ? WrongElement::Kind::result : WrongElement::Kind::operand, n,
                                     static_cast<int>(draw.below(plan.degrees.size())),
                                     static_cast<int>(draw.below(static_cast<std::uint64_t>(plan.degree()))),
                                     draw.below(plan.reductions.back().elements), 1 + (draw.next64() >> 1)});
  }
}

/// Where a job is to go on after a death, digests go to all.
void draw_deaths(random::Stream& draw, Plan& plan) {
  if (plan.protocol == Protocol::msg_plus_hash || plan.partial() || plan.degree() < 3 || !draw.chance(1, 3)) return;
  const auto degree = static_cast<std::uint64_t>(plan.degree());
  plan.deaths.push_back(static_cast<int>(draw.chance(1, 3) ? 0 : draw.below(degree)));
  if (!draw.chance(1, 3)) return;
  const int second = static_cast<int>(draw.below(degree));
  if (!plan.dies(static_cast<std::size_t>(second))) plan.deaths.push_back(second);
}

/// Only where no leader can die: no other replica could take a file over.
void draw_writes(random::Stream draw, Plan& plan) {
  if (!plan.deaths.empty() || !draw.chance(1, 3)) return;
  const std::uint64_t count = 1 + draw.below(3);
  for (std::size_t n = 0; n < count; ++n) {
    const std::size_t rank = draw.below(plan.degrees.size());
    plan.writes.push_back({static_cast<int>(rank), 1 + draw.below(200)});
    std::vector<Step>& program = plan.programs[rank];
    Step step;
    step.kind = Step::Kind::write;
    step.which = n;
    program.insert(program.begin() + static_cast<std::ptrdiff_t>(draw.below(program.size() + 1)), step);
    const auto degree = static_cast<std::uint64_t>(plan.degrees[rank]);
    if (draw.chance(1, 4)) plan.wrong_writes.push_back({n, static_cast<int>(draw.below(degree)), 1 + draw.below(2)});
    if (draw.chance(1, 8)) plan.wrong_writes.push_back({n, static_cast<int>(draw.below(degree)), 1 + draw.below(2)});
  }
}

void draw_faults(random::Stream draw, Plan& plan) {
  if (plan.messages.empty() || draw.chance(1, 4)) return;
  if (draw.chance(1, 3)) {  // a sender that stays corrupt
    const auto rank = static_cast<int>(draw.below(plan.degrees.size()));
    const auto replica =
        static_cast<int>(draw.below(static_cast<std::uint64_t>(plan.degrees[static_cast<std::size_t>(rank)])));
    for (std::size_t i = 0; i < plan.messages.size(); ++i)
      if (plan.messages[i].from == rank) plan.faults.push_back({PlannedFault::Kind::memory, i, replica, 1});
    if (draw.chance(2, 3)) return;
  }
  const std::size_t count = 1 + draw.below(4);
  for (std::size_t n = 0; n < count; ++n) {
    const std::size_t message = draw.below(plan.messages.size());
    const int degree = plan.degrees[static_cast<std::size_t>(plan.messages[message].from)];
    const std::size_t together = 1 + draw.below(2);
    const bool alike = draw.chance(1, 3);
    for (std::size_t i = 0; i < together; ++i) {
      PlannedFault fault{PlannedFault::Kind::memory, message,
                         static_cast<int>(draw.below(static_cast<std::uint64_t>(degree))),
                         alike ? 1 : 1 + draw.below(1000)};
      if (draw.chance(1, 8)) fault.kind = PlannedFault::Kind::wire;
      const bool again = std::any_of(plan.faults.begin(), plan.faults.end(), [&](const PlannedFault& other) {
        return other.message == fault.message && other.replica == fault.replica;
      });
      if (!again) plan.faults.push_back(fault);
    }
  }
}

/// Two of eight seeds have what worlds were given last, so that those that found something stay as they were.
bool is_late(std::uint64_t seed) {
  return seed % 8 == 0 || seed % 8 == 5;
}

/// Every rank comes to the same epochs in the same order, before all else or after it.
void draw_epochs(random::Stream draw, Plan& plan) {
  if (plan.partial() || !draw.chance(1, 4)) return;
  const std::size_t count = 1 + draw.below(3);
  for (std::size_t n = 0; n < count; ++n) {
    plan.epochs.push_back({1 + draw.below(20)});
    for (std::vector<Step>& program : plan.programs)
      program.insert(n % 2 == 0 ? program.begin() : program.end(), {Step::Kind::epoch, n, 0, 0, 0});
    if (draw.chance(1, 3)) continue;
    for (std::size_t wrong = 1 + draw.below(4); wrong > 0; --wrong)
      plan.wrong_puts.push_back({draw.chance(1, 2) ? WrongPut::Kind::put : WrongPut::Kind::exposed, n,
                                 static_cast<int>(draw.below(plan.degrees.size())),
                                 static_cast<int>(draw.below(static_cast<std::uint64_t>(plan.degree()))),
                                 draw.below(plan.degrees.size()), 1 + draw.below(200)});
  }
}

/// Nothing but the program goes wrong then: what replicas have to say of it is no matter of memory.
void draw_divergence(random::Stream draw, Plan& plan) {
  if (plan.partial() || !draw.chance(1, is_late(plan.seed) ? 4 : 8)) return;
  using Kind = Divergence::Kind;
  const std::size_t rank = draw.below(plan.degrees.size());
  const auto replica = static_cast<int>(draw.below(static_cast<std::uint64_t>(plan.degree())));
  const std::vector<Step>& program = plan.programs[rank];
  const std::size_t step = draw.below(program.size());
  const bool sends = program[step].kind == Step::Kind::send;
  const bool skippable = sends || program[step].kind == Step::Kind::look || program[step].kind == Step::Kind::reduce ||
                         program[step].kind == Step::Kind::probe || program[step].kind == Step::Kind::matched ||
                         (program[step].kind == Step::Kind::post && !program[step].optional);
  std::vector<Kind> kinds{Kind::looks, Kind::stops};
  if (skippable) kinds.insert(kinds.end(), 4, Kind::skips);
  if (sends) kinds.insert(kinds.end(), 4, Kind::repeats);
  plan.divergence = Divergence{kinds[draw.below(kinds.size())], static_cast<int>(rank), replica, step};
  plan.faults.clear();
  plan.wrong_blocks.clear();
  plan.wrong_elements.clear();
  plan.wrong_writes.clear();
  plan.wrong_puts.clear();
  plan.deaths.clear();
  plan.broken_record = false;
  const bool may_die =
      plan.protocol != Protocol::msg_plus_hash && plan.degree() >= 3 && plan.writes.empty() && !plan.threads.ordered;
  if (!is_late(plan.seed) || !may_die || draw.chance(1, 3)) return;
  plan.divergence->replica = draw.chance(3, 4) ? 0 : replica;  // a leader, as a rule
  if (draw.chance(1, 2)) plan.divergence->kind = Kind::looks;
  plan.deaths.push_back(plan.divergence->replica);
}

/// Who of a process's threads does what in one round: what completes a receive is done by the thread that posted it.
class Shares {
 public:
  Shares(random::Stream& draw, const PlannedThreads& threads) : draw_(draw), threads_(threads) {}

  int of(const Step& step) {
    if (!threads_.ordered) return static_cast<int>(step.communicator - 1) % groups;
    const bool completes =
        step.kind == Step::Kind::wait || step.kind == Step::Kind::test || step.kind == Step::Kind::cancel;
    if (completes) return posted_by_.at(step.which);
    const auto thread = static_cast<int>(draw_.below(static_cast<std::uint64_t>(threads_.count)));
    if (step.kind == Step::Kind::post) posted_by_[step.which] = thread;
    return thread;
  }

 private:
  random::Stream& draw_;
  const PlannedThreads& threads_;
  std::map<std::size_t, int> posted_by_;
};

/// Threads share the rounds of the programs, up to where they drain communicators: all join there, and the first goes
/// on alone. A probe that does not take its message would leave it to another thread that shares the communicator.
void draw_threads(random::Stream draw, Plan& plan) {
  if (!is_late(plan.seed) || !draw.chance(3, 4)) return;
  plan.threads.ordered = plan.deaths.empty() && draw.chance(2, 3);  // with deaths, an order of threads is refused
  plan.threads.count = plan.threads.ordered ? static_cast<int>(2 + draw.below(2)) : groups;
  for (std::vector<Step>& program : plan.programs) {
    Shares shares(draw, plan.threads);
    std::vector<Step> shared;
    bool draining = false;
    for (Step step : program) {
      const bool drains = step.kind == Step::Kind::drain;
      if (drains && !draining) shared.push_back({Step::Kind::join, 0, 0, 0, 0});
      draining = drains;
      if (!drains && step.kind != Step::Kind::reduce) step.thread = shares.of(step);
      if (plan.threads.ordered && step.kind == Step::Kind::probe) step.kind = Step::Kind::matched;
      shared.push_back(step);
    }
    program = std::move(shared);
  }
}

void draw_gaps(random::Stream draw, Plan& plan) {
  if (!is_late(plan.seed) || !draw.chance(1, 2)) return;
  plan.gaps = draw.chance(1, 2) ? Gaps::alike : Gaps::differs;
  const auto as_elements = [&] { return plan.gaps == Gaps::differs || draw.chance(1, 2); };
  for (PlannedMessage& message : plan.messages) message.elements = as_elements();
  // A message may come to any receive of its communicator, which all are of one datatype.
  for (std::vector<Step>& program : plan.programs) {
    std::map<std::uint64_t, bool> by_communicator;
    for (Step& step : program)
      step.elements = by_communicator.try_emplace(step.communicator, as_elements()).first->second;
  }
}

/// Puts the results of one rank into its program: each is offered, and taken at once or later.
void draw_results(random::Stream draw, Plan& plan, int rank) {
  std::vector<Step>& program = plan.programs[static_cast<std::size_t>(rank)];
  const std::size_t count = draw.chance(1, 2) ? draw.below(5) : 0;
  std::size_t at = 0;
  for (std::size_t n = 0; n < count; ++n) {
    PlannedResult result{rank, draw.chance(1, 2) ? 2 + draw.below(5) : 1, draw.below(40)};
    at += draw.below(program.size() - at + 1);
    program.insert(program.begin() + static_cast<std::ptrdiff_t>(at),
                   {Step::Kind::offer, plan.results.size(), 0, 0, 0});
    const std::size_t later = draw.chance(1, 2) ? at + 1 : at + 1 + draw.below(program.size() - at);
    program.insert(program.begin() + static_cast<std::ptrdiff_t>(later),
                   {Step::Kind::take, plan.results.size(), 0, 0, 0});
    plan.results.push_back(result);
  }
}

void draw_wrong_blocks(random::Stream draw, Plan& plan) {
  if (draw.chance(1, 3)) return;
  for (std::size_t n = 0; n < plan.results.size(); ++n) {
    const auto degree = static_cast<std::uint64_t>(plan.degrees[static_cast<std::size_t>(plan.results[n].rank)]);
    if (plan.results[n].bytes() == 0 || draw.chance(1, 2)) continue;
    for (std::size_t wrong = 1 + draw.below(3); wrong > 0; --wrong) {
      const auto replica = static_cast<int>(draw.below(degree));
      plan.wrong_blocks.push_back({n, replica, draw.below(plan.results[n].blocks), 1 + draw.below(2)});
    }
  }
}

}  // namespace

bool in_gap(std::size_t byte) {
  return byte % 16 >= 10;
}

int Plan::degree() const {
  return *std::max_element(degrees.begin(), degrees.end());
}

bool Plan::partial() const {
  return *std::min_element(degrees.begin(), degrees.end()) != degree();
}

bool Plan::dies(std::size_t replica) const {
  return std::find(deaths.begin(), deaths.end(), static_cast<int>(replica)) != deaths.end();
}

bool Plan::diverges(std::size_t replica) const {
  return divergence && static_cast<std::size_t>(divergence->replica) == replica;
}

bool Plan::apart(std::size_t replica) const {
  return dies(replica) || diverges(replica);
}

std::vector<Step> Plan::program(int rank, int replica) const {
  std::vector<Step> steps = programs[static_cast<std::size_t>(rank)];
  if (!divergence || divergence->rank != rank || divergence->replica != replica) return steps;
  const auto at = steps.begin() + static_cast<std::ptrdiff_t>(divergence->step);
  const int thread = at->thread;
  switch (divergence->kind) {
    case Divergence::Kind::skips:
      steps.erase(at);
      break;
    case Divergence::Kind::repeats:
      steps.insert(at, Step(*at));
      break;
    case Divergence::Kind::looks:
      steps.insert(at, {Step::Kind::look, 0, any_source, any_tag, at->communicator})->thread = thread;
      break;
    case Divergence::Kind::stops:
      steps.insert(at, {Step::Kind::stop, 0, 0, 0, 0})->thread = thread;
      break;
  }
  return steps;
}

int Plan::giver(const PlannedMessage& message, int receiver_replica) const {
  return receiver_replica % degrees[static_cast<std::size_t>(message.from)];
}

Plan draw_plan(std::uint64_t seed) {
  const random::Stream root = random::Stream(seed).child("replicate").child("world");
  random::Stream draw = root.child("shape");
  Plan plan;
  plan.seed = seed;
  const std::size_t ranks = 2 + draw.below(3);
  plan.degrees.assign(ranks, static_cast<int>(2 + draw.below(5)));
  if (draw.chance(1, 4))
    for (int& degree : plan.degrees) degree = static_cast<int>(1 + draw.below(4));
  if (plan.degree() == 1) plan.degrees.front() = 3;
  const std::uint64_t protocol = draw.below(4);
  plan.protocol = protocol < 2   ? Protocol::msg_plus_hash
                  : protocol < 3 ? Protocol::msg_plus_vote
                                 : Protocol::all_to_all;
  // Where ranks have different numbers, and where a job is to go on after a death, digests go to all.
  if (plan.partial() && plan.protocol == Protocol::msg_plus_hash) plan.protocol = Protocol::msg_plus_vote;
  draw_deaths(draw, plan);
  const int rounds = static_cast<int>(1 + draw.below(3));
  const std::size_t count = draw.below(24);
  for (std::size_t i = 0; i < count; ++i) {
    PlannedMessage message;
    message.from = static_cast<int>(draw.below(ranks));
    message.to = static_cast<int>(draw.below(ranks));
    message.communicator =
        communicator_of(static_cast<int>(draw.below(static_cast<std::uint64_t>(rounds))), draw.chance(1, 3) ? 1 : 0);
    message.tag = static_cast<std::int32_t>(draw.below(3));
    message.bytes = draw.chance(1, 8) ? 0 : 1 + draw.below(300);
    plan.messages.push_back(message);
  }
  draw_reductions(root.child("reductions"), plan, rounds);
  for (std::size_t rank = 0; rank < ranks; ++rank)
    draw_program(root.child("program").child(rank), plan, static_cast<int>(rank), rounds);
  draw_threads(root.child("threads"), plan);
  draw_faults(root.child("faults"), plan);
  for (std::size_t rank = 0; rank < ranks; ++rank)
    draw_results(root.child("results").child(rank), plan, static_cast<int>(rank));
  draw_wrong_blocks(root.child("wrong blocks"), plan);
  draw_writes(root.child("writes"), plan);
  random::Stream records = root.child("records");
  if (records.chance(1, 4)) plan.flipped_records = static_cast<std::uint32_t>(1 + records.below(200000));
  plan.broken_record = records.chance(1, 12);
  plan.eager = records.chance(1, 2);
  plan.says_cut = records.chance(1, 2);
  draw_epochs(root.child("epochs"), plan);
  plan.memory_stays = root.child("memory").chance(1, 2);
  draw_divergence(root.child("divergence"), plan);
  draw_gaps(root.child("gaps"), plan);
  const bool pairs = std::all_of(plan.degrees.begin(), plan.degrees.end(), [](int degree) { return degree == 2; });
  plan.goes_on = pairs && !plan.divergence && root.child("goes on").chance(1, 2);
  return plan;
}

std::vector<std::byte> contents(const Plan& plan, std::size_t message, std::uint64_t value) {
  random::Stream draw = random::Stream(plan.seed).child("contents").child(message);
  std::vector<std::byte> bytes(plan.messages[message].bytes);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(draw.below(256));
  if (value == 0 || bytes.empty()) return bytes;
  random::Stream wrong = draw.child("wrong").child(value);
  std::size_t at = wrong.below(bytes.size());
  if (plan.gaps != Gaps::none && in_gap(at)) at -= 8;
  bytes[at] ^= static_cast<std::byte>(1 + wrong.below(255));
  return bytes;
}

std::vector<std::byte> result_contents(const Plan& plan, std::size_t result, int replica) {
  const PlannedResult& planned = plan.results[result];
  random::Stream draw = random::Stream(plan.seed).child("result").child(result);
  std::vector<std::byte> bytes(planned.bytes());
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(draw.below(256));
  for (const WrongBlock& wrong : plan.wrong_blocks)
    if (wrong.result == result && wrong.replica == replica)
      bytes[wrong.block * planned.block_bytes] =
          static_cast<std::byte>(wrong.value) ^ bytes[wrong.block * planned.block_bytes];
  return bytes;
}

std::vector<std::byte> written(const Plan& plan, std::size_t write, int replica) {
  random::Stream draw = random::Stream(plan.seed).child("write").child(write);
  std::vector<std::byte> bytes(plan.writes[write].bytes);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(draw.below(256));
  for (const WrongWrite& wrong : plan.wrong_writes)
    if (wrong.write == write && wrong.replica == replica) bytes.back() ^= static_cast<std::byte>(wrong.value);
  return bytes;
}

std::vector<std::byte> puts(const Plan& plan, std::size_t epoch, int rank, int replica) {
  random::Stream draw = random::Stream(plan.seed).child("puts").child(epoch).child(static_cast<std::uint64_t>(rank));
  std::vector<std::byte> bytes(plan.epochs[epoch].block_bytes * plan.degrees.size());
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(draw.below(256));
  for (const WrongPut& wrong : plan.wrong_puts)
    if (wrong.kind == WrongPut::Kind::put && wrong.epoch == epoch && wrong.rank == rank && wrong.replica == replica)
      bytes[wrong.block * plan.epochs[epoch].block_bytes] ^= static_cast<std::byte>(wrong.value);
  return bytes;
}

void spoil_window(const Plan& plan, std::size_t epoch, int rank, int replica, std::vector<std::byte>& window) {
  for (const WrongPut& wrong : plan.wrong_puts)
    if (wrong.kind == WrongPut::Kind::exposed && wrong.epoch == epoch && wrong.rank == rank && wrong.replica == replica)
      window[wrong.block * plan.epochs[epoch].block_bytes] ^= static_cast<std::byte>(wrong.value);
}

std::vector<std::byte> outcome(const Plan& plan, std::size_t write, int replica) {
  random::Stream draw =
      random::Stream(plan.seed).child("outcome").child(write).child(static_cast<std::uint64_t>(replica));
  std::vector<std::byte> bytes(sizeof(std::uint64_t));
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(draw.below(256));
  return bytes;
}

std::vector<std::uint64_t> operand(const Plan& plan, std::size_t reduction, int rank, int replica) {
  random::Stream draw =
      random::Stream(plan.seed).child("operand").child(reduction).child(static_cast<std::uint64_t>(rank));
  std::vector<std::uint64_t> elements(plan.reductions[reduction].elements);
  for (std::uint64_t& element : elements) element = draw.next64();
  for (const WrongElement& wrong : plan.wrong_elements)
    if (wrong.kind == WrongElement::Kind::operand && wrong.reduction == reduction && wrong.rank == rank &&
        wrong.replica == replica)
      elements[wrong.element] ^= wrong.value;
  return elements;
}

std::string Plan::describe() const {
  static constexpr const char* protocols[] = {"msg-plus-hash", "msg-plus-vote", "all-to-all"};
  std::string text = "seed " + std::to_string(seed) + ": degrees";
  for (const int one : degrees) text += " " + std::to_string(one);
  text += ", " + std::string(protocols[static_cast<std::size_t>(protocol)]) + ", " + std::to_string(messages.size()) +
          " messages";
  if (threads.many())
    text += ", " + std::to_string(threads.count) + (threads.ordered ? " threads in one order" : " threads apart");
  static constexpr const char* gaps_are[] = {"", ", some with gaps", ", with gaps that differ"};
  text += gaps_are[static_cast<std::size_t>(gaps)];
  if (memory_stays) text += ", receive buffers stay as they are";
  text += goes_on ? ", goes on after a difference\n" : "\n";
  for (const PlannedFault& fault : faults) {
    const PlannedMessage& message = messages[fault.message];
    text += "  message " + std::to_string(fault.message) + " from " + std::to_string(message.from) + " to " +
            std::to_string(message.to) + " tag " + std::to_string(message.tag) + ": replica " +
            std::to_string(fault.replica) +
            (fault.kind == PlannedFault::Kind::wire ? " on the wire" : " value " + std::to_string(fault.value)) + "\n";
  }
  for (const WrongBlock& wrong : wrong_blocks)
    text += "  result " + std::to_string(wrong.result) + " of rank " + std::to_string(results[wrong.result].rank) +
            ", block " + std::to_string(wrong.block) + " of " + std::to_string(results[wrong.result].blocks) +
            ": replica " + std::to_string(wrong.replica) + " value " + std::to_string(wrong.value) + "\n";
  if (flipped_records > 0) text += "  control messages flipped: " + std::to_string(flipped_records) + " per million\n";
  if (broken_record) text += "  one control message is broken\n";
  for (const WrongElement& wrong : wrong_elements)
    text += "  reduction " + std::to_string(wrong.reduction) + ", rank " + std::to_string(wrong.rank) + " replica " +
            std::to_string(wrong.replica) + (wrong.kind == WrongElement::Kind::operand ? ": operand" : ": result") +
            " value " + std::to_string(wrong.value) + " in element " + std::to_string(wrong.element) + "\n";
  for (const WrongPut& wrong : wrong_puts)
    text += "  epoch " + std::to_string(wrong.epoch) + ", rank " + std::to_string(wrong.rank) + " replica " +
            std::to_string(wrong.replica) + (wrong.kind == WrongPut::Kind::put ? ": puts" : ": has") + " value " +
            std::to_string(wrong.value) + " in block " + std::to_string(wrong.block) + "\n";
  for (const WrongWrite& wrong : wrong_writes)
    text += "  write " + std::to_string(wrong.write) + " of rank " + std::to_string(writes[wrong.write].rank) +
            ": replica " + std::to_string(wrong.replica) + " value " + std::to_string(wrong.value) + "\n";
  static constexpr const char* ways[] = {"skips", "repeats", "looks before", "stops before"};
  if (divergence)
    text += "  rank " + std::to_string(divergence->rank) + " replica " + std::to_string(divergence->replica) + " " +
            ways[static_cast<std::size_t>(divergence->kind)] + " step " + std::to_string(divergence->step) + "\n";
  for (const int replica : deaths) text += "  replica " + std::to_string(replica) + " dies\n";
  return text;
}

}  // namespace holdfast::replicate
