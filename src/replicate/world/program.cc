// The simulated program of a process, and the calls of MPI that it makes, as the hooks of src/replicate/mpi make them
// of the engine and of MPI's own.
#include <algorithm>
#include <cstring>
#include <utility>

#include "replicate/engine/mix.h"
#include "replicate/world/actor.h"

namespace holdfast::replicate {

Task<Done> Actor::run(Thread& thread) {
  for (const Step& step : thread.steps) {
    co_await perform(step);
    ++thread.next;
    ++shared_.progress;
  }
  decisions().flush();
  co_return Done{};
}

namespace {

/// As has_turn() in mpi/agree/thread_order.h: calls that take a number, post a receive, or join a collective. A drain
/// is several.
bool has_turn(Step::Kind kind) {
  using Kind = Step::Kind;
  return kind == Kind::send || kind == Kind::post || kind == Kind::offer || kind == Kind::reduce ||
         kind == Kind::write || kind == Kind::epoch;
}

}  // namespace

Task<Done> Actor::perform(const Step& step) {
  using Kind = Step::Kind;
  if (has_turn(step.kind)) co_await in_turn([] { return true; });
  if (step.kind != Kind::test && step.kind != Kind::look) decisions().flush();
  switch (step.kind) {
    case Kind::send:
      send_message(step.which);
      break;
    case Kind::post:
      post(step, step.which);
      break;
    case Kind::wait:
      co_await complete(step.which);
      break;
    case Kind::test:
      co_await test(step.which);
      break;
    case Kind::wait_any:
      co_await wait_any(step);
      break;
    case Kind::cancel: {
      co_await settle_cancellation(*receives_.at(step.which));
      step.which % 2 == 0 ? co_await complete(step.which) : co_await test(step.which);
      break;
    }
    case Kind::look: {
      Pattern pattern{step.communicator, step.source, step.tag};
      Found found;
      ask_about(step.communicator, step.source, step.tag);
      here_->decided.push_back(co_await probe(pattern, true, found) ? 1 : 0);
      break;
    }
    case Kind::probe: {
      Pattern pattern{step.communicator, step.source, step.tag};
      Found found;
      note_call(step.communicator, step.source, step.tag);
      co_await probe(pattern, false, found);
      Step named = step;
      named.source = pattern.source;
      named.tag = pattern.tag;
      post(named, step.which);
      co_await complete(step.which);
      break;
    }
    case Kind::matched: {
      Pattern pattern{step.communicator, step.source, step.tag};
      Found found;
      found.matched = true;
      note_call(step.communicator, step.source, step.tag);
      co_await probe(pattern, false, found);
      co_await receive_matched(step, pattern, found);
      break;
    }
    case Kind::drain:
      co_await drain(step);
      break;
    case Kind::offer:
      offer_planned(step.which);
      break;
    case Kind::take:
      co_await take_result(step.which);
      break;
    case Kind::reduce:
      co_await reduce(step.which);
      break;
    case Kind::write:
      co_await write(step.which);
      break;
    case Kind::epoch:
      co_await epoch(step.which);
      break;
    case Kind::join:
      co_await join();
      break;
    case Kind::stop:
      co_await until([] { return false; });
      break;
  }
  co_return Done{};
}

// --- what the leader decides

/// The one that went another way dies in this world: the others can tell that it is odd, and wait for its end.
bool Actor::leader_is_taken_out() const {
  const auto leading = static_cast<std::size_t>(team_.leading);
  return plan().diverges(leading) && plan().dies(leading) && team_.here(team_.leading);
}

template <class Answer, class Ask>
Task<std::optional<Answer>> Actor::told(Ask ask) {
  while (true) {
    Answer answer{};
    switch (ask(answer)) {
      case Decisions::Reply::told:
        ++shared_.progress;
        co_return answer;
      case Decisions::Reply::own:
        co_return std::nullopt;
      case Decisions::Reply::diverged:
        if (leader_is_taken_out()) {  // as mpi/agree/divergence.h has it done
          co_await Pause{*this};
          break;
        }
        fail(Incident::diverged, "replicas diverged: the leader " + std::string(decisions().leader_did(here_->order)));
      case Decisions::Reply::waiting:
        co_await Pause{*this};
    }
  }
}

Task<std::optional<bool>> Actor::told_flag() {
  return told<bool>([this](bool& flag) { return decisions().follow_flag(here_->order, flag, who_asks()); });
}

Task<std::optional<std::int64_t>> Actor::told_number() {
  return told<std::int64_t>(
      [this](std::int64_t& number) { return decisions().follow_number(here_->order, number, who_asks()); });
}

void Actor::tell(bool flag) {
  decisions().tell_flag(here_->order, flag, who_asks());
}

void Actor::tell(std::int64_t number) {
  decisions().tell_number(here_->order, number, who_asks());
}

// --- threads, as mpi/agree/thread_order.h and mpi/pointtopoint/send.cc have them

/// Who asks, as far as replicas can tell.
std::uint32_t Actor::who_asks() const {
  return plan().threads.many() ? static_cast<std::uint32_t>(mix(here_->order, here_->calls)) : 0;
}

/// A thread without a name that replicas agree on is known by its last call.
void Actor::ask_about(std::uint64_t communicator, std::int32_t peer, std::int32_t tag) {
  const bool one_order = shared_.planted == Planted::one_order;
  if (plan().threads.many() && !plan().threads.ordered && !one_order)
    here_->order = mix(communicator, static_cast<std::uint32_t>(peer < 0 ? -1 : tag));
}

void Actor::note_call(std::uint64_t communicator, std::int32_t peer, std::int32_t tag) {
  ask_about(communicator, peer, tag);
  ++here_->calls;
}

template <class Ready>
Task<Done> Actor::in_turn(Ready ready) {
  const bool lawless = shared_.planted == Planted::lawless_threads && !team_.leader();
  if (!plan().threads.ordered || lawless) {
    co_await until(ready);
    co_return Done{};
  }
  bool told = false;
  co_await until([&] {
    const Decisions::NextTurn next = decisions().next_turn(here_->name);
    here_->rests = next == Decisions::NextTurn::of_other;
    told = next == Decisions::NextTurn::own;
    return (told || next == Decisions::NextTurn::here) && ready();
  });
  ++shared_.progress;
  told ? decisions().take_turn() : decisions().tell_turn(here_->name);
  co_return Done{};
}

Task<Done> Actor::join() {
  Thread& self = *here_;
  ++self.joined;
  co_await until([&] {
    return std::all_of(threads_.begin(), threads_.end(), [&](const auto& each) { return each->joined >= self.joined; });
  });
  co_return Done{};
}

// --- messages

void Actor::send_message(std::size_t index) {
  const PlannedMessage& message = plan().messages[index];
  note_call(message.communicator, message.to, message.tag);
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
  std::vector<std::byte> bytes = contents(plan(), index, value);
  for (std::size_t i = 0; plan().gaps == Gaps::differs && i < bytes.size(); ++i)
    if (in_gap(i)) bytes[i] ^= static_cast<std::byte>(who_.replica + 1);
  for (int k = 0; k < shared_.map.degree(message.to); ++k) {
    if (plan().giver(message, k) != who_.replica) continue;
    std::vector<std::byte> given = bytes;
    const std::size_t half = given.size() / 2;
    if (wire && !given.empty()) given[plan().gaps != Gaps::none && in_gap(half) ? half - 8 : half] ^= std::byte{4};
    shared_.network.messages[{number_, shared_.map.physical_rank(message.to, k)}].push_back({index, std::move(given)});
  }
  const bool many = plan().threads.many();
  std::uint64_t& number = sent_[{message.to, many ? message.communicator : 0, many ? message.tag : 0}];
  engine_->announce({message.communicator, who_.rank, message.tag, message.to, number++},
                    SentBytes(bytes, shared_.planted == Planted::blind_digests, message.elements));
}

/// A persistent request is used again, as it was left.
Buffer& Actor::make(const Step& step, std::size_t which) {
  Buffer* receive = nullptr;
  const auto fits = [&](const Buffer* one) { return one->room == step.room; };
  const auto found = std::find_if(idle_.begin(), idle_.end(), fits);
  if (step.persistent && found != idle_.end()) {
    receive = *found;
    idle_.erase(found);
    receive->was_corrected = false;
    receive->cancelled = false;
  } else {
    buffers_.push_back(std::make_unique<Buffer>(step.kind == Step::Kind::drain ? Plan::room : step.room));
    receive = buffers_.back().get();
  }
  receive->which = which;
  receive->thread = step.thread;
  receive->elements = step.elements;
  receive->optional = step.optional;
  receive->stage = Verified::Stage::native;
  receive->native = Buffer::Native::none;
  receive->requeued = &requeued_;
  receive->blind = shared_.planted == Planted::blind_digests;
  receive->idle_overwrite = shared_.planted == Planted::idle_overwrite;
  receive->idle_requeue = shared_.planted == Planted::cut_requeues;
  receives_[which] = receive;
  return *receive;
}

void Actor::post(const Step& step, std::size_t which) {
  note_call(step.communicator, step.source, step.tag);
  engine_->post(make(step, which), step.communicator, orders_[step.communicator], step.source, step.tag, who_asks());
}

void Actor::finish(Buffer& receive) {
  Delivery delivery;
  delivery.done = true;
  delivery.cancelled = receive.cancelled;
  if (!receive.cancelled) {
    delivery.message = receive.message;
    delivery.source = receive.source;
    delivery.tag = receive.tag;
    delivery.bytes.assign(receive.bytes.begin(), receive.bytes.begin() + static_cast<std::ptrdiff_t>(receive.length));
    ++taken_[receive.communicator];
  }
  deliveries_[receive.which] = std::move(delivery);
  engine_->over(receive);
  leave_memory(receive);
  receives_.erase(receive.which);
  idle_.push_back(&receive);
}

/// The program goes on, and uses the memory for something else or gives it back, or does not.
void Actor::leave_memory(Buffer& receive) {
  std::vector<std::byte>& bytes = past_.emplace_back(std::move(receive.bytes));
  receive.bytes.assign(receive.room, std::byte{});
  if (plan().memory_stays || bytes.empty()) return;
  if (shared_.draw.chance(1, 2)) {
    bytes[0] ^= std::byte{1};
  } else {
    gone_.insert(bytes.data());
  }
}

Copy Actor::read_if_there(const std::byte* memory, std::uint64_t bytes) {
  if (gone_.contains(memory) || shared_.planted == Planted::forgotten_memory) return nullptr;
  return std::make_shared<std::vector<std::byte>>(memory, memory + bytes);
}

Task<Done> Actor::complete(std::size_t which) {
  const auto found = receives_.find(which);
  if (found == receives_.end()) co_return Done{};  // nothing is active any more
  Buffer& receive = *found->second;
  co_await until([&] { return receive.cancelled || advance(receive); });
  finish(receive);
  co_return Done{};
}

bool Actor::done_now(Buffer& receive) {
  return receive.cancelled || advance(receive);
}

Task<Done> Actor::test(std::size_t which) {
  while (receives_.contains(which)) {
    const std::optional<bool> told = co_await told_flag();
    const bool flag = told ? *told : done_now(*receives_.at(which));
    if (!told) tell(flag);
    if (flag) {
      co_await complete(which);
    } else {
      co_await Pause{*this};
    }
  }
  co_return Done{};
}

Task<Done> Actor::wait_any(const Step& step) {
  std::vector<Buffer*> active;
  for (const auto& [which, receive] : receives_)
    if (receive->communicator == step.communicator && receive->thread == step.thread && !receive->optional)
      active.push_back(receive);
  if (active.empty()) co_return Done{};
  std::int64_t index = 0;
  if (const auto told = co_await told_number()) {
    index = *told;
  } else {
    co_await until([&] {
      for (index = 0; index < static_cast<std::int64_t>(active.size()); ++index)
        if (done_now(*active[static_cast<std::size_t>(index)])) return true;
      return false;
    });
    tell(index);
  }
  here_->decided.push_back(index);
  if (index < 0 || index >= static_cast<std::int64_t>(active.size())) fail(Incident::diverged, "no such request");
  co_await complete(active[static_cast<std::size_t>(index)]->which);
  co_return Done{};
}

// --- cancelling

/// The leader's outcome counts.
Task<Done> Actor::settle_cancellation(Buffer& receive) {
  const auto told = co_await told_number();
  const auto own = [&] {
    mpi_.cancel(receive);
    return std::int64_t{receive.native == Buffer::Native::cancelled ? 1 : 0};
  };
  const std::int64_t cancelled = told ? *told : own();
  if (!told) tell(cancelled);
  here_->decided.push_back(cancelled);
  if (cancelled == 0) co_return Done{};
  engine_->cancelled(receive);
  receive.cancelled = true;
  co_return Done{};
}

// --- probes

/// Asks MPI once. An earlier wildcard receive that is not resolved yet could own the message at a follower.
bool Actor::look(const Pattern& pattern, Found& found) {
  if (!found.is && !find(pattern, found)) return false;
  return !engine_->match_is_unsaid(orders_[pattern.communicator], found.source, found.tag);
}

bool Actor::find(const Pattern& pattern, Found& found) {
  const bool hasty = shared_.planted == Planted::hasty_probes;
  if (!hasty && engine_->probe_must_wait(orders_[pattern.communicator], pattern.source, pattern.tag)) return false;
  if (const Replica::Requeued* one = engine_->find_requeued(pattern.communicator, pattern.source, pattern.tag)) {
    if (found.matched) fail(Incident::refused, refused_matched_probe);  // as mpi/hooks_receive.cc does
    found = {true, false, one->source, one->tag, std::nullopt};
    return true;
  }
  const PlannedMessage* message = mpi_.find(pattern.communicator, pattern.source, pattern.tag);
  if (!message) return false;
  found = {true, found.matched, message->from, message->tag, std::nullopt};
  if (found.matched) found.message = mpi_.take(pattern.communicator, pattern.source, pattern.tag);
  return true;
}

/// `once`: says no where there is nothing now. Else whether there is a message, of the source and tag that are set.
Task<bool> Actor::probe(Pattern& pattern, bool once, Found& found) {
  if (once) {
    const std::optional<bool> told = co_await told_flag();
    const bool flag = told ? *told : look(pattern, found);
    if (!told) tell(flag);
    if (!flag) co_return false;
  }
  if (pattern.wild()) {
    auto told = co_await told_number();
    if (!told) {
      co_await until([&] { return look(pattern, found); });
      tell(std::int64_t{found.source});
    }
    pattern.source = told ? static_cast<std::int32_t>(*told) : found.source;
    told = co_await told_number();
    if (!told) {
      co_await until([&] { return look(pattern, found); });
      tell(std::int64_t{found.tag});
    }
    pattern.tag = told ? static_cast<std::int32_t>(*told) : found.tag;
  }
  co_await in_turn([&] { return look(pattern, found); });
  co_return true;
}

Task<Done> Actor::receive_matched(const Step& step, const Pattern& pattern, Found& found) {
  ReceiveOrder& order = orders_[pattern.communicator];
  const ReceiveOrder::Ticket ticket = order.post(pattern.source, pattern.tag);
  co_await until([&] { return order.placed(ticket); });
  MessageId place = order.place(ticket);
  place.channel.communicator = pattern.communicator;
  order.done(ticket);
  Buffer& receive = make(step, step.which);
  engine_->post_matched(receive, place);
  if (found.message) mpi_.give(receive, *found.message);
  co_await complete(step.which);
  co_return Done{};
}

Task<Done> Actor::drain(const Step& step) {
  for (std::size_t i = 0; i < step.count; ++i) {
    const std::size_t which = step.which + i;
    if (taken_[step.communicator] == step.count) {
      deliveries_[which].done = deliveries_[which].skipped = true;
      continue;
    }
    co_await in_turn([] { return true; });
    post(step, which);
    co_await complete(which);
  }
  co_return Done{};
}

// --- results

void Actor::offer(ResultBytes& result) {
  result.blind = shared_.planted == Planted::blind_digests;
  result.idle_overwrite = shared_.planted == Planted::idle_overwrite;
  result.source = who_.rank;
  result.ranks_of_job = shared_.map.ranks();
  result.own = result.ballot(result.capacity());
  result.stage = Verified::Stage::comparing;
  engine_->offer(result.identity, result.own);
}

void Actor::offer_planned(std::size_t index) {
  auto& result = results_[index];
  result = std::make_unique<ResultBytes>();
  result->bytes = result_contents(plan(), index, who_.replica);
  result->blocks = plan().results[index].blocks;
  result->identity = {{1000, -1, -1}, index};
  offer(*result);
}

Task<Done> Actor::take_result(std::size_t index) {
  ResultBytes& result = *results_.at(index);
  co_await until([&] { return advance(result); });
  results_taken_[index] = {true, result.bytes};
  results_.erase(index);
  co_return Done{};
}

/// A reduction of MPI's own, in this replica's world.
Task<std::vector<std::byte>> Actor::native_reduce(std::size_t index, int repetition,
                                                  const std::vector<std::byte>& own) {
  auto& given = shared_.network.reductions[{who_.replica, index, repetition}];
  given[who_.rank] = own;
  ++shared_.progress;
  co_await until([&] { return given.size() == static_cast<std::size_t>(shared_.map.ranks()); });
  std::vector<std::uint64_t> sums(own.size() / sizeof(std::uint64_t));
  for (const auto& [rank, bytes] : given)
    for (std::size_t i = 0; i < sums.size(); ++i) {
      std::uint64_t element = 0;
      std::memcpy(&element, bytes.data() + i * sizeof element, sizeof element);
      sums[i] += element;
    }
  for (const WrongElement& wrong : plan().wrong_elements)
    if (wrong.kind == WrongElement::Kind::result && repetition == 0 && wrong.reduction == index &&
        wrong.rank == who_.rank && wrong.replica == who_.replica)
      sums[wrong.element] ^= wrong.value;
  const auto bytes = std::as_bytes(std::span(sums));
  co_return std::vector<std::byte>(bytes.begin(), bytes.end());
}

/// Memory that is the same in all replicas of this rank, or is corrected.
Task<std::vector<std::byte>> Actor::compare(std::vector<std::byte> bytes, std::size_t blocks) {
  ResultBytes result;
  result.bytes = std::move(bytes);
  result.blocks = blocks;
  result.identity = {{2000, -1, -1}, collectives_++};
  offer(result);
  co_await until([&] { return advance(result); });
  co_return std::move(result.bytes);
}

Task<Done> Actor::reduce(std::size_t index) {
  const std::vector<std::uint64_t> elements = operand(plan(), index, who_.rank, who_.replica);
  const auto given = std::as_bytes(std::span(elements));
  std::vector<std::byte> own(given.begin(), given.end());
  ResultBytes result;
  result.bytes = co_await native_reduce(index, 0, own);
  result.identity = {{2000, -1, -1}, collectives_++};
  result.reduction = index;
  offer(result);
  co_await until([&] { return advance(result); });
  if (result.stage == Verified::Stage::repeated) {
    own = co_await compare(std::move(own), 1);
    const std::vector<std::byte> again = co_await native_reduce(index, 1, own);
    result.bytes = co_await compare(again, elements.size());
  }
  reductions_[index] = {true, result.bytes};
  co_return Done{};
}

// --- files, as mpi/io/hooks_file.cc does it

Task<Done> Actor::write(std::size_t index) {
  ResultBytes data;
  data.bytes = written(plan(), index, who_.replica);
  data.identity = {{4000, -1, -1}, index};
  offer(data);
  co_await until([&] { return advance(data); });
  ResultBytes told;
  told.bytes = outcome(plan(), index, who_.replica);
  told.identity = {{3000, -1, -1}, index};
  told.source = who_.rank;
  if (team_.leader()) {
    shared_.network.files[index].push_back(data.bytes);
    engine_->supply_all(told);
  } else {
    Copy copy;
    co_await until([&] { return (copy = engine_->take_copy(told.identity)) != nullptr; });
    if (shared_.planted != Planted::idle_copies) told.bytes = *copy;
  }
  outcomes_[index] = {true, told.bytes};
  co_return Done{};
}

// --- windows, as mpi/onesided/window.cc does it: what is put is compared where it lies, and then what is exposed

Task<Done> Actor::epoch(std::size_t index) {
  const auto ranks = static_cast<std::size_t>(shared_.map.ranks());
  std::vector<std::byte> own = puts(plan(), index, who_.rank, who_.replica);
  own = co_await compare(std::move(own), ranks);
  auto& given = shared_.network.epochs[{who_.replica, index}];
  given[who_.rank] = own;
  ++shared_.progress;
  co_await until([&] { return given.size() == ranks; });
  const std::size_t block = plan().epochs[index].block_bytes;
  std::vector<std::byte> window;
  for (const auto& [rank, all] : given) {
    const auto at = all.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(who_.rank) * block);
    window.insert(window.end(), at, at + static_cast<std::ptrdiff_t>(block));
  }
  spoil_window(plan(), index, who_.rank, who_.replica, window);
  window = co_await compare(std::move(window), 1);
  windows_[index] = {true, window};
  co_return Done{};
}

}  // namespace holdfast::replicate
