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
/// never selected. Immutable; any thread.
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

  /// Sets the padding to zero in packed elements, the last of which may be there in part.
  void clear(std::span<std::byte> packed) const;

 private:
  struct Run {
    std::uint64_t bytes;
    bool padding;
    std::shared_ptr<const Padding> inner;
  };
  std::vector<Run> runs_;  ///< of one element
};

}  // namespace holdfast::replicate
