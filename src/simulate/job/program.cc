#include "simulate/job/program.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "core/arithmetic/checked.h"
#include "core/memory/available.h"
#include "record/call_kind.h"
#include "record/trace.h"
#include "simulate/job/matching.h"

namespace holdfast::simulate::job {
namespace {

using record::Call;
using record::CallKind;
using record::Fact;
using record::FactValue;

constexpr std::int64_t most_bytes = std::int64_t{1} << 40;            ///< of a message
constexpr std::uint64_t most_ns = 26ULL * 24 * 3600 * 1'000'000'000;  ///< of one rank's computing: 26 days
constexpr std::uint32_t most_threads = 4096;
constexpr std::uint64_t most_ranks = 1U << 20;
constexpr std::int64_t post_tag = -2;         ///< messages of MPI_Win_post
constexpr std::int64_t complete_tag = -3;     ///< and of MPI_Win_complete
constexpr std::uint64_t agreement_bytes = 8;  ///< what the members of a new communicator agree about

std::vector<std::int64_t> all_of(const std::vector<FactValue>& facts, Fact wanted) {
  std::vector<std::int64_t> values;
  for (const FactValue& held : facts)
    if (held.fact == wanted) values.push_back(held.value);
  return values;
}

/// A call that is started later: of a persistent request.
struct Kept {
  std::string name;
  CallKind kind{};
  std::vector<FactValue> facts;
  std::uint64_t partitions = 0, ready = 0;
};

}  // namespace

struct ProgramBuilder::Shared {
  Program program;
  std::map<std::pair<std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>, std::uint64_t>, std::uint32_t>
      numbers;
  std::map<std::string, std::uint64_t> left_out, timed;  ///< calls by name
  record::KnownKinds kinds;
  Status status;
  std::uint64_t room = memory::available_bytes() / 2;  ///< bytes for what is still to be kept

  /// A few bytes of a recording may stand for millions of calls.
  void keep(std::uint64_t bytes) {
    if (bytes > room) wrong("what it holds does not fit into the memory of this machine");
    room -= std::min(room, bytes);
  }
  void wrong(std::string what) {
    if (status.ok())
      status = {Code::bad_input, "reading the trace " + program.name, std::move(what), "record the program again"};
  }
  /// The number of a communicator that may be known from another rank, or from the other side.
  std::uint32_t number(const record::Communicator& made) {
    auto groups = std::pair(made.members, made.remote);
    if (!groups.second.empty() && groups.second < groups.first) std::swap(groups.first, groups.second);
    const auto [known, is_new] = numbers.try_emplace({std::move(groups), made.ordinal}, 0);
    if (!is_new) return known->second;
    known->second = static_cast<std::uint32_t>(program.communicators.size());
    std::vector<std::uint32_t> members;
    for (const std::int64_t rank : made.members)
      members.push_back(rank < 0 ? Envelope::any_source : static_cast<std::uint32_t>(rank));
    program.communicators.push_back(made.remote.empty() ? std::move(members) : std::vector<std::uint32_t>{});
    return known->second;
  }
};

/// One rank's calls become steps. Operations are numbered as they begin; a request is the operations that it stands
/// for.
class ProgramBuilder::Rank : public record::Visitor {
 public:
  Rank(Shared& shared, std::uint32_t rank) : shared_(shared), rank_(rank), program_(shared.program.ranks[rank]) {}

  void call(const Call& call) override {
    if (!shared_.status.ok()) return;
    if (call.thread >= most_threads) return shared_.wrong("a rank has more than 4,096 threads");
    thread_ = call.thread;
    if (thread_ >= program_.threads.size()) program_.threads.resize(thread_ + 1);
    owed_.resize(program_.threads.size(), 0);
    facts_.assign(call.facts.begin(), call.facts.end());
    // Of a row of questions in vain the time between them is waiting, all but what was before the first.
    const std::int64_t away = std::max<std::int64_t>(call.before_ns - call.without_core_ns, 0);
    compute(away / static_cast<std::int64_t>(std::max<std::uint64_t>(call.repeats, 1)));
    if (call.get(Fact::error, 0) != 0) return;
    take(call);
  }

  void communicator(std::uint64_t number, const record::Communicator& made) override {
    const std::uint32_t known = shared_.number(made);
    numbers_[static_cast<std::int64_t>(number)] = known;
    const auto own = std::find(made.members.begin(), made.members.end(), std::int64_t{rank_});
    if (own == made.members.end()) return;
    program_.numbers[known] = static_cast<std::uint32_t>(own - made.members.begin());
  }

