#include "replicate/world/oracle.h"

#include <algorithm>
#include <set>

namespace holdfast::replicate {

namespace {

/// What became of one message at its senders.
struct Harm {
  std::size_t senders = 0;  ///< that are left in any case
  std::size_t wrong = 0;    ///< of all, that gave or announced something else than the program's bytes
  bool wire = false;
  bool neighbours_alike = false;
};

Harm harm_to(const Plan& plan, std::size_t message) {
  Harm harm;
  const auto from = static_cast<std::size_t>(plan.messages[message].from);
  const auto degree = static_cast<std::size_t>(plan.degrees[from]);
  harm.senders = degree - (plan.dies >= 0 ? 1 : 0);
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
  for (std::size_t k = 0; k < degree; ++k)
    if (sent[k] != right && sent[k] == sent[(k + 1) % degree]) harm.neighbours_alike = true;
  return harm;
}

/// Whether the engine must not let a wrong byte through. Under msg-plus-hash neighbouring senders that send the same
/// wrong bytes are believed by the upper receiver (docs/design/replication.md), and the job ends when the others
/// notice.
bool promised(const Plan& plan, const Harm& harm) {
  if (plan.protocol == Protocol::msg_plus_hash && harm.neighbours_alike) return false;
  return harm.wrong * 2 < harm.senders || (harm.senders == 2 && harm.wrong == 1);
}

/// Whether the job may end by an incident for this message.
bool excused(const Plan& plan, const Harm& harm) {
  if (harm.wrong == 0) return false;
  if (harm.senders < 2) return false;  // nobody can notice
  const bool hash = plan.protocol == Protocol::msg_plus_hash;
  return harm.wrong * 2 >= harm.senders || harm.wire || (hash && harm.neighbours_alike) || plan.dies >= 0;
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
  harm.copies = static_cast<std::size_t>(degree - (plan.dies >= 0 ? 1 : 0));
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

bool promised(const ResultHarm& harm) {
  return harm.by_block || (harm.copies == 2 && harm.wrong.size() == 1);
}

bool excused(const Plan& plan, const ResultHarm& harm) {
  return !harm.wrong.empty() && harm.copies > 1 && (!harm.by_block || plan.dies >= 0);
}

std::string where(std::size_t rank, std::size_t replica, std::size_t receive) {
  return "rank " + std::to_string(rank) + " replica " + std::to_string(replica) + " receive " + std::to_string(receive);
}

void judge_delivery(const Plan& plan, const std::vector<Harm>& harms, const std::string& place,
                    const Delivery& delivery, std::vector<std::string>& complaints) {
  const PlannedMessage& message = plan.messages[delivery.message];
  if (delivery.source != message.from || delivery.tag != message.tag)
    complaints.push_back(place + ": the program was told another source or tag than the message's");
  const Harm& harm = harms[delivery.message];
  const bool checked = harm.senders >= 2;
  if (checked && promised(plan, harm) && delivery.bytes != contents(plan, delivery.message, 0))
    complaints.push_back(place + ": wrong bytes of message " + std::to_string(delivery.message));
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
      if (!taken.done && !ending.failed && !ending.stuck && static_cast<int>(k) != plan.dies)
        complaints.push_back(place + ": nothing was given");
      if (taken.done && harm.copies > 1 && promised(harm) && taken.bytes != right)
        complaints.push_back(place + ": wrong bytes");
    }
  }
  return may_fail;
}

}  // namespace

std::vector<std::string> judge(const Plan& plan, const Ending& ending) {
  std::vector<std::string> complaints;
  std::vector<Harm> harms;
  for (std::size_t i = 0; i < plan.messages.size(); ++i) harms.push_back(harm_to(plan, i));
  const bool may_fail = judge_results(plan, ending, complaints) || plan.broken_record ||
                        std::any_of(harms.begin(), harms.end(), [&](const Harm& harm) { return excused(plan, harm); });
  if (ending.stuck) complaints.push_back("the world has no end");
  if (ending.failed && !may_fail) complaints.push_back("an incident without a cause: " + ending.incident);
  for (std::size_t rank = 0; rank < ending.deliveries.size(); ++rank) {
    const auto& replicas = ending.deliveries[rank];
    for (std::size_t k = 0; k < replicas.size(); ++k) {
      for (std::size_t n = 0; n < replicas[k].size(); ++n) {
        const Delivery& mine = replicas[k][n];
        if (!mine.done) {
          if (!ending.failed && !ending.stuck && static_cast<int>(k) != plan.dies)
            complaints.push_back(where(rank, k, n) + ": nothing was received");
          continue;
        }
        judge_delivery(plan, harms, where(rank, k, n), mine, complaints);
        for (std::size_t other = 0; other < k; ++other) {
          if (replicas[other][n].done && replicas[other][n].message != mine.message)
            complaints.push_back(where(rank, k, n) + ": another message than in replica " + std::to_string(other));
        }
      }
    }
  }
  if (!ending.failed && !ending.stuck)
    for (const std::string& kept : ending.left) complaints.push_back(kept);
  return complaints;
}

}  // namespace holdfast::replicate
