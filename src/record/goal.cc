#include "record/goal.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "core/arithmetic/totals.h"
#include "core/memory/available.h"
#include "record/call_kind.h"

namespace holdfast::record {
namespace {

/// A call that is kept.
struct KeptCall {
  std::string_view name;
  std::vector<FactValue> facts;
  std::int64_t before_ns = 0, without_core_ns = 0, during_ns = 0;

  std::int64_t get(Fact wanted, std::int64_t otherwise) const { return Call{name, 0, facts}.get(wanted, otherwise); }
  std::vector<std::int64_t> all(Fact wanted) const {
    std::vector<std::int64_t> values;
    for (const FactValue& held : facts)
      if (held.fact == wanted) values.push_back(held.value);
    return values;
  }
};

/// From whom a receive got its message; known when it was complete.
struct Origin {
  std::int64_t source = anybody;
  std::int64_t tag = any_tag;
  std::int64_t bytes = -1;  ///< -1: nobody asked how many
  bool cancelled = false;
};

/// All of one rank.
class RankCalls : public Visitor {
 public:
  void call(const Call& call) override {
    if (call.get(Fact::error, 0) != 0 || full()) return;
    bytes_ += sizeof(KeptCall) + call.facts.size_bytes();
    names_.try_emplace(std::string(call.name));
    calls.push_back({names_.find(std::string(call.name))->first,
                     {call.facts.begin(), call.facts.end()},
                     call.before_ns,
                     call.without_core_ns,
                     call.during_ns});
  }
  void communicator(std::uint64_t number, const Communicator& made) override {
    communicators[static_cast<std::int64_t>(number)] = made;
  }
  void counted(std::string_view name, bool local, std::uint64_t count) override {
    if (local) return;
    std::uint64_t& calls_of_name = unrecorded[std::string(name)];
    calls_of_name = arithmetic::add_or_most(calls_of_name, count);
  }
  std::uint64_t bytes() const { return bytes_; }
  /// More cannot be kept.
  bool full() const { return bytes_ > room; }

  std::uint64_t room = 0;  ///< bytes for the calls
  std::vector<KeptCall> calls;
  std::map<std::int64_t, Communicator> communicators;
  std::map<std::string, std::uint64_t> unrecorded;

 private:
  std::uint64_t bytes_ = 0;
  std::map<std::string, char> names_;  ///< whose keys the calls' names are
};

constexpr std::uint64_t collective_tags = std::uint64_t{1} << 30;

/// Writes one rank's operations. Labels are numbers; 0 is none.
class RankWriter {
 public:
  RankWriter(std::uint64_t rank, const RankCalls& from, std::string& text, std::uint64_t room,
             std::map<std::string, std::uint64_t>& left_out)
      : rank_(static_cast<std::int64_t>(rank)), from_(from), text_(text), room_(room), left_out_(left_out) {}

  void write() {
    find_origins();
    text_ += fmt::format("rank {} {{\n", rank_);
    for (std::size_t i = 0; i < from_.calls.size() && text_.size() <= room_; ++i) {
      index_ = i;
      const KeptCall& call = from_.calls[i];
      compute(call.before_ns - call.without_core_ns);
      take(call);
    }
    text_ += "}\n";
  }

 private:
  using Label = std::uint64_t;
  using Labels = std::vector<Label>;
  struct Request {
    std::size_t made_by = 0;  ///< the call, for what is started again
    Labels pending;
  };

