#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "replicate/engine/vote.h"

namespace holdfast::replicate {

/// A stretch of what a rank writes through one opening of a file, named alike in all its replicas: the `number`-th one
/// (from 0) of the `opening`-th time (from 0) that the rank opens that path to write.
struct WrittenStretch {
  std::uint64_t path = 0;  ///< digest of the path
  std::uint64_t opening = 0;
  std::uint64_t number = 0;
  friend bool operator==(const WrittenStretch&, const WrittenStretch&) = default;
};

/// How long a stretch is; the last one of an opening is what is left.
inline constexpr std::uint64_t written_stretch_bytes = 65536;

/// What the replicas of one rank say of such stretches, until all have spoken: digests that nobody waits for. One
/// thread at a time.
class WrittenBallots {
 public:
  explicit WrittenBallots(int degree) : degree_(degree) {}
  /// Files what a replica says. Once all replicas that are not `gone` (by replica, not 0) have spoken: the ballots of
  /// all, unknown where one is gone and has said nothing; the stretch is forgotten then.
  std::optional<std::vector<Ballot>> file(const WrittenStretch& stretch, int replica, const Ballot& ballot,
                                          std::span<const char> gone);
  /// Stretches of which not all have spoken.
  std::size_t waiting() const { return open_.size(); }

 private:
  struct Hash {
    std::size_t operator()(const WrittenStretch& stretch) const;
  };
  int degree_;
  std::unordered_map<WrittenStretch, std::vector<Ballot>, Hash> open_;
};

}  // namespace holdfast::replicate
