#include "replicate/engine/written_ballots.h"

namespace holdfast::replicate {

std::optional<std::vector<Ballot>> WrittenBallots::file(const WrittenStretch& stretch, int replica,
                                                        const Ballot& ballot, std::span<const char> gone) {
  std::vector<Ballot>& ballots = open_[stretch];
  if (ballots.empty()) ballots.resize(static_cast<std::size_t>(degree_), Ballot{{}, 0, false});
  ballots[static_cast<std::size_t>(replica)] = ballot;
  for (std::size_t k = 0; k < ballots.size(); ++k)
    if (!ballots[k].known && gone[k] == 0) return std::nullopt;
  std::vector<Ballot> all = std::move(ballots);
  open_.erase(stretch);
  return all;
}

std::size_t WrittenBallots::Hash::operator()(const WrittenStretch& stretch) const {
  std::uint64_t x = stretch.path ^ (stretch.opening * 0x9e3779b97f4a7c15ULL) ^ (stretch.number << 20);
  x *= 0xbf58476d1ce4e5b9ULL;
  return static_cast<std::size_t>(x ^ (x >> 31));
}

}  // namespace holdfast::replicate