  Label operation(const std::string& what, const Labels& after) {
    if (text_.size() > room_) return 0;  // a collective of millions of members: to_goal() says so
    const Label label = ++labels_;
    text_ += fmt::format("l{}: {}\n", label, what);
    for (const Label one : after)
      if (one != 0) text_ += fmt::format("l{} requires l{}\n", label, one);
    return label;
  }
  void compute(std::int64_t ns) {
    if (ns > 0) last_ = operation(fmt::format("calc {}", ns), {last_});
  }
  Label send(std::int64_t to, std::int64_t bytes, std::uint64_t tag, const Labels& after) {
    return operation(fmt::format("send {}b to {} tag {}", bytes, to, tag), after);
  }
  Label receive(std::int64_t from, std::int64_t bytes, std::uint64_t tag, const Labels& after) {
    return operation(fmt::format("recv {}b from {} tag {}", bytes, from, tag), after);
  }
  void wait_for(Labels labels) {
    std::erase(labels, Label{0});
    if (labels.empty()) return;
    labels.push_back(last_);
    last_ = operation("calc 0", labels);
  }
  static bool is_rank(std::int64_t place) { return place >= 0; }

  /// Facts about a completed request stand behind it. By request and by how often it was complete before.
  void find_origins() {
    std::unordered_map<std::int64_t, std::size_t> times;
    for (const KeptCall& call : from_.calls)
      for (std::size_t i = 0; i < call.facts.size(); ++i) {
        if (call.facts[i].fact != Fact::completes) continue;
        Origin origin;
        for (std::size_t k = i + 1; k < call.facts.size() && call.facts[k].fact != Fact::completes; ++k) {
          if (call.facts[k].fact == Fact::source) origin.source = call.facts[k].value;
          if (call.facts[k].fact == Fact::source_tag) origin.tag = call.facts[k].value;
          if (call.facts[k].fact == Fact::source_bytes) origin.bytes = call.facts[k].value;
          origin.cancelled |= call.facts[k].fact == Fact::cancelled;
        }
        origins_[{call.facts[i].value, times[call.facts[i].value]++}] = origin;
      }
  }

  void leave_out(const KeptCall& call) {
    ++left_out_[std::string(call.name)];
    compute(call.during_ns);
  }

  void take(const KeptCall& call) {
    const std::int64_t request = call.get(Fact::request, unknown_request);
    switch (kind_of(call.name)) {
      case CallKind::persistent_send:
      case CallKind::persistent_receive:
        requests_[request] = {index_, {}};
        return;
      case CallKind::send:
      case CallKind::receive:
      case CallKind::send_receive:
        return begin(request, index_);
      case CallKind::collective:
      case CallKind::neighbours:
        if (is_persistent_collective(call.name))
          requests_[request] = {index_, {}};
        else
          begin(request, index_);
        return;
      case CallKind::start:
        for (const std::int64_t started : call.all(Fact::starts))
          if (const auto known = requests_.find(started); known != requests_.end())
            begin(started, known->second.made_by);
        return;
      case CallKind::completion: {
        Labels ended;
        for (const std::int64_t complete : call.all(Fact::completes))
          if (const auto known = requests_.find(complete); known != requests_.end()) {
            ended.insert(ended.end(), known->second.pending.begin(), known->second.pending.end());
            known->second.pending.clear();
          }
        return wait_for(std::move(ended));
      }
      case CallKind::communicator:
        if (call.get(Fact::communicator, -1) < 0 || call.name.ends_with("free")) return;
        return begin(request, index_);
      case CallKind::synchronisation:
        if (call.name == "MPI_Win_fence" || call.name.starts_with("MPI_Win_cr") ||
            call.name.starts_with("MPI_Win_al") || call.name == "MPI_Win_free")
          return begin(unknown_request, index_);
        return leave_out(call);
      case CallKind::one_sided:
      case CallKind::file:
        return leave_out(call);
      case CallKind::probe:
      case CallKind::other:
        return;
    }
  }

  /// Messages of the call; those of a request are waited for when it is complete.
  void begin(std::int64_t request, std::size_t index) {
    const KeptCall& call = from_.calls[index];
    Labels ends;
    switch (kind_of(call.name)) {
      case CallKind::send:
      case CallKind::persistent_send:
        add_send(call, ends);
        break;
      case CallKind::receive:
      case CallKind::persistent_receive:
        add_receive(call, request, Fact::peer, Fact::tag, ends);
        break;
      case CallKind::send_receive:
        add_send(call, ends);
        add_receive(call, request, Fact::receives_from, Fact::receives_tag, ends);
        break;
      default:
        ends = collective(call);
        break;
    }
    if (request == unknown_request)
      wait_for(ends);
    else
      requests_[request] = {index, ends};
  }

