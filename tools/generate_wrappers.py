#!/usr/bin/env python3
"""Writes the MPI wrappers of the preloaded libraries from the function table.

    generate_wrappers.py --table FILE --flavour openmpi|mpich|abi --out FOLDER [--mpi-header PREPROCESSED]
    generate_wrappers.py --table FILE --reference FILE

The first form writes, into FOLDER, what one of the libraries is compiled from:

    functions.h/.cc       enum Function, one value a row of the table, the same number in all flavours; their names
    real_functions.h/.cc  struct Real: pointers to the MPI library's own functions, found once with dlsym
    hooks.h               declarations of the hand-written hooks that this flavour needs
    wrappers.cc           the exported MPI_X and PMPI_X
    large_counts.cc       hooks of the functions that take counts as MPI_Count, by way of those that take int
    prototypes.cc         static assertions that the table agrees with this MPI's mpi.h
    weak_handles.h        makes the MPI library's data symbols weak; included before everything else
    exports.map           the linker's version script

The second form writes the reference page. The table explains its own format.
"""

import argparse
import dataclasses
import pathlib
import re
import sys

MPIS = ("openmpi", "mpich")
FLAVOURS = MPIS + ("abi",)  # abi: the standard's interface, which any MPI may stand behind
LIBRARIES = ("both",) + MPIS
DIRECTIONS = ("in", "out", "inout")
KINDS = (
    "address attribute buffer comm count datatype displacement errhandler error extent file flag fortran function group"
    " index info integer keyval message offset op rank request requests session state status statuses string strings"
    " tag tool win"
).split()

POLICIES = {
    "start": "Starts MPI, or says where it stands. A hook, called even where replication is not active.",
    "pass": "Goes to MPI as it is: local, and the same in every replica.",
    "translate": "Goes to MPI with MPI_COMM_WORLD replaced by the replica's own world.",
    "verify": "Carries data. A hook verifies the data across replicas.",
    "agree": "Its answer may differ between replicas. A hook gives all of them one answer.",
    "create": "Makes a communicator. MPI_COMM_WORLD is replaced, and a hook follows the new communicator.",
    "once": "Has an effect outside the job. A hook lets it happen once, after the replicas have agreed.",
    "hook": "Needs other work of its own, which a hook does.",
    "refuse": "Cannot be protected. Ends a replicated job with a message that says why and what to do.",
}
HOOKED = ("start", "verify", "agree", "create", "once", "hook")

# What the preloaded libraries intercept besides MPI.
C_LIBRARY = """clock_gettime gettimeofday time getrusage clock times timespec_get __libc_start_main exit _exit _Exit quick_exit
               clock_nanosleep pthread_cond_timedwait pthread_cond_clockwait sem_timedwait sem_clockwait
               pthread_mutex_timedlock pthread_mutex_clocklock mtx_timedlock cnd_timedwait pthread_rwlock_timedrdlock
               pthread_rwlock_timedwrlock pthread_rwlock_clockrdlock pthread_rwlock_clockwrlock
               nanosleep thrd_sleep sleep usleep poll ppoll select pselect
               getrandom getentropy arc4random arc4random_buf arc4random_uniform _ZNSt13random_device9_M_getvalEv
               statfs statfs64 statvfs statvfs64 fstatfs fstatfs64 fstatvfs fstatvfs64 sysinfo sysconf get_avphys_pages
               get_phys_pages getloadavg sched_getcpu getcpu mallinfo mallinfo2 getppid getenv secure_getenv
               getpid gettid kill tgkill sched_setaffinity sched_getaffinity sched_setscheduler sched_getscheduler
               sched_setparam sched_getparam getpriority setpriority getpgid getsid setpgid
               gethostname uname pthread_create thrd_create
               open open64 openat openat64 __open_2 __open64_2 __openat_2 __openat64_2 creat creat64
               fopen fopen64 freopen freopen64 opendir
               mkstemp mkstemp64 mkostemp mkostemp64 mkstemps mkstemps64 mkostemps mkostemps64 mkdtemp
               mktemp tmpnam tmpnam_r tempnam
               malloc realloc aligned_alloc memalign posix_memalign
               isatty tcgetattr ioctl
               unlink unlinkat rmdir remove rename renameat renameat2 mkdir mkdirat symlink symlinkat link linkat
               mkfifo mkfifoat mknod mknodat __xmknod
               shm_open shm_unlink sem_open sem_unlink shmget shmat shmctl semget semop semtimedop semctl
               mq_open __mq_open_2 mq_unlink msgget msgsnd msgrcv msgctl
               sigaction signal __sysv_signal
               truncate truncate64 chmod fchmodat utime utimes lutimes futimesat utimensat flock
               chown lchown fchownat
               getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr setxattr lsetxattr removexattr lremovexattr
               stat stat64 lstat lstat64 __xstat __xstat64 __lxstat __lxstat64 fstatat fstatat64 statx
               fstat fstat64 __fxstat __fxstat64
               readdir readdir64 readdir_r readdir64_r rewinddir telldir seekdir closedir
               scandir scandir64 scandirat scandirat64 glob glob64
               ftw ftw64 nftw nftw64
               fts_open fts64_open fts_read fts64_read fts_children fts64_children fts_close fts64_close
               execve execv execvp execvpe execl execlp execle posix_spawn posix_spawnp dlopen dlsym
               access faccessat eaccess euidaccess readlink readlinkat __readlink_chk __readlinkat_chk
               realpath __realpath_chk canonicalize_file_name
               chdir getcwd __getcwd_chk get_current_dir_name
               write writev pwrite pwrite64 pwritev pwritev64 close dup dup2 dup3 fcntl fcntl64
               dprintf vdprintf __dprintf_chk __vdprintf_chk""".split()