  void counted(std::string_view name, bool local, std::uint64_t calls) override {
    if (!local) shared_.left_out[std::string(name)] += calls;
  }
  void gap() override { shared_.program.whole = false; }

  /// What was computed after the last call, and requests that nobody heard of again.
  void end() {
    for (thread_ = 0; thread_ < owed_.size(); ++thread_)
      if (owed_[thread_] > 0) add({});
  }

 private:
  /// The operations that one call begins: numbered in a row, by steps in a row.
  struct Begun {
    std::uint32_t operation = no_operation;  ///< the first
    std::uint32_t count = 0;
    std::size_t thread = 0, step = 0;  ///< where the first one begins, for what is known later
  };

  void compute(std::int64_t ns) {
    const std::optional<std::uint64_t> all =
        arithmetic::checked_add(program_.computing_ns, static_cast<std::uint64_t>(ns));
    if (!all || *all > most_ns) return shared_.wrong("a rank computes for more than 26 days");
    program_.computing_ns = *all;
    owed_[thread_] += ns;
  }
  /// Adds a step of the call that is being taken.
  Step& add(Step step) {
    shared_.keep(sizeof(Step));
    step.before_ns = std::exchange(owed_[thread_], 0);
    program_.threads[thread_].push_back(step);
    return program_.threads[thread_].back();
  }
  void begin(Step step) {
    step.operation = operations_++;
    add(step);
  }
  /// Of the call that is being taken: nothing yet.
  Begun beginning() const { return {operations_, 0, thread_, program_.threads[thread_].size()}; }
  void wait(std::uint32_t operation, std::uint8_t told = 0) {
    Step step;
    step.kind = Step::Kind::wait;
    step.told = told;
    step.operation = operation;
    add(step);
  }
  std::int64_t get(Fact wanted, std::int64_t otherwise) const { return get(facts_, wanted, otherwise); }
  static std::int64_t get(const std::vector<FactValue>& facts, Fact wanted, std::int64_t otherwise) {
    for (const FactValue& held : facts)
      if (held.fact == wanted) return held.value;
    return otherwise;
  }

  bool is_rank(std::int64_t place) {
    if (place < 0) return false;
    if (static_cast<std::uint64_t>(place) >= shared_.program.ranks.size())
      shared_.wrong("rank " + std::to_string(rank_) + " speaks of rank " + std::to_string(place) + ", of " +
                    std::to_string(shared_.program.ranks.size()));
    return shared_.status.ok();
  }
  std::uint64_t size_of(std::int64_t bytes) {
    if (bytes < 0 || bytes > most_bytes)
      shared_.wrong("rank " + std::to_string(rank_) + " has a message of " + std::to_string(bytes) + " bytes");
    return static_cast<std::uint64_t>(std::clamp<std::int64_t>(bytes, 0, most_bytes));
  }

  void leave_out(const Call& call) {
    ++shared_.left_out[std::string(call.name)];
    compute(call.during_ns);
  }

  void take(const Call& call) {
    const std::int64_t request = get(Fact::request, record::unknown_request);
    const CallKind kind = shared_.kinds.of(call.name);
    switch (kind) {
      case CallKind::persistent_send:
      case CallKind::persistent_receive:
        shared_.keep(sizeof(Kept) + call.facts.size_bytes());
        kept_[request] = {std::string(call.name), kind, facts_, static_cast<std::uint64_t>(get(Fact::partitions, 0)),
                          0};
        return;
      case CallKind::collective:
      case CallKind::neighbours:
        if (record::is_persistent_collective(call.name)) {
          shared_.keep(sizeof(Kept) + call.facts.size_bytes());
          kept_[request] = {std::string(call.name), kind, facts_};
          return;
        }
        return start(call.name, kind, facts_, request);
      case CallKind::send:
      case CallKind::receive:
      case CallKind::send_receive:
        return start(call.name, kind, facts_, request);
      case CallKind::start:
        for (const std::int64_t started : all_of(facts_, Fact::starts)) {
          const auto known = kept_.find(started);
          if (known == kept_.end()) continue;
          known->second.ready = 0;
          // What is sent in parts goes when the last of them is ready, as in MPICH 4.0.
          if (known->second.partitions > 0 && known->second.kind == CallKind::persistent_send) continue;
          start(known->second.name, known->second.kind, known->second.facts, started);
        }
        return;
      case CallKind::completion:
        return complete(call.name);
      case CallKind::probe:
        return probe(call.name);
      case CallKind::communicator:
        return make_communicator(call, request);
      case CallKind::one_sided:
        return access(call, request);
      case CallKind::synchronisation:
        return synchronise(call);
      case CallKind::file:
        ++shared_.timed[std::string(call.name)];
        return compute(call.during_ns);
      case CallKind::other:
        return other(call);
    }
  }