  void add_send(const KeptCall& call, Labels& ends) {
    const std::int64_t to = call.get(Fact::peer, nobody);
    if (is_rank(to)) ends.push_back(send(to, call.get(Fact::bytes, 0), message_tag(call.get(Fact::tag, 0)), {last_}));
  }
  void add_receive(const KeptCall& call, std::int64_t request, Fact from, Fact tag, Labels& ends) {
    Origin origin{call.get(Fact::source, anybody), call.get(Fact::source_tag, any_tag), -1, false};
    if (request != unknown_request)
      if (const auto known = origins_.find({request, completions_[request]++}); known != origins_.end())
        origin = known->second;
    if (origin.cancelled) return;
    const std::int64_t asked = call.get(from, nobody);
    const std::int64_t source = asked == anybody ? origin.source : asked;
    const std::int64_t asked_tag = call.get(tag, any_tag);
    if (is_rank(source))
      ends.push_back(receive(source, origin.bytes >= 0 ? origin.bytes : call.get(Fact::source_bytes, 0),
                             message_tag(asked_tag == any_tag ? origin.tag : asked_tag), {last_}));
    else if (source != nobody)
      leave_out(call);
  }
  static std::uint64_t message_tag(std::int64_t tag) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(tag, 0)) % collective_tags;
  }

  // ---- collectives, by plain algorithms

  struct Group {
    std::vector<std::int64_t> ranks;
    std::int64_t size = 0, me = 0;
    std::uint64_t tag = 0;
    std::int64_t at(std::int64_t i) const { return ranks[static_cast<std::size_t>((i % size + size) % size)]; }
  };

  Labels collective(const KeptCall& call) {
    const auto known = from_.communicators.find(call.get(Fact::communicator, -1));
    if (known == from_.communicators.end() || !known->second.remote.empty()) {
      leave_out(call);
      return {};
    }
    Group group{known->second.members, static_cast<std::int64_t>(known->second.members.size()), 0, 0};
    const auto own = std::find(group.ranks.begin(), group.ranks.end(), rank_);
    if (own == group.ranks.end() || std::any_of(group.ranks.begin(), group.ranks.end(), [](auto r) { return r < 0; })) {
      leave_out(call);
      return {};
    }
    group.me = own - group.ranks.begin();
    group.tag = collective_tag(known->first, known->second);
    if (kind_of(call.name) == CallKind::neighbours) return neighbours(call, group);
    const std::string_view name = collective_of(call.name);
    const std::int64_t bytes = call.get(Fact::bytes, 0);
    const auto root_at = std::find(group.ranks.begin(), group.ranks.end(), call.get(Fact::root, rank_));
    const std::int64_t root = root_at == group.ranks.end() ? 0 : root_at - group.ranks.begin();
    if (name == "Bcast") return {broadcast(group, root, bytes, last_)};
    if (name == "Reduce") return {reduce(group, root, bytes, last_)};
    if (name == "Allreduce") return {broadcast(group, 0, bytes, reduce(group, 0, bytes, last_))};
    if (name == "Gather" || name == "Gatherv") return linear(call, group, root, bytes, true);
    if (name == "Scatter" || name == "Scatterv") return linear(call, group, root, bytes, false);
    if (name == "Allgather" || name == "Allgatherv") return {ring(call, group, bytes)};
    if (name == "Scan" || name == "Exscan") return chain(group, bytes);
    if (name.starts_with("Alltoall") || name.starts_with("Reduce_scatter")) return everybody(call, group, bytes);
    return {barrier(group)};
  }

