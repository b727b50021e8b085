#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace holdfast::replicate {

/// Which bytes of packed elements nobody sets: x86's long double has 80 bits in 16 bytes, the last 6 of which keep what
/// was in memory before, so that they may differ between replicas that have the same value. A type without long doubles
/// has no padding, which is a null pointer everywhere.
///
/// The gaps between the members of MPI_DOUBLE_INT and its like are none of this: no type map has them, so that they are
/// never selected.
///
/// And which bytes may be addresses: elements of MPI_AINT, which is how a program tells others where the memory is that
/// it has attached to a dynamic window (MPI 3.1, 11.2.4). Each replica has its own, so that of an address only that it
/// is one can be compared. Immutable; any thread.
class Padding {
 public:
  /// That of a predefined type.
  static std::shared_ptr<const Padding> of_predefined(MPI_Datatype type);
  /// That of an element made of so many bytes of packed elements of each kind, one behind another.
  struct Part {
    std::uint64_t bytes;
    std::shared_ptr<const Padding> padding;  ///< of its elements, which repeat; null: all bytes count
  };
  static std::shared_ptr<const Padding> of_parts(const std::vector<Part>& parts);

  /// Whether there are bytes without a value, and whether elements may be addresses.
  bool has_padding() const { return has(Kind::padding); }
  bool has_addresses() const { return has(Kind::address); }

  /// Sets the padding to zero in packed elements, the last of which may be there in part.
  void clear(std::span<std::byte> packed) const;
  /// The same, and gives all addresses one value: what is left is what replicas have in common.
  void mask(std::span<std::byte> packed) const;
  /// Puts this replica's own addresses, which stand in `own`, into a copy of another's elements. False where the copy
  /// has one and `own` none, so that it cannot be known.
  bool keep_addresses(std::span<std::byte> copy, std::span<const std::byte> own) const;
  /// Whether one of the packed elements is an address.
  bool any_address(std::span<const std::byte> packed) const;

 private:
  enum class Kind { value, padding, address };
  struct Run {
    std::uint64_t bytes;
    Kind kind;
    std::shared_ptr<const Padding> inner;
  };
  static std::shared_ptr<const Padding> of_runs(std::vector<Run> runs);
  bool has(Kind kind) const;
  /// Calls act(kind, first byte, bytes) for all that is no value, in order.
  template <class Act>
  void visit(std::size_t at, std::size_t end, Act& act) const;

  std::vector<Run> runs_;  ///< of one element
};

}  // namespace holdfast::replicate