# Fortran procedures without a C hook (fortran.cc), and how the compilers and the libraries decorate their names.
FORTRAN = (
    "comm_create_keyval type_create_keyval win_create_keyval keyval_create comm_create_errhandler win_create_errhandler"
    " file_create_errhandler errhandler_create comm_set_attr comm_get_attr attr_put attr_get"
).split()
FORTRAN_NAMES = {
    "openmpi": ("mpi_{}_", "pmpi_{}_", "ompi_{}_f"),
    "mpich": ("mpi_{}_", "pmpi_{}_", "mpi_{}_f08_", "pmpir_{}_f08_"),
}

# Functions by which the libraries' C++ parts have the program's called (cplusplus.cc).
CPLUSPLUS = {
    "openmpi": [f"ompi_mpi_cxx_{name}" for name in (
        "op_intercept comm_errhandler_invoke win_errhandler_invoke file_errhandler_invoke comm_copy_attr_intercept"
        " type_copy_attr_intercept win_copy_attr_intercept comm_delete_attr_intercept type_delete_attr_intercept"
        " win_delete_attr_intercept").split()],
    "mpich": ["MPII_Errhandler_set_cxx", "MPII_Op_set_cxx", "MPII_Keyval_set_proxy"],
}

GENERATED = "// Generated by tools/generate_wrappers.py from src/replicate/mpi/intercept/functions.table.\n"


class TableError(Exception):
    """A row that cannot be read: says which line and why."""

    def __init__(self, line, message):
        super().__init__(f"reading the function table: line {line}: {message}")
        self.line = line


@dataclasses.dataclass
class Argument:
    """One argument. The variadic tail of a function is an argument named '...'."""

    name: str
    type: str = ""
    kind: str = ""
    direction: str = ""
    length: tuple = ()

    @property
    def variadic(self):
        return self.name == "..."

    @property
    def declaration(self):
        """As in a parameter list: an array's brackets follow the name."""
        if self.variadic:
            return "..."
        base, bracket, rest = self.type.partition("[")
        return f"{base} {self.name}{bracket}{rest}"

    @property
    def world_can_enter(self):
        """Whether the application can pass MPI_COMM_WORLD here."""
        return self.kind == "comm" and self.direction == "in"


