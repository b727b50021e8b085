#include "replicate/launch/detect/program.h"

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/status/hint.h"
#include "replicate/launch/detect/capture.h"
#include "replicate/launch/detect/elf_file.h"
#include "replicate/launch/detect/executable.h"

namespace holdfast::launch {
namespace {

constexpr std::array<std::string_view, 2> mpi_names{"openmpi", "mpich"};

Status refuse(const std::string& path, std::string wrong, std::string remedy) {
  return {Code::bad_input, "looking at the program " + path, std::move(wrong), std::move(remedy)};
}

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

/// Libraries that can be an MPI go by these names in every distribution; only their symbol tables are read.
bool may_be_mpi(std::string_view path) {
  std::string_view base = base_name(path);
  return base.starts_with("libmpi") || base.starts_with("libmpich");
}

/// The first library that the loader could not find, empty if none.
std::string missing_library(std::string_view output) {
  std::size_t mark = output.find(" => not found");
  if (mark == std::string_view::npos) return {};
  std::size_t start = output.rfind('\n', mark);
  start = output.find_first_not_of(" \t\n", start == std::string_view::npos ? 0 : start);
  return std::string(output.substr(start, mark - start));
}

/// What the loader resolves for the program, without the user's own preloads: those are not the program's choice.
Result<std::vector<std::string>> closure(const std::string& path, const std::string& interpreter) {
  auto listed = capture({interpreter, "--list", path}, {"LD_PRELOAD"});
  if (!listed.ok())
    return refuse(path, "its dynamic loader " + interpreter + " cannot be run here", "use a program for this machine");
  std::string text = listed.value().output + listed.value().errors;
  if (std::string missing = missing_library(text); !missing.empty())
    return refuse(path, "it needs the library " + missing + ", which is not found",
                  "install it or set LD_LIBRARY_PATH");
  if (listed.value().exit_status != 0)
    return refuse(path, "its dynamic loader refuses it (" + text.substr(0, text.find('\n')) + ")",
                  "use a program for this machine");
  return listed_libraries(listed.value().output);
}

struct LinkedMpi {
  Mpi mpi{};
  bool standard = false;
  std::string library;  ///< path

  bool serves_as(const LinkedMpi& other) const { return mpi == other.mpi && standard == other.standard; }
  std::string text() const {
    const std::string maker = mpi == Mpi::openmpi ? "Open MPI" : "MPICH";
    return maker + (standard ? " for the standard's interface (" : " (") + library + ")";
  }
};

struct Linked {
  std::vector<LinkedMpi> mpis;  ///< of each kind one
  std::string other;            ///< path of an MPI that Holdfast has no library for
};

Result<Linked> linked_mpis(const std::string& path, const std::string& interpreter) {
  auto libraries = closure(path, interpreter);
  if (!libraries.ok()) return libraries.status();
  Linked linked;
  for (const std::string& library : libraries.value()) {
    if (!may_be_mpi(library)) continue;
    auto symbols = read_mpi_symbols(library);
    if (!symbols.ok()) return symbols.status();
    if (!symbols.value().any) continue;
    const auto mpi = mpi_of(symbols.value());
    if (!mpi) {
      linked.other = library;
      continue;
    }
    const LinkedMpi found{*mpi, has_standard_interface(symbols.value()), library};
    const bool seen = std::any_of(linked.mpis.begin(), linked.mpis.end(),
                                  [&](const LinkedMpi& other) { return other.serves_as(found); });
    if (!seen) linked.mpis.push_back(found);
  }
  return linked;
}

/// Whether the kernel finds what a script's first line names. With Windows' line ends it looks for a name with a
/// carriage return at its end.
Status interpreter_of(const std::string& path, std::string_view command) {
  const std::size_t start = std::min(command.find_first_not_of(" \t"), command.size());
  const std::string_view name = command.substr(start, command.find_first_of(" \t\n", start) - start);
  std::error_code ignored;
  if (std::filesystem::is_regular_file(name, ignored) && ::access(std::string(name).c_str(), X_OK) == 0) return {};
  const bool of_windows = name.ends_with('\r');
  const std::string_view shown = name.substr(0, std::min<std::size_t>(name.size() - (of_windows ? 1 : 0), 200));
  return refuse(path,
                "its first line names the interpreter '" + std::string(shown) +
                    (of_windows ? "' and ends as lines do in Windows" : "', which cannot be run"),
                of_windows ? "end its lines with a line feed alone" : "correct that line, or install the interpreter");
}

Result<Program> judge_script(const std::string& path, std::string_view command, std::optional<Mpi> told) {
  if (Status interpreter = interpreter_of(path, command); !interpreter.ok()) return interpreter;
  if (!told)
    return refuse(path, "it is a script, so which MPI it uses cannot be seen", "add --mpi openmpi or --mpi mpich");
  return Program{path, *told, true, !runs_in_shell(command), ""};
}

/// A program that links no MPI library.
Result<Program> judge_unlinked(const std::string& path, std::optional<Mpi> told) {
  auto symbols = read_mpi_symbols(path);
  if (!symbols.ok()) return symbols.status();
  if (symbols.value().any)
    return refuse(path, "MPI is linked into it statically, so it cannot be intercepted", "link the shared MPI library");
  if (told) return Program{path, *told, false, !runs_in_shell(base_name(path)), ""};
  return refuse(path, "it is not an MPI program (it links neither Open MPI nor MPICH)",
                "check the program; if it loads MPI by itself, as Python does, add --mpi openmpi or --mpi mpich");
}

Status no_library_for(const std::string& path, const std::string& library) {
  return {Code::unavailable, "looking at the program " + path,
          "it links the MPI library " + library + ", for which Holdfast has none of its own",
          "link it with Open MPI from 3.0 on (libmpi.so.40), with MPICH or what keeps its interface (libmpi.so.12), "
          "or with an MPI of the standard's interface (libmpi_abi.so.1)"};
}

/// What the loader would not do for the program, or not with what it is told to load before. Its own user may.
Status keeps_preloads_out(const std::string& path) {
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0) return {};
  const bool user = (file.st_mode & S_ISUID) != 0 && file.st_uid != ::geteuid();
  const bool group = (file.st_mode & S_ISGID) != 0 && file.st_gid != ::getegid();
  const bool capable = ::geteuid() != 0 && ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
  if (!user && !group && !capable) return {};
  return refuse(path,
                std::string(user    ? "it is set-uid"
                            : group ? "it is set-gid"
                                    : "it has file capabilities") +
                    ", so that the system loads no library before it",
                "run a copy without that: cp " + path + " copy");
}

/// Another kind of machine than this process's.
Status of_another_machine(const std::string& path, const ElfFile& file) {
  const auto own = read_elf("/proc/self/exe");
  if (!own.ok() || (own.value().bits == file.bits && own.value().machine == file.machine)) return {};
  return refuse(path, "it is " + machine_text(file) + ", and this Holdfast is " + machine_text(own.value()),
                "build the program for this machine");
}

Result<Program> judge_linked(const std::string& path, const std::vector<LinkedMpi>& mpis, std::optional<Mpi> told) {
  if (mpis.size() > 1)
    return refuse(path, "it links both " + mpis[0].text() + " and " + mpis[1].text(), "link it with one MPI only");
  const LinkedMpi& linked = mpis.front();
  if (told && *told != linked.mpi)
    return refuse(path, "it links " + std::string(name(linked.mpi)) + ", but --mpi says " + std::string(name(*told)),
                  "leave --mpi out");
  return Program{path, linked.mpi, false, false, linked.library, linked.standard};
}

}  // namespace

