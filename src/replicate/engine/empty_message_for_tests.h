#pragma once

#include "replicate/engine/verified.h"

namespace holdfast::replicate {

/// A message without bytes.
class EmptyMessage final : public Verified {
 public:
  std::uint64_t capacity() const override { return 0; }
  Ballot ballot(std::uint64_t) const override { return {}; }
  bool padded() const override { return false; }
  Ballot whole_ballot(std::uint64_t) const override { return {}; }
  Copy copy(std::uint64_t) const override { return nullptr; }
  int sender_rank() const override { return 0; }
  std::uint64_t received() const override { return 0; }
  bool torn_by(std::uint64_t) const override { return false; }
  Ballot ballot_of_copy(std::span<const std::byte>) const override { return {}; }
  bool overwrite(std::span<const std::byte>) override { return true; }
  void take_requeued(std::span<const std::byte>, std::int32_t, std::int32_t) override {}
  Copy give_up(std::int32_t&, std::int32_t&) override { return nullptr; }
};

}  // namespace holdfast::replicate
