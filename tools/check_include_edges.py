#!/usr/bin/env python3
"""Holds the #include lines under src/ to the table of who may include whom (ARCHITECTURE.md), finds circles of files and
of folders, and bans folder names that say nothing. Usage: check_include_edges.py [REPOSITORY]. Prints one line a violation; exits with 1 when there is one."""

import fnmatch
import os
import re
import sys

FOUNDATIONS = ["core/arithmetic", "core/status", "core/time"]
STANDARD_LIBRARY = r"<[a-z0-9_]+>"

# The adapter to MPI, from the bottom up: what stands in front of MPI's functions; what all know of the process and its
# communicators; what of a message is compared; what replicas agree on, and how they wait; messages; collectives; windows;
# files; the beginning and the end, which know all of them; other languages' ways to the hooks.
ROOMS_OF_MPI = ["intercept", "context", "verify", "agree", "pointtopoint", "collective", "onesided", "io", "life", "bindings"]

# folder -> the folders, or patterns of files, that it may include besides itself. The longest folder that holds a file
# decides. A folder under src/ without a row is a violation, so that a new one is thought about.
EDGES = {
    "core/arithmetic": [],
    "core/status": [],
    "core/time": ["core/arithmetic", "core/status"],
    "core/markup": [],
    "core": FOUNDATIONS,
    "core/fault": FOUNDATIONS + ["core/random"],
    "core/config": FOUNDATIONS + ["core/input"],
    "core/input": FOUNDATIONS + ["core/memory", "core/scratch"],
    "core/memory": FOUNDATIONS + ["core/scratch"],
    "core/event": FOUNDATIONS + ["core/output", "core/stats"],
    "core/database": FOUNDATIONS + ["core/scratch"],
    "core/output": FOUNDATIONS + ["core/scratch"],
    "fabric/topology": ["core"],
    "fabric/tables": ["core", "fabric/topology"],
    "fabric/faults": ["core", "fabric/topology"],
    "fabric/routing/graph": ["core", "fabric/topology", "fabric/tables"],
    "fabric/formats": ["core", "fabric/topology", "fabric/tables", "fabric/faults", "fabric/routing/graph"],
    "fabric/check": ["core", "fabric/topology", "fabric/tables", "fabric/faults"],
    "fabric/routing/engines": ["core", "fabric/topology", "fabric/tables", "fabric/formats/opensm_config.h",
                               "fabric/routing/graph"],
    "fabric/opensm": ["core", "fabric/topology", "fabric/tables", "fabric/formats", "fabric/routing/graph", "fabric/check"],
    "fabric/compare": ["core", "fabric"],
    "plan": ["core"],
    "record": ["core"],
    "record/mpi": ["core", "record"],
    "replicate/engine": ["core"],
    "replicate/world": ["core", "replicate/engine"],
    "replicate/heap": [],
    "replicate/launch/detect": ["core", "replicate/engine"],
    "replicate/launch/plan": ["core", "record", "replicate/engine", "replicate/launch/detect"],
    "replicate/launch/supervise": ["core", "replicate/engine", "replicate/launch/detect", "replicate/launch/plan"],
    "replicate/launch/compare": ["core", "record", "replicate/engine", "replicate/shadow", "replicate/launch/supervise",
                                 "replicate/launch/plan/left_file.h"],
    "replicate/launch/report": ["core", "replicate/engine", "replicate/launch/detect", "replicate/launch/plan",
                                "replicate/launch/supervise", "replicate/launch/compare"],
    "replicate/launch": ["core", "record", "replicate/engine"],
    "replicate/shadow": ["core"],
    "replicate/process": ["core", "replicate/engine"],
    # The rooms of the adapter, each above those before it.
    **{f"replicate/mpi/{room}": ["core", "replicate/engine", "replicate/process", "replicate/shadow"] +
       [f"replicate/mpi/{below}" for below in ROOMS_OF_MPI[:at]] for at, room in enumerate(ROOMS_OF_MPI)},
    "replicate/libc": ["core", "replicate/engine", "replicate/process", "replicate/shadow", "replicate/mpi"],
    "transport/wire": ["core"],
    "transport/engine": ["core", "transport/wire"],
    "transport/rail": ["core", "transport/wire"],
    "transport/ofi": ["core", "transport"],
    "transport/world": ["core", "transport"],
    "simulate/kernel": ["core"],
    "simulate/packet": ["core", "fabric", "simulate/kernel"],
    "simulate/traffic": ["core", "fabric", "simulate/kernel", "simulate/packet"],
    "simulate/collective": ["core", "fabric", "simulate/kernel"],
    "simulate": ["core", "fabric", "transport/wire", "transport/engine", "transport/rail", "replicate/engine"],
    "simulate/transport": ["core", "fabric", "simulate/kernel", "simulate/packet", "transport/wire", "transport/engine",
                           "transport/rail"],
    # A recorded program is replayed: its reader, and nothing of how it is recorded.
    "simulate/job": ["core", "fabric", "record", "replicate/engine", "simulate"],
    "simulate/predict": ["core", "fabric", "simulate"],
    "report": ["core", "fabric/*record*.h", "simulate/*record*.h", "plan/*record*.h"],
    "cli": ["core", "fabric", "plan", "record", "report", "simulate", "replicate/engine", "replicate/launch", "transport/wire",
            "transport/engine", "transport/rail"],
}

