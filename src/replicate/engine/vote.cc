#include "replicate/engine/vote.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace holdfast::replicate {
namespace {

/// The only ballot that can have a majority (Boyer and Moore's majority vote): two that differ strike each other out,
/// and more than half cannot be struck out by the rest. An unknown ballot strikes without standing.
std::size_t candidate(std::span<const Ballot> ballots) {
  std::size_t standing = 0;
  std::size_t lead = 0;
  for (std::size_t i = 0; i < ballots.size(); ++i) {
    if (lead == 0) {
      standing = i;
      lead = 1;
    } else if (ballots[i] == ballots[standing]) {
      ++lead;
    } else {
      --lead;
    }
  }
  return standing;
}

}  // namespace

Verdict vote(std::span<const Ballot> ballots) {
  if (ballots.empty()) return {};
  const Ballot& favourite = ballots[candidate(ballots)];
  const auto agreeing = static_cast<std::size_t>(std::count(ballots.begin(), ballots.end(), favourite));
  if (agreeing * 2 <= ballots.size()) return {};
  const auto first = std::find(ballots.begin(), ballots.end(), favourite);
  return {agreeing == ballots.size(), static_cast<int>(first - ballots.begin())};
}

int holder_for(int loser, const Ballot& good, std::span<const Ballot> held) {
  const int replicas = static_cast<int>(held.size());
  int holder = (loser + 1) % replicas;
  while (!(held[holder] == good)) holder = (holder + 1) % replicas;
  return holder;
}

std::string ballot_list(std::span<const Ballot> ballots) {
  std::string text = " (";
  for (std::size_t k = 0; k < ballots.size(); ++k) {
    char part[96];
    std::snprintf(part, sizeof part, "%sreplica %zu: %016" PRIx64 ", %" PRIu64 " bytes", k ? "; " : "", k,
                  ballots[k].digest.low, ballots[k].bytes);
    text += part;
  }
  return text + ")";
}

}  // namespace holdfast::replicate