@dataclasses.dataclass
class Function:
    """One row of the table. `name` is without MPI_, and X_... for MPIX_..."""

    name: str
    libraries: str
    policy: str
    result: str
    section: str
    line: int
    arguments: list = dataclasses.field(default_factory=list)
    reason: str = ""

    @property
    def symbol(self):
        return "MPI" + self.name if self.name.startswith("X_") else "MPI_" + self.name

    @property
    def of_fortran(self):
        """Whether it takes or gives types of Fortran's, which the standard's interface for C does not have."""
        return any(re.search(r"\bMPI_(Fint|F08_status)\b", text) for text in [self.result, *(a.type for a in self.arguments)])

    def exported_by(self, flavour):
        if flavour == "abi":
            return not self.of_fortran
        return self.libraries in ("both", flavour)

    @property
    def parameters(self):
        return ", ".join(argument.declaration for argument in self.arguments) or "void"

    @property
    def named_parameters(self):
        """Without the variadic tail, which no hook and no inner function receives."""
        return ", ".join(argument.declaration for argument in self.arguments if not argument.variadic) or ""

    @property
    def call(self):
        return ", ".join(argument.name for argument in self.arguments if not argument.variadic)

    @property
    def translated_call(self):
        return ", ".join(
            f"world({argument.name})" if argument.world_can_enter else argument.name
            for argument in self.arguments
            if not argument.variadic
        )

    @property
    def unknown_communicator(self):
        """The condition under which a hook cannot work and MPI itself is to say what is wrong."""
        if self.policy not in ("verify", "agree", "create"):
            return ""
        return " || ".join(f"!known(world({a.name}))" for a in self.arguments if a.world_can_enter and a.name != "peer_comm")


def parse_head(text, section, line):
    fields = re.split(r"\s{2,}", text)
    if len(fields) not in (3, 4):
        raise TableError(line, "a row needs a name, its libraries and a policy, two spaces apart")
    name, libraries, policy = fields[:3]
    if not re.fullmatch(r"MPIX?_[A-Z]\w*", name):
        raise TableError(line, f"'{name}' is not the name of an MPI function")
    if libraries not in LIBRARIES:
        raise TableError(line, f"'{libraries}' is not one of {', '.join(LIBRARIES)}")
    if policy not in POLICIES:
        raise TableError(line, f"'{policy}' is not a policy; the policies are {', '.join(POLICIES)}")
    return Function(name[4:] if name.startswith("MPI_") else name[3:], libraries, policy, fields[3] if len(fields) == 4 else "int", section, line)


def parse_argument(text, line):
    if text == "...":
        return Argument("...")
    fields = [field.strip() for field in text.split(" : ")]
    if len(fields) not in (4, 5):
        raise TableError(line, "an argument needs a name, a C type, a kind and a direction, with ' : ' between them")
    name, ctype, kind, direction = fields[:4]
    if not re.fullmatch(r"[A-Za-z]\w*", name):
        raise TableError(line, f"'{name}' is not the name of an argument")
    if kind not in KINDS:
        raise TableError(line, f"'{kind}' is not a kind; the kinds are {', '.join(KINDS)}")
    if direction not in DIRECTIONS:
        raise TableError(line, f"'{direction}' is not one of {', '.join(DIRECTIONS)}")
    if direction != "in" and "*" not in ctype and "[" not in ctype:
        raise TableError(line, f"'{name}' is passed by value and cannot be '{direction}'")
    return Argument(name, ctype, kind, direction, tuple(fields[4].split()) if len(fields) == 5 else ())


def check_lengths(function):
    names = {argument.name for argument in function.arguments}
    for offset, argument in enumerate(function.arguments):
        for word in argument.length:
            outer = re.fullmatch(r"(?:size|indegree|outdegree|dimensions)\((\w+)\)", word)
            if (outer.group(1) if outer else word) not in names:
                line = function.line + 1 + offset
                raise TableError(line, f"the length '{word}' is no argument of {function.symbol}")


def parse_table(text):
    """The rows, in the table's order. Raises TableError."""
    functions, seen, section = [], {}, ""
    for number, raw in enumerate(text.splitlines(), start=1):
        stripped = raw.strip()
        if raw.startswith("## "):
            section = raw[3:].strip()
        elif not stripped or raw.startswith("#"):
            continue
        elif raw.startswith("    "):
            if not functions:
                raise TableError(number, "an argument stands before the first function")
            if stripped.startswith("because "):
                functions[-1].reason = stripped.removeprefix("because ")
                continue
            functions[-1].arguments.append(parse_argument(stripped, number))
        elif raw[0].isspace():
            raise TableError(number, "an argument is indented by four spaces, a function not at all")
        else:
            function = parse_head(stripped, section, number)
            if function.name in seen:
                raise TableError(number, f"{function.symbol} is already in line {seen[function.name]}")
            seen[function.name] = number
            functions.append(function)
    for function in functions:
        check_lengths(function)
        if (function.policy == "refuse") != bool(function.reason):
            raise TableError(function.line, "a function that is refused, and no other, needs a line 'because REASON: WHAT TO DO'")
    return functions


