#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "replicate/engine/verified.h"
#include "simulate/job/collective.h"
#include "simulate/job/matching.h"

/// What stands in a replay for the bytes of messages and results. A message has a name, alike in all replicas, and what
/// flips made of it; its digest is these two. So the engine compares, votes and corrects by its own rules without the
/// contents themselves. A copy that replicas give each other is such a word, too; on the fabric it has the message's
/// length.
namespace holdfast::simulate::job {

/// The contents of one message.
struct Content {
  std::uint64_t name = 0;     ///< of its channel and place there
  std::uint64_t altered = 0;  ///< 0: as it should be
  std::uint64_t bytes = 0;
};

/// What a flip of this bit makes of contents.
std::uint64_t altered_by(std::uint64_t bit);

/// What digesting and copying costs the process that does it.
class Toll {
 public:
  virtual ~Toll() = default;
  virtual void digest(std::uint64_t bytes) const = 0;
  virtual void copy(std::uint64_t bytes) const = 0;
};

/// A copy as replicas give it to each other: name, length, and what was altered, of each part.
replicate::Copy copy_of(std::uint64_t name, std::uint64_t bytes, std::span<const std::uint64_t> altered);
/// The ballot of a copy; also of one that another process sent, whatever it is.
replicate::Ballot ballot_of(std::span<const std::byte> copy);
/// The length of what the copy stands for.
std::uint64_t bytes_of(std::span<const std::byte> copy);

/// What a rank sends.
class SentContent final : public replicate::Contents {
 public:
  SentContent(const Content& content, const Toll& toll) : content_(content), toll_(toll) {}
  std::uint64_t capacity() const override { return content_.bytes; }
  replicate::Ballot ballot(std::uint64_t bytes) const override;
  bool padded() const override { return false; }
  replicate::Ballot whole_ballot(std::uint64_t bytes) const override { return ballot(bytes); }
  replicate::Copy copy(std::uint64_t bytes) const override;

 private:
  const Content& content_;
  const Toll& toll_;
};

/// A message that a rank receives. Its buffer has room for whatever comes: recordings are of programs that fit.
class ReceivedContent final : public replicate::Verified {
 public:
  explicit ReceivedContent(const Toll& toll) : toll_(toll) {}

  Content content;
  Envelope exact;  ///< that the recorded receive took; when it is here, that of the message
  std::uint32_t number = 0, pending = 0;
  bool awaited = false;  ///< by the program
  bool watched = false;  ///< by the engine

  std::uint64_t capacity() const override { return ~std::uint64_t{0}; }
  replicate::Ballot ballot(std::uint64_t bytes) const override;
  bool padded() const override { return false; }
  replicate::Ballot whole_ballot(std::uint64_t bytes) const override { return ballot(bytes); }
  replicate::Copy copy(std::uint64_t bytes) const override;
  int sender_rank() const override { return source; }
  std::uint64_t received() const override { return content.bytes; }
  bool torn_by(std::uint64_t) const override { return false; }
  replicate::Ballot ballot_of_copy(std::span<const std::byte> bytes) const override;
  bool overwrite(std::span<const std::byte> bytes) override;
  // Cancelled receives are none in a replay, so that none leaves its message to another.
  void take_requeued(std::span<const std::byte>, std::int32_t, std::int32_t) override {}
  replicate::Copy give_up(std::int32_t&, std::int32_t&) override { return nullptr; }

 private:
  const Toll& toll_;
};

/// The result of a collective at one rank, or what it gives to a reduction.
class ResultContent final : public replicate::Verified {
 public:
  explicit ResultContent(const Toll& toll) : toll_(toll) {}

  std::uint64_t name = 0, bytes = 0;
  std::vector<std::uint64_t> altered;  ///< of each part; at least one
  std::string what;                    ///< in words
  std::vector<int> members;            ///< ranks that get it
  std::uint32_t strand = 0;

  bool is_message() const override { return false; }
  std::uint64_t capacity() const override { return bytes; }
  replicate::Ballot ballot(std::uint64_t bytes) const override;
  bool padded() const override { return false; }
  replicate::Ballot whole_ballot(std::uint64_t n) const override { return ballot(n); }
  replicate::Copy copy(std::uint64_t bytes) const override;
  int sender_rank() const override { return source; }
  std::uint64_t received() const override { return bytes; }
  bool torn_by(std::uint64_t) const override { return false; }
  replicate::Ballot ballot_of_copy(std::span<const std::byte> bytes) const override;
  bool overwrite(std::span<const std::byte> bytes) override;
  void take_requeued(std::span<const std::byte>, std::int32_t, std::int32_t) override {}
  replicate::Copy give_up(std::int32_t&, std::int32_t&) override { return nullptr; }
  std::string result_name() const override { return what; }
  std::vector<int> ranks() const override { return members; }
  std::vector<std::size_t> block_ends() const override;

 private:
  const Toll& toll_;
};

/// Bytes that rank `me` gives to a collective, and that it gets (a broadcast's root gets what it has given away).
std::uint64_t bytes_given(const Collective& collective);
std::uint64_t bytes_got(const Collective& collective);

/// Flipped bits of what ranks gave to a collective, by rank.
using FlippedBits = std::map<std::uint32_t, std::vector<std::uint64_t>>;

/// What such flips make of the result at rank `me`, in parts: one for each rank where ranks give a block each, up to 64
/// for the elements of a reduction (element i in part i mod 64), else one.
std::vector<std::uint64_t> altered_result(const Collective& collective, const FlippedBits& flipped);

}  // namespace holdfast::simulate::job
