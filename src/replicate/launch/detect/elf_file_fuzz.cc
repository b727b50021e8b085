// Any bytes are a program to be run: it is none, or is refused with a one-line message, or what is told of it stands
// in its file. The same text is what a dynamic loader lists, and what stands behind a script's #!.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "replicate/launch/detect/elf_file.h"
#include "replicate/launch/detect/program.h"

namespace {

using namespace holdfast::launch;

void require(bool held) {
  if (!held) std::abort();
}

bool one_line(const holdfast::Status& status) {
  return status.message().find('\n') == std::string::npos;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const int file = memfd_create("program", MFD_CLOEXEC);
  require(file >= 0 && write(file, data, size) == static_cast<ssize_t>(size));
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  const auto program = read_elf(path);
  require(program.ok() || one_line(program.status()));
  if (program.ok()) {
    const ElfFile& said = program.value();
    require(said.script == text.starts_with("#!"));
    require(said.command.size() <= 4096 && said.command.find('\n') == std::string::npos);
    require(text.find(said.interpreter) != std::string_view::npos);
    require(!said.elf || said.bits == 32 || said.bits == 64);
    (void)runs_in_shell(said.command);
    (void)machine_text(said);
  }
  const auto symbols = read_mpi_symbols(path);
  require(symbols.ok() || one_line(symbols.status()));
  if (symbols.ok()) {
    require(text.find(symbols.value().soname) != std::string_view::npos);
    (void)mpi_of(symbols.value());
  }
  close(file);
  for (const std::string& library : listed_libraries(text)) require(text.find(library) != std::string_view::npos);
  return 0;
}
