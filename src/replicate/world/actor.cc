#include "replicate/world/actor.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

namespace holdfast::replicate {

Actor::Actor(Shared& shared, Process who)
    : shared_(shared),
      who_(who),
      number_(shared.map.physical_rank(who.rank, who.replica)),
      reader_(shared.map, who, 500),
      seals_(static_cast<std::size_t>(shared.map.physical_ranks())),
      mpi_(shared.plan) {
  team_.rank = who.rank;
  team_.replica = who.replica;
  team_.degree = shared.map.degree(who.rank);
  team_.gone.assign(static_cast<std::size_t>(shared.map.degree()), 0);
  team_.present = team_.degree;
  engine_ = std::make_unique<Replica>(
      Replica::Setup{shared.plan.protocol, shared.plan.goes_on ? OnCorruption::report : OnCorruption::stop,
                     !shared.plan.deaths.empty(), 1},
      team_, shared.map, shared.counters, *this);
  if (team_.leader()) engine_->take_lead();
  std::size_t count = 0;
  for (const Step& step : plan().programs[static_cast<std::size_t>(who.rank)]) {
    const bool receives =
        step.kind == Step::Kind::post || step.kind == Step::Kind::probe || step.kind == Step::Kind::matched;
    count += receives ? 1 : step.count;
  }
  deliveries_.resize(count);
  for (int t = 0; t < plan().threads.count; ++t) {
    Thread& thread = *threads_.emplace_back(std::make_unique<Thread>());
    if (plan().threads.ordered) thread.order = thread.name = static_cast<std::uint64_t>(t) + 1;
    for (const Step& step : plan().program(who.rank, who.replica))
      if (step.thread == t || step.kind == Step::Kind::join) thread.steps.push_back(step);
    thread.program.emplace(run(thread));
    thread.resume_at = thread.program->handle();
  }
}

void Actor::take(Network::Message message) {
  mpi_.arrive(std::move(message));
  ++shared_.progress;
}

// --- what the engine asks for

namespace {

bool lost(Planted planted, const Record& record, bool leads) {
  switch (planted) {
    case Planted::lost_statements:
      return record.kind == RecordKind::statement;
    case Planted::lost_corrections:
      return record.kind == RecordKind::correction;
    case Planted::lost_ballots:
      return record.kind == RecordKind::collective;
    case Planted::lost_contests:
      return record.kind == RecordKind::contested;
    case Planted::lost_decisions:
      return record.kind == RecordKind::decision;
    case Planted::lost_successions:
      return record.kind == RecordKind::succession;
    case Planted::lost_legacies:
      return record.kind == RecordKind::decision && !leads;
    case Planted::lost_repetitions:
      return record.kind == RecordKind::again;
    default:
      return false;
  }
}

/// A decision as a faulty leader would say it.
void falsify(Planted planted, std::span<std::byte> tail, int ranks, int threads) {
  for (; !tail.empty(); tail = tail.subspan(sizeof(Decision))) {
    Decision decision;
    std::memcpy(&decision, tail.data(), sizeof decision);
    if (planted == Planted::false_matches && decision.kind == Decision::Kind::match)
      decision.words[1] = (decision.words[1] + 1) % static_cast<std::uint64_t>(ranks);
    if (planted == Planted::false_numbers && decision.kind == Decision::Kind::number) decision.words[0] ^= 1;
    if (planted == Planted::false_posters && decision.kind == Decision::Kind::match) decision.detail ^= 1;
    if (planted == Planted::false_turns && decision.kind == Decision::Kind::turn)
      decision.words[0] = decision.words[0] % static_cast<std::uint64_t>(threads) + 1;
    if (planted == Planted::false_flags && decision.kind == Decision::Kind::no) ++decision.words[0];
    std::memcpy(tail.data(), &decision, sizeof decision);
  }
}

}  // namespace

void Actor::send(Process to, const Record& record, std::span<const std::byte> tail) {
  const Planted planted = shared_.planted;
  if (lost(planted, record, team_.leader())) return;
  Record said = record;
  if (planted == Planted::false_majorities && record.kind == RecordKind::again) said.flags = 1;
  std::vector<std::byte> behind(tail.begin(), tail.end());
  if (record.kind == RecordKind::decision) falsify(planted, behind, shared_.map.ranks(), plan().threads.count);
  const int number = shared_.map.physical_rank(to.rank, to.replica);
  const int times = planted == Planted::doubled_digests && record.kind == RecordKind::digest ? 2 : 1;
  for (int i = 0; i < times; ++i) {
    Record sealed = said;
    seals_[static_cast<std::size_t>(number)].seal(sealed, behind);
    std::vector<std::byte> bytes(sizeof sealed + behind.size());
    std::memcpy(bytes.data(), &sealed, sizeof sealed);
    if (!behind.empty()) std::memcpy(bytes.data() + sizeof sealed, behind.data(), behind.size());
    int flips = shared_.draw.chance(plan().flipped_records, 1000000) ? 1 : 0;
    if (plan().broken_record && !shared_.broken && shared_.draw.chance(1, 10)) {
      shared_.broken = true;
      flips = 3;
    }
    std::set<std::uint64_t> bits;
    while (static_cast<int>(bits.size()) < flips) bits.insert(shared_.draw.below(bytes.size() * 8));
    for (const std::uint64_t bit : bits) bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    shared_.network.controls[{number_, number}].push_back({std::move(bytes)});
  }
}

std::uint64_t Actor::send_copy(Process to, Copy bytes) {
  const std::uint64_t tag = shared_.network.next_tag++;
  if (shared_.planted == Planted::altered_corrections && !bytes->empty()) {
    auto altered = std::make_shared<std::vector<std::byte>>(*bytes);
    altered->back() ^= std::byte{1};
    bytes = altered;
  }
  shared_.network.copies[{{number_, shared_.map.physical_rank(to.rank, to.replica)}, tag}] = std::move(bytes);
  return tag;
}

void Actor::receive_copy(Process from, std::uint64_t tag, std::shared_ptr<std::vector<std::byte>> into,
                         std::uint64_t token) {
  incoming_.push_back({shared_.map.physical_rank(from.rank, from.replica), tag, token, std::move(into)});
}

void Actor::finish_copy(std::size_t which) {
  const Incoming one = std::move(incoming_[which]);
  incoming_.erase(incoming_.begin() + static_cast<std::ptrdiff_t>(which));
  const auto found = shared_.network.copies.find({{one.from, number_}, one.tag});
  *one.into = *found->second;
  shared_.network.copies.erase(found);
  engine_->on_copy(one.token);
}

Verified* Actor::find_posted(const ReceiveOrder& order, ReceiveOrder::Ticket ticket) {
  for (const auto& [which, receive] : receives_)
    if (receive->order == &order && receive->ticket == ticket) return receive;
  return nullptr;
}

bool Actor::take_back(Verified& verified) {
  auto& receive = static_cast<Buffer&>(verified);
  mpi_.cancel(receive);
  return receive.native == Buffer::Native::cancelled;
}

Ballot Actor::digest(std::span<const std::byte> bytes) const {
  return SentBytes::digest(bytes, shared_.planted == Planted::blind_digests);
}

// --- what comes from others

void Actor::read(Process from, std::vector<std::byte> bytes) {
  if (!team_.here(from.replica)) return;
  ControlMessage message;
  const std::vector<std::byte> raw = bytes;
  const Flaw flaw = reader_.read(from, bytes, message);
  if (shared_.planted == Planted::unread_checks && flaw == Flaw::repaired && message.record.kind == RecordKind::digest)
    std::memcpy(&message.record.digest, raw.data() + offsetof(Record, digest), sizeof(integrity::Digest));
  if (flaw == Flaw::repaired) ++shared_.counters[Count::records_repaired];
  if (flaw > Flaw::repaired) fail(Incident::uncorrected, reader_.what_was_wrong());
  if (engine_->on_message(message)) return;
  if (message.record.kind == RecordKind::finished) finished_.insert(from.replica);
}

void Actor::hear_of_death(int replica) {
  ++deaths_heard;
  team_.gone[static_cast<std::size_t>(replica)] = 1;
  --team_.present;
  std::erase_if(incoming_, [&](const Incoming& one) { return shared_.map.replica(one.from) == replica; });
  team_.leading = static_cast<int>(std::find(team_.gone.begin(), team_.gone.end(), 0) - team_.gone.begin());
  if (shared_.planted != Planted::unheard_deaths) engine_->peer_gone(replica);
}

// --- as src/replicate/mpi goes on with what is open

bool Actor::native_done(Buffer& receive) {
  if (receive.stage != Verified::Stage::native) return true;
  if (receive.native == Buffer::Native::posted) return false;
  if (receive.native == Buffer::Native::cancelled) return false;
  engine_->arrived(receive, receive.from, receive.with_tag, receive.refused);
  return true;
}

bool Actor::advance(Buffer& receive) {
  using Stage = Verified::Stage;
  if (receive.stage == Stage::native && (!native_done(receive) || receive.stage == Stage::native)) return false;
  return engine_->advance(receive);
}

bool Actor::advance(ResultBytes& result) {
  using Stage = Verified::Stage;
  if (result.stage == Stage::comparing) {
    const std::optional<Poll> poll = engine_->take_poll(result.identity);
    if (!poll) return false;
    engine_->settle(result, poll->ballots);
  }
  if (result.stage == Stage::unsettled && !engine_->take_repeat(result)) return false;
  if (result.stage == Stage::contested && !engine_->take_contest(result)) return false;
  if (result.stage == Stage::disputed && !engine_->take_correction(result)) return false;
  return result.finished();
}

bool Actor::look_around() {
  bool moved = false;
  for (Verified* wildcard : engine_->matches_to_look_for(2))
    moved = native_done(static_cast<Buffer&>(*wildcard)) || moved;
  if (engine_->others_wait()) {
    for (const auto& [which, receive] : receives_)
      if (!receive->cancelled && receive->stage != Verified::Stage::complete) advance(*receive);
    engine_->said();
  }
  const std::set<Verified*> watched = watched_;
  for (Verified* receive : watched) {
    const Verified::Stage before = receive->stage;
    advance(static_cast<Buffer&>(*receive));
    moved = moved || receive->stage != before;
  }
  for (const auto& [index, result] : results_) {
    const Verified::Stage before = result->stage;
    advance(*result);
    moved = moved || result->stage != before;
  }
  return moved;
}

bool Actor::program_done() const {
  return std::all_of(threads_.begin(), threads_.end(), [](const auto& each) { return each->program->over(); });
}

std::vector<std::vector<std::int64_t>> Actor::decided() const {
  std::vector<std::vector<std::int64_t>> all;
  for (const auto& thread : threads_) all.push_back(thread->decided);
  return all;
}

void Actor::wake_for_turn(std::uint64_t thread) {
  if (shared_.planted == Planted::lost_wakes) return;
  for (const auto& each : threads_)
    if (each->name == thread || thread == 0) each->rests = false;
}

std::vector<Actor::Thread*> Actor::that_can_go_on() {
  std::vector<Thread*> able;
  for (const auto& each : threads_)
    if (!each->program->over() && !each->rests) able.push_back(each.get());
  return able;
}

bool Actor::resume(Thread& thread) {
  const std::uint64_t before = shared_.progress;
  here_ = &thread;
  std::exchange(thread.resume_at, nullptr).resume();
  if (thread.program->over()) thread.program->rethrow();
  return shared_.progress != before;
}

bool Actor::say_finished() {
  if (said_finished_ || !program_done() || !engine_->at_rest()) return false;
  said_finished_ = true;
  Record record;
  record.kind = RecordKind::finished;
  for (int k = 0; k < team_.degree; ++k)
    if (k != team_.replica && team_.here(k)) send({team_.rank, k}, record, {});
  return true;
}

bool Actor::step() {
  const bool moved = look_around();
  if (program_done()) return say_finished() || moved;
  const std::vector<Thread*> able = that_can_go_on();
  if (able.empty()) return moved;
  return resume(*able[able.size() > 1 ? shared_.draw.below(able.size()) : 0]) || moved;
}

bool Actor::step_all() {
  bool moved = look_around();
  if (program_done()) return say_finished() || moved;
  for (Thread* thread : that_can_go_on()) moved = resume(*thread) || moved;
  return moved;
}

bool Actor::finished() const {
  if (!said_finished_) return false;
  for (int k = 0; k < team_.degree; ++k)
    if (k != team_.replica && team_.here(k) && !finished_.contains(k)) return false;
  return true;
}

std::string Actor::left() const {
  std::string kept = engine_->kept();
  if (mpi_.unexpected() > 0) kept += " " + std::to_string(mpi_.unexpected()) + " messages in MPI";
  if (kept.empty()) return {};
  return "rank " + std::to_string(who_.rank) + " replica " + std::to_string(who_.replica) + " keeps " + kept;
}

std::string Actor::state() const {
  static constexpr const char* kinds[] = {"send",   "post",  "wait",    "test",  "wait_any", "cancel",
                                          "look",   "probe", "matched", "drain", "offer",    "take",
                                          "reduce", "write", "epoch",   "stop",  "join"};
  static constexpr const char* stages[] = {"unplaced",  "native",   "placing",  "comparing", "contested",
                                           "unsettled", "disputed", "complete", "repeated"};
  std::string text = "rank " + std::to_string(who_.rank) + " replica " + std::to_string(who_.replica);
  if (program_done()) return text + " is done, keeps " + engine_->kept();
  for (const auto& thread : threads_) {
    if (thread->program->over()) continue;
    const Step& step = thread->steps[thread->next];
    text += " at " + std::string(kinds[static_cast<std::size_t>(step.kind)]) + " " + std::to_string(step.which) +
            (thread->rests ? " (rests)" : "");
  }
  for (const auto& [which, receive] : receives_)
    text += ", receive " + std::to_string(which) + " " + stages[static_cast<std::size_t>(receive->stage)] +
            " (message " + std::to_string(receive->message) + ", place " + std::to_string(receive->place.ordinal) + ")";
  for (const auto& [which, result] : results_)
    text += ", result " + std::to_string(which) + " " + stages[static_cast<std::size_t>(result->stage)];
  return text + ", keeps " + engine_->kept();
}

}  // namespace holdfast::replicate
