#pragma once

#include <algorithm>
#include <cstdint>

#include <map>
#include <memory>
#include <vector>

#include "core/integrity/digest.h"
#include "replicate/engine/verified.h"
#include "replicate/world/plan.h"

namespace holdfast::replicate {

/// Bytes that a simulated program sends.
class SentBytes final : public Contents {
 public:
  /// `elements`: with gaps.
  SentBytes(std::vector<std::byte> bytes, bool blind, bool elements)
      : bytes_(std::move(bytes)), blind_(blind), elements_(elements) {}
  std::uint64_t capacity() const override { return bytes_.size(); }
  Ballot ballot(std::uint64_t bytes) const override {
    return digest(std::span(bytes_).first(bytes), blind_, elements_);
  }
  bool padded() const override { return elements_; }
  Ballot whole_ballot(std::uint64_t bytes) const override { return digest(std::span(bytes_).first(bytes), blind_); }
  Copy copy(std::uint64_t bytes) const override {
    return std::make_shared<std::vector<std::byte>>(bytes_.begin(),
                                                    bytes_.begin() + static_cast<std::ptrdiff_t>(bytes));
  }
  /// `blind`: a digest that knows the length alone.
  static Ballot digest(std::span<const std::byte> bytes, bool blind, bool elements = false) {
    if (blind) return {{1, 1}, bytes.size()};
    std::vector<std::byte> counted;
    for (std::size_t i = 0; elements && i < bytes.size(); ++i) counted.push_back(in_gap(i) ? std::byte{} : bytes[i]);
    if (elements) return {integrity::digest(integrity::Algorithm::xxh3_128, counted), bytes.size()};
    return {integrity::digest(integrity::Algorithm::xxh3_128, bytes), bytes.size()};
  }

 private:
  std::vector<std::byte> bytes_;
  bool blind_;
  bool elements_;
};

/// Which messages of the plan were requeued, by where the engine has their bytes.
using Requeued = std::map<const std::byte*, std::size_t>;

/// A simulated program's receive: its request and its buffer.
class Buffer final : public Verified {
 public:
  enum class Native : std::uint8_t { none, posted, done, cancelled };

  explicit Buffer(std::size_t bytes_of_room) : bytes(bytes_of_room), room(bytes_of_room) {}

  std::vector<std::byte> bytes;
  std::size_t room;
  Native native = Native::none;  ///< how far MPI is with it
  std::int32_t posted_source = 0;
  std::int32_t posted_tag = 0;
  std::size_t message = 0;  ///< that MPI matched
  std::int32_t from = 0;
  std::int32_t with_tag = 0;
  std::size_t length = 0;
  bool refused = false;  ///< by MPI, since it was too long

  std::size_t which = 0;  ///< at its rank
  int thread = 0;         ///< that posted it
  bool elements = false;  ///< with gaps
  bool optional = false;
  bool cancelled = false;
  bool was_corrected = false;

  Requeued* requeued = nullptr;  ///< of its process

  bool blind = false;
  bool idle_overwrite = false;
  bool idle_requeue = false;

  std::uint64_t capacity() const override { return room; }
  Ballot ballot(std::uint64_t n) const override {
    return SentBytes::digest(std::span(bytes).first(n), blind, elements);
  }
  bool padded() const override { return elements; }
  Ballot whole_ballot(std::uint64_t n) const override { return SentBytes::digest(std::span(bytes).first(n), blind); }
  Copy copy(std::uint64_t n) const override {
    return std::make_shared<std::vector<std::byte>>(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));
  }
  int sender_rank() const override { return source; }  // communicators are of all ranks
  std::uint64_t received() const override { return length; }
  bool torn_by(std::uint64_t) const override { return false; }
  const std::byte* memory() const override { return elements ? nullptr : bytes.data(); }
  Ballot ballot_of_copy(std::span<const std::byte> packed) const override {
    return SentBytes::digest(packed, blind, elements);
  }
  bool overwrite(std::span<const std::byte> packed) override {
    if (idle_overwrite) return true;
    was_corrected = true;
    length = std::min(packed.size(), room);
    std::copy_n(packed.begin(), length, bytes.begin());
    return true;
  }
  Copy give_up(std::int32_t& its_source, std::int32_t& its_tag) override {
    its_source = from;
    its_tag = with_tag;
    auto held = std::make_shared<std::vector<std::byte>>();
    held->reserve(length + 1);  // a place of its own, also where it is empty
    held->assign(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
    (*requeued)[held->data()] = message;
    return held;
  }
  void take_requeued(std::span<const std::byte> packed, std::int32_t its_source, std::int32_t its_tag) override {
    if (idle_requeue) packed = packed.first(packed.size() / 2);
    length = packed.size();
    std::copy(packed.begin(), packed.end(), bytes.begin());
    from = its_source;
    with_tag = its_tag;
    message = requeued->extract(packed.data()).mapped();
  }
};

/// A result of a simulated program, in memory.
class ResultBytes final : public Verified {
 public:
  std::vector<std::byte> bytes;
  std::size_t blocks = 1;
  bool blind = false;
  bool idle_overwrite = false;
  int ranks_of_job = 0;

  bool is_message() const override { return false; }
  std::uint64_t capacity() const override { return bytes.size(); }
  Ballot ballot(std::uint64_t n) const override { return SentBytes::digest(std::span(bytes).first(n), blind); }
  bool padded() const override { return false; }
  Ballot whole_ballot(std::uint64_t n) const override { return ballot(n); }
  Copy copy(std::uint64_t) const override { return std::make_shared<std::vector<std::byte>>(bytes); }
  int sender_rank() const override { return source; }
  std::uint64_t received() const override { return bytes.size(); }
  bool torn_by(std::uint64_t) const override { return false; }
  Ballot ballot_of_copy(std::span<const std::byte> packed) const override { return SentBytes::digest(packed, blind); }
  bool overwrite(std::span<const std::byte> packed) override {
    if (!idle_overwrite) bytes.assign(packed.begin(), packed.end());
    return true;
  }
  Copy give_up(std::int32_t&, std::int32_t&) override { return nullptr; }
  void take_requeued(std::span<const std::byte>, std::int32_t, std::int32_t) override {}
  std::string result_name() const override { return "result " + std::to_string(identity.ordinal); }
  std::vector<int> ranks() const override {
    std::vector<int> all(static_cast<std::size_t>(ranks_of_job));
    for (int rank = 0; rank < ranks_of_job; ++rank) all[static_cast<std::size_t>(rank)] = rank;
    return all;
  }
  std::vector<std::size_t> block_ends() const override {
    std::vector<std::size_t> ends;
    for (std::size_t b = 1; blocks > 1 && b <= blocks; ++b) ends.push_back(b * (bytes.size() / blocks));
    return ends;
  }
};

}  // namespace holdfast::replicate