  void poll() {
    std::vector<Step>& steps = program_.threads[thread_];
    if (owed_[thread_] == 0 && !steps.empty()) return;
    Step step;
    step.kind = Step::Kind::poll;
    add(step);
  }

  void other(const Call&) {
    if (get(Fact::ready_from, -1) < 0 || get(Fact::not_yet, 0) != 0) return poll();
    const std::int64_t request = get(Fact::concerns, record::unknown_request);
    const auto known = kept_.find(request);
    if (known == kept_.end() || known->second.kind != CallKind::persistent_send) return poll();
    const std::vector<std::int64_t> from = all_of(facts_, Fact::ready_from), to = all_of(facts_, Fact::ready_to);
    for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i)
      known->second.ready += static_cast<std::uint64_t>(std::max<std::int64_t>(to[i] - from[i] + 1, 0));
    if (known->second.ready == known->second.partitions)
      start(known->second.name, known->second.kind, known->second.facts, request);
  }

  /// Begins what the call, or the persistent request that it made, stands for. Without a request it is waited for.
  void start(std::string_view name, CallKind kind, const std::vector<FactValue>& facts, std::int64_t request) {
    const Begun begun = beginning();
    const bool sends = kind == CallKind::send || kind == CallKind::persistent_send || kind == CallKind::send_receive;
    const bool receives =
        kind == CallKind::receive || kind == CallKind::persistent_receive || kind == CallKind::send_receive;
    if (receives) begin_receive(facts, kind == CallKind::send_receive, request);
    if (sends) begin_send(name, facts);
    if (kind == CallKind::collective) begin_collective(name, facts, request != record::unknown_request);
    if (kind == CallKind::neighbours) begin_neighbours(facts);
    hand_over(begun, request);
  }
  /// What began since `begun`.
  void hand_over(Begun begun, std::int64_t request) {
    begun.count = operations_ - begun.operation;
    if (request != record::unknown_request) {
      pending_[request] = begun;
      return;
    }
    for (std::uint32_t one = 0; one < begun.count; ++one) wait(begun.operation + one);
  }

  std::optional<std::uint32_t> communicator_of(const std::vector<FactValue>& facts) const {
    const auto known = numbers_.find(get(facts, Fact::communicator, -1));
    if (known == numbers_.end()) return std::nullopt;
    return known->second;
  }
  std::uint32_t context_of(const std::vector<FactValue>& facts) const { return communicator_of(facts).value_or(0) * 2; }

  void begin_send(std::string_view name, const std::vector<FactValue>& facts) {
    const std::int64_t to = get(facts, Fact::peer, record::nobody);
    if (!is_rank(to)) return;
    Step step;
    step.kind = name.find("ssend") != std::string_view::npos || name.find("Ssend") != std::string_view::npos
                    ? Step::Kind::synchronous_send
                    : Step::Kind::send;
    step.context = context_of(facts);
    step.peer = static_cast<std::uint32_t>(to);
    step.tag = get(facts, Fact::tag, 0);
    step.bytes = size_of(get(facts, Fact::bytes, 0));
    begin(step);
  }

  void begin_receive(const std::vector<FactValue>& facts, bool with_send, std::int64_t request) {
    std::int64_t from = get(facts, with_send ? Fact::receives_from : Fact::peer, record::nobody);
    std::int64_t tag = get(facts, with_send ? Fact::receives_tag : Fact::tag, record::any_tag);
    if (from == record::nobody || from == record::outside) return;
    const bool any_source = from == record::anybody, any_tag = tag == record::any_tag;
    if (request == record::unknown_request) {  // it is complete: this call says what it got
      if (from == record::anybody) from = get(facts, Fact::source, record::anybody);
      if (tag == record::any_tag) tag = get(facts, Fact::source_tag, record::any_tag);
    }
    if (from != record::anybody && !is_rank(from)) return;
    Step step;
    step.kind = Step::Kind::receive;
    step.any_source = any_source;
    step.any_tag = any_tag;
    step.context = context_of(facts);
    step.peer = from == record::anybody ? Envelope::any_source : static_cast<std::uint32_t>(from);
    step.tag = tag;
    begin(step);
  }

