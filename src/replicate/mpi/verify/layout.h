#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "core/integrity/digest.h"
#include "replicate/engine/vote.h"
#include "replicate/mpi/verify/padding.h"

namespace holdfast::replicate {

/// What verification needs to know of a datatype.
struct TypeFacts {
  std::uint64_t size = 0;                  ///< bytes that one element selects
  std::ptrdiff_t true_lower = 0;           ///< offset of the first selected byte from the buffer's address
  bool one_dense = false;                  ///< one element selects consecutive bytes, in the order of the type map
  bool many_dense = false;                 ///< and so do many
  std::shared_ptr<const Padding> padding;  ///< bytes of packed elements that are not compared as they are
};

/// Facts of a datatype, from a cache; the first question about a derived type decodes it (MPI 3.1, section 4.1.13).
/// The reference stays valid until the datatype is freed.
const TypeFacts& type_facts(MPI_Datatype type);
/// The application frees the handle; the library may use its value again for another type.
void forget_type(MPI_Datatype type);
/// Frees a type of the library's own, whose handle's value may be used again, too.
void free_type(MPI_Datatype& type);

/// The bytes of application memory that a (buffer, count, datatype) triple selects. Keeps a non-contiguous datatype
/// alive by a duplicate handle, because the application may free its own while a request is pending. Move-only.
class Region {
 public:
  Region() = default;
  /// Describes the memory for the duration of a call: keeps no handle.
  static Region borrow(const void* buffer, std::uint64_t count, MPI_Datatype type);
  /// Describes it for a request that outlives the call.
  static Region keep(const void* buffer, std::uint64_t count, MPI_Datatype type);
  /// Describes `count` elements that MPI_Pack has put one behind another, for as long as their memory is there.
  static Region packed(const void* elements, std::uint64_t count, MPI_Datatype type);
  Region(Region&& other) noexcept;
  Region& operator=(Region&& other) noexcept;
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  ~Region();

  std::uint64_t bytes() const { return std::min(count_ * size_, limit_); }
  /// Describes only the first so many selected bytes from here on.
  void limit(std::uint64_t bytes) { limit_ = bytes; }
  bool contiguous() const { return dense_; }
  std::byte* data() const { return buffer_; }  ///< first selected byte; only when contiguous

  /// Whether it has bytes that have no value, or elements that may be addresses (padding.h).
  bool padded() const { return padding_ != nullptr; }
  /// Whether it holds an address of the application's, as MPI_AINT.
  bool any_address() const;

  /// Whether so many bytes end within a basic element, with gaps about it: MPICH refuses such a message then, and takes
  /// one where elements lie side by side.
  bool torn_by(std::uint64_t length) const;

  /// Digest and length of the first `length` selected bytes in type-map order (length <= bytes()), with zero in place
  /// of padding, and one value for all addresses. Contiguous memory without padding is digested where it is; all else
  /// is gathered in a scratch buffer first.
  Ballot ballot(std::uint64_t length) const;
  Ballot ballot() const { return ballot(bytes()); }
  /// The same with padding as it lies there.
  Ballot whole_ballot(std::uint64_t length) const;
  /// The ballot() of memory that holds what was gathered from another replica's.
  Ballot ballot_of_copy(std::span<const std::byte> packed) const;
  /// Copies the first `length` selected bytes out, in type-map order.
  void gather(std::uint64_t length, std::vector<std::byte>& out) const;
  /// Writes bytes back in type-map order; in.size() <= bytes().
  void scatter(std::span<const std::byte> in) const;
  /// The same of bytes that another replica had. Addresses among the `own_bytes` that are there stay what they are;
  /// false where the other has one and this replica none, and nothing is written then.
  bool restore(std::span<const std::byte> in, std::uint64_t own_bytes) const;
  /// Inverts one bit, counted from the first selected byte in type-map order, in the application's memory, even where
  /// that memory is mapped read-only.
  void flip(std::uint64_t bit) const;

 private:
  template <class Act>
  void for_each_part(std::uint64_t elements, Act act) const;

  std::byte* buffer_ = nullptr;
  std::uint64_t count_ = 0;
  std::uint64_t size_ = 0;
  std::uint64_t limit_ = std::numeric_limits<std::uint64_t>::max();
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  std::shared_ptr<const Padding> padding_;
  bool dense_ = true;
  bool owned_ = false;
};

/// A copy of a buffer, laid out alike, in which padding (padding.h) is zero; its address as a buffer, which is valid as
/// long as `memory` is left alone. Not for MPI_BOTTOM.
const void* copy_without_padding(const void* buffer, std::uint64_t count, MPI_Datatype type,
                                 std::vector<std::byte>& memory);

/// The algorithm of every digest in this process. Set once at start.
void set_digest_algorithm(integrity::Algorithm algorithm);
Ballot ballot_of(std::span<const std::byte> bytes);

}  // namespace holdfast::replicate
