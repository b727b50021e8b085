#include "record/matching.h"

#include <fmt/format.h>

namespace holdfast::record {
namespace {

std::uint64_t messages_of(const std::map<std::int64_t, Flow>& flows, std::uint64_t peer) {
  const auto flow = flows.find(static_cast<std::int64_t>(peer));
  return flow == flows.end() ? 0 : flow->second.messages;
}

void compare_pair(std::uint64_t from, std::uint64_t to, std::uint64_t sent, std::uint64_t received,
                  std::vector<std::string>& found) {
  if (sent != received)
    found.push_back(
        fmt::format("rank {} sent {} messages to rank {}, which received {} of it", from, sent, to, received));
}

}  // namespace

std::vector<std::string> mismatches(const std::vector<RankTotals>& ranks, const std::vector<bool>& whole) {
  std::vector<std::string> found;
  for (std::uint64_t from = 0; from < ranks.size(); ++from) {
    if (!whole[from]) continue;
    for (const auto& [peer, flow] : ranks[from].sent) {
      const auto to = static_cast<std::uint64_t>(peer);
      if (peer >= 0 && to < ranks.size() && whole[to])
        compare_pair(from, to, flow.messages, messages_of(ranks[to].received, from), found);
    }
  }
  for (std::uint64_t to = 0; to < ranks.size(); ++to) {
    if (!whole[to]) continue;
    for (const auto& [peer, flow] : ranks[to].received) {
      const auto from = static_cast<std::uint64_t>(peer);
      if (peer >= 0 && from < ranks.size() && whole[from] && messages_of(ranks[from].sent, to) == 0)
        compare_pair(from, to, 0, flow.messages, found);
    }
  }
  std::map<CommunicatorKey, std::pair<std::uint64_t, std::uint64_t>> first;  // a rank, and how many it called
  std::map<CommunicatorKey, bool> told;
  for (std::uint64_t rank = 0; rank < ranks.size(); ++rank) {
    if (!whole[rank]) continue;
    for (const auto& [key, count] : ranks[rank].collectives) {
      const auto [known, is_new] = first.try_emplace(key, rank, count);
      if (is_new || known->second.second == count || told[key]) continue;
      told[key] = true;
      found.push_back(fmt::format("rank {} called {} collectives on a communicator of {} ranks, rank {} called {}",
                                  known->second.first, known->second.second, key.first.size(), rank, count));
    }
  }
  return found;
}

}  // namespace holdfast::record