def functions_header(functions):
    values = "".join(f"  {f.name},\n" for f in functions)
    return f"""{GENERATED}#pragma once

#include <cstdint>

namespace holdfast::replicate {{

/// The rows of the function table, in its order: the same number in all flavours.
enum class Function : std::uint32_t {{
{values}}};
inline constexpr std::uint32_t function_count = {len(functions)};

/// "MPI_Send"; for a number that is no row, "an unknown function".
const char* function_name(Function function);

}}  // namespace holdfast::replicate
"""


def functions_source(functions):
    names = "".join(f'    "{f.symbol}",\n' for f in functions)
    return f"""{GENERATED}#include "functions.h"

namespace holdfast::replicate {{
namespace {{
constexpr const char* names[function_count] = {{
{names}}};
}}  // namespace

const char* function_name(Function function) {{
  const auto number = static_cast<std::uint32_t>(function);
  return number < function_count ? names[number] : "an unknown function";
}}

}}  // namespace holdfast::replicate
"""


def pointers(functions):
    """The members of a struct of pointers to the functions that a library stands in front of."""
    return "".join(f"  {f.result} (*{f.name})({f.parameters}) = nullptr;\n" for f in functions)


def has_macros(functions):
    return "".join(f"#define HOLDFAST_HAS_{f.name} 1\n" for f in functions)


def accessor(comment, struct, name, variable, argument):
    """A function that gives such a struct, whose pointers are found at the first call."""
    return f"""/// {comment}
inline const {struct}& {name}() {{
  if (!{variable}.resolved.load(std::memory_order_acquire)) [[unlikely]]
    {variable}.resolve({argument});
  return {variable};
}}
"""


def finder(parameter, name, profiling):
    """A function template that finds one of them: PMPI_X where `profiling`, a condition on the parameter, holds, and MPI has
    it; otherwise the next MPI_X."""
    return f"""// Threads that resolve at the same time store the same values; the relaxed atomic store keeps that defined.
template <class Pointer>
void find(Pointer& pointer, {parameter} {name}, const char* profiling_name) {{
  void* found = {profiling} ? dlsym(RTLD_NEXT, profiling_name) : nullptr;
  // MPICH 5.0.2 has no PMPI_File_close behind the standard's interface.
  if (found == nullptr) found = dlsym(RTLD_NEXT, profiling_name + 1);
  std::atomic_ref<Pointer>(pointer).store(reinterpret_cast<Pointer>(found), std::memory_order_relaxed);
}}
"""


def resolution(functions, name):
    """The statements that find them all."""
    lookups = "".join(f'  find({f.name}, {name}, "P{f.symbol}");\n' for f in functions)
    return lookups + """  if (Init == nullptr || MPI_COMM_WORLD == MPI_Comm{}) fail_unseen();
  resolved.store(true, std::memory_order_release);
"""


def real_header(functions):
    return f"""{GENERATED}#pragma once

#include <mpi.h>

#include <atomic>

// Which functions this MPI has; of others, hooks are left out.
{has_macros(functions)}
namespace holdfast::replicate {{

/// Where a call goes on: to the MPI library itself, or to the next profiling tool that defines MPI_X.
enum class Entry {{ library, next_tool }};

/// The functions that this library stands in front of; null where the MPI library has none.
struct Real {{
  void resolve(Entry entry);

{pointers(functions)}  std::atomic<bool> resolved{{false}};
}};

extern Real real_functions;
extern Real library_functions;

/// Which entry real() leads to; asked once.
Entry chosen_entry();

{accessor("What hooks call: the MPI library, or in chain mode the next tool. Any thread.", "Real", "real",
          "real_functions", "chosen_entry()")}
{accessor("The MPI library itself, past any tool. Any thread.", "Real", "library", "library_functions",
          "Entry::library")}
}}  // namespace holdfast::replicate
"""


