#include "replicate/world/actor.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "replicate/engine/agreement.h"

namespace holdfast::replicate {

Actor::Actor(Shared& shared, Process who)
    : shared_(shared),
      who_(who),
      number_(shared.map.native(who.rank, who.replica)),
      reader_(shared.map, who, 500),
      seals_(static_cast<std::size_t>(shared.map.natives())),
      sent_(static_cast<std::size_t>(shared.map.ranks())) {
  team_.rank = who.rank;
  team_.replica = who.replica;
  team_.degree = shared.map.degree(who.rank);
  team_.gone.assign(static_cast<std::size_t>(shared.map.degree()), 0);
  team_.present = team_.degree;
  engine_ = std::make_unique<Replica>(Replica::Setup{shared.plan.protocol, OnCorruption::stop}, team_, shared.map,
                                      shared.counters, *this);
  if (team_.leader()) engine_->take_lead();
  std::size_t count = 0;
  for (const Step& step : plan().programs[static_cast<std::size_t>(who.rank)])
    count += step.kind == Step::Kind::post ? 1 : 0;
  receives_.resize(count);
  deliveries_.resize(count);
}

// --- MPI as this process has it: the earliest posted receive that fits takes a message, and the message that came
// first is taken by a receive.

bool Actor::takes(const Buffer& receive, const PlannedMessage& message) {
  return receive.communicator == static_cast<std::uint64_t>(message.round) + 1 &&
         (receive.source == any_source || receive.source == message.from) &&
         (receive.tag == any_tag || receive.tag == message.tag);
}

void Actor::give(Buffer& receive, Network::Message message) {
  const PlannedMessage& planned = plan().messages[message.index];
  receive.message = message.index;
  receive.length = message.bytes.size();
  std::copy(message.bytes.begin(), message.bytes.end(), receive.bytes.begin());
  engine_->arrived(receive, planned.from, planned.tag, false);
}

void Actor::take(Network::Message message) {
  unexpected_.push_back(std::move(message));
  match();
}

bool Actor::match() {
  bool matched = false;
  for (std::size_t i = 0; i < unexpected_.size();) {
    const PlannedMessage& planned = plan().messages[unexpected_[i].index];
    const auto found =
        std::find_if(posted_.begin(), posted_.end(), [&](const Buffer* receive) { return takes(*receive, planned); });
    if (found == posted_.end()) {
      ++i;
      continue;
    }
    Buffer& receive = **found;
    posted_.erase(found);
    Network::Message message = std::move(unexpected_[i]);
    unexpected_.erase(unexpected_.begin() + static_cast<std::ptrdiff_t>(i));
    give(receive, std::move(message));
    matched = true;
    i = 0;  // the engine may have posted others since
  }
  return matched;
}

void Actor::give_to_mpi(Verified& verified) {
  auto& receive = static_cast<Buffer&>(verified);
  posted_.push_back(
      &receive);  // what has come already is given to it by match(): the engine may not be called from here
}

// --- what the engine asks for

void Actor::send(Process to, const Record& record, std::span<const std::byte> tail) {
  const Planted planted = shared_.planted;
  if (planted == Planted::lost_statements && record.kind == RecordKind::statement) return;
  if (planted == Planted::lost_corrections && record.kind == RecordKind::correction) return;
  if (planted == Planted::lost_ballots && record.kind == RecordKind::collective) return;
  if (planted == Planted::lost_contests && record.kind == RecordKind::contested) return;
  if (planted == Planted::lost_matches && record.kind == RecordKind::decision) return;
  const int number = shared_.map.native(to.rank, to.replica);
  const int times = planted == Planted::doubled_digests && record.kind == RecordKind::digest ? 2 : 1;
  for (int i = 0; i < times; ++i) {
    Record sealed = record;
    seals_[static_cast<std::size_t>(number)].seal(sealed, tail);
    std::vector<std::byte> bytes(sizeof sealed + tail.size());
    std::memcpy(bytes.data(), &sealed, sizeof sealed);
    if (!tail.empty()) std::memcpy(bytes.data() + sizeof sealed, tail.data(), tail.size());
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
  shared_.network.copies[{{number_, shared_.map.native(to.rank, to.replica)}, tag}] = std::move(bytes);
  return tag;
}

void Actor::receive_copy(Process from, std::uint64_t tag, std::shared_ptr<std::vector<std::byte>> into,
                         std::uint64_t token) {
  incoming_.push_back({shared_.map.native(from.rank, from.replica), tag, token, std::move(into)});
}

void Actor::finish_copy(std::size_t which) {
  const Incoming one = std::move(incoming_[which]);
  incoming_.erase(incoming_.begin() + static_cast<std::ptrdiff_t>(which));
  const auto found = shared_.network.copies.find({{one.from, number_}, one.tag});
  *one.into = *found->second;
  shared_.network.copies.erase(found);
  engine_->on_copy(one.token);
}

void Actor::tell_match(std::uint64_t number, std::int32_t source, std::int32_t tag, std::uint32_t) {
  Decision match;
  match.kind = Decision::Kind::match;
  match.words = {number, static_cast<std::uint64_t>(source), static_cast<std::uint64_t>(tag)};
  if (shared_.planted == Planted::false_matches)
    match.words[1] = static_cast<std::uint64_t>((source + 1) % shared_.map.ranks());
  Record record;
  record.kind = RecordKind::decision;
  record.ordinal = told_.size();
  told_.push_back({number, source, tag});
  for (int k = 0; k < team_.degree; ++k)
    if (k != team_.replica && team_.here(k)) send({team_.rank, k}, record, std::as_bytes(std::span(&match, 1)));
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
  if (message.record.kind != RecordKind::decision || message.record.ordinal < told_.size()) return;
  Decision match;
  std::memcpy(&match, message.tail.data(), sizeof match);
  early_[message.record.ordinal] = {match.words[0], static_cast<std::int32_t>(match.words[1]),
                                    static_cast<std::int32_t>(match.words[2])};
  hear_early_matches();
}

/// Those of the next leader may come before the last of the one before.
void Actor::hear_early_matches() {
  for (auto next = early_.find(told_.size()); next != early_.end(); next = early_.find(told_.size())) {
    told_.push_back(next->second);
    early_.erase(next);
    hear_match(told_.size() - 1);
  }
}

void Actor::hear_match(std::size_t place) {
  const Match match = told_[place];
  engine_->on_match(match.number, match.source, match.tag, 0);
}

/// The layer that agrees on the leader's answers (decide.cc) is stood in for by its promise: of what a leader that died
/// had told anybody, every replica that is left has heard before the next one leads.
void Actor::hear_of_death(int replica) {
  heard_of_death = true;
  team_.gone[static_cast<std::size_t>(replica)] = 1;
  --team_.present;
  engine_->peer_gone(replica);
  std::erase_if(incoming_, [&](const Incoming& one) { return shared_.map.replica(one.from) == replica; });
  const std::vector<Match>* most = &told_;
  for (const auto& other : shared_.all)
    if (other->who_.rank == who_.rank && other->told_.size() > most->size()) most = &other->told_;
  const std::vector<Match> all = *most;
  while (told_.size() < all.size()) {
    early_.erase(told_.size());
    told_.push_back(all[told_.size()]);
    hear_match(told_.size() - 1);
  }
  hear_early_matches();
  if (replica != team_.leading) return;
  team_.leading = static_cast<int>(std::find(team_.gone.begin(), team_.gone.end(), 0) - team_.gone.begin());
  if (team_.leader()) engine_->take_lead();
}

// --- the program

bool Actor::advance(Buffer& receive) {
  return receive.stage != Verified::Stage::native && engine_->advance(receive);
}

void Actor::send_message(std::size_t index) {
  const PlannedMessage& message = plan().messages[index];
  std::uint64_t value = 0;
  bool wire = false;
  for (const PlannedFault& fault : plan().faults) {
    if (fault.message != index || fault.replica != who_.replica) continue;
    if (fault.kind == PlannedFault::Kind::wire) {
      wire = true;
    } else {
      value = fault.value;
    }
  }
  const std::vector<std::byte> bytes = contents(plan(), index, value);
  for (int k = 0; k < shared_.map.degree(message.to); ++k) {
    if (plan().giver(message, k) != who_.replica) continue;
    std::vector<std::byte> given = bytes;
    if (wire && !given.empty()) given[given.size() / 2] ^= std::byte{4};
    shared_.network.messages[{number_, shared_.map.native(message.to, k)}].push_back({index, std::move(given)});
  }
  engine_->announce({static_cast<std::uint64_t>(message.round) + 1, who_.rank, message.tag, message.to,
                     sent_[static_cast<std::size_t>(message.to)]++},
                    SentBytes(bytes, shared_.planted == Planted::blind_digests));
}

void Actor::post(const Step& step) {
  auto& receive = receives_[step.which];
  receive = std::make_unique<Buffer>();
  receive->blind = shared_.planted == Planted::blind_digests;
  receive->idle_overwrite = shared_.planted == Planted::idle_overwrite;
  engine_->post(*receive, static_cast<std::uint64_t>(step.round) + 1, orders_[step.round], step.source, step.tag, 0);
}

/// As mpi/collective/collective.cc does it.
bool Actor::advance(ResultBytes& result) {
  using Stage = Verified::Stage;
  if (result.stage == Stage::comparing) {
    const std::optional<Poll> poll = engine_->take_poll(result.identity);
    if (!poll) return false;
    engine_->settle(result, poll->ballots);
  }
  if (result.stage == Stage::contested && !engine_->take_contest(result)) return false;
  if (result.stage == Stage::disputed && !engine_->take_correction(result)) return false;
  return result.stage == Stage::complete;
}

void Actor::offer(std::size_t index) {
  auto& result = results_[index];
  result = std::make_unique<ResultBytes>();
  result->bytes = result_contents(plan(), index, who_.replica);
  result->blocks = plan().results[index].blocks;
  result->blind = shared_.planted == Planted::blind_digests;
  result->idle_overwrite = shared_.planted == Planted::idle_overwrite;
  result->source = who_.rank;
  result->identity = {{1000, -1, -1}, index};
  result->own = result->ballot(result->capacity());
  result->stage = Verified::Stage::comparing;
  engine_->offer(result->identity, result->own);
}

bool Actor::take_result(std::size_t index) {
  ResultBytes& result = *results_.at(index);
  if (!advance(result)) return false;
  results_taken_[index] = {true, result.bytes};
  results_.erase(index);
  return true;
}

bool Actor::run(const Step& step) {
  if (step.kind == Step::Kind::offer) {
    offer(step.which);
    return true;
  }
  if (step.kind == Step::Kind::take) return take_result(step.which);
  if (step.kind == Step::Kind::send) {
    send_message(step.which);
    return true;
  }
  if (step.kind == Step::Kind::post) {
    post(step);
    return true;
  }
  Buffer& receive = *receives_[step.which];
  if (!advance(receive)) return false;
  deliveries_[step.which] = {
      true,
      receive.message,
      receive.source,
      receive.tag,
      {receive.bytes.begin(), receive.bytes.begin() + static_cast<std::ptrdiff_t>(receive.length)}};
  engine_->over(receive);
  receives_[step.which].reset();
  return true;
}

bool Actor::step() {
  bool moved = match();
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
  if (engine_->others_wait()) {
    for (const auto& receive : receives_)
      if (receive && receive->stage != Verified::Stage::complete) advance(*receive);
    engine_->said();
  }
  const auto& program = plan().programs[static_cast<std::size_t>(who_.rank)];
  if (!program_done()) {
    if (!run(program[next_])) return moved;
    ++next_;
    return true;
  }
  if (said_finished_ || !engine_->at_rest()) return moved;
  said_finished_ = true;
  Record record;
  record.kind = RecordKind::finished;
  for (int k = 0; k < team_.degree; ++k)
    if (k != team_.replica && team_.here(k)) send({team_.rank, k}, record, {});
  return true;
}

bool Actor::finished() const {
  if (!said_finished_) return false;
  for (int k = 0; k < team_.degree; ++k)
    if (k != team_.replica && team_.here(k) && !finished_.contains(k)) return false;
  return true;
}

std::string Actor::left() const {
  const std::string kept = engine_->kept();
  if (kept.empty()) return {};
  return "rank " + std::to_string(who_.rank) + " replica " + std::to_string(who_.replica) + " keeps " + kept;
}

std::string Actor::state() const {
  static constexpr const char* kinds[] = {"send", "post", "wait", "offer", "take"};
  static constexpr const char* stages[] = {"unplaced",  "native",   "placing", "comparing",
                                           "contested", "disputed", "complete"};
  std::string text = "rank " + std::to_string(who_.rank) + " replica " + std::to_string(who_.replica);
  if (program_done()) return text + " is done, keeps " + engine_->kept();
  const Step& step = plan().programs[static_cast<std::size_t>(who_.rank)][next_];
  text += " at " + std::string(kinds[static_cast<std::size_t>(step.kind)]) + " " + std::to_string(step.which);
  const Verified* awaited = nullptr;
  if (step.kind == Step::Kind::wait) awaited = receives_[step.which].get();
  if (step.kind == Step::Kind::take) awaited = results_.at(step.which).get();
  if (awaited)
    text += std::string(" (") + stages[static_cast<std::size_t>(awaited->stage)] + ", supplier " +
            std::to_string(awaited->supplier) + ")";
  return text + ", keeps " + engine_->kept();
}

}  // namespace holdfast::replicate
