#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "core/integrity/digest.h"
#include "replicate/engine/verified.h"

namespace holdfast::replicate {

/// Bytes that a simulated program sends.
class SentBytes final : public Contents {
 public:
  SentBytes(std::vector<std::byte> bytes, bool blind) : bytes_(std::move(bytes)), blind_(blind) {}
  std::uint64_t capacity() const override { return bytes_.size(); }
  Ballot ballot(std::uint64_t bytes) const override { return digest(std::span(bytes_).first(bytes), blind_); }
  bool padded() const override { return false; }
  Ballot whole_ballot(std::uint64_t bytes) const override { return ballot(bytes); }
  Copy copy(std::uint64_t bytes) const override {
    return std::make_shared<std::vector<std::byte>>(bytes_.begin(),
                                                    bytes_.begin() + static_cast<std::ptrdiff_t>(bytes));
  }
  /// `blind`: a digest that knows the length alone.
  static Ballot digest(std::span<const std::byte> bytes, bool blind) {
    if (blind) return {{1, 1}, bytes.size()};
    return {integrity::digest(integrity::Algorithm::xxh3_128, bytes), bytes.size()};
  }

 private:
  std::vector<std::byte> bytes_;
  bool blind_;
};

/// The buffer of a simulated program's receive.
class Buffer final : public Verified {
 public:
  static constexpr std::size_t room = 512;  // more than any message has

  std::vector<std::byte> bytes = std::vector<std::byte>(room);
  std::size_t length = 0;
  std::size_t message = 0;  ///< that MPI matched
  bool blind = false;
  bool idle_overwrite = false;

  std::uint64_t capacity() const override { return room; }
  Ballot ballot(std::uint64_t n) const override { return SentBytes::digest(std::span(bytes).first(n), blind); }
  bool padded() const override { return false; }
  Ballot whole_ballot(std::uint64_t n) const override { return ballot(n); }
  Copy copy(std::uint64_t n) const override {
    return std::make_shared<std::vector<std::byte>>(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));
  }
  int sender_rank() const override { return source; }  // communicators are of all ranks
  std::uint64_t received() const override { return length; }
  bool torn_by(std::uint64_t) const override { return false; }
  Ballot ballot_of_copy(std::span<const std::byte> packed) const override { return SentBytes::digest(packed, blind); }
  bool overwrite(std::span<const std::byte> packed) override {
    if (idle_overwrite) return true;
    length = packed.size();
    std::copy(packed.begin(), packed.end(), bytes.begin());
    return true;
  }
  void take_requeued(std::span<const std::byte> packed, std::int32_t, std::int32_t) override { overwrite(packed); }
};

/// A result of a simulated program, in memory.
class ResultBytes final : public Verified {
 public:
  std::vector<std::byte> bytes;
  std::size_t blocks = 1;
  bool blind = false;
  bool idle_overwrite = false;

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
  void take_requeued(std::span<const std::byte>, std::int32_t, std::int32_t) override {}
  std::string result_name() const override { return "result " + std::to_string(identity.ordinal); }
  std::vector<std::size_t> block_ends() const override {
    std::vector<std::size_t> ends;
    for (std::size_t b = 1; blocks > 1 && b <= blocks; ++b) ends.push_back(b * (bytes.size() / blocks));
    return ends;
  }
};

}  // namespace holdfast::replicate