def real_source(functions):
    return f"""{GENERATED}#include "real_functions.h"

#include <dlfcn.h>

#include "replicate/mpi/context/failure.h"

namespace holdfast::replicate {{
namespace {{

{finder("Entry", "entry", "entry == Entry::library")}
}}  // namespace

constinit Real real_functions;
constinit Real library_functions;

// RTLD_NEXT sees only what all may see, and predefined handles only what was loaded when the process began: not an MPI
// library that the program opens by itself.
void Real::resolve(Entry entry) {{
{resolution(functions, "entry")}}}

}}  // namespace holdfast::replicate
"""


def hooks_header(functions):
    declarations = "".join(f"{f.result} {f.name}({f.named_parameters});\n" for f in functions if f.policy in HOOKED)
    return f"""{GENERATED}#pragma once

#include <mpi.h>

/// What the wrappers call instead of MPI. Communicators that go in are translated already; the depth guard is held.
namespace holdfast::replicate::hook {{

{declarations}
}}  // namespace holdfast::replicate::hook
"""


def protected_statement(function):
    if function.policy in HOOKED:
        statement = f"return hook::{function.name}({function.translated_call});"
        unknown = function.unknown_communicator
        return f"if ({unknown}) return real().{function.name}({function.translated_call});\n  {statement}" if unknown else statement
    if function.policy == "refuse":
        return f'return refuse(Function::{function.name}, "{function.reason}");'
    call = function.call if function.policy == "pass" else function.translated_call
    return f"return real().{function.name}({call});"


def wrapper(function):
    f = function
    passing = "depth > 0" if f.policy == "start" else "passing_through()"
    # Who registers a callback decides how it must be called; who makes a copy, whether its handle may come later.
    asks_who = f.name == "Comm_idup" or any(a.kind == "function" for a in f.arguments)
    caller = "  calling_address = __builtin_return_address(0);\n" if asks_who else ""
    unused = "".join(f"  static_cast<void>({a.name});\n" for a in unused_when_protected(f))
    # The tool interface may start before MPI_Init, and loads what the clocks of MPI's own are read in.
    passes = f"{{\n    const Depth inside;\n    return {{}}().{f.name}({f.call});\n  }}" if f.name.startswith("MPI_T_") \
        else f"return {{}}().{f.name}({f.call});"
    return f"""static {f.result} protected_{f.name}({f.named_parameters}) {{
{unused}  const {f"InCall guard(Function::{f.name})" if f.policy in HOOKED else "Depth guard"};
  {protected_statement(f)}
}}
extern "C" HOLDFAST_EXPORT {f.result} entry_{f.name}({f.parameters}) __asm__("{f.symbol}");
{f.result} entry_{f.name}({f.parameters}) {{
{caller}  if ({passing}) {passes.format("real")}
  return protected_{f.name}({f.call});
}}
extern "C" HOLDFAST_EXPORT {f.result} profiling_entry_{f.name}({f.parameters}) __asm__("P{f.symbol}");
{f.result} profiling_entry_{f.name}({f.parameters}) {{
{caller}  if ({passing}) {passes.format("library")}
  return protected_{f.name}({f.call});
}}
"""


def unused_when_protected(function):
    if function.policy != "refuse":
        return []
    return [a for a in function.arguments if not a.variadic]


def wrappers_source(functions):
    return f"""{GENERATED}// Each function has C++ names of its own and takes MPI's by an assembler label, so that its prototype is the table's even
// where this mpi.h differs in const. MPI_X that passes goes to the next MPI_X, PMPI_X to the library's PMPI_X: the same
// in normal use, and in chain mode what keeps a tool's own call of PMPI_X from coming back to the tool.
#include <mpi.h>

#include "functions.h"
#include "hooks.h"
#include "real_functions.h"
#include "replicate/mpi/intercept/guard.h"
#include "replicate/mpi/agree/thread_order.h"

#define HOLDFAST_EXPORT __attribute__((visibility("default")))

using namespace holdfast::replicate;

{chr(10).join(wrapper(f) for f in functions)}"""


