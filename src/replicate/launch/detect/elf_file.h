#pragma once

#include <string>

#include "core/status/status.h"

namespace holdfast::launch {

/// What the launcher needs to know of a file that is to be run.
struct ElfFile {
  bool elf = false;
  bool script = false;      ///< starts with #!
  std::string command;      ///< a script's: what stands behind the #! in its first line, at most 4 KiB
  bool executable = false;  ///< ET_EXEC, or ET_DYN as position-independent programs are
  std::string interpreter;  ///< PT_INTERP, the dynamic loader; empty when statically linked
  int bits = 0;             ///< of a word: 32 or 64
  int machine = 0;          ///< EM_X86_64 and so on
};

/// Reads the headers of `path`. Errors: io when it cannot be read, bad_input for a damaged ELF file.
Result<ElfFile> read_elf(const std::string& path);

/// "a 64-bit program for x86-64".
std::string machine_text(const ElfFile& file);

/// Which MPI implementations' own functions a program or library defines in its symbol tables.
struct MpiSymbols {
  std::string soname;       ///< DT_SONAME; empty without one
  bool openmpi = false;     ///< ompi_mpi_comm_world: what MPI_COMM_WORLD is in Open MPI's mpi.h
  bool ompi_names = false;  ///< names of Open MPI's inside (ompi_...), its own or those that it calls
  bool any = false;         ///< MPI_Init, whosever it is
  bool libfabric = false;   ///< fi_getinfo: it calls libfabric, or has it inside
};

/// Looks at the dynamic and, where present, the full symbol table. Errors as for read_elf().
Result<MpiSymbols> read_mpi_symbols(const std::string& path);

}  // namespace holdfast::launch
