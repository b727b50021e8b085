#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::replicate {

/// One communication call as the application made it. `function` indexes the function table.
struct Call {
  std::uint32_t function = 0;
  std::int32_t peer = -1;  ///< rank in the communicator; -1 where the call has none
  std::int32_t tag = 0;
  std::uint64_t communicator = 0;
  std::uint64_t bytes = 0;
};

/// Numbers the communication calls of a process, keeps the last few, and folds all of them into one hash, so that
/// replicas that no longer do the same thing are told apart, and the diagnosis can name the first call that differs.
/// Constant time and no allocation per call. Not thread-safe.
class CallHistory {
 public:
  static constexpr std::size_t kept = 256;

  void note(const Call& call);
  std::uint64_t count() const { return count_; }
  std::uint64_t hash() const { return hash_; }
  /// The call with this number (from 0), if it is still kept.
  bool find(std::uint64_t number, Call& call) const;
  /// The hash of the first `calls` calls; nothing where so many were not made, or that is no longer kept.
  std::optional<std::uint64_t> hash_after(std::uint64_t calls) const;

 private:
  std::uint64_t count_ = 0;
  std::uint64_t hash_ = 0x9e3779b97f4a7c15ULL;
  std::array<Call, kept> calls_{};
  std::array<std::uint64_t, kept> hashes_{};  ///< before each of them
};

}  // namespace holdfast::replicate