# Rows that cover a folder's files but not what is below it: each folder of core stands for itself.
SIBLINGS_ARE_STRANGERS = ["core"]

# Components whose modules (a header and its source) form an order: what a source includes counts, too.
MODULES_IN_ORDER = ["replicate/mpi"]

# Components whose rooms have rows of their own
COMPONENTS_OF_ROOMS = ["fabric", "simulate", "replicate/launch", "replicate/mpi"]

# Tests, fuzzers and benchmarks may use all of their component: an oracle is often found next door.
OF_A_TEST = re.compile(r"_(test|fuzz|bench)\.cc$")

# header pattern -> the folders that alone may include it
RESERVED_HEADERS = {
    "mpi.h": ["replicate/mpi", "simulate/study/mpi", "simulate/predict/mpi", "record/mpi"],
    "rdma/*": ["transport/ofi", "transport/rail"],
}

# folders that take the standard library and nothing else from outside; tests take GoogleTest besides
STANDARD_LIBRARY_ONLY = ["core/arithmetic", "core/status", "core/time"]

# folders that leave files, clocks, threads and the network to others, and run in worlds, fuzzers and the simulator as they
# do in a job. <sys/uio.h> brings a struct, <cstdio> is for text in memory.
WITHOUT_THE_SYSTEM = ["replicate/engine", "transport/engine", "transport/wire", "fabric/topology", "fabric/tables",
                      "fabric/routing", "fabric/check"]
SYSTEM_HEADERS = re.compile(r"(unistd|fcntl|dirent|poll|pthread|signal|sched|dlfcn|time|netdb)\.h|(sys/(?!uio\.h|auxv\.h)|linux/|net/|netinet/|arpa/).*|"
                            r"chrono|ctime|csignal|fstream|iostream|filesystem|thread|mutex|condition_variable|semaphore")

BANNED_FOLDERS = {"util", "utils", "common", "helper", "helpers", "misc"}
NOT_OURS = {".git", "build", "node_modules", "__pycache__"}

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|(<[^>]+>))')


def inside(path, folder):
    return path == folder or path.startswith(folder + "/")


def row_of(path):
    """The longest folder of EDGES that holds the file, or None."""
    rows = [folder for folder in EDGES if inside(path, folder)]
    return max(rows, key=len, default=None)


def home_of(path, row):
    """The folder whose files may include each other freely."""
    if row in SIBLINGS_ARE_STRANGERS:
        return "/".join(path.split("/")[:row.count("/") + 2])
    return row


def may_include(path, target):
    row = row_of(path)
    if inside(target, home_of(path, row)):
        return True
    for component in COMPONENTS_OF_ROOMS:
        if OF_A_TEST.search(path) and inside(path, component) and inside(target, component):
            return True
    return any(inside(target, allowed) or fnmatch.fnmatch(target, allowed) for allowed in EDGES[row])


# Written at build time by tools/generate_wrappers.py and tools/generate_recorder.py, for the preloaded libraries alone.
GENERATED = {"functions.h": "replicate", "hooks.h": "replicate", "real_functions.h": "replicate",
             "next_functions.h": "record", "recorded_functions.h": "record"}


