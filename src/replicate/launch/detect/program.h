#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/status/status.h"
#include "replicate/launch/detect/elf_file.h"

namespace holdfast::launch {

enum class Mpi { openmpi, mpich };

/// "openmpi", "mpich".
std::string_view name(Mpi mpi);
/// The MPI of that name. Error: bad_input, with a hint.
Result<Mpi> mpi_named(std::string_view text);

/// The program to run.
struct Program {
  std::string path;
  Mpi mpi{};
  bool script = false;  ///< a #! script: which MPI its commands use is the user's word (--mpi)
  /// It links no MPI and may load one while it runs, as Python does: neither an MPI program nor a script of a shell.
  bool loads_mpi = false;
  std::string library;    ///< path of the MPI library that it links; empty for others
  bool standard = false;  ///< that library has the standard's interface (MPI 5.0, chapter 21), whosever it is
};

/// Which of Holdfast's libraries serves the program: "openmpi", "mpich", or "abi" for the standard's interface.
std::string_view flavour(const Program& program);

/// The MPI whose interface a library has: Open MPI from 3.0 on is libmpi.so.40; MPICH from 3.1 on and what keeps its
/// interface (Intel MPI, MVAPICH, Cray MPICH, ParaStation) are libmpi.so.12 or libmpich.so.12. Open MPI 1.10, whose
/// library is libmpi.so.12 too, is none of them. libmpi_abi.so.1 has the standard's interface, and is Open MPI's where
/// it has names of Open MPI's inside, otherwise MPICH's. Nothing where Holdfast has no library for it.
std::optional<Mpi> mpi_of(const MpiSymbols& library);
/// Whether a library has the standard's interface: libmpi_abi.so.1.
bool has_standard_interface(const MpiSymbols& library);

/// Whether a script with that behind its #! is run by a shell, which runs programs but is none that loads MPI.
bool runs_in_shell(std::string_view command);

/// The resolved paths in the output of the dynamic loader's --list (one library a line, "name => path (address)").
std::vector<std::string> listed_libraries(std::string_view output);

/// Finds the program as a shell would and tells which MPI it links, through its whole closure of needed libraries as
/// its own dynamic loader (PT_INTERP) resolves it. The program itself is never run. `told` is the user's --mpi; it is
/// needed for scripts and for programs that load MPI by themselves (Python), and must agree with what a program links.
/// Errors, all with a remedy: not_found, bad_input (not a program, of another machine, set-uid, static, no MPI, two
/// MPIs, --mpi contradicts), unavailable (an MPI that Holdfast has no library for).
Result<Program> inspect_program(std::string_view name, std::optional<Mpi> told);

}  // namespace holdfast::launch