  /// The same in all members: the communicator's members and ordinal, and how many collectives were before.
  std::uint64_t collective_tag(std::int64_t number, const Communicator& communicator) {
    std::uint64_t hash = communicator.ordinal * 0x9e3779b97f4a7c15 + 1;
    for (const std::int64_t rank : communicator.members)
      hash = (hash ^ static_cast<std::uint64_t>(rank)) * 0x100000001b3;
    return collective_tags + (hash + before_[number]++ * 0x9e3779b1) % collective_tags;
  }

  /// Dissemination (D. Hensgen, R. Finkel, U. Manber, 1988).
  Label barrier(const Group& group) {
    Label last = last_;
    for (std::int64_t k = 1; k < group.size; k *= 2) {
      const Label sent = send(group.at(group.me + k), 1, group.tag, {last});
      const Label got = receive(group.at(group.me - k), 1, group.tag, {last});
      last = operation("calc 0", {sent, got});
    }
    return last;
  }
  /// A binomial tree.
  Label broadcast(const Group& group, std::int64_t root, std::int64_t bytes, Label last) {
    const std::int64_t me = (group.me - root + group.size) % group.size;
    std::int64_t mask = 1;
    for (; mask < group.size; mask *= 2)
      if (me & mask) {
        last = receive(group.at(me - mask + root), bytes, group.tag, {last});
        break;
      }
    for (mask /= 2; mask > 0; mask /= 2)
      if (me + mask < group.size) last = send(group.at(me + mask + root), bytes, group.tag, {last});
    return last;
  }
  Label reduce(const Group& group, std::int64_t root, std::int64_t bytes, Label last) {
    const std::int64_t me = (group.me - root + group.size) % group.size;
    for (std::int64_t mask = 1; mask < group.size; mask *= 2) {
      if (me & mask) return send(group.at(me - mask + root), bytes, group.tag, {last});
      if (me + mask < group.size) last = receive(group.at(me + mask + root), bytes, group.tag, {last});
    }
    return last;
  }
  /// The root exchanges with each member by itself.
  Labels linear(const KeptCall& call, const Group& group, std::int64_t root, std::int64_t bytes, bool gathers) {
    if (group.me != root)
      return {gathers ? send(group.at(root), bytes, group.tag, {last_})
                      : receive(group.at(root), bytes, group.tag, {last_})};
    const std::vector<std::int64_t> each = call.all(gathers ? Fact::bytes_from : Fact::bytes_to);
    Labels ends;
    for (std::int64_t i = 0; i < group.size; ++i) {
      if (i == root) continue;
      const std::int64_t part = static_cast<std::size_t>(i) < each.size() ? each[static_cast<std::size_t>(i)] : bytes;
      ends.push_back(gathers ? receive(group.at(i), part, group.tag, {last_})
                             : send(group.at(i), part, group.tag, {last_}));
    }
    return ends;
  }
  Label ring(const KeptCall& call, const Group& group, std::int64_t bytes) {
    const std::vector<std::int64_t> each = call.all(Fact::bytes_from);
    auto part = [&](std::int64_t i) {
      const auto at = static_cast<std::size_t>((i % group.size + group.size) % group.size);
      return at < each.size() ? each[at] : bytes;
    };
    Label last = last_;
    for (std::int64_t step = 0; step + 1 < group.size; ++step) {
      const Label sent = send(group.at(group.me + 1), part(group.me - step), group.tag, {last});
      const Label got = receive(group.at(group.me - 1), part(group.me - step - 1), group.tag, {last});
      last = operation("calc 0", {sent, got});
    }
    return last;
  }
  Labels chain(const Group& group, std::int64_t bytes) {
    Label last = last_;
    if (group.me > 0) last = receive(group.at(group.me - 1), bytes, group.tag, {last});
    if (group.me + 1 < group.size) last = send(group.at(group.me + 1), bytes, group.tag, {last});
    return {last};
  }
  /// Each member sends to each other at once.
  Labels everybody(const KeptCall& call, const Group& group, std::int64_t bytes) {
    const std::vector<std::int64_t> from = call.all(Fact::bytes_from);
    // A reduction's blocks are all of the size that their receiver gets.
    const std::vector<std::int64_t> to = collective_of(call.name) == "Reduce_scatter" ? from : call.all(Fact::bytes_to);
    Labels ends;
    for (std::int64_t k = 1; k < group.size; ++k) {
      const auto next = static_cast<std::size_t>((group.me + k) % group.size);
      const auto before = static_cast<std::size_t>((group.me - k + group.size) % group.size);
      ends.push_back(send(group.ranks[next], next < to.size() ? to[next] : bytes, group.tag, {last_}));
      ends.push_back(receive(group.ranks[before], before < from.size() ? from[before] : bytes, group.tag, {last_}));
    }
    return ends;
  }
  Labels neighbours(const KeptCall& call, const Group& group) {
    const std::int64_t bytes = call.get(Fact::bytes, 0);
    Labels ends;
    for (const bool sends : {true, false}) {
      const std::vector<std::int64_t> peers = call.all(sends ? Fact::to : Fact::from);
      const std::vector<std::int64_t> sizes = call.all(sends ? Fact::bytes_to : Fact::bytes_from);
      for (std::size_t i = 0; i < peers.size(); ++i) {
        if (!is_rank(peers[i])) continue;
        const std::int64_t size = i < sizes.size() ? sizes[i] : bytes;
        ends.push_back(sends ? send(peers[i], size, group.tag, {last_}) : receive(peers[i], size, group.tag, {last_}));
      }
    }
    return ends;
  }