def prototypes_source(functions):
    checks = "".join(
        f'static_assert(same_but_for_const<decltype(&::{f.symbol}), decltype(Real::{f.name})>,\n'
        f'              "functions.table line {f.line}: {f.symbol} is not what this mpi.h declares");\n'
        for f in functions
    )
    return f"""{GENERATED}// Compiled for its assertions only; OMPI_OMIT_MPI1_COMPAT_DECLS=0 makes Open MPI declare what MPI 3.0 removed.
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#include <type_traits>

#include "real_functions.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace holdfast::replicate {{
namespace {{

template <class T>
struct Bare {{
  using type = std::remove_cv_t<T>;
}};
template <class T>
struct Bare<T*> {{
  using type = typename Bare<std::remove_cv_t<T>>::type*;
}};
template <class T, std::size_t size>
struct Bare<T[size]> {{
  using type = typename Bare<std::remove_cv_t<T>>::type[size];
}};
template <class R, class... A>
struct Bare<R(A...)> {{
  using type = R(typename Bare<std::remove_cv_t<A>>::type...);
}};
template <class R, class... A>
struct Bare<R(A..., ...)> {{
  using type = R(typename Bare<std::remove_cv_t<A>>::type..., ...);
}};
template <class A, class B>
constexpr bool same_but_for_const = std::is_same_v<typename Bare<A>::type, typename Bare<B>::type>;

{checks}
}}  // namespace
}}  // namespace holdfast::replicate
"""


def narrowed_argument(argument, narrow, function):
    """What a hook that takes int is given for an argument, and the statement that must come before."""
    if argument.type == narrow.type:
        return argument.name, ""
    own = f"{argument.name}_"
    if "[" in argument.type:
        length = " * ".join(
            f"call.{part[0]}({part[1]})" if (part := re.findall(r"\w+", word))[1:] else word for word in argument.length)
        return own, f"  const int* {own} = call.array({argument.name}, {length});\n"
    following = function.arguments[function.arguments.index(argument) + 1:]
    datatype = next((a for a in following if a.kind == "datatype"), None)
    if argument.kind != "count" or datatype is None or any(a.kind == "op" for a in function.arguments):
        return own, f"  const int {own} = call.scalar({argument.name});\n"
    return own, f"  const int {own} = call.count({argument.name}, {datatype.name});\n"


def large_count_hook(function, narrow):
    statements, values = "", []
    for argument, other in zip(function.arguments, narrow.arguments):
        value, statement = narrowed_argument(argument, other, function)
        values.append(value)
        statements += statement
    request = next((a.name for a in function.arguments if a.kind == "request" and a.direction == "out"), None)
    kept = f"  call.keep(code, {request});\n" if request else ""
    return f"""{function.result} hook::{function.name}({function.named_parameters}) {{
  LargeCount call(Function::{function.name});
{statements}  const int code = hook::{narrow.name}({", ".join(values)});
{kept}  return code;
}}
"""


def large_counts_source(functions):
    rows = {f.name: f for f in functions}
    # A hook of its own has what differs in more than its counts, and what returns a count.
    pairs = [(f, rows[f.name[:-2]]) for f in functions
             if f.name.endswith("_c") and f.policy in ("verify", "once") and f.name[:-2] in rows]
    hooks = "\n".join(large_count_hook(f, narrow) for f, narrow in pairs)
    return f"""{GENERATED}#include <mpi.h>

#include "hooks.h"
#include "replicate/mpi/bindings/large_count.h"

namespace holdfast::replicate {{

{hooks}
}}  // namespace holdfast::replicate
"""


def declared_functions(preprocessed):
    """The names of what a preprocessed mpi.h declares, or may: every MPI name in front of a parenthesis."""
    return set(re.findall(r"\b(MPIX?_\w+)\s*\(", preprocessed))


def data_symbols(preprocessed):
    """The names of the data that a preprocessed mpi.h declares extern."""
    names = []
    for statement in preprocessed.split(";"):
        statement = re.sub(r"^#.*$", "", statement, flags=re.MULTILINE)
        statement = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", " ", " ".join(statement.split()))
        match = re.search(r"\bextern ((?:\w|\*| )+?[ *])(\w+)\s*(?:\[\w*\])?\s*$", statement)
        if match and re.match(r"(ompi_|MPI|PMPI)", match.group(2)):
            names.append(match.group(2))
    return sorted(set(names))


def weak_header(preprocessed):
    pragmas = "".join(f"#pragma weak {name}\n" for name in data_symbols(preprocessed))
    return f"""{GENERATED}// MPI's predefined handles and constants are data of the MPI library, which this library does not link. Weak, they are
// null in a program without MPI (a shell that starts the program, for one) instead of ending it at load time.
#pragma once

#include <mpi.h>

{pragmas}"""


