#include "replicate/world/oracle.h"

#include <algorithm>
#include <functional>
#include <set>
#include <span>

namespace holdfast::replicate {

namespace {

/// What became of one message at its senders.
struct Harm {
  std::size_t senders = 0;  ///< that are left in any case
  std::size_t wrong = 0;    ///< of all, that gave or announced something else than the program's bytes
  bool wire = false;
  bool neighbours_alike = false;
  bool may_be_cut = false;  ///< a buffer of the receiver has less room
};

bool receives(const Step& step) {
  return step.kind == Step::Kind::post || step.kind == Step::Kind::probe || step.kind == Step::Kind::matched;
}

Harm harm_to(const Plan& plan, std::size_t message) {
  Harm harm;
  const auto from = static_cast<std::size_t>(plan.messages[message].from);
  const auto degree = static_cast<std::size_t>(plan.degrees[from]);
  harm.senders = degree - plan.deaths.size();
  const std::vector<std::byte> right = contents(plan, message, 0);
  std::vector<std::vector<std::byte>> sent(degree, right);
  std::set<int> wrong;
  for (const PlannedFault& fault : plan.faults) {
    if (fault.message != message || right.empty()) continue;
    wrong.insert(fault.replica);
    if (fault.kind == PlannedFault::Kind::wire) {
      harm.wire = true;
    } else {
      sent[static_cast<std::size_t>(fault.replica)] = contents(plan, message, fault.value);
    }
  }
  harm.wrong = wrong.size();
  for (const Step& step : plan.programs[static_cast<std::size_t>(plan.messages[message].to)])
    harm.may_be_cut = harm.may_be_cut || (receives(step) && step.room < right.size());
  for (std::size_t k = 0; k < degree; ++k)
    if (sent[k] != right && sent[k] == sent[(k + 1) % degree]) harm.neighbours_alike = true;
  return harm;
}

/// Whether the engine must not let a wrong byte through. Under msg-plus-hash neighbouring senders that send the same
/// wrong bytes are believed by the upper receiver (docs/design/replication.md), and the job ends when the others
/// notice.
bool promised(const Plan& plan, const Harm& harm) {
  if (plan.goes_on && harm.wrong > 0) return false;
  if (plan.protocol == Protocol::msg_plus_hash && harm.neighbours_alike) return false;
  return harm.wrong * 2 < harm.senders || (harm.senders == 2 && harm.wrong == 1);
}

/// Whether the job may end by an incident for this message.
bool excused(const Plan& plan, const Harm& harm) {
  if (harm.wrong == 0) return false;
  if (harm.senders < 2 && plan.deaths.empty()) return false;  // nobody can notice
  const bool hash = plan.protocol == Protocol::msg_plus_hash;
  // What was altered after its digest is had from a receiver of another replica, if that has it still.
  const bool had_again = plan.memory_stays && plan.gaps == Gaps::none && (!hash || harm.wrong == 1);
  return harm.wrong * 2 >= harm.senders || (harm.wire && !had_again) || harm.may_be_cut ||
         (hash && harm.neighbours_alike) || !plan.deaths.empty();
}

/// What is wrong with the copies of one result.
struct ResultHarm {
  std::size_t copies = 0;  ///< that are left in any case
  std::set<int> wrong;     ///< replicas that have something else than they should
  bool by_block = true;    ///< in each block most of those that are left are right
};

ResultHarm harm_to_result(const Plan& plan, std::size_t result) {
  ResultHarm harm;
  const PlannedResult& planned = plan.results[result];
  const int degree = plan.degrees[static_cast<std::size_t>(planned.rank)];
  harm.copies = static_cast<std::size_t>(degree) - plan.deaths.size();
  const std::vector<std::byte> right = result_contents(plan, result, -1);
  std::vector<std::size_t> wrong_in(planned.blocks);
  for (int k = 0; k < degree; ++k) {
    const std::vector<std::byte> held = result_contents(plan, result, k);
    if (held != right) harm.wrong.insert(k);
    for (std::size_t b = 0; b < planned.blocks; ++b)
      wrong_in[b] += std::equal(held.begin() + static_cast<std::ptrdiff_t>(b * planned.block_bytes),
                                held.begin() + static_cast<std::ptrdiff_t>((b + 1) * planned.block_bytes),
                                right.begin() + static_cast<std::ptrdiff_t>(b * planned.block_bytes))
                         ? 0
                         : 1;
  }
  for (const std::size_t wrong : wrong_in) harm.by_block = harm.by_block && wrong * 2 < harm.copies;
  return harm;
}

bool promised(const Plan& plan, const ResultHarm& harm) {
  if (plan.goes_on && !harm.wrong.empty()) return false;
  return harm.by_block || (harm.copies == 2 && harm.wrong.size() == 1);
}

bool excused(const Plan& plan, const ResultHarm& harm) {
  return !harm.wrong.empty() && (!plan.deaths.empty() || (harm.copies > 1 && !harm.by_block));
}

std::string where(std::size_t rank, std::size_t replica, std::size_t receive) {
  return "rank " + std::to_string(rank) + " replica " + std::to_string(replica) + " receive " + std::to_string(receive);
}

/// But for what lies in gaps.
bool same(const Plan& plan, const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
  if (plan.gaps != Gaps::differs) return a == b;
  bool all = a.size() == b.size();
  for (std::size_t i = 0; all && i < a.size(); ++i) all = in_gap(i) || a[i] == b[i];
  return all;
}

void judge_delivery(const Plan& plan, const std::vector<Harm>& harms, const std::string& place, std::size_t room,
                    const Delivery& delivery, std::vector<std::string>& complaints) {
  const PlannedMessage& message = plan.messages[delivery.message];
  if (delivery.source != message.from || delivery.tag != message.tag)
    complaints.push_back(place + ": the program was told another source or tag than the message's");
  const Harm& harm = harms[delivery.message];
  const bool checked = harm.senders >= 2 && message.bytes <= room;  // else it is the program's mistake
  if (checked && promised(plan, harm) && !same(plan, delivery.bytes, contents(plan, delivery.message, 0)))
    complaints.push_back(place + ": wrong bytes of message " + std::to_string(delivery.message));
}

bool alike(const Delivery& a, const Delivery& b) {
  return a.cancelled == b.cancelled && a.skipped == b.skipped && a.message == b.message;
}

/// How many bytes each receive of a rank has room for.
std::vector<std::size_t> rooms(const Plan& plan, std::size_t rank, std::size_t count) {
  std::vector<std::size_t> room(count, Plan::room);
  for (const Step& step : plan.programs[rank])
    if (receives(step)) room[step.which] = step.room;
  return room;
}

void judge_deliveries(const Plan& plan, const Ending& ending, const std::vector<Harm>& harms, std::size_t rank,
                      std::vector<std::string>& complaints) {
  const auto& replicas = ending.deliveries[rank];
  for (std::size_t k = 0; k < replicas.size(); ++k) {
    if (plan.diverges(k)) continue;  // its world's messages are others
    const std::vector<std::size_t> room = rooms(plan, rank, replicas[k].size());
    std::set<std::size_t> received;
    for (std::size_t n = 0; n < replicas[k].size(); ++n) {
      const Delivery& mine = replicas[k][n];
      if (!mine.done) {
        if (!ending.failed && !ending.stuck && !plan.dies(k))
          complaints.push_back(where(rank, k, n) + ": nothing was received");
        continue;
      }
      const bool message = !mine.cancelled && !mine.skipped;
      if (message) judge_delivery(plan, harms, where(rank, k, n), room[n], mine, complaints);
      if (message && !received.insert(mine.message).second)
        complaints.push_back(where(rank, k, n) + ": a message that was received before");
      // What a leader did that died, and nobody had heard, holds for it alone.
      for (std::size_t other = 0; other < k && !plan.dies(k); ++other)
        if (!plan.apart(other) && replicas[other][n].done && !alike(replicas[other][n], mine))
          complaints.push_back(where(rank, k, n) + ": another message than in replica " + std::to_string(other));
    }
  }
}

bool begin_alike(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  const auto both = static_cast<std::ptrdiff_t>(std::min(a.size(), b.size()));
  return std::equal(a.begin(), a.begin() + both, b.begin());
}

void judge_decisions(const Plan& plan, const Ending& ending, std::size_t rank, std::vector<std::string>& complaints) {
  const auto& replicas = ending.decided[rank];
  for (std::size_t k = 0; k < replicas.size(); ++k)
    for (std::size_t other = 0; other < k && !plan.apart(k); ++other) {
      if (plan.apart(other)) continue;
      for (std::size_t t = 0; t < replicas[k].size(); ++t)
        if (!begin_alike(replicas[k][t], replicas[other][t]))
          complaints.push_back("rank " + std::to_string(rank) + ": replicas " + std::to_string(other) + " and " +
                               std::to_string(k) + " were told different things");
    }
}

/// What is wrong with one reduction.
struct ReductionHarm {
  bool any = false;
  bool own_results = false;  ///< a rank got a wrong result of right operands
  bool by_operand = true;    ///< of each rank's operands most are right
  bool by_result = true;     ///< of each rank's results most are right
};

ReductionHarm harm_to_reduction(const Plan& plan, std::size_t reduction) {
  ReductionHarm harm;
  const auto copies = static_cast<std::size_t>(plan.degree()) - plan.deaths.size();
  std::set<int> wrong_worlds;
  for (int k = 0; k < plan.degree(); ++k)
    for (int rank = 0; rank < plan.ranks(); ++rank)
      if (operand(plan, reduction, rank, k) != operand(plan, reduction, rank, -1)) wrong_worlds.insert(k);
  for (int rank = 0; rank < plan.ranks(); ++rank) {
    std::size_t wrong_operands = 0;
    std::set<int> wrong_results = wrong_worlds;
    for (int k = 0; k < plan.degree(); ++k)
      wrong_operands += operand(plan, reduction, rank, k) != operand(plan, reduction, rank, -1) ? 1 : 0;
    for (const WrongElement& wrong : plan.wrong_elements) {
      if (wrong.kind != WrongElement::Kind::result || wrong.reduction != reduction || wrong.rank != rank) continue;
      wrong_results.insert(wrong.replica);
      harm.own_results = true;
    }
    harm.any = harm.any || !wrong_results.empty();
    harm.by_operand = harm.by_operand && wrong_operands * 2 < copies;
    harm.by_result = harm.by_result && wrong_results.size() * 2 < copies;
  }
  return harm;
}

/// True when the job may have ended for one of them.
bool judge_reductions(const Plan& plan, const Ending& ending, std::vector<std::string>& complaints) {
  bool may_fail = false;
  const auto copies = static_cast<std::size_t>(plan.degree()) - plan.deaths.size();
  for (std::size_t n = 0; n < plan.reductions.size(); ++n) {
    const ReductionHarm harm = harm_to_reduction(plan, n);
    const bool mended = harm.by_result || (harm.by_operand && !harm.own_results);
    may_fail = may_fail || (harm.any && (!mended || !plan.deaths.empty()));
    std::vector<std::uint64_t> sums(plan.reductions[n].elements);
    for (int rank = 0; rank < plan.ranks(); ++rank) {
      const std::vector<std::uint64_t> given = operand(plan, n, rank, -1);
      std::transform(sums.begin(), sums.end(), given.begin(), sums.begin(), std::plus<>());
    }
    const auto right = std::as_bytes(std::span(sums));
    for (std::size_t rank = 0; rank < ending.reductions[n].size(); ++rank)
      for (std::size_t k = 0; k < ending.reductions[n][rank].size(); ++k) {
        if (plan.diverges(k)) continue;
        const ResultTaken& taken = ending.reductions[n][rank][k];
        const std::string place =
            "reduction " + std::to_string(n) + " rank " + std::to_string(rank) + " replica " + std::to_string(k);
        if (!taken.done && !ending.failed && !ending.stuck && !plan.dies(k))
          complaints.push_back(place + ": nothing was given");
        if (taken.done && copies > 1 && mended && !std::equal(taken.bytes.begin(), taken.bytes.end(), right.begin()))
          complaints.push_back(place + ": wrong bytes");
      }
  }
  return may_fail;
}

/// True when the job may have ended for one of them.
bool judge_results(const Plan& plan, const Ending& ending, std::vector<std::string>& complaints) {
  bool may_fail = false;
  for (std::size_t n = 0; n < plan.results.size(); ++n) {
    const ResultHarm harm = harm_to_result(plan, n);
    may_fail = may_fail || excused(plan, harm);
    const std::vector<std::byte> right = result_contents(plan, n, -1);
    for (std::size_t k = 0; k < ending.results[n].size(); ++k) {
      const ResultTaken& taken = ending.results[n][k];
      const std::string place = "result " + std::to_string(n) + " replica " + std::to_string(k);
      if (!taken.done && !ending.failed && !ending.stuck && !plan.dies(k))
        complaints.push_back(place + ": nothing was given");
      if (taken.done && harm.copies > 1 && promised(plan, harm) && taken.bytes != right)
        complaints.push_back(place + ": wrong bytes");
    }
  }
  return may_fail;
}

/// True when the job may have ended for one of them.
bool judge_writes(const Plan& plan, const Ending& ending, std::vector<std::string>& complaints) {
  bool may_fail = false;
  for (std::size_t n = 0; n < plan.writes.size(); ++n) {
    const std::vector<std::byte> right = written(plan, n, -1);
    const int copies = plan.degrees[static_cast<std::size_t>(plan.writes[n].rank)];
    int wrong = 0;
    for (int k = 0; k < copies; ++k) wrong += written(plan, n, k) != right ? 1 : 0;
    const bool mended = wrong * 2 < copies;
    may_fail = may_fail || !mended;
    const std::string place = "write " + std::to_string(n);
    const bool over = !ending.failed && !ending.stuck;
    if (ending.files[n].size() > 1 || (over && ending.files[n].empty()))
      complaints.push_back(place + ": written " + std::to_string(ending.files[n].size()) + " times");
    for (const std::vector<std::byte>& bytes : ending.files[n])
      if (mended && bytes != right) complaints.push_back(place + ": wrong bytes in the file");
    for (std::size_t k = 0; k < ending.outcomes[n].size(); ++k) {
      const ResultTaken& taken = ending.outcomes[n][k];
      if (!taken.done && over) complaints.push_back(place + " replica " + std::to_string(k) + ": no outcome");
      if (taken.done && taken.bytes != outcome(plan, n, 0))
        complaints.push_back(place + " replica " + std::to_string(k) + ": another outcome than the leader's");
    }
  }
  return may_fail;
}

/// Whether of each rank's puts, in each block, and of each rank's window most are right.
bool epoch_is_mended(const Plan& plan, std::size_t epoch) {
  const std::size_t copies = static_cast<std::size_t>(plan.degree()) - plan.deaths.size();
  for (int rank = 0; rank < plan.ranks(); ++rank) {
    std::set<int> exposed;
    std::vector<std::set<int>> wrong_in(plan.degrees.size());
    for (const WrongPut& wrong : plan.wrong_puts) {
      if (wrong.epoch != epoch || wrong.rank != rank) continue;
      (wrong.kind == WrongPut::Kind::put ? wrong_in[wrong.block] : exposed).insert(wrong.replica);
    }
    if (exposed.size() * 2 >= copies) return false;
    for (const std::set<int>& wrong : wrong_in)
      if (wrong.size() * 2 >= copies) return false;
  }
  return true;
}

/// True when the job may have ended for one of them.
bool judge_epochs(const Plan& plan, const Ending& ending, std::vector<std::string>& complaints) {
  bool may_fail = false;
  const std::size_t copies = static_cast<std::size_t>(plan.degree()) - plan.deaths.size();
  for (std::size_t n = 0; n < plan.epochs.size(); ++n) {
    const bool any = std::any_of(plan.wrong_puts.begin(), plan.wrong_puts.end(),
                                 [&](const WrongPut& wrong) { return wrong.epoch == n; });
    const bool mended = epoch_is_mended(plan, n);
    may_fail = may_fail || (any && (!mended || !plan.deaths.empty()));
    const auto block = static_cast<std::ptrdiff_t>(plan.epochs[n].block_bytes);
    for (std::size_t rank = 0; rank < ending.windows[n].size(); ++rank) {
      std::vector<std::byte> right;
      for (int from = 0; from < plan.ranks(); ++from) {
        const std::vector<std::byte> all = puts(plan, n, from, -1);
        const auto at = all.begin() + static_cast<std::ptrdiff_t>(rank) * block;
        right.insert(right.end(), at, at + block);
      }
      for (std::size_t k = 0; k < ending.windows[n][rank].size(); ++k) {
        if (plan.diverges(k)) continue;
        const ResultTaken& taken = ending.windows[n][rank][k];
        const std::string place =
            "epoch " + std::to_string(n) + " rank " + std::to_string(rank) + " replica " + std::to_string(k);
        if (!taken.done && !ending.failed && !ending.stuck && !plan.dies(k)) complaints.push_back(place + ": no end");
        if (taken.done && copies > 1 && mended && taken.bytes != right)
          complaints.push_back(place + ": wrong bytes in the window");
      }
    }
  }
  return may_fail;
}

}  // namespace

std::vector<std::string> judge(const Plan& plan, const Ending& ending) {
  std::vector<std::string> complaints;
  std::vector<Harm> harms;
  for (std::size_t i = 0; i < plan.messages.size(); ++i) harms.push_back(harm_to(plan, i));
  bool may_fail = judge_results(plan, ending, complaints) || plan.broken_record ||
                  std::any_of(harms.begin(), harms.end(), [&](const Harm& harm) { return excused(plan, harm); });
  may_fail = judge_reductions(plan, ending, complaints) || may_fail || ending.incident == refused_matched_probe;
  may_fail = judge_writes(plan, ending, complaints) || may_fail;
  may_fail = judge_epochs(plan, ending, complaints) || may_fail;
  may_fail = may_fail || plan.divergence;
  // Two that go on end for nothing that differs.
  if (plan.goes_on) may_fail = plan.broken_record || ending.incident == refused_matched_probe;
  // A program that went another way and waits, or has the others wait, is ended by the silence limit, not the engine.
  if (ending.stuck && !plan.divergence) complaints.push_back("the world has no end");
  if (ending.failed && !may_fail) complaints.push_back("an incident without a cause: " + ending.incident);
  for (std::size_t rank = 0; rank < ending.deliveries.size(); ++rank) {
    judge_deliveries(plan, ending, harms, rank, complaints);
    judge_decisions(plan, ending, rank, complaints);
  }
  if (!ending.failed && !ending.stuck && !plan.divergence)
    for (const std::string& kept : ending.left) complaints.push_back(kept);
  return complaints;
}

}  // namespace holdfast::replicate
