#include "simulate/job/replica_process.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "replicate/engine/mix.h"

namespace holdfast::simulate::job {
namespace {

using replicate::Process;
using replicate::Verified;

/// Tags from there on stand for those that do not fit.
constexpr std::int64_t first_stand_in = std::int64_t{1} << 30;
/// Of copies: as ControlReader lets pass.
constexpr std::uint64_t copy_numbers = 32768;

replicate::ReplicaMap uniform_map(std::uint32_t ranks, int degree) {
  return replicate::ReplicaMap::uniform(static_cast<int>(ranks), degree).value();
}

}  // namespace

Replicas::Replicas(const Protection& protection, std::uint32_t ranks)
    : protection_(protection), map_(uniform_map(ranks, protection.degree)) {}

std::int32_t Replicas::engine_tag(std::int64_t tag) {
  if (tag >= 0 && tag < first_stand_in) return static_cast<std::int32_t>(tag);
  const auto [known, is_new] =
      tags_.try_emplace(tag, static_cast<std::int32_t>(first_stand_in + static_cast<std::int64_t>(tags_.size())));
  if (is_new) by_engine_tag_.push_back(tag);
  return known->second;
}

std::int64_t Replicas::recorded_tag(std::int32_t tag) const {
  return tag < first_stand_in ? tag : by_engine_tag_[static_cast<std::size_t>(tag - first_stand_in)];
}

/// While the engine runs, nothing that it causes calls it.
class ReplicaProcess::Inside {
 public:
  Inside(ReplicaProcess& process, Time at) : process_(process) {
    process.inside_ = true;
    process.at_ = std::max(process.at_, at);
  }
  ~Inside() { process_.inside_ = false; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  ReplicaProcess& process_;
};

ReplicaProcess::ReplicaProcess(Replicas& replicas, ReplicaWorld& world, std::uint32_t number, Process who,
                               bool in_order)
    : replicas_(replicas),
      world_(world),
      number_(number),
      who_(who),
      in_order_(in_order),
      reader_(replicas.map(), who, 1) {
  const Protection& protection = replicas.protection();
  team_.rank = who.rank;
  team_.replica = who.replica;
  team_.degree = team_.present = protection.degree;
  team_.gone.assign(static_cast<std::size_t>(protection.degree), 0);
  engine_ = std::make_unique<replicate::Replica>(
      replicate::Replica::Setup{protection.protocol, replicate::OnCorruption::stop, false}, team_, replicas.map(),
      replicas.counters, static_cast<replicate::Host&>(*this));
  if (team_.leader()) engine_->take_lead();
  if (!protection.inject.empty())
    injector_ = replicate::Injector::read(protection.inject, protection.seed, who).value();
}

ReplicaProcess::~ReplicaProcess() = default;

std::uint32_t ReplicaProcess::number_of(Process process) const {
  const auto own = static_cast<std::uint32_t>(replicas_.map().physical_rank(who_.rank, who_.replica));
  return number_ - own + static_cast<std::uint32_t>(replicas_.map().physical_rank(process.rank, process.replica));
}

// -------------------------------------------------------------------------------------------------------- messages

/// As mpi/pointtopoint/send.cc counts: by receiver, and by tag where threads send in an order of their own.
std::uint64_t ReplicaProcess::next_ordinal(std::uint32_t context, std::uint32_t to_rank, std::int64_t tag) {
  return sent_[{context, to_rank, in_order_ ? 0 : tag}]++;
}

Content ReplicaProcess::make_content(std::uint32_t context, std::uint32_t to_rank, std::int64_t tag,
                                     std::uint64_t bytes) {
  Content content;
  content.bytes = bytes;
  const std::uint64_t ends = replicate::mix(replicate::mix(context, static_cast<std::uint64_t>(who_.rank)), to_rank);
  const std::uint64_t ordinal = sent_[{context, to_rank, in_order_ ? 0 : tag}];
  content.name = replicate::mix(replicate::mix(ends, static_cast<std::uint64_t>(tag)), ordinal);
  for (const replicate::Injector::Strike& strike : injector_.message(static_cast<int>(to_rank), bytes * 8)) {
    content.altered ^= altered_by(strike.bit);
    ++replicas_.counters[replicate::Count::injected];
  }
  return content;
}

Time ReplicaProcess::announce(const Content& content, std::uint32_t context, std::uint32_t to_rank, std::int64_t tag,
                              Time at) {
  const Inside running(*this, at);
  const std::uint64_t ordinal = next_ordinal(context, to_rank, tag);
  engine_->announce({context, who_.rank, replicas_.engine_tag(tag), static_cast<int>(to_rank), ordinal},
                    SentContent(content, *this));
  return at_;
}

std::vector<std::uint64_t> ReplicaProcess::flipped_in_collective(std::uint64_t bytes) {
  std::vector<std::uint64_t> bits;
  if (bytes == 0) return bits;
  for (const replicate::Injector::Strike& strike : injector_.message(-1, bytes * 8)) {
    bits.push_back(strike.bit);
    ++replicas_.counters[replicate::Count::injected];
  }
  return bits;
}

std::uint32_t ReplicaProcess::make_receive(const Envelope& exact, std::uint32_t pending) {
  std::uint32_t number = 0;
  if (free_received_.empty()) {
    number = static_cast<std::uint32_t>(received_.size());
    received_.emplace_back();
  } else {
    number = free_received_.back();
    free_received_.pop_back();
  }
  received_[number] = std::make_unique<ReceivedContent>(static_cast<const Toll&>(*this));
  ReceivedContent& receive = *received_[number];
  receive.number = number;
  receive.exact = exact;
  receive.pending = pending;
  return number;
}

void ReplicaProcess::post(std::uint32_t received, bool any_source, bool any_tag, Time at) {
  ReceivedContent& receive = *received_[received];
  const Envelope exact = receive.exact;
  // Threads post in another order in each replica, so that a wildcard has no name: it counts as what it got.
  any_source = any_source && (in_order_ || exact.source == Envelope::any_source);
  any_tag = any_tag && (in_order_ || exact.tag == Envelope::any_tag);
  const Inside running(*this, at);
  engine_->post(receive, exact.context, orders_[exact.context],
                any_source ? replicate::any_source : static_cast<std::int32_t>(exact.source),
                any_tag ? replicate::any_tag : replicas_.engine_tag(exact.tag), 0);
}

void ReplicaProcess::came(std::uint32_t received, const Envelope& envelope, const Content& content) {
  received_[received]->exact = envelope;
  received_[received]->content = content;
  arrived_.push_back(received);
}

void ReplicaProcess::await(std::uint32_t received) {
  received_[received]->awaited = true;
}

bool ReplicaProcess::probe_must_wait(const Envelope& exact, bool any_source, bool any_tag) {
  if (!in_order_) return false;
  return engine_->probe_must_wait(orders_[exact.context],
                                  any_source ? replicate::any_source : static_cast<std::int32_t>(exact.source),
                                  any_tag ? replicate::any_tag : replicas_.engine_tag(exact.tag));
}

/// The leader posts a wildcard for what it took when recorded; the others learn that from it.
void ReplicaProcess::give_to_mpi(Verified& verified) {
  auto& receive = static_cast<ReceivedContent&>(verified);
  Envelope envelope = receive.exact;
  if (receive.source != replicate::any_source) envelope.source = static_cast<std::uint32_t>(receive.source);
  if (receive.tag != replicate::any_tag) envelope.tag = replicas_.recorded_tag(receive.tag);
  world_.post(number_, at_, envelope, receive.pending);
}

// --------------------------------------------------------------------------------------------------------- results

void ReplicaProcess::compare(std::unique_ptr<ResultContent> result, std::uint32_t context, std::uint64_t number,
                             std::optional<std::uint64_t> reduction, Time at) {
  const Inside running(*this, at);
  result->source = who_.rank;
  result->identity = {{context, -1, -1}, number};
  result->reduction = reduction;
  result->own = result->ballot(result->capacity());
  result->stage = Verified::Stage::comparing;
  engine_->offer(result->identity, result->own);
  results_.push_back(std::move(result));
}

// ------------------------------------------------------------------------------------------- what the leader decides

Time ReplicaProcess::tell(std::int64_t number, Time at) {
  if (!in_order_) return at;
  const Inside running(*this, at);
  engine_->decisions().tell_number(0, number, 0);
  return at_;
}

bool ReplicaProcess::follow(Time at) {
  if (!in_order_) return true;
  const Inside running(*this, at);
  std::int64_t number = 0;
  switch (engine_->decisions().follow_number(0, number, 0)) {
    case replicate::Decisions::Reply::waiting:
      return false;
    case replicate::Decisions::Reply::diverged:
      fail(replicate::Incident::diverged,
           "replicas diverged: the leader " + std::string(engine_->decisions().leader_did(0)));
    default:
      return true;
  }
}

// --------------------------------------------------------------------------------------------------- from the others

void ReplicaProcess::read(std::uint32_t from, std::vector<std::byte> bytes, Time at) {
  const Inside running(*this, at);
  const auto physical = static_cast<int>(from - number_of({0, 0}));
  const Process sender{replicas_.map().virtual_rank(physical), replicas_.map().replica(physical)};
  replicate::ControlMessage message;
  const replicate::Flaw flaw = reader_.read(sender, bytes, message);
  if (flaw == replicate::Flaw::repaired) ++replicas_.counters[replicate::Count::records_repaired];
  if (flaw > replicate::Flaw::repaired) fail(replicate::Incident::uncorrected, reader_.what_was_wrong());
  if (!engine_->on_message(message) && message.record.kind == replicate::RecordKind::finished) ++ends_heard_;
  if (message.record.kind == replicate::RecordKind::decision) world_.told(number_, at_);
}

void ReplicaProcess::copy_came(std::uint64_t token) {
  copies_here_.push_back(token);
}

void ReplicaProcess::end(Time at) {
  over_ = true;
  look(at);
}

/// The engine may have something to settle for the others yet.
void ReplicaProcess::say_end() {
  if (!over_ || said_over_ || !engine_->at_rest()) return;
  said_over_ = true;
  engine_->decisions().flush();
  replicate::Record record;
  record.kind = replicate::RecordKind::finished;
  for (int k = 0; k < team_.degree; ++k)
    if (k != team_.replica) send({team_.rank, k}, record, {});
}

// ------------------------------------------------------------------------------------------------------ what goes on

void ReplicaProcess::look(Time at) {
  const Inside running(*this, at);
  while (look_once()) {
  }
  say_end();
  if (said_over_ && ends_heard_ == team_.degree - 1) world_.all_ended(number_, at_);
}

/// True when there may be more to do.
bool ReplicaProcess::look_once() {
  bool moved = false;
  while (!copies_here_.empty()) {
    const std::uint64_t token = copies_here_.front();
    copies_here_.pop_front();
    const Coming coming = coming_.extract(token).mapped();
    const auto found = replicas_.on_their_way.find({coming.from, number_, coming.number});
    *coming.into = *found->second.front();
    found->second.pop_front();
    if (found->second.empty()) replicas_.on_their_way.erase(found);
    engine_->on_copy(token);
    moved = true;
  }
  while (!arrived_.empty()) {
    const std::uint32_t number = arrived_.front();
    arrived_.pop_front();
    ReceivedContent& receive = *received_[number];
    open_.push_back(number);
    engine_->arrived(receive, static_cast<std::int32_t>(receive.exact.source), replicas_.engine_tag(receive.exact.tag),
                     false);
    moved = true;
  }
  const bool others_wait = engine_->others_wait();
  const std::vector<std::uint32_t> open = open_;
  for (const std::uint32_t number : open) {
    ReceivedContent& receive = *received_[number];
    if (!others_wait && !receive.awaited && !receive.watched) continue;
    moved = advance(receive) || moved;
  }
  if (others_wait) engine_->said();
  for (std::size_t i = 0; i < results_.size();) {
    if (!advance(*results_[i])) {
      ++i;
      continue;
    }
    const std::unique_ptr<ResultContent> result = std::move(results_[i]);
    results_.erase(results_.begin() + static_cast<std::ptrdiff_t>(i));
    world_.settle(number_, at_, *result);
    moved = true;
  }
  return moved;
}

/// True when it is over.
bool ReplicaProcess::advance(ReceivedContent& receive) {
  if (!engine_->advance(receive)) return false;
  finish(receive);
  return true;
}

void ReplicaProcess::finish(ReceivedContent& receive) {
  engine_->over(receive);
  world_.deliver(number_, at_, receive.pending);
  const std::uint32_t number = receive.number;
  std::erase(open_, number);
  free_received_.push_back(number);
  received_[number].reset();
}

/// As mpi/collective/collective.cc: a result stays in its stages until each says that it is over.
bool ReplicaProcess::advance(ResultContent& result) {
  using Stage = Verified::Stage;
  if (result.stage == Stage::comparing) {
    const auto poll = engine_->take_poll(result.identity);
    if (!poll) return false;
    engine_->settle(result, poll->ballots);
    ++replicas_.counters[replicate::Count::collectives];
  }
  if (result.stage == Stage::unsettled && !engine_->take_repeat(result)) return false;
  if (result.stage == Stage::contested && !engine_->take_contest(result)) return false;
  if (result.stage == Stage::disputed && !engine_->take_correction(result)) return false;
  return result.finished();
}

// ------------------------------------------------------------------------------------------------- the engine's host

void ReplicaProcess::send(Process to, const replicate::Record& record, std::span<const std::byte> tail) {
  replicate::Record sealed = record;
  const std::uint32_t number = number_of(to);
  seals_[number].seal(sealed, tail);
  std::vector<std::byte> bytes(sizeof sealed + tail.size());
  std::memcpy(bytes.data(), &sealed, sizeof sealed);
  if (!tail.empty()) std::memcpy(bytes.data() + sizeof sealed, tail.data(), tail.size());
  for (const replicate::Injector::Strike& strike : injector_.control(to.rank, bytes.size() * 8)) {
    bytes[strike.bit / 8] ^= static_cast<std::byte>(1U << (strike.bit % 8));
    ++replicas_.counters[replicate::Count::injected];
  }
  ++replicas_.records;
  replicas_.record_bytes += bytes.size();
  at_ = world_.carry(number_, number, at_, std::move(bytes));
}

std::uint64_t ReplicaProcess::send_copy(Process to, replicate::Copy bytes) {
  const std::uint64_t number = next_copy_++ % copy_numbers;
  const std::uint64_t length = bytes_of(*bytes);
  ++replicas_.copies;
  replicas_.copy_bytes += length;
  const std::uint32_t receiver = number_of(to);
  replicas_.on_their_way[{number_, receiver, number}].push_back(std::move(bytes));
  at_ = world_.carry_copy(number_, receiver, at_, number, length);
  return number;
}

void ReplicaProcess::receive_copy(Process from, std::uint64_t tag, std::shared_ptr<std::vector<std::byte>> into,
                                  std::uint64_t token) {
  const std::uint32_t sender = number_of(from);
  coming_[token] = {sender, tag, std::move(into)};
  world_.await_copy(number_, at_, sender, tag, token);
}

replicate::Ballot ReplicaProcess::digest(std::span<const std::byte> bytes) const {
  digest(bytes_of(bytes));
  return ballot_of(bytes);
}

void ReplicaProcess::watch(Verified& verified) {
  static_cast<ReceivedContent&>(verified).watched = true;
}

void ReplicaProcess::forget(Verified& verified) {
  static_cast<ReceivedContent&>(verified).watched = false;
}

void ReplicaProcess::fail(replicate::Incident incident, std::string_view message) {
  throw JobEnds(incident, std::string(message));
}

void ReplicaProcess::charge(std::uint64_t bytes, std::int64_t byte_ps) const {
  if (bytes == 0 || byte_ps == 0) return;
  at_ = world_.spend(number_, at_, static_cast<Time>(bytes) * byte_ps);
}

void ReplicaProcess::digest(std::uint64_t bytes) const {
  charge(bytes, replicas_.protection().costs.digest_byte_ps);
}

void ReplicaProcess::copy(std::uint64_t bytes) const {
  charge(bytes, replicas_.protection().costs.copy_byte_ps);
}

}  // namespace holdfast::simulate::job