std::string_view name(Mpi mpi) {
  return mpi_names[static_cast<std::size_t>(mpi)];
}

Result<Mpi> mpi_named(std::string_view text) {
  auto found = std::find(mpi_names.begin(), mpi_names.end(), text);
  if (found != mpi_names.end()) return static_cast<Mpi>(found - mpi_names.begin());
  return Status(Code::bad_input, "reading --mpi", "'" + std::string(text) + "' is no MPI that Holdfast knows",
                did_you_mean(text, mpi_names, "openmpi and mpich are"));
}

std::string_view flavour(const Program& program) {
  return program.standard ? "abi" : name(program.mpi);
}

bool has_standard_interface(const MpiSymbols& library) {
  return library.soname == "libmpi_abi.so.1";
}

std::optional<Mpi> mpi_of(const MpiSymbols& library) {
  if (has_standard_interface(library)) return library.ompi_names ? Mpi::openmpi : Mpi::mpich;
  if (library.soname == "libmpi.so.40") return Mpi::openmpi;
  const bool of_mpich = library.soname == "libmpi.so.12" || library.soname == "libmpich.so.12";
  return of_mpich && !library.openmpi ? std::optional(Mpi::mpich) : std::nullopt;
}

bool runs_in_shell(std::string_view command) {
  static constexpr std::array<std::string_view, 9> shells{"sh",  "bash", "dash", "ksh", "mksh",
                                                          "zsh", "csh",  "tcsh", "fish"};
  while (!command.empty()) {
    const std::size_t start = command.find_first_not_of(" \t\r");
    if (start == std::string_view::npos) return false;
    command.remove_prefix(start);
    const std::string_view word = command.substr(0, command.find_first_of(" \t\r"));
    command.remove_prefix(word.size());
    const bool told_to_env = word.starts_with('-') || word.find('=') != std::string_view::npos;
    if (told_to_env || base_name(word) == "env") continue;
    return std::find(shells.begin(), shells.end(), base_name(word)) != shells.end();
  }
  return false;
}

std::vector<std::string> listed_libraries(std::string_view output) {
  std::vector<std::string> libraries;
  while (!output.empty()) {
    std::size_t end = output.find('\n');
    std::string_view line = output.substr(0, end);
    output.remove_prefix(end == std::string_view::npos ? output.size() : end + 1);
    std::size_t arrow = line.find(" => ");
    if (arrow == std::string_view::npos) continue;
    std::string_view path = line.substr(arrow + 4);
    path = path.substr(0, path.rfind(" ("));
    if (path.starts_with('/')) libraries.emplace_back(path);
  }
  return libraries;
}

Result<Program> inspect_program(std::string_view name, std::optional<Mpi> told) {
  auto path = find_executable(name);
  if (!path.ok()) return path.status();
  auto file = read_elf(path.value());
  if (!file.ok()) return file.status();
  if (file.value().script) return judge_script(path.value(), file.value().command, told);
  if (!file.value().elf || !file.value().executable)
    return refuse(path.value(), "it is neither an ELF program nor a #! script", "give a program");
  if (Status other = of_another_machine(path.value(), file.value()); !other.ok()) return other;
  if (file.value().interpreter.empty())
    return refuse(path.value(), "it is statically linked, so it cannot be intercepted",
                  "link it dynamically, with the shared MPI library");
  if (Status out = keeps_preloads_out(path.value()); !out.ok()) return out;
  auto linked = linked_mpis(path.value(), file.value().interpreter);
  if (!linked.ok()) return linked.status();
  if (!linked.value().other.empty()) return no_library_for(path.value(), linked.value().other);
  if (linked.value().mpis.empty()) return judge_unlinked(path.value(), told);
  return judge_linked(path.value(), linked.value().mpis, told);
}

}  // namespace holdfast::launch