  std::int64_t rank_;
  const RankCalls& from_;
  std::string& text_;
  std::uint64_t room_;
  std::map<std::string, std::uint64_t>& left_out_;
  std::size_t index_ = 0;
  Label labels_ = 0;
  Label last_ = 0;
  std::unordered_map<std::int64_t, Request> requests_;
  std::map<std::pair<std::int64_t, std::size_t>, Origin> origins_;
  std::unordered_map<std::int64_t, std::size_t> completions_;
  std::unordered_map<std::int64_t, std::uint64_t> before_;
};

}  // namespace

Result<Goal> to_goal(const std::string& folder) {
  const std::uint64_t room = memory::available_bytes() / 4;
  const Status too_large(Code::bad_input, "converting the trace " + folder,
                         "what it holds does not fit into the memory of this machine", "take fewer ranks' files");
  std::map<std::uint64_t, RankCalls> ranks;
  std::uint64_t claimed = 0;
  auto trace = read_trace(folder, [&](std::uint64_t rank) -> Visitor& {
    if (!ranks.empty()) claimed += ranks.rbegin()->second.bytes();  // one rank after another, in order
    ranks[rank].room = claimed < room ? room - claimed : 0;
    return ranks[rank];
  });
  if (!trace.ok()) return trace.status();
  if (std::any_of(ranks.begin(), ranks.end(), [](const auto& one) { return one.second.full(); })) return too_large;
  Goal goal{std::move(trace).value(), {}};
  std::string operations;
  std::map<std::string, std::uint64_t> left_out;
  for (std::uint64_t rank = 0; rank < goal.trace.ranks; ++rank) {
    RankWriter(rank, ranks[rank], operations, room, left_out).write();
    if (operations.size() > room) return too_large;
    for (const auto& [name, calls] : ranks[rank].unrecorded)
      left_out[name] = arithmetic::add_or_most(left_out[name], calls);
    ranks.erase(rank);
  }
  goal.text =
      "// From a recording. Collectives: barriers by dissemination; broadcasts and reductions by binomial trees, of\n"
      "// all by both; gathers and scatters from and to the root; allgathers by a ring; scans by a chain; the others\n"
      "// from each to each at once. Communicators are made by a barrier, windows too.\n";
  if (!left_out.empty()) {
    goal.text += "// Not in this schedule:";
    for (const auto& [name, calls] : left_out) goal.text += fmt::format(" {} {}", name, calls);
    goal.text += "\n";
  }
  goal.text += fmt::format("num_ranks {}\n", goal.trace.ranks);
  goal.text += operations;
  return goal;
}

}  // namespace holdfast::record