  std::uint32_t list(const std::vector<std::int64_t>& values, std::size_t size) {
    if (values.empty()) return 0;
    std::vector<std::uint64_t> sizes;
    for (const std::int64_t value : values) sizes.push_back(size_of(value));
    sizes.resize(size, 0);
    const auto [known, is_new] = lists_.try_emplace(sizes, static_cast<std::uint32_t>(program_.lists.size()));
    if (is_new) program_.lists.push_back(std::move(sizes));
    return known->second;
  }

  /// The communicator of a collective that can be replayed: all its members are ranks of the world, one of them this.
  std::optional<std::uint32_t> collective_communicator(const std::vector<FactValue>& facts) {
    const auto number = communicator_of(facts);
    if (!number || !program_.numbers.contains(*number)) return std::nullopt;
    const std::vector<std::uint32_t>& members = shared_.program.communicators[*number];
    if (members.empty() || members.size() > shared_.program.ranks.size()) return std::nullopt;
    for (const std::uint32_t rank : members)
      if (rank >= shared_.program.ranks.size()) return std::nullopt;
    return number;
  }

  Step collective_step(std::uint32_t communicator, Operation operation) {
    Step step;
    step.kind = Step::Kind::collective;
    step.collective = operation;
    step.context = communicator * 2 + 1;
    step.tag = before_[communicator]++;
    return step;
  }

  void begin_collective(std::string_view name, const std::vector<FactValue>& facts, bool nonblocking) {
    const auto communicator = collective_communicator(facts);
    const auto operation = operation_named(record::collective_of(name));
    if (!communicator || !operation) {
      ++shared_.left_out[std::string(name)];
      return;
    }
    const std::vector<std::uint32_t>& members = shared_.program.communicators[*communicator];
    Step step = collective_step(*communicator, *operation);
    step.nonblocking = nonblocking;
    step.bytes = size_of(get(facts, Fact::bytes, 0));
    const auto root = std::find(members.begin(), members.end(), static_cast<std::uint32_t>(get(facts, Fact::root, -1)));
    step.peer = root == members.end() ? 0 : static_cast<std::uint32_t>(root - members.begin());
    step.lists = list(all_of(facts, Fact::bytes_to), members.size());
    step.lists_from = list(all_of(facts, Fact::bytes_from), members.size());
    begin(step);
  }

  void begin_neighbours(const std::vector<FactValue>& facts) {
    const auto communicator = collective_communicator(facts);
    if (!communicator) return;
    const std::int64_t tag = before_[*communicator]++;
    for (const bool sends : {false, true}) {
      const std::vector<std::int64_t> peers = all_of(facts, sends ? Fact::to : Fact::from);
      const std::vector<std::int64_t> sizes = all_of(facts, sends ? Fact::bytes_to : Fact::bytes_from);
      for (std::size_t i = 0; i < peers.size(); ++i) {
        if (!is_rank(peers[i])) continue;
        Step step;
        step.kind = sends ? Step::Kind::send : Step::Kind::receive;
        step.context = *communicator * 2 + 1;
        step.peer = static_cast<std::uint32_t>(peers[i]);
        step.tag = tag;
        if (sends) step.bytes = size_of(i < sizes.size() ? sizes[i] : get(facts, Fact::bytes, 0));
        begin(step);
      }
    }
  }

  /// How many answers of MPI a completing call gives that may be others in another replica: flags, indices, counts.
  static std::uint8_t answers_of(std::string_view name, std::int64_t completed) {
    const std::int64_t flag = name.find("_Test") != std::string_view::npos ? 1 : 0;
    if (name.ends_with("any")) return static_cast<std::uint8_t>(flag + 1);
    if (name.ends_with("some")) return static_cast<std::uint8_t>(std::min<std::int64_t>(flag + 1 + completed, 255));
    return static_cast<std::uint8_t>(flag);
  }