def waiting_symbols(flavour):
    """What MPICH calls while it waits (src/replicate/mpi/agree/idle_tests.h)."""
    return [] if flavour == "openmpi" else ["ucp_worker_progress"]


def binding_symbols(flavour):
    """What is exported for the bindings of other languages than C, which the standard's interface does not have."""
    if flavour == "abi":
        return []
    return [form.format(stem) for stem in FORTRAN for form in FORTRAN_NAMES[flavour]] + CPLUSPLUS[flavour]


def exports_map(functions, flavour):
    names = "".join(f"    {f.symbol};\n    P{f.symbol};\n" for f in functions)
    others = "".join(f"    {name};\n" for name in C_LIBRARY + waiting_symbols(flavour) + binding_symbols(flavour))
    return f"{{\n  global:\n{names}{others}  local:\n    *;\n}};\n"


def reference_page(functions):
    lines = [
        "# What happens to each MPI function",
        "",
        "Made from `src/replicate/mpi/intercept/functions.table` by `tools/generate_wrappers.py`; do not edit. A test",
        "holds this page to the table, and the table to what the installed MPI libraries export.",
        "",
        "The policy says what Holdfast does with a call of a replicated program. Without replication, and for calls that the",
        "MPI library makes itself, every function goes to MPI as it is. The library for the standard's interface",
        "(`libmpi_abi.so.1`) has all functions that the interface's `mpi.h` declares, but for the conversions from and to",
        "Fortran's types, which some MPIs add there: they pass.",
        "",
        "| policy | functions | meaning |",
        "|---|---|---|",
    ]
    for policy, meaning in POLICIES.items():
        lines.append(f"| {policy} | {sum(f.policy == policy for f in functions)} | {meaning} |")
    section = None
    for f in functions:
        if f.section != section:
            section = f.section
            lines += ["", f"## {section}", "", "| function | libraries | policy | why it is refused |", "|---|---|---|---|"]
        libraries = {"both": "Open MPI, MPICH", "openmpi": "Open MPI", "mpich": "MPICH"}[f.libraries]
        lines.append(f"| {f.symbol} | {libraries} | {f.policy} | {f.reason} |")
    return "\n".join(lines) + "\n"


def write_if_changed(path, text):
    """Keeps the time of a file that is up to date, so that nothing is compiled again."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def write_flavour(functions, flavour, folder, preprocessed):
    folder.mkdir(parents=True, exist_ok=True)
    declared = declared_functions(preprocessed)
    own = [f for f in functions if f.exported_by(flavour) and f.symbol in declared]
    files = {
        "functions.h": functions_header(functions),
        "functions.cc": functions_source(functions),
        "real_functions.h": real_header(own),
        "real_functions.cc": real_source(own),
        "hooks.h": hooks_header(own),
        "wrappers.cc": wrappers_source(own),
        "large_counts.cc": large_counts_source(own),
        "prototypes.cc": prototypes_source(own),
        "weak_handles.h": weak_header(preprocessed),
        "exports.map": exports_map(own, flavour),
    }
    for name, text in files.items():
        write_if_changed(folder / name, text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", type=pathlib.Path, required=True)
    parser.add_argument("--flavour", choices=FLAVOURS)
    parser.add_argument("--out", type=pathlib.Path, help="where to write the sources of a flavour")
    parser.add_argument("--mpi-header", type=pathlib.Path, help="this MPI's mpi.h after the preprocessor")
    parser.add_argument("--reference", type=pathlib.Path, help="write the reference page here")
    arguments = parser.parse_args()
    if bool(arguments.flavour) != bool(arguments.out and arguments.mpi_header):
        parser.error("--flavour, --out and --mpi-header go together")
    try:
        functions = parse_table(arguments.table.read_text())
    except (TableError, OSError) as error:
        sys.exit(f"generate_wrappers.py: {error}")
    if arguments.flavour:
        write_flavour(functions, arguments.flavour, arguments.out, arguments.mpi_header.read_text())
    if arguments.reference:
        write_if_changed(arguments.reference, reference_page(functions))


if __name__ == "__main__":
    main()