def judge(path, target, quoted):
    """What is wrong with a file under src/ including the target, or None."""
    tops = {folder.split("/")[0] for folder in EDGES}
    for pattern, folders in RESERVED_HEADERS.items():
        if fnmatch.fnmatch(target, pattern) and not any(inside(path, folder) for folder in folders):
            return f"only {' and '.join(folders)} may include {target}"
    if target.split("/")[0] in tops and (quoted or "/" in target):
        return None if may_include(path, target) else f"{row_of(path)} may not include {target}"
    if target in GENERATED and any(inside(path, f"{GENERATED[target]}/{part}") for part in ("mpi", "libc")):
        return None
    if quoted and not target.startswith("holdfast/"):
        return f"write the include of {target} from src/"
    strict = any(inside(path, folder) for folder in STANDARD_LIBRARY_ONLY)
    of_a_test = path.endswith("_test.cc") and re.match(r"g(test|mock)/", target)
    if strict and not of_a_test and not re.fullmatch(STANDARD_LIBRARY, f"<{target}>"):
        return f"{row_of(path)} takes the standard library alone, not {target}"
    if SYSTEM_HEADERS.fullmatch(target) and not OF_A_TEST.search(path):
        for folder in WITHOUT_THE_SYSTEM:
            if inside(path, folder):
                return f"{folder} leaves the system to others: no {target}"
    return None


def violations_of_file(source, path):
    """Yields 'place: what is wrong' for one file, whose path is relative to src/."""
    if row_of(path) is None:
        yield f"src/{path}: no row says what this folder may include"
        return
    with open(os.path.join(source, path), encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            match = INCLUDE.match(line)
            if match:
                wrong = judge(path, match[1] or match[2][1:-1], match[1] is not None)
                if wrong:
                    yield f"src/{path}:{number}: {wrong}"


def includes_of(source, path):
    """The files under src/ that a file includes."""
    with open(os.path.join(source, path), encoding="utf-8", errors="replace") as lines:
        matches = [match for match in map(INCLUDE.match, lines) if match and match[1]]
    return {match[1] for match in matches if os.path.exists(os.path.join(source, match[1]))}


def circles(edges):
    """The circles of a graph (name -> names): its strongly connected components of more than one name (R. Tarjan,
    "Depth-first search and linear graph algorithms", 1972), each sorted, in a fixed order."""
    number, low, stack, found = {}, {}, [], []

    def visit(name):
        number[name] = low[name] = len(number)
        stack.append(name)
        for target in sorted(edges[name]):
            if target not in edges or target in done:
                continue
            if target not in number:
                visit(target)
                low[name] = min(low[name], low[target])
            else:
                low[name] = min(low[name], number[target])
        if low[name] == number[name]:
            component = stack[stack.index(name):]
            del stack[stack.index(name):]
            done.update(component)
            if len(component) > 1:
                found.append(sorted(component))

    done = set()
    for name in sorted(edges):
        if name not in number:
            visit(name)
    return sorted(found)


def circles_of_includes(source, files):
    """Yields one line for each circle of files, of modules, and of folders with rows of their own; tests are in none."""
    of_files = {path: includes_of(source, path) for path in files if not OF_A_TEST.search(path)}
    of_rows = {}
    of_modules = {}
    for path, targets in of_files.items():
        module = os.path.splitext(path)[0]
        if any(inside(path, component) for component in MODULES_IN_ORDER):
            of_modules.setdefault(module, set()).update({os.path.splitext(target)[0] for target in targets} - {module})
        of_rows.setdefault(home_of(path, row_of(path)), set()).update(home_of(target, row_of(target)) for target in targets)
    for what, edges in (("files", of_files), ("modules", of_modules), ("folders", {row: targets - {row} for row, targets in of_rows.items()})):
        for circle in circles(edges):
            yield f"{what} that include each other in a circle: {', '.join(circle)}"


def violations(repository):
    """All violations in the tree, in a fixed order."""
    found = []
    sources = []
    source = os.path.join(repository, "src")
    for folder, subfolders, files in os.walk(repository):
        subfolders[:] = sorted(set(subfolders) - NOT_OURS)
        for name in subfolders:
            if name in BANNED_FOLDERS:
                found.append(f"{os.path.relpath(os.path.join(folder, name), repository)}: "
                             "name the folder after what it holds")
        if not inside(folder, source):
            continue
        for name in sorted(files):
            if re.search(r"\.(h|hpp|c|cc|cpp|in)$", name):
                sources.append(os.path.relpath(os.path.join(folder, name), source))
                found.extend(violations_of_file(source, sources[-1]))
    if not found:  # a file without a row has no place in a circle
        found.extend(circles_of_includes(source, sources))
    return found


def main():
    repository = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), ".."))
    if not os.path.isdir(os.path.join(repository, "src")):
        print(f"checking the include edges: {repository} has no folder src: name the repository", file=sys.stderr)
        return 2
    found = violations(repository)
    print("\n".join(found) if found else "include edges: all good")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