  void complete(std::string_view name) {
    if (get(Fact::not_yet, 0) != 0) return poll();
    bool any = false;
    const std::int64_t completed = std::ranges::count(facts_, Fact::completes, &FactValue::fact);
    for (std::size_t i = 0; i < facts_.size(); ++i) {
      if (facts_[i].fact != Fact::completes) continue;
      const auto known = pending_.find(facts_[i].value);
      if (known == pending_.end()) continue;
      bool cancelled = false;
      for (std::size_t k = i + 1; k < facts_.size() && facts_[k].fact != Fact::completes; ++k) {
        cancelled |= facts_[k].fact == Fact::cancelled;
        if (facts_[k].fact == Fact::source || facts_[k].fact == Fact::source_tag)
          learn(known->second, facts_[k].fact, facts_[k].value);
      }
      const Begun begun = known->second;
      for (std::uint32_t one = 0; one < begun.count; ++one) {
        if (cancelled)
          program_.threads[begun.thread][begun.step + one].kind = Step::Kind::nothing;
        else
          wait(begun.operation + one, any ? std::uint8_t{0} : answers_of(name, completed));
        any = true;
      }
      pending_.erase(known);
    }
    if (!any) poll();
  }

  /// From where a receive got its message is known when it is complete.
  void learn(const Begun& begun, Fact fact, std::int64_t value) {
    for (std::uint32_t one = 0; one < begun.count; ++one) {
      Step& step = program_.threads[begun.thread][begun.step + one];
      if (step.kind != Step::Kind::receive) continue;
      if (fact == Fact::source && step.peer == Envelope::any_source && is_rank(value))
        step.peer = static_cast<std::uint32_t>(value);
      if (fact == Fact::source_tag && step.tag == record::any_tag) step.tag = value;
    }
  }

  void probe(std::string_view name) {
    if (get(Fact::not_yet, 0) != 0) return poll();
    std::int64_t from = get(Fact::peer, record::nobody);
    std::int64_t tag = get(Fact::tag, record::any_tag);
    Step step;
    step.any_source = from == record::anybody;
    step.any_tag = tag == record::any_tag;
    const bool asks_once = name == "MPI_Iprobe" || name == "MPI_Improbe";
    step.told = static_cast<std::uint8_t>((asks_once ? 1 : 0) + (step.any_source || step.any_tag ? 2 : 0));
    if (from == record::anybody) from = get(Fact::source, record::anybody);
    if (tag == record::any_tag) tag = get(Fact::source_tag, record::any_tag);
    if (from != record::anybody && !is_rank(from)) return;
    step.kind = Step::Kind::probe;
    step.context = context_of(facts_);
    step.peer = from == record::anybody ? Envelope::any_source : static_cast<std::uint32_t>(from);
    step.tag = tag;
    add(step);
  }

  /// The members agree about a context: a small reduction to all of them.
  void agree(std::int64_t request) {
    const auto communicator = collective_communicator(facts_);
    if (!communicator) return;
    Step step = collective_step(*communicator, Operation::allreduce);
    step.inner = true;
    step.bytes = agreement_bytes;
    step.nonblocking = request != record::unknown_request;
    const Begun begun = beginning();
    begin(step);
    hand_over(begun, request);
  }
  void make_communicator(const Call& call, std::int64_t request) {
    if (get(Fact::communicator, -1) < 0 || call.name.ends_with("free")) return;
    agree(request);
  }

  void access(const Call& call, std::int64_t request) {
    const std::int64_t target = get(Fact::peer, record::nobody);
    if (!is_rank(target)) return;
    const bool fetches = call.name.find("et") != std::string_view::npos ||
                         call.name.find("etch") != std::string_view::npos ||
                         call.name.find("swap") != std::string_view::npos;
    Step step;
    step.kind = fetches ? Step::Kind::get : Step::Kind::put;
    step.peer = static_cast<std::uint32_t>(target);
    step.bytes = size_of(get(Fact::bytes, 0));
    if (request == record::unknown_request) {
      add(step);
      return;
    }
    const Begun begun = beginning();
    begin(step);
    hand_over(begun, request);
  }

  void complete_accesses() {
    Step step;
    step.kind = Step::Kind::complete_accesses;
    add(step);
  }
  /// An empty message to, or from, each rank.
  void exchange_empty(const std::vector<std::int64_t>& ranks, bool sends, std::int64_t tag) {
    const Begun begun = beginning();
    for (const std::int64_t rank : ranks) {
      if (!is_rank(rank)) continue;
      Step step;
      step.kind = sends ? Step::Kind::send : Step::Kind::receive;
      step.context = context_of(facts_) + 1;
      step.peer = static_cast<std::uint32_t>(rank);
      step.tag = tag;
      begin(step);
    }
    hand_over(begun, record::unknown_request);
  }

