#pragma once

#include <cstddef>

/// The only thing that a study needs of MPI: messages of bytes between the ranks of its job. It is a shared library for
/// each MPI, loaded when a launcher has started several ranks, so that the command itself runs where no MPI is
/// installed. All functions return 0, or an error number of the MPI.
extern "C" {

struct HoldfastMessages {
  /// MPI_Init; writes this process's place in the job.
  int (*begin)(int* rank, int* size);
  /// Begins to send a copy of the bytes, and never waits.
  int (*send)(int to, const char* bytes, std::size_t size);
  /// Takes the next message of this rank, if there is one (*there), without waiting. The bytes are the library's and
  /// valid until the next call.
  int (*receive)(int from, int* there, const char** bytes, std::size_t* size);
  /// With all ranks alive: waits until everything is sent, and leaves MPI together with them. Otherwise: leaves without
  /// MPI_Finalize, which would wait for the dead.
  void (*end)(int all_alive);
  /// The MPI's words for an error number, into text of this size.
  void (*words)(int error, char* text, std::size_t size);
};

/// What dlsym() looks for.
const HoldfastMessages* holdfast_messages();
}
