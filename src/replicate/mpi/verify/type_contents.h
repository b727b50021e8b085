#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace holdfast::replicate {

/// Whether MPI brings the type, so that nobody frees it. Any thread.
bool predefined(MPI_Datatype type);

/// Frees a handle that a query of MPI gave (MPI_Type_get_contents, MPI_File_get_view): predefined ones are not freed.
void free_unless_predefined(MPI_Datatype type);

/// Whether so many bytes of packed elements end within a basic element.
bool ends_within_element(MPI_Datatype type, std::uint64_t bytes);

/// How a datatype was made (MPI 4.0, section 5.1.13), in the classic form whether it was made with counts of int or of
/// MPI_Count: lengths, and displacements that count in extents, are integers; those in bytes are addresses. Of
/// subarrays and distributed arrays that were made with MPI_Count only the combiner and the type can be relied on.
/// Owns the handles of `types`.
class TypeContents {
 public:
  explicit TypeContents(MPI_Datatype type);
  ~TypeContents();
  TypeContents(const TypeContents&) = delete;
  TypeContents& operator=(const TypeContents&) = delete;

  int combiner = 0;
  std::vector<MPI_Count> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Datatype> types;

 private:
  void read_classic(MPI_Datatype type);
  void read_large(MPI_Datatype type);
};

}  // namespace holdfast::replicate