  void synchronise(const Call& call) {
    const std::string_view name = call.name;
    const auto is = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
    if (is("Win_post")) {
      posted_[get(Fact::window, -1)] = all_of(facts_, Fact::peer);
      return exchange_empty(posted_[get(Fact::window, -1)], true, post_tag);
    }
    if (is("Win_start")) {
      started_[get(Fact::window, -1)] = all_of(facts_, Fact::peer);
      return exchange_empty(started_[get(Fact::window, -1)], false, post_tag);
    }
    if (is("Win_complete")) {
      complete_accesses();
      return exchange_empty(started_[get(Fact::window, -1)], true, complete_tag);
    }
    if (is("Win_wait") || is("Win_test")) {
      if (get(Fact::not_yet, 0) != 0) return poll();
      return exchange_empty(posted_[get(Fact::window, -1)], false, complete_tag);
    }
    if (is("fence") || is("flush") || is("unlock") || is("Win_free")) complete_accesses();
    if (is("fence") || is("Win_free") || is("Win_create") || is("Win_allocate")) agree(record::unknown_request);
  }

  Shared& shared_;
  std::uint32_t rank_;
  RankProgram& program_;
  std::uint32_t thread_ = 0;
  std::vector<std::int64_t> owed_;  ///< by thread: computing before its next step
  std::vector<FactValue> facts_;    ///< of the call that is being taken
  std::uint32_t operations_ = 0;
  std::unordered_map<std::int64_t, std::uint32_t> numbers_;  ///< of communicators, by this rank's
  std::unordered_map<std::int64_t, Kept> kept_;
  std::unordered_map<std::int64_t, Begun> pending_;
  std::unordered_map<std::uint32_t, std::int64_t> before_;
  std::unordered_map<std::int64_t, std::vector<std::int64_t>> posted_, started_;
  std::map<std::vector<std::uint64_t>, std::uint32_t> lists_;
};

ProgramBuilder::ProgramBuilder(std::string name, std::uint32_t ranks) : shared_(std::make_unique<Shared>()) {
  shared_->program.name = std::move(name);
  shared_->program.ranks.resize(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) ranks_.push_back(std::make_unique<Rank>(*shared_, rank));
}

ProgramBuilder::~ProgramBuilder() = default;

record::Visitor& ProgramBuilder::rank(std::uint64_t rank) {
  return *ranks_[rank];
}

Result<Program> ProgramBuilder::finish() {
  for (const auto& rank : ranks_) rank->end();
  if (!shared_->status.ok()) return shared_->status;
  const auto tell = [&](const std::map<std::string, std::uint64_t>& calls, const std::string& what) {
    if (calls.empty()) return;
    std::string line = what;
    for (const auto& [name, count] : calls) line += " " + name + " " + std::to_string(count);
    shared_->program.notes.push_back(line);
  };
  tell(shared_->left_out, "not replayed:");
  tell(shared_->timed, "as long as they took when recorded:");
  return std::move(shared_->program);
}

Result<Program> read_program(const std::string& folder) {
  record::NoCalls nothing;
  const auto ranks = record::ranks_of_trace(folder);
  if (!ranks.ok()) return ranks.status();
  if (ranks.value() > most_ranks)
    return Status(Code::bad_input, "reading the trace " + folder,
                  "it is of " + std::to_string(ranks.value()) + " ranks", "at most 1,048,576 are replayed");
  ProgramBuilder builder(folder, static_cast<std::uint32_t>(ranks.value()));
  auto trace = record::read_trace(folder, [&](std::uint64_t rank) -> record::Visitor& {
    return rank < ranks.value() ? builder.rank(rank) : nothing;
  });
  if (!trace.ok()) return trace.status();
  auto program = builder.finish();
  if (!program.ok()) return program.status();
  program.value().recorded_ns = trace.value().elapsed_ns;
  if (!trace.value().wrong.empty()) {
    program.value().whole = false;
    std::string line = trace.value().wrong.front();
    if (trace.value().wrong.size() > 1) line += " (and " + std::to_string(trace.value().wrong.size() - 1) + " more)";
    program.value().notes.push_back(line + ": what is intact is replayed");
  }
  return program;
}

}  // namespace holdfast::simulate::job
